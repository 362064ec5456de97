"""The training of the baselines' networks, with a network of one weight: it resumes, stops and reports errors as it should."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from harness.errors import DataError, HarnessError
from harness.training.steps import Data, Losses, Steps
from harness.training.trainer import NetworkTrainer
from tests.helpers.slope import ITEMS, TRAINING, Killed, Slope, curve, dying, fit


def test_a_run_leaves_its_curve_its_best_models_and_one_checkpoint(tmp_path: Path) -> None:
    result, kept = fit(tmp_path)
    points = curve(tmp_path)
    assert [(point["epoch"], point["step"]) for point in points] == [(1, 3), (2, 6), (3, 9)]
    assert points[-1]["dev_loss"] < points[0]["dev_loss"]
    assert (len(result.curve), result.best) == (3, {**points[-1], "seconds": result.seconds})
    assert [epoch for epoch, _ in kept] == [1, 2, 3]
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["checkpoint-9"]


@pytest.mark.parametrize(
    ("minutes", "killed_at", "schedule", "optimizer"),
    [(1e-9, 3, "linear", "adafactor"), (60, 5, "cosine", "adamw"), (1e-9, 9, "inverse_sqrt", "adamw")],
)
def test_a_killed_run_resumes_and_ends_as_if_it_had_not_been_killed(
    tmp_path: Path, minutes: float, killed_at: int, schedule: str, optimizer: str
) -> None:
    """Wherever the run is killed: in the middle of an epoch or of an evaluation, with or without a checkpoint."""
    how = {"optimizer": optimizer, "schedule": schedule, "warmup": 3}
    whole, kept = fit(tmp_path / "whole", **how)
    with pytest.raises(Killed):
        fit(tmp_path / "killed", making=dying(killed_at), checkpoint_minutes=minutes, **how)
    result, kept_again = fit(tmp_path / "killed", checkpoint_minutes=minutes, **how)
    assert (result.earlier is not None) == (minutes < 1 or killed_at > 4)
    assert curve(tmp_path / "killed") == curve(tmp_path / "whole")
    assert result.kept == whole.kept
    assert kept_again[-1] == kept[-1]
    assert fit(tmp_path / "killed", checkpoint_minutes=minutes, **how)[1] == [], "it is finished"


def test_a_loss_that_is_not_a_number_ends_training_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"the loss is nan at step 1 \(epoch 1\); there is no checkpoint") as caught:
        fit(tmp_path / "at-once", items=[math.nan])
    assert "\n" not in str(caught.value)
    broken = [*ITEMS, math.nan]
    with pytest.raises(HarnessError, match="the loss is nan at step") as caught:
        fit(tmp_path / "later", items=broken, batch_size=1, checkpoint_minutes=1e-9)
    (last,) = (tmp_path / "later/checkpoints").iterdir()
    assert f"at step {int(last.name.removeprefix('checkpoint-')) + 1} (epoch 1); the checkpoint before it is {last};" in str(
        caught.value
    )
    assert fit(tmp_path / "later", items=ITEMS, batch_size=1)[0].earlier is not None


def test_a_checkpoint_with_weights_that_are_not_numbers_is_never_written(tmp_path: Path) -> None:
    """A finite loss can have an infinite gradient."""

    class Steep(Slope):
        def forward(self, x: Tensor) -> Losses:
            good = super().forward(x)
            return Losses(good.sums + (0 * (self.weight.weight - self.weight.weight).sqrt()).sum(), good.counts)

    with pytest.raises(HarnessError, match="a weight is not a number at step 1"):
        fit(tmp_path, Steep(), batch_size=1, checkpoint_minutes=1e-9)
    assert not list(tmp_path.glob("checkpoints/checkpoint-*"))


def test_too_large_a_batch_names_the_one_to_try(tmp_path: Path) -> None:
    class Huge(Slope):
        def forward(self, x: Tensor) -> Losses:
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(HarnessError, match=r"with 64 items at a time: try --set training\.batch_size=32"):
        fit(tmp_path, Huge(), batch_size=64)
    with pytest.raises(HarnessError, match="this GPU is too small"):
        fit(tmp_path, Huge(), batch_size=1)


@pytest.mark.parametrize(
    ("losses", "epochs", "best"),
    [((3, 2, 4, 5, 6, 1, 1), 5, 2), ((1, 2, 3, 4, 0, 0, 0), 4, 1), ((3, 2, 4, 5, 5, 6, 1), 7, 7)],
)
def test_it_stops_when_the_dev_loss_has_risen_in_some_epochs_in_a_row(
    tmp_path: Path, losses: tuple[float, ...], epochs: int, best: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same holds if the run is killed on the way, at the third evaluation on dev."""

    def judged(killed: int, given: Iterator[float]) -> Callable[[Any], dict[str, float]]:
        def judge(trainer: NetworkTrainer) -> dict[str, float]:
            if trainer.state.global_step == killed:
                raise Killed
            return {"eval_loss": next(given), "eval_train_loss": 0.0}

        return judge

    given = iter(losses)
    monkeypatch.setattr(NetworkTrainer, "judge", judged(9, given))
    with pytest.raises(Killed):
        fit(tmp_path, epochs=7)
    monkeypatch.setattr(NetworkTrainer, "judge", judged(0, given))
    result, kept = fit(tmp_path, epochs=7)
    assert (len(result.curve), result.best["epoch"], result.earlier) == (epochs, best, 2)
    assert kept[-1:] == [] if best < 3 else kept[-1][0] == best
    again, kept = fit(tmp_path, epochs=7)
    assert (len(again.curve), again.best["epoch"], again.earlier, kept) == (epochs, best, epochs, [])


def test_the_items_of_each_step_are_changed_by_the_epoch_they_are_shown_in() -> None:
    vary: Any = "{}{}".format
    made = Steps(Data("abc", "", list, len, vary=vary), TRAINING.model_copy(update={"epochs": 2}))
    assert len(made) == 4
    for epoch in (1, 0):
        first, last = made[2 * epoch], made[2 * epoch + 1]
        assert (len(first), sorted(first + last)) == (2, [f"{letter}{epoch}" for letter in "abc"])


@pytest.mark.parametrize("name", ["optimizer.pt", "model.safetensors", "rng_state.pth"])
def test_a_broken_checkpoint_is_an_error_of_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(Killed):
        fit(tmp_path, making=dying(5))
    (tmp_path / "checkpoints/checkpoint-3" / name).write_bytes(b"broken")
    with pytest.raises(DataError, match=r"checkpoints/checkpoint-3.* cannot be read") as caught:
        fit(tmp_path)
    assert "\n" not in str(caught.value)
