"""Training of the baselines' networks: transformers' Trainer, with epochs of different lengths and a loss per item."""

import os
import time
import warnings
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from accelerate.utils import send_to_device
from transformers import TrainerCallback, TrainingArguments
from transformers.trainer_callback import ExportableState

from harness.engines.shared import in_bf16, memory_for
from harness.errors import UsageError
from harness.training.checkpoints import WEIGHTS, finished_at, last_state, own_weights
from harness.training.job import Trained
from harness.training.recipe import Training
from harness.training.steps import Data, Losses, Steps
from harness.training.watched import Watched, curve, trackers

_DEV_BATCH = 16
"""Fewest dev items per batch: the recipe's batch size matters for learning only."""
_POINTS = 20
"""Most points per epoch in TensorBoard."""


def train_network(network: Any, data: Data, training: Training, folder: Path, keep: Callable[[Any, Trained], None]) -> Trained:
    """Train a network on the mean over a batch's items of each item's mean loss, until the dev loss keeps rising.

    `network` is a torch module whose `forward` takes the output of `data.collate` and returns `Losses`; its attribute `clipped`,
    if it has one, lists the modules whose gradients are clipped separately instead of all together. `keep` is called with the
    network and the result so far at each new lowest dev loss.

    A killed run ends like an uninterrupted one. Raises UsageError if there are no items, and HarnessError for a non-finite loss
    and for too large a batch.
    """
    if not (data.items and data.dev):
        raise UsageError(f"there are {len(data.items)} train items and {len(data.dev)} dev items: training needs both")
    # Gradients of convolutions of size 1 may have any strides, of which torch warns.
    warnings.filterwarnings("ignore", "Grad strides do not match")
    before = last_state(folder)
    points = curve(before.get("log_history", []), NetworkTrainer.columns)
    earlier = len(points) if before else None
    if finished_at(before) is None:
        memory = memory_for(training.batch_size, "--set training.batch_size=", ", and another --name if there are checkpoints")
        with memory:
            trainer = NetworkTrainer(network, data, training, folder, keep)
            trainer.go_on()
        points = trainer.points
    return _result(points, earlier)


def _result(points: Sequence[dict[str, float]], earlier: int | None = None) -> Trained:
    best = max(points, key=NetworkTrainer.score)
    steps, kept = int(points[-1]["step"]), int(best["step"])
    return Trained(steps=steps, kept=kept, seconds=points[-1]["seconds"], curve=points, earlier=earlier)


