"""Curriculum learning (BAP v2, 6.2.1 and 12.1): the difficulty of items, the items of each stage, and what follows them."""

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.recipe import load_recipe
from harness.corpora import load
from harness.corpora.item import Item
from harness.errors import UsageError
from harness.simulators.games import game
from harness.training.curriculum import Curriculum, check_curriculum, difficulties, stages
from harness.training.trainer import NetworkTrainer
from prompts.rendered import TrainingRow
from prompts.spec import PromptSpec
from serialization.words import h3_tokens
from tests.helpers.finetuning import rows_of
from tests.helpers.slope import Killed, curve, dying, fit

DIFFICULTIES = get_args(Curriculum.model_fields["difficulty"].annotation)
ORDER = ("minecraft-blocks", "minecraft-shapes", "minecraft-random", "minecraft")


def h3_length(item: Any) -> int:
    return len(h3_tokens(item))


@pytest.fixture(scope="module")
def mixed() -> list[Item]:
    """Items of all four data sets, the most difficult set first."""
    made: list[Item] = list(load("minecraft", "train")[:12])
    for name in ("random", "shapes", "blocks"):
        games = (game(name, 0, "train", n) for n in range(20))
        made += [item for items in games for item in items][:8]
    return made


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_several_metrics_sort_by_the_first_and_break_ties_by_the_next(mixed: list[Item], difficulty: str) -> None:
    metrics = {"D": lambda i: ORDER.index(i.id.split("/")[0]), "L_A": lambda i: len(i.actions), "L_I": h3_length}
    keys = difficulties(mixed, difficulty, h3_length)
    augmented = [replace(item, id=item.id.replace("/", "-augmented/", 1)) for item in mixed]
    assert difficulties(augmented, difficulty, h3_length) == keys
    ordered = sorted(mixed, key=lambda item: keys[mixed.index(item)])
    for name in reversed(difficulty.split("+")):
        mixed = sorted(mixed, key=metrics[name])
    assert ordered == mixed


@pytest.mark.parametrize(
    ("difficulty", "kept", "problem"),
    [
        ("D", "minecraft/", r"difficulty=D: D orders .* and all train items are of minecraft: give L_A, L_I or L_I\+L_A, or add"),
        ("D+L_I", "iglu", r"difficulty=D\+L_I: .*, and iglu is none of them: give L_A"),
        ("L_A", "nothing/", r"buckets=3: there are 0 items"),
    ],
)
def test_what_a_curriculum_cannot_order_is_an_error_of_one_line(
    mixed: list[Item], difficulty: Any, kept: str, problem: str
) -> None:
    items = load("iglu", "train") if kept == "iglu" else [item for item in mixed if item.id.startswith(kept)]
    with pytest.raises(UsageError, match=problem) as caught:
        check_curriculum(items, Curriculum(difficulty=difficulty, buckets=3))
    assert "\n" not in str(caught.value)


@given(st.lists(st.integers(0, 9), min_size=7, max_size=60), st.integers(2, 7), st.integers(0, 5))
def test_a_stage_has_its_share_of_each_bucket_so_far_and_nothing_of_another(values: Any, buckets: int, seed: int) -> None:
    """Here an item is a number, the length of its history."""
    how = Curriculum(difficulty="L_I", buckets=buckets)
    made = stages(values, how, seed, int)
    assert made == stages(values, how, seed, int)
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


HOW = {"curriculum": Curriculum(difficulty="L_I", buckets=3), "epochs": 3, "batch_size": 1, "patience": 2}
NUMBERS = [float(n) for n in range(1, 10)]


def test_training_goes_through_the_stages_then_through_everything(tmp_path: Path) -> None:
    fit(tmp_path, items=NUMBERS, **HOW)
    # A third of 3, of 6 and of 9 items, then three epochs of all 9.
    assert [point["step"] for point in curve(tmp_path)] == [1, 3, 6, 15, 24, 33]
    with pytest.raises(Killed):
        fit(tmp_path / "killed", items=NUMBERS, making=dying(9), checkpoint_minutes=1e-9, **HOW)
    assert fit(tmp_path / "killed", items=NUMBERS, checkpoint_minutes=1e-9, **HOW)[0].earlier is not None
    assert curve(tmp_path / "killed") == curve(tmp_path)


def test_a_loss_that_rises_stops_training_only_after_the_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = count()
    monkeypatch.setattr(NetworkTrainer, "judge", lambda trainer: {"eval_loss": float(next(losses)), "eval_train_loss": 0.0})
    fit(tmp_path, items=NUMBERS, **{**HOW, "epochs": 5})
    assert [point["step"] for point in curve(tmp_path)] == [1, 3, 6, 15, 24, 33]


def test_fine_tuning_has_its_rows_stage_by_stage_and_then_its_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last item's row is too long for the model."""
    from adapters.finetune import FinetuneJob, prepare
    from harness.engines.models.bases import resolve_base
    from prompts.messages import item_view
    from prompts.shots import ShotPool

    items = load("minecraft", "train")
    how = ["training.curriculum={difficulty: L_I+L_A, buckets: 3}", "training.tokens=1", "training.accumulation=1"]
    recipe = load_recipe("llama-lora", [*how, "training.epochs=2"])
    rows = rows_of([[TrainingRow(item.id, (number,), (number,))] for number, item in enumerate(items[:-1])])
    assert recipe.training.curriculum
    made: dict[str, Any] = {"recipe": recipe, "base": resolve_base("smollm2-135m"), "spec": PromptSpec.make("minecraft")}
    job = FinetuneJob(
        name="llama-lora", items=items, dev=items[:1], examples=lambda: ShotPool((), 0), dev_f1=lambda *_: 0.0, **made
    )
    monkeypatch.setattr("adapters.finetune.make_rows", lambda *_: rows)

    def length(item: Item) -> int:
        pieces = item_view(item, job.spec).pieces
        return sum(len(job.tokenizer(piece.text, add_special_tokens=False).input_ids) for piece in pieces)

    packs = prepare(job).packs
    asked = [int(number) for plan in packs for number in plan.numbers]
    staged = [n for stage in stages(items[:-1], recipe.training.curriculum, recipe.training.seed, length) for n in stage]
    assert (asked[: len(staged)], packs.staged) == (staged, len(staged))
    assert sorted(asked[len(staged) :]) == sorted([*range(len(rows))] * 2)
