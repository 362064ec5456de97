"""The loop that the baselines share, on a network of one weight: it resumes, stops and complains as it should."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from harness.errors import DataError, HarnessError, UsageError
from harness.training.checkpoints import training_checkpoints
from harness.training.curriculum import Curriculum
from harness.training.loop import Loop, Losses, State, Trained
from harness.training.recipe import Training
from harness.training.sharing import shares

TRAINING = Training(
    epochs=3,
    patience=3,
    batch_size=2,
    learning_rate=0.05,
    weight_decay=0.0,
    max_grad_norm=5.0,
    precision="float32",
    checkpoint_minutes=60,
    seed=0,
)
ITEMS: list[Any] = [1.0, 2.0, 3.0, 4.0, 5.0]


class Slope(nn.Module):  # type: ignore[misc]
    """Learns that y = 3 x, with dropout, from one decision an item."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Linear(1, 1, bias=False)
        self.weight.weight.data[:] = 0.5
        self.dropout = nn.Dropout(0.5)

    @property
    def clipped(self) -> list[nn.Module]:
        return [self.weight]

    def forward(self, x: Tensor) -> Losses:
        return Losses((self.weight(self.dropout(x)) - 3 * x).square().flatten(), torch.ones(len(x)))


class Killed(Exception):
    """What a kill is in these tests."""


def collate(items: Sequence[float]) -> Tensor:
    return torch.tensor(items)[:, None]


def dying(batches: int) -> Callable[[Sequence[float]], Tensor]:
    """Makes so many batches, and then is killed."""
    made = 0

    def make(items: Sequence[float]) -> Tensor:
        nonlocal made
        made += 1
        if made > batches:
            raise Killed
        return collate(items)

    return make


def fit(folder: Path, network: Any = None, making: Any = collate, items: Any = ITEMS, **changes: Any) -> tuple[Trained, Any]:
    network = network or Slope()
    kept: list[tuple[int, Any]] = []
    loop = Loop(
        network,
        making,
        TRAINING.model_copy(update=changes),
        folder,
        lambda best, state: kept.append((state.best_epoch, {k: v.clone() for k, v in best.state_dict().items()})),
    )
    dev: Any = [1.0, 2.0]
    return loop.run(items, dev), kept


