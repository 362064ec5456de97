"""The training loop that the baselines share, on top of accelerate: one device or several, and every kill survived."""

from __future__ import annotations

import json
import logging
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from harness.baselines.checkpoints import Kept, keep_training, last_training, restore, training_checkpoints, weights_of
from harness.baselines.progress import bar
from harness.baselines.recipe import Training
from harness.corpora.item import Item
from harness.errors import HarnessError
from harness.files import write_atomically

log = logging.getLogger(__name__)

_DEV_BATCH = 16
"""Items of dev at a time, at least: nothing is learned from them, so the recipe's batches do not matter."""
_WORKERS = 8
"""Processes that make batches for a GPU, at most."""


class Losses(NamedTuple):
    """What a network's `forward` makes of a batch: for each item the sum of its decisions' losses, and how many they are."""

    sums: Any
    counts: Any


@dataclass
class State:
    """Where a training run is. Plain values: it is part of every checkpoint."""

    epoch: int = 0
    batch: int = 0
    """Of the epoch: the next one."""
    step: int = 0
    items: int = 0
    """Seen in this epoch."""
    loss: float = 0.0
    """Their sum."""
    seconds: float = 0.0
    best_epoch: int = 0
    best: float = math.inf
    curve: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Trained:
    """What a run came to."""

    epochs: int
    best_epoch: int
    dev_loss: float
    """The lowest: mean over items of the sum of their decisions' losses."""
    seconds: float
    resumed: bool
    """Whether it went on from a checkpoint."""
    before: int
    """How many of the epochs an earlier process had finished."""


