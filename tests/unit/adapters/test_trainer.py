"""Which evaluation is the best, and when there were enough that were not."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.packing import Packing, PackPlan, Packs, listed, plan_packs
from adapters.recipe import load_recipe
from adapters.trainer import AnswerTrainer, trainer_arguments
from harness.errors import HarnessError
from prompts.rendered import TrainingRow

Point = dict[str, float]


def points(*judged: tuple[float, float]) -> list[Point]:
    """F1 and loss, at steps 0, 10, ..."""
    return [{"step": 10 * number, "dev_f1": f1, "dev_loss": loss} for number, (f1, loss) in enumerate(judged)]


@pytest.mark.parametrize(
    ("judged", "step"),
    [
        ([(0.1, 2.0), (0.2, 1.0)], 10),
        ([(0.9, 0.1), (0.2, 1.0), (0.3, 1.0)], 20),
        ([(0.0, 2.0), (0.2, 1.0), (0.2, 0.9), (0.2, 0.9)], 20),
        ([(0.0, 2.0), (0.3, 9.0), (0.2, 0.1)], 10),
    ],
)
def test_the_best_is_by_score_then_by_loss_then_the_first_after_training_began(
    judged: list[tuple[float, float]], step: int
) -> None:
    assert max(points(*judged), key=AnswerTrainer.score)["step"] == step


def test_rows_of_a_later_epoch_that_a_worker_cannot_make_are_one_line(
    tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoModelForCausalLM

    def later(epoch: int) -> list[PackPlan]:
        raise HarnessError("rows: cannot be written")

    monkeypatch.setenv("HARNESS_WORKERS", "1")
    recipe = load_recipe("llama-full", ["training.accumulation=1", "training.evaluations=1", "training.keep=last"])
    first = list(plan_packs(listed([TrainingRow("a", (3, 4), (5,))]), [[0]], 4, 4))
    model = AutoModelForCausalLM.from_pretrained(tiny_base)
    arguments = trainer_arguments(recipe.training, 2, tmp_path)
    packs = Packs(first, 2, later)
    trainer = AnswerTrainer(model, arguments, tmp_path, packs, first, 0, lambda model, **_: 0.0, recipe.training, Packing.TREE)
    with pytest.raises(HarnessError) as caught:
        trainer.go_on()
    assert str(caught.value) == "rows: cannot be written"
