"""Shared by the training of adapters and of baselines: a Trainer with progress, curves and resumption."""

import json
import logging
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments
from transformers.integrations import TensorBoardCallback, get_available_reporting_integrations

from harness.engines.shared import brief, quiet_transformers
from harness.errors import DataError, HarnessError, UsageError
from harness.training.checkpoints import checkpoint_step, last_checkpoint
from harness.util.files import write_atomically
from harness.util.terminal import bar

log = logging.getLogger(__name__)

FINITE = {"loss": "loss", "eval_loss": "dev loss", "reward": "reward", "entropy": "entropy"}
"""What must stay a number: the keys of a Trainer's log, and their names."""

Columns = Mapping[str, str]
"""The names of a curve's values, by the keys of a Trainer's log: {"eval_loss": "dev_loss"}."""


def trackers(wanted: Sequence[str] | None = None) -> list[str]:
    """The names of the trackers of a training, by default TensorBoard's if it is installed. Raises UsageError for one that is not
    installed."""
    here = get_available_reporting_integrations()
    if missing := [name for name in wanted or () if name not in here]:
        raise UsageError(f"report_to: {missing[0]} is not installed: pip install 'grid-world-harness[track]'")
    return list(wanted) if wanted is not None else [name for name in here if name == "tensorboard"]


