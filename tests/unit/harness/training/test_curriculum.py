"""Curriculum learning: the difficulty of items, and the items of each stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.recipe import FinetuneRecipe, load_recipe
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Item, MinecraftItem
from harness.errors import UsageError
from harness.training.curriculum import METRICS, Curriculum, difficulties, stages
from prompts.rendered import TrainingRow
from prompts.spec import PromptSpec
from tests.helpers.slope import Killed, curve, dying, fit
from tests.helpers.training_rows import rows_of

DIFFICULTIES = get_args(Curriculum.model_fields["difficulty"].annotation)


@pytest.fixture(autouse=True)
def _metrics_of_numbers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In tests that are not about items, an item is a number and equals its difficulty, whatever the metric."""
    if "items" not in request.fixturenames:
        for name in METRICS:
            monkeypatch.setitem(METRICS, name, int)


@pytest.fixture(params=["hexagons", "minecraft"])
def items(request: pytest.FixtureRequest) -> list[Item]:
    return load(request.param, "train")


def test_difficulty_counts_words_and_actions(items: list[Item]) -> None:
    for item in items:
        context, actions, instruction = (METRICS[name](item) for name in ("D", "L_A", "L_I"))
        assert actions == len(item.actions)
        assert 0 <= instruction <= context
        if isinstance(item, HexagonsItem):
            assert instruction >= len(item.instruction.split())
        assert isinstance(item, MinecraftItem) or not item.history or context > instruction


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_several_metrics_are_the_mean_of_their_ranks(items: list[Item], difficulty: str) -> None:
    found = difficulties(items, difficulty)
    count = len(items)
    assert sum(found) == pytest.approx(count * (count + 1) / 2)
    for name in difficulty.split("+"):
        values = [METRICS[name](item) for item in items]
        if "+" not in difficulty:
            assert sorted(range(count), key=lambda n: (values[n], n)) == sorted(range(count), key=lambda n: (found[n], n))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.integers(2, 7), st.integers(0, 5))
def test_a_stage_has_its_share_of_each_bucket_so_far_and_nothing_of_another(values: Any, buckets: int, seed: int) -> None:
    how = Curriculum(difficulty="D+L_I", buckets=buckets)
    if len(values) < buckets:
        with pytest.raises(UsageError, match=rf"training\.curriculum\.buckets={buckets}: there are {len(values)} items"):
            stages(values, how, seed)
        return
    made = stages(values, how, seed)
    assert made == stages(values, how, seed)
    assert len(made) == buckets
    assert all(made)
    together = [number for stage in made for number in stage]
    assert len(together) == len(set(together)), "no two stages have an item in common"
    size, rest = divmod(len(values), buckets)
    ends = [size * (n + 1) + min(n + 1, rest) for n in range(buckets)]
    for place, stage in enumerate(made):
        # Stage i has the i easiest buckets. Difficulties are compared because equally difficult items may be in either bucket.
        assert max(values[number] for number in stage) <= sorted(values)[ends[place] - 1]
        parts = [(ends[b] - (ends[b - 1] if b else 0)) / buckets for b in range(place + 1)]
        assert abs(len(stage) - sum(parts)) < place + 1
    if len(set(values)) == len(values) and len(values) >= buckets**2:
        easiest = sorted(range(len(values)), key=values.__getitem__)
        for bucket, (low, high) in enumerate(zip([0, *ends], ends, strict=False)):
            share = {len({*easiest[low:high]} & {*stage}) for stage in made[bucket:]}
            assert share <= {(high - low) // buckets, -(-(high - low) // buckets)}
            assert not any({*easiest[low:high]} & {*stage} for stage in made[:bucket])


HOW = {"curriculum": Curriculum(difficulty="D", buckets=3), "epochs": 6, "batch_size": 1, "patience": 2}
NUMBERS = [float(n) for n in range(1, 10)]


def test_training_goes_through_the_stages_then_through_everything(tmp_path: Path) -> None:
    fit(tmp_path, items=NUMBERS, **HOW)
    # A third of 3, of 6 and of 9 items, then three times all 9.
    assert [point["step"] for point in curve(tmp_path)] == [1, 3, 6, 15, 24, 33]


@pytest.mark.parametrize("killed_at", [2, 5, 9, 12])
def test_a_run_that_was_killed_in_a_stage_resumes_there(tmp_path: Path, killed_at: int) -> None:
    fit(tmp_path / "whole", items=NUMBERS, **HOW)
    with pytest.raises(Killed):
        fit(tmp_path / "killed", items=NUMBERS, making=dying(killed_at), checkpoint_minutes=1e-9, **HOW)
    # The first stage is one step, and dev is evaluated before the checkpoint at its end.
    assert (fit(tmp_path / "killed", items=NUMBERS, checkpoint_minutes=1e-9, **HOW)[0].earlier is not None) == (killed_at > 2)
    assert curve(tmp_path / "killed") == curve(tmp_path / "whole")


def test_fewer_items_than_buckets_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"buckets=3: there are 2 items to train on"):
        fit(tmp_path, items=[1.0, 2.0], **HOW)


def test_fine_tuning_has_its_rows_stage_by_stage_and_then_shuffled(items: list[Item]) -> None:
    """The last item's row is too long for the model."""
    from adapters.finetune import FinetuneJob, _curriculum_plans
    from adapters.packing import Packing

    recipe = load_recipe("llama-lora", ["training.curriculum={difficulty: L_A, buckets: 3}", "training.tokens=1"])
    rows = rows_of([[TrainingRow(item.id, (number,), (number,))] for number, item in enumerate(items[:-1])])
    assert isinstance(recipe, FinetuneRecipe)
    assert recipe.training.curriculum
    job = FinetuneJob(name="llama-lora", recipe=recipe, items=items, dev=items, base="", spec=PromptSpec.make(items[0].task))
    asked = [int(number) for plan in _curriculum_plans(job, rows, 1, Packing.TREE) for number in plan.numbers]
    assert asked == [n for stage in stages(items[:-1], recipe.training.curriculum, recipe.training.seed) for n in stage]