def curve(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "curve.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


def test_a_run_leaves_its_curve_its_best_models_and_one_checkpoint(tmp_path: Path) -> None:
    result, kept = fit(tmp_path)
    points = curve(tmp_path)
    assert [(point["epoch"], point["step"]) for point in points] == [(1, 3), (2, 6), (3, 9)]
    assert points[-1]["dev_loss"] < points[0]["dev_loss"]
    assert (result.epochs, result.best_epoch, result.dev_loss) == (3, 3, points[-1]["dev_loss"])
    assert [epoch for epoch, _ in kept] == [1, 2, 3]
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["3-9"]
    assert {path.name for path in (tmp_path / "checkpoints/3-9").iterdir()} == {"model.safetensors", "optimizer.pt", "state.json"}


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
def test_a_killed_run_goes_on_and_ends_as_if_it_had_not_been(
    tmp_path: Path, minutes: float, killed_at: int, schedule: str, optimizer: str
) -> None:
    """Wherever it is killed, in the middle of an epoch or while it is judged, and with or without a checkpoint."""
    how = {"optimizer": optimizer, "schedule": schedule, "warmup": 3 if schedule != "constant" else 0}
    whole, kept = fit(tmp_path / "whole", **how)
    with pytest.raises(Killed):
        fit(tmp_path / "killed", making=dying(killed_at), checkpoint_minutes=minutes, **how)
    result, kept_again = fit(tmp_path / "killed", checkpoint_minutes=minutes, **how)
    assert result.resumed == (minutes < 1 or killed_at > 4)
    assert curve(tmp_path / "killed") == curve(tmp_path / "whole")
    assert (result.dev_loss, result.best_epoch) == (whole.dev_loss, whole.best_epoch)
    assert kept_again[-1] == kept[-1]
    assert fit(tmp_path / "killed", checkpoint_minutes=minutes, **how)[1] == [], "it is finished"


def shown(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard shows, by curve: steps and values, but those of items a second."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder / "tensorboard")).Reload()
    return {
        name: [(event.step, 0.0 if "items" in name else event.value) for event in read.Scalars(name)]
        for name in read.Tags()["scalars"]
    }


def test_tensorboard_shows_a_run_that_was_killed_as_one_that_was_not(tmp_path: Path) -> None:
    fit(tmp_path / "whole", schedule="linear")
    with pytest.raises(Killed):
        fit(tmp_path / "killed", making=dying(7), schedule="linear")
    fit(tmp_path / "killed", schedule="linear")
    curves = shown(tmp_path / "whole")
    assert sorted(curves) == ["dev loss", "items a second", "learning rate", "train loss"]
    assert [step for step, _ in curves["train loss"]] == list(range(1, 10))
    assert [value for _, value in curves["learning rate"]] == pytest.approx([0.05 * (1 - step / 9) for step in range(9)])
    assert [value for _, value in curves["dev loss"]] == pytest.approx([p["dev_loss"] for p in curve(tmp_path / "whole")])
    assert shown(tmp_path / "killed") == curves
    assert len(list((tmp_path / "killed/tensorboard").iterdir())) == 2
    fit(tmp_path / "killed", schedule="linear")
    assert len(list((tmp_path / "killed/tensorboard").iterdir())) == 2, "it was finished"


def test_a_recipe_that_does_not_fit_the_items_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="0 items to train on"):
        fit(tmp_path, items=[])
    with pytest.raises(UsageError, match=r"training\.epochs=2: .* give at least 3, or fewer buckets"):
        fit(tmp_path, epochs=2, curriculum=Curriculum(difficulty="D", buckets=2))


def test_the_last_model_is_kept_where_the_recipe_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here dev only gets worse."""
    losses = iter(range(1, 20))
    monkeypatch.setattr("harness.training.loop.Loop._mean_loss", lambda self, items: float(next(losses)))
    result, kept = fit(tmp_path, keep="last", patience=1)
    assert (result.epochs, result.best_epoch, result.dev_loss, [epoch for epoch, _ in kept]) == (3, 3, 3.0, [1, 2, 3])


def test_a_loss_that_is_no_number_ends_it_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"the loss is nan at step 1 \(epoch 1\); there is no checkpoint") as caught:
        fit(tmp_path / "at-once", items=[math.nan])
    assert "\n" not in str(caught.value)
    broken = [*ITEMS, math.nan]
    with pytest.raises(HarnessError, match="the loss is nan at step") as caught:
        fit(tmp_path / "later", items=broken, batch_size=1, checkpoint_minutes=1e-9)
    (last,) = (tmp_path / "later/checkpoints").glob("[0-9]*")
    assert f"at step {int(last.name.removeprefix('0-')) + 1} (epoch 1); the checkpoint before it is {last};" in str(caught.value)
    assert fit(tmp_path / "later", items=ITEMS, batch_size=1)[0].resumed


def test_a_checkpoint_with_weights_that_are_no_numbers_is_never_written(tmp_path: Path) -> None:
    """A finite loss can have a gradient that is not."""

    class Steep(Slope):
        def forward(self, x: Tensor) -> Losses:
            good = super().forward(x)
            return Losses(good.sums + (0 * (self.weight.weight - self.weight.weight).sqrt()).sum(), good.counts)

    with pytest.raises(HarnessError, match="a weight is no number at step 2"):
        fit(tmp_path, Steep(), batch_size=1, checkpoint_minutes=1e-9)
    assert not list(tmp_path.glob("checkpoints/[0-9]*"))
    with pytest.raises(HarnessError, match="the dev loss is nan"):
        fit(tmp_path, Steep(), batch_size=5)
    assert not list(tmp_path.glob("checkpoints/[0-9]*"))


def test_too_large_a_batch_names_the_one_to_try(tmp_path: Path) -> None:
    class Huge(Slope):
        def forward(self, x: Tensor) -> Losses:
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(HarnessError, match=r"for 64 items at a time: try --set training\.batch_size=32"):
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
    assert small.dev_loss == pytest.approx(whole.dev_loss)


@pytest.mark.parametrize(
    ("losses", "epochs", "best"), [((3, 2, 2, 4, 4, 4, 1), 6, 3), ((3, 4, 2, 5, 1, 6, 7), 7, 5), ((1, 2, 3, 4, 0, 0, 0), 4, 1)]
)
def test_it_stops_when_dev_has_not_been_lower_for_some_epochs(
    tmp_path: Path, losses: tuple[float, ...], epochs: int, best: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tie counts as a new best."""
    given = iter(losses)
    monkeypatch.setattr(Loop, "_mean_loss", lambda self, items: next(given))
    result, kept = fit(tmp_path, epochs=7)
    assert (result.epochs, result.best_epoch, kept[-1][0]) == (epochs, best, best)


def test_only_the_parts_that_are_named_are_clipped_each_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clipped: list[tuple[list[Any], float]] = []
    monkeypatch.setattr("torch.nn.utils.clip_grad_norm_", lambda given, norm: clipped.append((list(given), norm)))
    network = Slope()
    fit(tmp_path, network, epochs=1, batch_size=5)
    assert len(clipped) == 1
    assert clipped[0][0][0] is network.weight.weight
    assert clipped[0][1] == 5.0


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4))
def test_processes_share_the_items_and_have_as_many_steps(items: int, size: int, processes: int) -> None:
    made = [shares(range(items), size, processes, process) for process in range(processes)]
    for step, together in enumerate(zip(*made, strict=True)):
        assert all(part.numbers and part.own <= len(part.numbers) <= size for part in together)
        assert {part.everyone for part in together} == {sum(part.own for part in together)}
        counted = sorted(number for part in together for number in part.numbers[: part.own])
        assert counted == list(range(items))[step * size * processes : (step + 1) * size * processes]
    assert sum(part.own for own in made for part in own) == items


