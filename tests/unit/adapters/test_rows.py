"""Training rows: the loss is on exactly the answer and its stop token, and no row is ever cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.rows import TrainingRows, epochs, make_rows, make_together, recolored
from harness.corpora import load, load_examples
from harness.corpora.item import Executed, Item
from harness.training.plan import subset
from prompts.messages import gold_answer
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from serialization.formats import FORMATS
from tests.helpers.scored import step
from tests.helpers.tiny import build_tiny_model

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


@pytest.mark.parametrize("name", ["chat", "plain", "pad is eos"])
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
@pytest.mark.parametrize("shots", [0, 2])
def test_the_trained_text_is_the_answer_and_its_stop_token(
    tokenizers: dict[str, Any], name: str, spec: PromptSpec, shots: int
) -> None:
    tokenizer = tokenizers[name]
    items = load_examples(spec.task)[:4]
    renderer, pool = Renderer(spec, tokenizer, 100_000, 0), ShotPool(items, 0)
    rows = make_rows(items, renderer, pool, shots, 100_000)
    assert rows.dropped == 0
    for item, row in zip(items, rows.kept, strict=True):
        assert tokenizer.decode(row.completion_ids) == gold_answer(item, spec) + tokenizer.eos_token
        assert row.token_ids.count(tokenizer.bos_token_id) == 1
        assert row.prompt_ids == renderer.render(item, pool.choose(item, shots)).token_ids


def test_programs_are_learned_in_place_of_gold_answers_and_recolored_with_their_items(tokenizers: dict[str, Any]) -> None:
    spec, tokenizer = PromptSpec.make("hexagons", format="bare-program"), tokenizers["chat"]
    items = load("hexagons", "train")[:3]
    told = {items[1].id: "copy repeat(is(red),right 2) with red=blue"}
    renderer, pool = Renderer(spec, tokenizer, 100_000, 0), ShotPool(items, 0)
    answers = [tokenizer.decode(row.completion_ids) for row in make_rows(items, renderer, pool, 0, 100_000, told).kept]
    end = tokenizer.eos_token
    assert answers == [gold_answer(items[0], spec) + end, told[items[1].id] + end, gold_answer(items[2], spec) + end]
    changed, retold = recolored(items, told, 1, seed=0)
    colors = dict(zip(*([a.color for i in made for a in i.actions] for made in (items, changed)), strict=True))
    red, blue = (colors.get(color, retold[items[1].id].split()[-1].split("=")[n]) for n, color in enumerate(("red", "blue")))
    assert retold == {items[1].id: f"copy repeat(is({red}),right 2) with {red}={blue}"}


def test_long_rows_are_dropped_and_counted_and_the_others_are_whole(tokenizers: dict[str, Any]) -> None:
    items = load("hexagons", "train")[:12]
    renderer, pool = Renderer(PromptSpec.make("hexagons"), tokenizers["chat"], 100_000, 0), ShotPool(items, 0)
    rows = make_rows(items, renderer, pool, 0, 100_000).kept
    lengths = sorted(len(row.prompt_ids) + len(row.completion_ids) for row in rows)
    limit = lengths[len(lengths) // 2]
    fewer = make_rows(items, renderer, pool, 0, limit)
    assert fewer.dropped == sum(length > limit for length in lengths) > 0
    assert set(fewer.kept) <= set(rows)


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
    """The tokens asked for, epoch by epoch; every row asks for a token of its own."""
    rows = {item.cluster: [] for item in items}  # type: ignore[var-annotated]
    for number, item in enumerate(items):
        rows[item.cluster].append(TrainingRow(item.id, (0, number), (number,)))
    made = TrainingRows(tuple(map(tuple, rows.values())), 0)
    packs = islice(epochs(lambda epoch: made, tokens, tokens, seed), epochs_wanted)
    return [[token for pack in epoch for token in pack.labels] for epoch in packs]


def test_the_steps_of_a_procedure_keep_their_order_and_share_a_pack() -> None:
    (epoch,) = order_of(STEPS, 12, 1, seed=0)
    assert [epoch[n : n + 5] for n in range(0, 20, 5)] == [list(range(epoch[n], epoch[n] + 5)) for n in range(0, 20, 5)]


def test_colors_are_exchanged_anew_in_each_epoch_and_alike_within_a_procedure() -> None:
    items = load("hexagons", "train")
    assert recolored(items, {}, 0, seed=0) == (items, {})
    once, again = recolored(items, {}, 1, seed=0)[0], recolored(items, {}, 2, seed=0)[0]
    assert once == recolored(items, {}, 1, seed=0)[0] != again
    for before, after in pairwise(once):
        if before.cluster == after.cluster:
            assert after.history[-1] == Executed(before.actions)


def test_rows_that_processes_make_together_are_those_that_one_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    items = load("hexagons", "train")

    def make(part: Sequence[Item]) -> TrainingRows:
        groups: dict[str, list[TrainingRow]] = {}
        for item in part:
            groups.setdefault(item.cluster, []).append(TrainingRow(item.id, (1,), (2,)))
        return TrainingRows(tuple(map(tuple, groups.values())), len(part))

    parts: list[TrainingRows] = []

    def gathered(part: TrainingRows) -> list[TrainingRows]:
        parts.append(part)
        return parts

    for index in range(3):
        monkeypatch.setattr("adapters.rows.processes", lambda i=index: SimpleNamespace(num_processes=3, process_index=i))
        monkeypatch.setattr("adapters.rows.gathered", gathered)
        together = make_together(items, make)
    assert len(parts) == 3
    assert together == make(items)
