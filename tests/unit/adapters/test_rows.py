"""Training rows: exactly the answer and its stop token carry loss, and no row is ever cut."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.recipe import load_recipe
from adapters.row_cache import RowSource, _fingerprint
from adapters.rows import _asked, make_rows, plan_epoch
from harness.corpora import load, load_examples
from harness.corpora.item import Executed, Item, own_program
from harness.errors import EngineError
from harness.training.plan import subset
from harness.util.files import drop_old
from prompts.messages import gold_answer
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from serialization.formats import FORMATS
from tests.helpers.scored import step
from tests.helpers.tiny import build_tiny_model
from tests.helpers.training_rows import rows_of

SPECS = [PromptSpec.make(task, format=name) for task, formats in FORMATS.items() for name in formats]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("models")
    chat = AutoTokenizer.from_pretrained(build_tiny_model(folder / "chat"))
    plain = AutoTokenizer.from_pretrained(build_tiny_model(folder / "plain", chat=False))
    pad_is_eos = AutoTokenizer.from_pretrained(folder / "chat")
    pad_is_eos.pad_token = pad_is_eos.eos_token
    return {"chat": chat, "plain": plain, "pad is eos": pad_is_eos}


@pytest.mark.parametrize(("name", "shots"), [("chat", 2), ("plain", 0), ("pad is eos", 0)])
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_the_trained_text_is_the_answer_and_its_stop_token(
    tokenizers: dict[str, Any], name: str, shots: int, spec: PromptSpec
) -> None:
    tokenizer = tokenizers[name]
    items = load_examples(spec.task)[:3]
    renderer, pool = Renderer(spec, tokenizer, 100_000, 0), ShotPool(items, 0)
    rows = make_rows(items, renderer, pool, shots, 100_000)
    assert rows.dropped == 0
    for item, row in zip(items, rows, strict=True):
        assert tokenizer.decode(row.completion_ids) == gold_answer(item, spec) + tokenizer.eos_token
        assert row.token_ids.count(tokenizer.bos_token_id) == 1
        assert row.prompt_ids == renderer.render(item, pool.choose(item, shots)).token_ids


def test_programs_are_learned_in_place_of_gold_answers_and_recolored_with_their_items(tokenizers: dict[str, Any]) -> None:
    spec, tokenizer = PromptSpec.make("hexagons", format="bare-program"), tokenizers["chat"]
    items = load("hexagons", "train")[:3]
    program = "copy repeat(is(red),right 2) with red=blue"
    items[1] = replace(items[1], meta={**items[1].meta, "program": program})
    renderer, pool = Renderer(spec, tokenizer, 100_000, 0), ShotPool(items, 0)
    answers = [tokenizer.decode(row.completion_ids) for row in make_rows(items, renderer, pool, 0, 100_000)]
    end = tokenizer.eos_token
    assert answers == [gold_answer(items[0], spec) + end, program + end, gold_answer(items[2], spec) + end]
    other = _asked(items[1], (), recolor="0/1").item
    colors = dict(zip(*([action.color for action in made.actions] for made in (items[1], other)), strict=True))
    told = own_program(other) or ""
    red, blue = (colors.get(color, told.split()[-1].split("=")[n]) for n, color in enumerate(("red", "blue")))
    assert told == f"copy repeat(is({red}),right 2) with {red}={blue}"


def test_long_rows_are_dropped_and_counted_and_the_others_are_whole(tokenizers: dict[str, Any]) -> None:
    items = load("hexagons", "train")[:12]
    renderer, pool = Renderer(PromptSpec.make("hexagons"), tokenizers["chat"], 100_000, 0), ShotPool(items, 0)
    rows = make_rows(items, renderer, pool, 0, 100_000)
    lengths = sorted(len(row.prompt_ids) + len(row.completion_ids) for row in rows)
    limit = lengths[len(lengths) // 2]
    fewer = make_rows(items, renderer, pool, 0, limit)
    assert fewer.dropped == sum(length > limit for length in lengths) > 0
    assert set(fewer) <= set(rows)


STEPS: list[Any] = [step([], [], number, procedure) for procedure in "abcd" for number in range(1, 6)]


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 5))
def test_a_smaller_part_lies_within_a_larger_one_and_is_made_of_whole_procedures(one: int, other: int, seed: int) -> None:
    small, large = (subset(STEPS, count, seed) for count in sorted((one, other)))
    assert [len(small), len(large)] == sorted((one, other))
    assert [item for item in large if item in small] == small, "in the order of the items"
    for part in (small, large):
        held = Counter(item.cluster for item in part)
        assert sum(count < 5 for count in held.values()) <= 1


def order_of(items: list[Item], tokens: int, epochs_wanted: int, seed: int) -> list[list[int]]:
    """The target tokens, epoch by epoch; every row has a different target token."""
    rows = {item.cluster: [] for item in items}  # type: ignore[var-annotated]
    for number, item in enumerate(items):
        rows[item.cluster].append(TrainingRow(item.id, (0, number), (number,)))
    made = rows_of(list(rows.values()))
    training = load_recipe("llama-lora", [f"training.tokens={tokens}", f"training.seed={seed}"]).training
    plans = [plan_epoch(made, epoch, training, tokens) for epoch in range(epochs_wanted)]
    return [[int(token) for plan in epoch for token in plan.write().labels] for epoch in plans]


def test_the_steps_of_a_procedure_keep_their_order_and_share_a_pack() -> None:
    (epoch,) = order_of(STEPS, 12, 1, seed=0)
    assert [epoch[n : n + 5] for n in range(0, 20, 5)] == [list(range(epoch[n], epoch[n] + 5)) for n in range(0, 20, 5)]


def test_colors_are_exchanged_afresh_in_each_epoch_and_consistently_within_a_procedure() -> None:
    items = load("hexagons", "train")

    def epoch(recolor: str | None) -> list[Item]:
        return [_asked(item, (), recolor).item for item in items]

    assert epoch(None) == items
    once, again = epoch("0/1"), epoch("0/2")
    assert once == epoch("0/1") != again
    for before, after in pairwise(once):
        if before.cluster == after.cluster:
            assert after.history[-1] == Executed(before.actions)


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
@pytest.mark.parametrize("workers", [1, 2])
def test_rows_of_any_number_of_workers_are_the_renderers_and_are_made_once(
    tokenizers: dict[str, Any], task: str, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    items = load(task, "train")[:40]
    renderer, pool = Renderer(PromptSpec.make(task), tokenizers["chat"], 100_000, 0), ShotPool(items, 0)
    direct = {item.id: renderer.training_row(item, pool.choose(item, 1)) for item in items}
    made = make_rows(items, renderer, pool, 1, 100_000, workers=workers)
    assert {row.id: row for row in made} == direct
    monkeypatch.setattr("adapters.row_cache._columns", lambda parts, renderer: pytest.fail("rows were made again"))
    assert list(make_rows(items, renderer, pool, 1, 100_000)) == list(made)
    shorter = make_rows(items, renderer, pool, 1, min(map(len, made)))
    assert 0 < len(shorter) < len(items)
    assert len(list(tmp_path.glob("rows/generator/*/*/*.arrow"))) == workers


def test_other_items_answers_examples_formats_and_tokenizers_are_other_rows(tokenizers: dict[str, Any]) -> None:
    items = load("hexagons", "train")[:3]
    asked = [RowSource(item, ()) for item in items]
    spec, chat = PromptSpec.make("hexagons"), tokenizers["chat"]
    others = [
        (asked, spec, chat),
        (asked[:2], spec, chat),
        ([*asked[:2], RowSource(replace(items[2], meta={"program": "none"}), ())], spec, chat),
        ([*asked[:2], RowSource(items[2], (items[0],))], spec, chat),
        (asked, PromptSpec.make("hexagons", context="no-history"), chat),
        (asked, spec, tokenizers["plain"]),
    ]
    keys = [_fingerprint(one, Renderer(form, tokenizer, 100_000, 0)) for one, form, tokenizer in others]
    assert len(set(keys)) == len(others)
    assert keys[0] == _fingerprint(asked, Renderer(spec, chat, 100_000, 0))


@pytest.mark.parametrize("workers", [1, 2])
def test_the_reason_why_a_row_cannot_be_made_is_reported(tokenizers: dict[str, Any], workers: int) -> None:
    items = load("hexagons", "train")[:4]
    renderer = Renderer(PromptSpec.make("hexagons"), deepcopy(tokenizers["chat"]), 100_000, 0)
    renderer.tokenizer.eos_token = None
    with pytest.raises(EngineError, match="no EOS token"):
        make_rows(items, renderer, ShotPool(items, 0), 0, 100_000, workers=workers)


@pytest.mark.parametrize(("unused", "left"), [(0, 1), (3600, 2)])
def test_the_least_recently_used_rows_leave_the_cache(
    tokenizers: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unused: int, left: int
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr("harness.util.files.MOST", 1)
    monkeypatch.setattr("adapters.row_cache.drop_old", partial(drop_old, unused=unused))
    items = load("hexagons", "train")[:2]
    renderer = Renderer(PromptSpec.make("hexagons"), tokenizers["chat"], 100_000, 0)
    for item in items:
        make_rows([item], renderer, ShotPool([], 0), 0, 100_000)
    assert len(list(tmp_path.glob("rows/generator/*"))) == left
