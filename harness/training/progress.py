"""What is seen of a training while it runs beside its bar: the pace of the loss, and TensorBoard's curves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path


class Pace:
    """Train loss and items a second since they were last asked for, from counts that grow within an epoch."""

    def __init__(self, items: int, loss: float) -> None:
        self.items, self.loss, self.at = items, loss, time.monotonic()

    def since(self, items: int, loss: float) -> dict[str, float]:
        """Means over the items since the last time; `loss` is the sum of all losses so far."""
        count, now = items - self.items, time.monotonic()
        means = {"train_loss": (loss - self.loss) / count, "items_a_second": count / max(1e-9, now - self.at)}
        self.items, self.loss, self.at = items, loss, now
        return means


@contextmanager
def tensorboard(folder: Path, step: int, *, written: bool = True) -> Iterator[Callable[..., None]]:
    """Gives what is to be told a step and the values of some curves there, as in `write(7, train_loss=0.5)`.

    What an earlier process wrote of later steps than `step` is not shown any more.
    """
    if not written:
        yield lambda step, **values: None
        return
    from torch.utils.tensorboard import SummaryWriter

    with closing(SummaryWriter(folder, purge_step=step + 1)) as writer:

        def write(step: int, **values: float) -> None:
            for name, value in values.items():
                writer.add_scalar(name.replace("_", " "), value, step)

        yield write
