"""Training rows: the loss is on exactly the answer and its stop token, and no row is ever cut."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.rows import Rows, make_rows, part_of
from adapters.tokenizer import train_tokenizer
from harness.corpora import load
from harness.errors import UsageError
from prompts.messages import gold_answer
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from serialization.formats import FORMATS
from tests.scored import step
from tests.tiny import CORPUS, build_tiny_model

SPECS = [PromptSpec.make(task, format=name) for task, formats in FORMATS.items() for name in formats]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("models")
    chat = AutoTokenizer.from_pretrained(build_tiny_model(folder / "chat"))
    plain = AutoTokenizer.from_pretrained(build_tiny_model(folder / "plain", chat=False))
    pad_is_eos = AutoTokenizer.from_pretrained(folder / "chat")
    pad_is_eos.pad_token = pad_is_eos.eos_token
    return {"own": train_tokenizer(CORPUS, 400), "chat": chat, "plain": plain, "pad is eos": pad_is_eos}


@pytest.mark.parametrize("name", ["own", "chat", "plain", "pad is eos"])
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
@pytest.mark.parametrize("shots", [0, 2])
def test_the_trained_text_is_the_answer_and_its_stop_token(
    tokenizers: dict[str, Any], name: str, spec: PromptSpec, shots: int
) -> None:
    tokenizer = tokenizers[name]
    items = load(spec.task, "train")[:4]
    renderer, pool = Renderer(spec, tokenizer, 100_000, 0), ShotPool(items, 0)
    rows = make_rows(items, renderer, pool, shots, 100_000)
    assert rows.dropped == 0
    for item, row in zip(items, rows.dataset(), strict=True):
        trained = [token for token, mask in zip(row["input_ids"], row["completion_mask"], strict=True) if mask]
        assert tokenizer.decode(trained) == gold_answer(item, spec) + tokenizer.eos_token
        assert row["input_ids"].count(tokenizer.bos_token_id) == 1 or tokenizer.bos_token_id is None
        rendered = renderer.render(item, pool.choose(item, shots))
        assert row["input_ids"][: len(rendered.token_ids)] == list(rendered.token_ids)


@pytest.mark.parametrize("name", ["own", "pad is eos"])
def test_the_labels_of_a_padded_batch_are_the_answers(tokenizers: dict[str, Any], name: str, tmp_path: Path) -> None:
    """What SFTTrainer itself makes of the rows: -100 on prompt and padding, even where padding looks like the stop token."""
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    tokenizer, spec = tokenizers[name], PromptSpec.make("hexagons")
    items = load("hexagons", "train")[:5]
    rows = make_rows(items, Renderer(spec, tokenizer, 100_000, 0), ShotPool(items, 0), 0, 100_000)
    examples = []
    for row in rows.dataset():
        labels = [token if mask else -100 for token, mask in zip(row["input_ids"], row["completion_mask"], strict=True)]
        examples.append({"input_ids": row["input_ids"], "labels": labels})
    batch = DataCollatorForLanguageModeling(pad_token_id=tokenizer.pad_token_id)(examples)
    for item, in_batch in zip(items, batch["labels"], strict=True):
        assert tokenizer.decode(in_batch[in_batch != -100]) == gold_answer(item, spec) + tokenizer.eos_token


def test_long_rows_are_dropped_and_counted_and_the_others_are_whole(tokenizers: dict[str, Any]) -> None:
    items = load("hexagons", "train")[:12]
    renderer, pool = Renderer(PromptSpec.make("hexagons"), tokenizers["own"], 100_000, 0), ShotPool(items, 0)
    rows = make_rows(items, renderer, pool, 0, 100_000).kept
    lengths = sorted(len(row.prompt_ids) + len(row.completion_ids) for row in rows)
    limit = lengths[len(lengths) // 2]
    fewer = make_rows(items, renderer, pool, 0, limit)
    assert fewer.dropped == sum(length > limit for length in lengths) > 0
    assert set(fewer.kept) <= set(rows)


STEPS = [step([], [], number, procedure) for procedure in "abcd" for number in range(1, 6)]


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 5))
def test_a_smaller_part_lies_within_a_larger_one_and_is_made_of_whole_procedures(one: int, other: int, seed: int) -> None:
    small, large = (part_of(STEPS, count, seed) for count in sorted((one, other)))
    assert [len(small), len(large)] == sorted((one, other))
    assert [item for item in large if item in small] == small, "in the order of the items"
    for part in (small, large):
        held = Counter(item.cluster for item in part)
        assert sum(count < 5 for count in held.values()) <= 1


def test_parts_depend_on_the_seed_and_cannot_be_larger_than_the_whole() -> None:
    assert part_of(STEPS, None, 0) == part_of(STEPS, len(STEPS), 7) == STEPS
    assert len({tuple(item.id for item in part_of(STEPS, 6, seed)) for seed in range(5)}) > 1
    with pytest.raises(UsageError, match=r"training\.train_items=21: there are 20 items to train on"):
        part_of(STEPS, 21, 0)


@pytest.mark.parametrize(("rows", "batch"), [(10, 3), (12, 4), (2, 5), (1, 1)])
def test_every_epoch_takes_every_row_once_whatever_the_batch(rows: int, batch: int) -> None:
    made = Rows(tuple(TrainingRow(str(n), (0,) * (n % 4), (1,)) for n in range(rows)), 0)
    batches = 3 * rows
    order = made.order(batch, batches, seed=0)
    assert len(order) == batch * batches
    counts = [order.count(index) for index in range(rows)]
    assert max(counts) - min(counts) <= 1 or batch > rows
    assert order == made.order(batch, batches, seed=0)
    assert order[: batch * 2] == made.order(batch, 2, seed=0), "a longer run begins as a shorter one"
    if rows > 2:
        assert order != made.order(batch, batches, seed=1)


def test_rows_of_like_length_share_a_batch() -> None:
    made = Rows(tuple(TrainingRow(str(n), (0,) * (n % 40), (1,)) for n in range(400)), 0)
    order = made.order(8, 50, seed=0)
    spans = [max(n % 40 for n in chunk) - min(n % 40 for n in chunk) for chunk in (order[i : i + 8] for i in range(0, 400, 8))]
    assert max(spans) <= 2


def test_our_tokenizer_writes_every_digit_alone_and_loads_offline(tokenizers: dict[str, Any], tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    own = train_tokenizer(["place red 10 -12 345", "0-9 11-17"] * 50, 400)
    own.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert all(sum(c.isdigit() for c in token) <= 1 for token in loaded.get_vocab())
    text = "place red 10 -12 345\n<x> é 🟥 don't"
    assert loaded.decode(loaded(text, add_special_tokens=False).input_ids) == text
    assert loaded(text).input_ids == own(text).input_ids
    assert loaded(text).input_ids[0] == loaded.bos_token_id


def test_our_chat_template_never_rewrites_what_came_before(tokenizers: dict[str, Any]) -> None:
    messages = [
        {"role": "system", "content": "Paint."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "red: 1 1"},
        {"role": "user", "content": " two "},
        {"role": "assistant", "content": "none"},
    ]
    own = tokenizers["own"]
    texts = [own.apply_chat_template(messages[:n], tokenize=False) for n in range(1, 6)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert texts[-1].count("<s>") == 1
    assert texts[-1].endswith("<|assistant|>none<|end|>")
    assert own.apply_chat_template(messages[:2], tokenize=False, add_generation_prompt=True) == f"{texts[1]}<|assistant|>"
