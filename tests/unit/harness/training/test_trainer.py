"""The training of the baselines' networks, with a network of one weight: it resumes, stops and reports errors as it should."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from transformers import get_scheduler

from harness.errors import DataError, HarnessError
from harness.training.checkpoints import checkpoint_step, last_checkpoint
from harness.training.steps import Losses, Steps
from harness.training.trainer import NetworkTrainer, trainer_arguments
from tests.helpers.slope import ITEMS, TRAINING, Killed, Slope, curve, dying, fit


def test_a_run_leaves_its_curve_its_best_models_and_one_checkpoint(tmp_path: Path) -> None:
    result, kept = fit(tmp_path)
    points = curve(tmp_path)
    assert [(point["epoch"], point["step"]) for point in points] == [(1, 3), (2, 6), (3, 9)]
    assert points[-1]["dev_loss"] < points[0]["dev_loss"]
    assert (len(result.curve), result.best) == (3, {**points[-1], "seconds": result.seconds})
    assert [epoch for epoch, _ in kept] == [1, 2, 3]
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["checkpoint-9"]
    named = {path.name for path in (tmp_path / "checkpoints/checkpoint-9").iterdir()}
    assert named == {"model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth", "trainer_state.json"}


@pytest.mark.parametrize(
    ("minutes", "killed_at", "schedule", "optimizer"),
    [
        (1e-9, 2, "constant", "adamw"),
        (1e-9, 3, "linear", "adafactor"),
        (60, 5, "cosine", "adamw"),
        (1e-9, 7, "cosine", "adafactor"),
        (1e-9, 9, "inverse-square-root", "adamw"),
        (60, 2, "constant", "adamw"),
    ],
)
def test_a_killed_run_resumes_and_ends_as_if_it_had_not_been_killed(
    tmp_path: Path, minutes: float, killed_at: int, schedule: str, optimizer: str
) -> None:
    """Wherever the run is killed: in the middle of an epoch or of an evaluation, with or without a checkpoint."""
    how = {"optimizer": optimizer, "schedule": schedule, "warmup": 3 if schedule != "constant" else 0}
    whole, kept = fit(tmp_path / "whole", **how)
    with pytest.raises(Killed):
        fit(tmp_path / "killed", making=dying(killed_at), checkpoint_minutes=minutes, **how)
    result, kept_again = fit(tmp_path / "killed", checkpoint_minutes=minutes, **how)
    assert (result.earlier is not None) == (minutes < 1 or killed_at > 4)
    assert curve(tmp_path / "killed") == curve(tmp_path / "whole")
    assert result.kept == whole.kept
    assert kept_again[-1] == kept[-1]
    assert fit(tmp_path / "killed", checkpoint_minutes=minutes, **how)[1] == [], "it is finished"


def shown(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The curves in TensorBoard, as steps and values, except measurements of time."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder / "tensorboard")).Reload()
    return {
        name: [(event.step, event.value) for event in read.Scalars(name)]
        for name in read.Tags()["scalars"]
        if "second" not in name
    }


def test_tensorboard_shows_a_run_that_was_killed_as_one_that_was_not(tmp_path: Path) -> None:
    fit(tmp_path / "whole", schedule="linear")
    with pytest.raises(Killed):
        fit(tmp_path / "killed", making=dying(7), schedule="linear")
    fit(tmp_path / "killed", schedule="linear")
    curves = shown(tmp_path / "whole")
    assert {"train/loss", "train/learning_rate", "train/grad_norm", "eval/loss"} <= {*curves}
    assert [step for step, _ in curves["train/loss"]] == list(range(1, 10))
    assert [value for _, value in curves["train/learning_rate"]] == pytest.approx([0.05 * (1 - step / 9) for step in range(9)])
    assert [value for _, value in curves["eval/loss"]] == pytest.approx([p["dev_loss"] for p in curve(tmp_path / "whole")])
    assert shown(tmp_path / "killed") == curves
    assert len(list((tmp_path / "killed/tensorboard").iterdir())) == 2
    fit(tmp_path / "killed", schedule="linear")
    assert len(list((tmp_path / "killed/tensorboard").iterdir())) == 2, "it was finished"


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
    with pytest.raises(HarnessError, match="the dev loss is nan"):
        fit(tmp_path, Steep(), batch_size=5)
    assert not list(tmp_path.glob("checkpoints/checkpoint-*"))


def test_too_large_a_batch_names_the_one_to_try(tmp_path: Path) -> None:
    class Huge(Slope):
        def forward(self, x: Tensor) -> Losses:
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(HarnessError, match=r"with 64 items at a time: try --set training\.batch_size=32"):
        fit(tmp_path, Huge(), batch_size=64)
    with pytest.raises(HarnessError, match="this GPU is too small"):
        fit(tmp_path, Huge(), batch_size=1)


def test_dev_is_judged_in_batches_that_fit(tmp_path: Path) -> None:
    class Large(Slope):
        def forward(self, x: Tensor) -> Losses:
            if len(x) > 1:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return super().forward(x)

    (small, _), (whole, _) = (fit(tmp_path / name, kind(), batch_size=1) for name, kind in (("l", Large), ("s", Slope)))
    assert small.best["dev_loss"] == pytest.approx(whole.best["dev_loss"])


@pytest.mark.parametrize(
    ("losses", "epochs", "best"),
    [
        ((3, 2, 4, 5, 6, 1, 1), 5, 2),
        ((3, 4, 2, 5, 1, 6, 7), 7, 5),
        ((1, 2, 3, 4, 0, 0, 0), 4, 1),
        ((3, 2, 4, 5, 5, 6, 1), 7, 7),
        ((1, 5, 6, 4, 5, 6, 7), 7, 1),
    ],
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


def test_only_the_parts_that_are_named_are_clipped_each_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clipped: list[tuple[list[Any], float]] = []
    plain = torch.nn.utils.clip_grad_norm_

    def watched(given: Any, norm: float, **how: Any) -> Any:
        clipped.append((list(given), norm))
        return plain(clipped[-1][0], norm, **how)

    monkeypatch.setattr("torch.nn.utils.clip_grad_norm_", watched)
    network = Slope()
    fit(tmp_path, network, epochs=1, batch_size=5)
    assert len(clipped) == 1
    assert clipped[0][0][0] is network.weight.weight
    assert clipped[0][1] == 5.0


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4))
def test_processes_share_the_items_and_have_as_many_steps(items: int, size: int, processes: int) -> None:
    steps = math.ceil(items / (size * processes))
    dataset = Steps(range(items), [steps, 2 * steps], lambda epoch: range(items), size, processes)
    made = [dataset[number] for number in range(len(dataset))]
    assert len(made) == 2 * processes * steps
    for start in range(0, len(made), processes):
        together = made[start : start + processes]
        assert all(part.own <= len(given) <= size and given for part, given in together)
        assert {part.everyone for part, _ in together} == {sum(part.own for part, _ in together)}
    counted = [number for part, given in made for number in given[: part.own]]
    step = size * processes
    for epoch in (counted[:items], counted[items:]):
        assert [sorted(epoch[n : n + step]) for n in range(0, items, step)] == [
            list(range(items))[n : n + step] for n in range(0, items, step)
        ]


def test_items_are_changed_by_the_epoch_they_are_shown_in() -> None:
    vary: Any = "{}{}".format
    made = Steps("ab", [2, 3], ([0, 1], [1]).__getitem__, 1, 1, vary)
    assert [made[number][1] for number in (0, 2, 1)] == [["a0"], ["b1"], ["b0"]]


@pytest.mark.parametrize("name", ["optimizer.pt", "scheduler.pt", "model.safetensors", "rng_state.pth"])
def test_a_broken_checkpoint_is_an_error_of_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(Killed):
        fit(tmp_path, making=dying(5))
    (tmp_path / "checkpoints/checkpoint-3" / name).write_bytes(b"broken")
    with pytest.raises(DataError, match=r"checkpoints/checkpoint-3.* cannot be read") as caught:
        fit(tmp_path)
    assert "\n" not in str(caught.value)


class Planted:
    """An object that would write a file if it were unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["optimizer.pt", "scheduler.pt", "rng_state.pth"])