class Loop:
    """Trains a network: AdamW on the mean over a batch's items of each item's mean loss, until the dev loss no longer falls.

    `network` is a torch module whose `forward` takes what `collate` makes of items and gives `Losses`; its `clipped` lists the
    modules whose gradients are clipped. `keep` is called with the network and the state at each new lowest dev loss.

    The order of items, and any random choice of the network, depend on the seed and the step alone, so a run that was killed
    ends as one that was not.
    """

    def __init__(
        self,
        network: Any,
        collate: Callable[[Sequence[Any]], Any],
        training: Training,
        folder: Path,
        keep: Callable[[Any, State], None],
    ) -> None:
        import torch
        from accelerate import Accelerator

        self.network, self.collate, self.training, self.folder, self.keep = network, collate, training, folder, keep
        self.accelerator = Accelerator()
        self.state = State()
        learned = [p for p in network.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(learned, lr=training.learning_rate, weight_decay=training.weight_decay, fused=True)
        self.resumed = self._resume(optimizer)
        self.before = self.state.epoch
        self.model, self.optimizer = self.accelerator.prepare(network, optimizer)
        self.saved_at = time.monotonic()

    def run(self, items: Sequence[Item], dev: Sequence[Item]) -> Trained:
        """Train until the recipe's end. Raises HarnessError for a loss that is no number and for too large a batch."""
        import torch

        try:
            while not self._over():
                self._epoch(items)
                self._judge(dev)
        except torch.OutOfMemoryError:
            size = self.training.batch_size
            advice = f"try --set training.batch_size={size // 2}" if size > 1 else "this GPU is too small for the network"
            raise HarnessError(
                f"the GPU has not memory enough for {size} items at a time: {advice}, and another --name if there are checkpoints"
            ) from None
        state = self.state
        return Trained(state.epoch, state.best_epoch, state.best, state.seconds, self.resumed, self.before)

    def _over(self) -> bool:
        state, training = self.state, self.training
        return state.epoch >= training.epochs or state.epoch - state.best_epoch >= training.patience

    def _resume(self, optimizer: Any) -> bool:
        self.accelerator.wait_for_everyone()
        if (kept := last_training(self.folder / "checkpoints")) is None:
            return False
        restore(self.network, kept.weights, self.folder / "checkpoints")
        optimizer.load_state_dict(kept.optimizer)
        self.state = State(**kept.state)
        return True

    def _batches(self, count: int, size: int, order: Random | None) -> list[list[int]]:
        """This process's batches; all processes have as many. Without `order` items stand in a row."""
        numbers = list(range(count))
        if order:
            order.shuffle(numbers)
        everyone, own = self.accelerator.num_processes, self.accelerator.process_index
        chunks = [numbers[start : start + size * everyone] for start in range(0, count, size * everyone)]
        return [chunk[own::everyone] or (chunk[:1] if order else []) for chunk in chunks]

    def _load(self, items: Sequence[Item], batches: list[list[int]]) -> Iterator[Any]:
        """The batches on this process's device."""
        from accelerate.utils import send_to_device
        from torch.utils.data import DataLoader

        on_gpu = self.accelerator.device.type == "cuda"
        workers = min(_WORKERS, (os.cpu_count() or 1) - 1) if on_gpu else 0
        loader = DataLoader(list(items), batch_sampler=batches, collate_fn=self.collate, num_workers=workers)
        for batch in loader:
            yield send_to_device(batch, self.accelerator.device)

    def _forward(self, batch: Any) -> Losses:
        import torch

        with torch.autocast(self.accelerator.device.type, torch.bfloat16, enabled=_in_bf16(self.training)):
            losses: Losses = self.model(batch)
        return losses

    def _epoch(self, items: Sequence[Item]) -> None:
        """The rest of the epoch."""
        state, training = self.state, self.training
        batches = self._batches(len(items), training.batch_size, Random(f"{training.seed}/{state.epoch}"))
        began, before, skipped = time.monotonic(), state.seconds, state.items
        processes = self.accelerator.num_processes
        rest = len(items) - skipped * processes
        self.model.train()
        with bar(f"epoch {state.epoch + 1}", rest, shown=self.accelerator.is_main_process) as update:
            for batch in self._load(items, batches[state.batch :]):
                self._step(batch)
                state.seconds = before + time.monotonic() - began
                update((state.items - skipped) * processes, f"loss {state.loss / state.items:.3f}")
                if time.monotonic() - self.saved_at > 60 * training.checkpoint_minutes:
                    self._save()

    def _step(self, batch: Any) -> None:
        import torch

        state = self.state
        torch.manual_seed(self.training.seed + state.step)
        losses = self._forward(batch)
        total = float(losses.sums.detach().sum())
        if not math.isfinite(total):
            raise self._diverged(f"the loss is {total}")
        self.accelerator.backward((losses.sums / losses.counts).mean())
        for part in self.network.clipped:
            torch.nn.utils.clip_grad_norm_(part.parameters(), self.training.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        state.step, state.batch = state.step + 1, state.batch + 1
        state.items, state.loss = state.items + len(losses.sums), state.loss + total

    def _judge(self, dev: Sequence[Item]) -> None:
        """End the epoch: the loss on dev, a point of the curve, the model if it is the best so far, and a checkpoint."""
        state = self.state
        began = time.monotonic()
        dev_loss = self._mean_loss(dev)
        if not math.isfinite(dev_loss):
            raise self._diverged(f"the dev loss is {dev_loss}")
        train_loss = self._mean(state.loss, state.items)
        state.seconds += time.monotonic() - began
        state.epoch, state.batch, state.items, state.loss = state.epoch + 1, 0, 0, 0.0
        point = {"epoch": state.epoch, "step": state.step, "seconds": round(state.seconds, 1)}
        state.curve.append(point | {"train_loss": train_loss, "dev_loss": dev_loss})
        log.info("epoch %d: train loss %.4f, dev loss %.4f, %.0f s", state.epoch, train_loss, dev_loss, state.seconds)
        if dev_loss <= state.best:
            state.best, state.best_epoch = dev_loss, state.epoch
            if self.accelerator.is_main_process:
                self.keep(self.network, state)
        if self.accelerator.is_main_process:
            write_atomically(self.folder / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in state.curve))
        self._save()

    def _mean_loss(self, items: Sequence[Item]) -> float:
        import torch

        total, count = 0.0, 0
        batches = [b for b in self._batches(len(items), max(_DEV_BATCH, self.training.batch_size), None) if b]
        self.network.eval()
        with (
            torch.inference_mode(),
            torch.autocast(self.accelerator.device.type, torch.bfloat16, enabled=_in_bf16(self.training)),
        ):
            for batch in self._load(items, batches):
                losses = self.network(batch)
                total, count = total + float(losses.sums.sum()), count + len(losses.sums)
        return self._mean(total, count)

    def _mean(self, total: float, count: int) -> float:
        """Over all processes."""
        import torch

        both = torch.tensor([total, count], dtype=torch.float64, device=self.accelerator.device)
        summed = self.accelerator.reduce(both, reduction="sum")
        return float(summed[0] / summed[1])

    def _diverged(self, how: str) -> HarnessError:
        before = training_checkpoints(self.folder / "checkpoints")
        good = f"the checkpoint before it is {before[-1]}" if before else "there is no checkpoint before it"
        return HarnessError(
            f"{how} at step {self.state.step + 1} (epoch {self.state.epoch + 1}); {good}; "
            "try a smaller --set training.learning_rate, or --set training.precision=float32, and another --name"
        )

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            kept = Kept(weights_of(self.network), self.optimizer.state_dict(), asdict(self.state))
            if not all(bool(value.isfinite().all()) for value in kept.weights.values()):
                raise self._diverged("a weight is no number")
            keep_training(self.folder / "checkpoints", self.state.epoch, self.state.step, kept)
        self.saved_at = time.monotonic()


def _in_bf16(training: Training) -> bool:
    from adapters.loop import fast_bf16

    return training.precision == "bfloat16" or (training.precision == "auto" and fast_bf16())