def trainer_arguments(training: Training, steps: int, folder: Path) -> TrainingArguments:
    """Trainer's arguments. `EpochSchedule` decides when to log, evaluate and save, as epochs may have different lengths."""
    return TrainingArguments(
        output_dir=str(folder / "checkpoints"),
        max_steps=steps,
        # An item of the dataset is a step.
        per_device_train_batch_size=1,
        per_device_eval_batch_size=1,
        train_sampling_strategy="sequential",
        learning_rate=training.learning_rate,
        lr_scheduler_type=training.schedule,
        warmup_steps=min(training.warmup, steps // 2),
        weight_decay=training.weight_decay,
        max_grad_norm=training.max_grad_norm,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        use_cpu=not torch.accelerator.is_available(),
        bf16=in_bf16(training.precision),
        logging_strategy="no",
        eval_strategy="no",
        save_strategy="no",
        save_total_limit=1,
        # Processes that prepare batches; none without a GPU to keep busy.
        dataloader_num_workers=min(8, (os.cpu_count() or 1) - 1) if torch.cuda.is_available() else 0,
        dataloader_pin_memory=torch.cuda.is_available(),
        remove_unused_columns=False,
        disable_tqdm=True,
        report_to=trackers(),
        seed=training.seed,
    )


class NetworkTrainer(Watched):
    """See `train_network`."""

    columns = {
        "epoch": "epoch",
        "step": "step",
        "seconds": "seconds",
        "eval_train_loss": "train_loss",
        "eval_loss": "dev_loss",
    }

    def __init__(self, network: Any, data: Data, training: Training, folder: Path, keep: Callable[[Any, Trained], None]) -> None:
        self.data, self.keep, self.patience = data, keep, training.patience
        self.dev_size, steps = max(_DEV_BATCH, training.batch_size), Steps(data, training)
        arguments, clipped = trainer_arguments(training, len(steps), folder), getattr(network, "clipped", None)
        if clipped:
            arguments.max_grad_norm = 0.0
        adafactor = torch.optim.Adafactor, {"lr": training.learning_rate}
        super().__init__(
            network,
            arguments,
            folder,
            data_collator=self._collate,
            train_dataset=steps,
            optimizer_cls_and_kwargs=adafactor if training.optimizer == "adafactor" else None,
        )
        self.schedule = EpochSchedule(steps.ends, training.checkpoint_minutes)
        self.add_callback(self.schedule)
        if clipped:
            self.add_callback(_ClipParts(clipped, training.max_grad_norm))
        if training.curriculum:
            self.patient_from = steps.ends[training.curriculum.buckets - 1]

    @staticmethod
    def score(point: Mapping[str, float]) -> float:
        return -point["dev_loss"]

    def is_over(self, points: Sequence[Mapping[str, float]], patience: int) -> bool:
        """Whether the dev loss has risen in each of the last `patience` epochs of all items (BAP v2, 12.3).

        An equal loss is no rise, and a curriculum's stages do not count: the paper leaves both open.
        """
        losses = [point["dev_loss"] for point in points if point["step"] > self.patient_from][-patience - 1 :]
        return len(losses) > patience and all(before < after for before, after in pairwise(losses))

    def _collate(self, batch: Sequence[Sequence[Any]]) -> dict[str, Any]:
        (items,) = batch
        # Trainer would take the networks' named tuples apart; it passes a namespace on unchanged.
        return {"batch": SimpleNamespace(inputs=self.data.collate(items))}

    def _losses(self, model: Any, inputs: Any) -> Losses:
        losses: Losses = model(send_to_device(inputs["batch"].inputs, self.args.device))
        return losses

    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None) -> Any:
        sums, counts = self._losses(model, inputs)
        self.schedule.count(len(sums), float(sums.detach().sum()))
        return (sums / counts).sum() / len(sums)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        best = self.state.best_metric
        metrics = super().evaluate(*args, **kwargs)
        if best is None or metrics["eval_loss"] < best:
            self.keep(self.model, _result(self.points))
        return metrics

    def judge(self) -> dict[str, float]:
        """The mean over items of the summed losses of their decisions: on dev, and on train in the epoch that ended."""
        return {"eval_loss": self._dev_loss(), "eval_train_loss": self.schedule.loss / self.schedule.items}

    def _dev_loss(self) -> float:
        dev = self.data.dev
        batches: Any = [dev[start : start + self.dev_size] for start in range(0, len(dev), self.dev_size)]
        self.model.eval()
        with torch.inference_mode():
            sums = [float(self._losses(self.model, inputs).sums.sum()) for inputs in self.get_eval_dataloader(batches)]
        return sum(sums) / len(dev)

    def place(self) -> str:
        return f"{super().place()} (epoch {self.schedule.epochs_done(self.state.global_step - 1) + 1})"

    def write_weights(self, folder: str) -> None:
        """Writes the network's own weights (`own_weights`) and no Python objects."""
        from safetensors.torch import save_file

        Path(folder).mkdir(parents=True, exist_ok=True)
        save_file(own_weights(self.model), Path(folder) / WEIGHTS)


class _ClipParts(TrainerCallback):  # type: ignore[misc]
    """Clips the gradients of the parts that the network names, each separately, in place of Trainer."""

    def __init__(self, parts: Sequence[Any], most: float) -> None:
        self.parts, self.most = parts, most

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        for part in self.parts:
            torch.nn.utils.clip_grad_norm_(part.parameters(), self.most)


class EpochSchedule(TrainerCallback, ExportableState):  # type: ignore[misc]
    """Decides when to log, to evaluate and to write a checkpoint. `ends` are the epochs' last steps."""

    def __init__(self, ends: Sequence[int], minutes: float) -> None:
        self.ends, self.minutes = ends, minutes
        self.saved_at = time.monotonic()
        self.items, self.loss = 0, 0.0
        """The items seen in this epoch, and the sum of their losses."""

    def state(self) -> dict[str, Any]:
        """The state that every checkpoint keeps."""
        return {"args": {}, "attributes": {"items": self.items, "loss": self.loss}}

    def epochs_done(self, step: int) -> int:
        """The number of epochs finished after `step` steps."""
        return bisect_right(self.ends, step)

    def count(self, items: int, loss: float) -> None:
        self.items, self.loss = self.items + items, self.loss + loss

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        counts = state.stateful_callbacks["EpochSchedule"]["attributes"]
        self.items, self.loss = counts["items"], counts["loss"]
        self.saved_at = time.monotonic()

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Make the dropout masks depend on the seed and the step alone."""
        torch.manual_seed(args.seed + state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        step = state.global_step
        epoch = self.epochs_done(step)
        begun = self.ends[epoch - 1] if epoch else 0
        if step == begun:
            state.epoch = epoch
            control.should_log = control.should_evaluate = control.should_save = True
            return
        length = self.ends[epoch] - begun
        state.epoch = epoch + (step - begun) / length
        control.should_log = (step - begun) % max(1, length // _POINTS) == 0
        control.should_save = time.monotonic() - self.saved_at > 60 * self.minutes

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.items, self.loss = 0, 0.0

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.saved_at = time.monotonic()
