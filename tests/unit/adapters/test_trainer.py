"""The choice of the best evaluation, and early stopping."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapters.trainer import AnswerTrainer
from harness.training.checkpoints import finished_at, last_state

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


def test_a_finished_run_says_so_in_its_last_checkpoint(tmp_path: Path) -> None:
    assert finished_at(last_state(tmp_path)) is None
    (tmp_path / "checkpoints/checkpoint-30").mkdir(parents=True)
    for over, step in ((False, None), (True, 30)):
        control = {"TrainerControl": {"args": {"should_training_stop": over}}}
        state = {"global_step": 30, "stateful_callbacks": control}
        (tmp_path / "checkpoints/checkpoint-30/trainer_state.json").write_text(json.dumps(state))
        assert finished_at(last_state(tmp_path)) == step
