"""Training rows: exactly the answer and its stop token carry loss, and no row is ever cut."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.packing import plan_epoch
from adapters.recipe import load_recipe
from adapters.rows import make_rows, recolored
from harness.corpora import load, load_examples
from harness.corpora.item import Executed, own_program
from harness.tasks.registry import TASKS, world_of
from harness.training.plan import subset
from prompts.messages import gold_answer
from prompts.render import Renderer
from prompts.rendered import TrainingRow
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from serialization.formats import formats_in
from tests.helpers.finetuning import rows_of
from tests.helpers.scored import step
from tests.helpers.tiny import build_tiny_model

SPECS = [PromptSpec.make(task, format=name) for task in TASKS for name in formats_in(world_of(task))]


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
    other = recolored(items[1], "0/1")
    colors = dict(zip(*([action.color for action in made.actions] for made in (items[1], other)), strict=True))
    told = own_program(other) or ""
    red, blue = (colors.get(color, told.split()[-1].split("=")[n]) for n, color in enumerate(("red", "blue")))
    assert told == f"copy repeat(is({red}),right 2) with {red}={blue}"


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_long_rows_are_dropped_and_counted_and_the_others_are_whole(tokenizers: dict[str, Any], task: str) -> None:
    items = load(task, "train")[:12]
    renderer, pool = Renderer(PromptSpec.make(task), tokenizers["chat"], 100_000, 0), ShotPool(items, 0)
    rows = make_rows(items, renderer, pool, 0, 100_000)
    assert {row.id: row for row in rows} == {item.id: renderer.training_row(item) for item in items}
    assert rows.size == sum(len(row) for row in rows)
    assert [{items[rows.item(n)].cluster for n in group} for group in rows.groups] == [{c} for c in {i.cluster: 0 for i in items}]
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


def test_the_steps_of_a_procedure_keep_their_order() -> None:
    rows = [TrainingRow(step.id, (0, number), (number,)) for number, step in enumerate(STEPS)]
    made = rows_of([rows[n : n + 5] for n in range(0, 20, 5)])
    training = load_recipe("llama-lora", ["training.tokens=12"]).training
    epoch = [int(token) for plan in plan_epoch(made, 0, training, 12) for token in plan.write().labels]
    assert [epoch[n : n + 5] for n in range(0, 20, 5)] == [list(range(epoch[n], epoch[n] + 5)) for n in range(0, 20, 5)]


def test_colors_are_exchanged_afresh_in_each_epoch_and_consistently_within_a_procedure() -> None:
    items = load("hexagons", "train")

    once, same, again = ([recolored(item, seed) for item in items] for seed in ("0/1", "0/1", "0/2"))
    assert once == same != again
    for before, after in pairwise(once):
        if before.cluster == after.cluster:
            assert after.history[-1] == Executed(before.actions)