@pytest.mark.parametrize("name", ["optimizer.pt", "model.safetensors", "state.json"])
def test_a_broken_checkpoint_is_one_line(tmp_path: Path, name: str) -> None:
    fit(tmp_path)
    (tmp_path / "checkpoints/3-9" / name).write_bytes(b"broken")
    with pytest.raises(DataError, match="checkpoints/3-9 cannot be read"):
        fit(tmp_path)


def test_a_checkpoint_of_another_network_is_one_line(tmp_path: Path) -> None:
    fit(tmp_path)
    network = Slope()
    network.weight = nn.Linear(1, 2)
    with pytest.raises(DataError, match="another variant: weight"):
        fit(tmp_path, network)


def test_there_is_a_whole_checkpoint_at_any_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at whatever removal or renaming: also where an epoch ends just after a checkpoint was written."""
    seen: list[list[str]] = []

    def watch(work: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **more: Any) -> Any:
            seen.append([path.name for path in training_checkpoints(tmp_path / "checkpoints")])
            return work(*arguments, **more)

        return watched

    monkeypatch.setattr("shutil.rmtree", watch(shutil.rmtree))
    monkeypatch.setattr(Path, "replace", watch(Path.replace))
    fit(tmp_path, checkpoint_minutes=1e-9)
    assert all(seen[2:])
    assert training_checkpoints(tmp_path / "checkpoints")[-1].name == "3-9"


def test_half_a_checkpoint_is_not_gone_on_from(tmp_path: Path) -> None:
    (tmp_path / "checkpoints/.partial").mkdir(parents=True)
    assert not fit(tmp_path)[0].resumed


def test_the_state_survives_json() -> None:
    state = State(curve=[{"epoch": 1}])
    assert State(**json.loads(json.dumps(vars(state)))) == state