class Watched(Trainer):  # type: ignore[misc]
    """A Trainer with a progress bar, trackers, log.txt and curve.jsonl that resumes from its last checkpoint.

    A subclass measures in `judge`, selects in `columns` the values of the curve's points, and ranks points in `score`. If it has
    a `patience`, training stops when `is_over` says so.

    Raises HarnessError if a value in `FINITE` or a trained weight is not a number. Such weights are never written.
    """

    columns: Columns
    patience: int | None = None
    patient_from = 0

    def __init__(self, model: Any, arguments: TrainingArguments, folder: Path, **given: Any) -> None:
        # A process uses one GPU: with several, Trainer would split batches among them.
        arguments._n_gpu = min(1, arguments.n_gpu)
        # Otherwise Trainer logs a mean in place of a loss that is not a number.
        arguments.logging_nan_inf_filter = False
        self._to_tensorboard = "tensorboard" in arguments.report_to
        arguments.report_to = [name for name in arguments.report_to if name != "tensorboard"]
        super().__init__(model, args=arguments, **given)
        self.remove_callback(PrinterCallback)
        self.folder, self._began, self._before = folder, time.monotonic(), -1.0

    def _save_rng_state(self, output_dir: str) -> None:
        # The first process writes the state file next, which completes a checkpoint: the others must have written their parts.
        # Trainer has no public hook at this place.
        super()._save_rng_state(output_dir)
        self.accelerator.wait_for_everyone()

    def go_on(self) -> None:
        """Train, resuming from the last checkpoint if there is one. Raises DataError if it cannot be read."""
        self._begin_tracking()
        checkpoint, main = last_checkpoint(self.folder / "checkpoints"), self.is_world_process_zero()
        step = checkpoint_step(checkpoint) if checkpoint else 0
        whole = bar("training", self.args.max_steps - step, unit="steps", shown=main)
        # Transformers warns if checkpoints follow each other faster than the resolution of file times.
        with quiet_transformers(), whole as update, ExitStack() as ends:
            progress = _Progress(update, step)
            self.add_callback(progress)
            if main and self._to_tensorboard:
                from torch.utils.tensorboard import SummaryWriter

                # Drop what a killed process wrote about later steps.
                writer = ends.enter_context(closing(SummaryWriter(self.folder / "tensorboard", purge_step=step + 1)))
                self.add_callback(TensorBoardCallback(writer))
            try:
                self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
            except (HarnessError, torch.OutOfMemoryError):
                raise
            except Exception as error:
                if checkpoint is None or progress.moving:
                    raise
                raise DataError(f"{checkpoint} cannot be read ({brief(error)}): remove it to start training again") from error

    def _begin_tracking(self) -> None:
        """Begin the runs of the trackers, which Trainer would begin in its training. Raises HarnessError if one refuses."""
        for callback in self.callback_handler.callbacks:
            try:
                getattr(callback, "setup", lambda *_: None)(self.args, self.state, self.model)
            except Exception as error:
                name = type(callback).__name__.removesuffix("Callback")
                how = "mend this or give another report_to, and repeat the command"
                raise HarnessError(f"report_to: {name} began no run ({brief(error)}): {how}") from error

    @property
    def points(self) -> list[dict[str, float]]:
        """The curve so far."""
        return curve(self.state.log_history, self.columns)

    @staticmethod
    def score(point: Mapping[str, float]) -> Any:
        """The sort key of a point: the higher, the better."""
        raise NotImplementedError

    def judge(self) -> dict[str, float]:
        """The metrics of an evaluation; every key begins with "eval_"."""
        raise NotImplementedError

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        metrics = self.judge()
        self.log(metrics)
        points = self.points
        log.info(", ".join(f"{key} {value:.6g}" for key, value in points[-1].items()))
        if self.is_world_process_zero():
            write_atomically(self.folder / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in points))
        self.control: Any = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        if self.patience and self.is_over(points, self.patience):
            self.control.should_training_stop = True
        return metrics

    def is_over(self, points: Sequence[Mapping[str, float]], patience: int) -> bool:
        """Whether `patience` points in a row, beyond the step `patient_from`, brought no new best."""
        # Of equal points, the first is the best.
        later = points[points.index(max(points, key=self.score)) + 1 :]
        return sum(point["step"] > self.patient_from for point in later) >= patience

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Adds `seconds`: training time, summed over restarts of the run; a killed process counts up to its last checkpoint."""
        if "train_runtime" in logs:  # Trainer's final summary, which the commands print themselves.
            return
        if self._before < 0:
            self._before = max((entry.get("seconds", 0.0) for entry in self.state.log_history), default=0.0)
        super().log({**logs, "seconds": round(self._before + time.monotonic() - self._began, 1)}, start_time)
        logged = self.state.log_history[-1]
        for key in FINITE.keys() & logged:
            if logged[key] is None or not math.isfinite(logged[key]):
                raise self._diverged(f"the {FINITE[key]} is {logged[key]}")

    def place(self) -> str:
        """The last step, in words."""
        return f"step {self.state.global_step}"

    def _diverged(self, how: str) -> HarnessError:
        before = last_checkpoint(self.folder / "checkpoints")
        good = f"the checkpoint before it is {before}" if before else "there is no checkpoint before it"
        return HarnessError(
            f"{how} at {self.place()}; {good}; "
            "try a smaller --set training.learning_rate, or --set training.precision=float32, and another --name"
        )

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """As in Trainer, which calls it before it writes anything else of a checkpoint."""
        trained = (weight for weight in self.model.parameters() if weight.requires_grad)
        if not all(bool(value.isfinite().all()) for value in chain(trained, self.model.buffers())):
            raise self._diverged("a weight is not a number")
        self.write_weights(output_dir or self.args.output_dir)

    def write_weights(self, folder: str) -> None:
        """Write the weights of a checkpoint."""
        super().save_model(folder, _internal_call=True)


class _Progress(TrainerCallback):  # type: ignore[misc]
    """Moves a bar, from the step at which training resumes."""

    def __init__(self, update: Any, begun: int) -> None:
        self.update, self.begun, self.loss = update, begun, ""
        self.moving = False
        """Whether a step has begun: by then, everything in the checkpoint has been read."""

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.moving = True

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.update(state.global_step - self.begun, self.loss)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if "loss" in logs:
            self.loss = f"loss {logs['loss']:.3f}"


def curve(history: Sequence[Mapping[str, float]], columns: Columns) -> list[dict[str, float]]:
    """The evaluations in a Trainer's log."""
    judged = (entry for entry in history if any(key.startswith("eval_") for key in entry))
    return [{name: entry[key] for key, name in columns.items() if key in entry} for entry in judged]
