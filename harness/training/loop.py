"""The training loop that the baselines share, on top of accelerate: one device or several, and every kill survived."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from harness.corpora.item import Item
from harness.errors import HarnessError, UsageError
from harness.training.augmenting import Varied, Vary
from harness.training.checkpoints import Kept, keep_training, last_training, restore, training_checkpoints, weights_of
from harness.training.memory import memory_for
from harness.training.plan import Plan, make_plan, over
from harness.training.progress import Pace, tensorboard
from harness.training.recipe import Training
from harness.training.sharing import Share, accelerator, loaded, shares
from harness.util.files import write_atomically
from harness.util.progress import bar

log = logging.getLogger(__name__)

_DEV_BATCH = 16
"""Items of dev at a time, at least, if they fit: nothing is learned from them, so the recipe's batches do not matter."""
_POINTS = 20
"""Of an epoch in TensorBoard, at most."""


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
    """Seen in this epoch, by all processes."""
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
    """Of the epoch whose model was kept: mean over items of the sum of their decisions' losses."""
    seconds: float
    resumed: bool
    """Whether it went on from a checkpoint."""
    before: int
    """How many of the epochs an earlier process had finished."""


class Loop:
    """Trains a network on the mean over a batch's items of each item's mean loss, until the dev loss no longer falls.

    `network` is a torch module whose `forward` takes what `collate` makes of items and gives `Losses`; its `clipped` lists the
    modules whose gradients are clipped, which may be itself. `keep` is called with the network and the state at each new lowest
    dev loss.

    The order of items, the learning rate, and any random choice of the network depend on the seed and the step alone, so a run
    that was killed ends as one that was not, if it goes on with as many processes. `length`, of an item, makes batches of similar
    ones; `vary` changes the items to train on in each epoch. Several processes take the steps that one with their batches
    together would take, but for dropout, which each draws for its own items.
    """

    def __init__(
        self,
        network: Any,
        collate: Callable[[Sequence[Any]], Any],
        training: Training,
        folder: Path,
        keep: Callable[[Any, State], None],
        length: Callable[[Any], int] | None = None,
        vary: Vary | None = None,
    ) -> None:
        import torch

        self.length, self.vary = length, vary
        self.network, self.collate, self.training, self.folder, self.keep = network, collate, training, folder, keep
        self.accelerator = accelerator()
        self.state = State()
        learned = [p for p in network.parameters() if p.requires_grad]
        how = {"lr": training.learning_rate, "weight_decay": training.weight_decay}
        adafactor = training.optimizer == "adafactor"
        optimizer = torch.optim.Adafactor(learned, **how) if adafactor else torch.optim.AdamW(learned, **how, fused=True)
        self.resumed = self._resume(optimizer)
        self.before = self.state.epoch
        with memory_for(1, ""):
            self.model, self.optimizer = self.accelerator.prepare(network, optimizer)
        self.judged = max(_DEV_BATCH, training.batch_size)
        self.saved_at = time.monotonic()

    def run(self, items: Sequence[Item], dev: Sequence[Item]) -> Trained:
        """Train until the recipe's end.

        Raises UsageError for a recipe that does not fit the items, and HarnessError for a loss that is no number and for too
        large a batch.
        """
        if not (items and dev):
            raise UsageError(f"there are {len(items)} items to train on and {len(dev)} of dev to judge by: both are needed")
        plan = make_plan(items, self.training, self.accelerator.num_processes, self.length)
        written = self.accelerator.is_main_process and not self._over()
        memory = memory_for(
            self.training.batch_size, "--set training.batch_size=", ", and another --name if there are checkpoints"
        )
        with memory, tensorboard(self.folder / "tensorboard", self.state.step, written=written) as write:
            while not self._over():
                self._epoch(items, plan, write)
                self._judge(dev, write)
        state = self.state
        return Trained(state.epoch, state.best_epoch, state.best, state.seconds, self.resumed, self.before)

    def _over(self) -> bool:
        return over(self.training, self.state.epoch, self.state.best_epoch)

    def _resume(self, optimizer: Any) -> bool:
        self.accelerator.wait_for_everyone()
        if (kept := last_training(self.folder / "checkpoints")) is None:
            return False
        restore(self.network, kept.weights, self.folder / "checkpoints")
        optimizer.load_state_dict(kept.optimizer)
        self.state = State(**kept.state)
        return True

    def _load(
        self, items: Sequence[Item] | Varied, numbers: Sequence[int], size: int, done: int = 0
    ) -> Iterator[tuple[Share, Any]]:
        """This process's shares of the items in the order of `numbers`, with their batches, after the first `done`."""
        parts = shares(numbers, size, self.accelerator.num_processes, self.accelerator.process_index)
        return loaded(items, parts[done:], self.collate, self.accelerator.device)

    def _precision(self) -> Any:
        import torch

        return torch.autocast(self.accelerator.device.type, torch.bfloat16, enabled=_in_bf16(self.training))

    def _epoch(self, items: Sequence[Item], plan: Plan, write: Callable[..., None]) -> None:
        """The rest of the epoch."""
        state, training = self.state, self.training
        order = plan.order(state.epoch, training.seed)
        began, before, skipped = time.monotonic(), state.seconds, state.items
        pace = Pace(state.items, state.loss)
        self.model.train()
        shown = Varied(items, self.vary, state.epoch) if self.vary else items
        with bar(f"epoch {state.epoch + 1}", len(order) - skipped, shown=self.accelerator.is_main_process) as update:
            for part, batch in self._load(shown, order, training.batch_size, state.batch):
                rate = self._step(part, batch, plan.steps)
                state.seconds = before + time.monotonic() - began
                update(state.items - skipped, f"loss {state.loss / state.items:.3f}")
                if state.items - pace.items >= len(order) / _POINTS:
                    write(state.step, learning_rate=rate, **pace.since(state.items, state.loss))
                if time.monotonic() - self.saved_at > 60 * training.checkpoint_minutes:
                    self._save()

    def _step(self, part: Share, batch: Any, steps: int) -> float:
        """Learn from a share. Returns the learning rate."""
        import torch

        state, training = self.state, self.training
        torch.manual_seed(training.seed + state.step)
        rate = training.rate(state.step, steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with self._precision():
            losses: Losses = self.model(batch)
        total = self._summed(losses.sums[: part.own])
        if not math.isfinite(total):
            raise self._diverged(f"the loss is {total}")
        # Gradients are averaged over the processes, however many items each of them has.
        mean = (losses.sums / losses.counts)[: part.own].sum() / part.everyone
        self.accelerator.backward(mean * self.accelerator.num_processes)
        for module in self.network.clipped:
            torch.nn.utils.clip_grad_norm_(module.parameters(), training.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        state.step, state.batch = state.step + 1, state.batch + 1
        state.items, state.loss = state.items + part.everyone, state.loss + total
        return rate

    def _judge(self, dev: Sequence[Item], write: Callable[..., None]) -> None:
        """End the epoch: the loss on dev, a point of the curve, the model if it is the best so far, and a checkpoint."""
        state = self.state
        began = time.monotonic()
        dev_loss = self._mean_loss(dev)
        if not math.isfinite(dev_loss):
            raise self._diverged(f"the dev loss is {dev_loss}")
        train_loss = state.loss / state.items
        state.seconds += time.monotonic() - began
        state.epoch, state.batch, state.items, state.loss = state.epoch + 1, 0, 0, 0.0
        point = {"epoch": state.epoch, "step": state.step, "seconds": round(state.seconds, 1)}
        state.curve.append(point | {"train_loss": train_loss, "dev_loss": dev_loss})
        write(state.step, dev_loss=dev_loss)
        log.info("epoch %d: train loss %.4f, dev loss %.4f, %.0f s", state.epoch, train_loss, dev_loss, state.seconds)
        if dev_loss <= state.best or self.training.keep == "last":
            state.best, state.best_epoch = dev_loss, state.epoch
            if self.accelerator.is_main_process:
                self.keep(self.network, state)
        if self.accelerator.is_main_process:
            write_atomically(self.folder / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in state.curve))
        self._save()

    def _mean_loss(self, items: Sequence[Item]) -> float:
        """In smaller batches where the GPU has not memory enough; several processes must have the same, and do not try."""
        import torch

        total = 0.0
        self.network.eval()
        try:
            with torch.inference_mode(), self._precision():
                for part, batch in self._load(items, range(len(items)), self.judged):
                    total += self._summed(self.network(batch).sums[: part.own])
        except torch.OutOfMemoryError:
            if self.judged == self.training.batch_size or self.accelerator.num_processes > 1:
                raise
            self.judged = max(self.judged // 2, self.training.batch_size)
            return self._mean_loss(items)
        return total / len(items)

    def _summed(self, losses: Any) -> float:
        """Over all processes."""
        return float(self.accelerator.reduce(losses.detach().sum(), reduction="sum"))

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
    from harness.engines.shared import fast_bf16

    return training.precision == "bfloat16" or (training.precision == "auto" and fast_bf16())