def test_a_checkpoint_runs_no_code(tmp_path: Path, name: str) -> None:
    with pytest.raises(Killed):
        fit(tmp_path, making=dying(5))
    torch.save({"state": Planted(tmp_path / "ran")}, tmp_path / "checkpoints/checkpoint-3" / name)
    with pytest.raises(DataError, match="cannot be read"):
        fit(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_there_is_a_whole_checkpoint_at_any_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at any write or removal of a file, even if an epoch ends right after a checkpoint was written."""
    seen: list[Path | None] = []

    def watch(work: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **more: Any) -> Any:
            seen.append(last_checkpoint(tmp_path / "checkpoints"))
            return work(*arguments, **more)

        return watched

    for name in ("shutil.rmtree", "os.makedirs", "torch.save", "safetensors.torch.save_file", "json.dumps"):
        module, _, function = name.rpartition(".")
        monkeypatch.setattr(name, watch(getattr(sys.modules[module], function)))
    fit(tmp_path, checkpoint_minutes=1e-9)
    first = next(number for number, path in enumerate(seen) if path)
    assert len(seen) > first + 40
    assert all(seen[first:])
    assert seen[first:] == sorted(seen[first:], key=lambda path: checkpoint_step(path) if path else 0)


def rates(steps: int, **changes: Any) -> list[float]:
    """The learning rates that transformers computes from a recipe's keys."""
    arguments = trainer_arguments(TRAINING.model_copy(update={"learning_rate": 0.1, **changes}), steps, Path("nowhere"))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=arguments.learning_rate)
    warmup = arguments.get_warmup_steps(steps)
    schedule = get_scheduler(arguments.lr_scheduler_type, optimizer, warmup, steps)
    found = []
    for _ in range(steps):
        found.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return found


def test_a_warmup_is_no_longer_than_half_of_a_short_training() -> None:
    assert rates(6, schedule="linear", warmup=100)[3] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [0, 0.05, 0.1, 0.1, 0.1, 0.1]),
        ("inverse-square-root", [0, 0.05, *(0.1 * math.sqrt(2 / step) for step in (2, 3, 4, 5))]),
        ("linear", [0, 0.05, 0.1, 0.075, 0.05, 0.025]),
        ("cosine", [0, 0.05, *(0.05 * (1 + math.cos(math.pi * n / 4)) for n in (0, 1, 2, 3))]),
    ],
)
def test_the_rates_are_those_of_the_formulas(schedule: str, expected: list[float]) -> None:
    assert rates(6, schedule=schedule, warmup=2) == pytest.approx(expected)
