"""How several processes share the batches of an epoch: each step has the items that one process would give it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

_WORKERS = 8
"""Processes that make batches for a GPU, at most."""


def accelerator() -> Any:
    """Accelerate's view of this process and the others that torchrun or `accelerate launch` started with it, if any."""
    import torch
    from accelerate import Accelerator

    # Gradients of convolutions of size 1 may have any strides, of which torch warns.
    warnings.filterwarnings("ignore", "Grad strides do not match")
    # Without a GPU, processes find each other only where the CPU is asked for.
    return Accelerator(cpu=not torch.accelerator.is_available())


class Share(NamedTuple):
    """A process's part of a step."""

    numbers: list[int]
    """Of the items it computes, at least one."""
    own: int
    """How many of them count, from the first on: a process for which none is left computes one that another one counts."""
    everyone: int
    """How many items the step has over all processes."""


def shares(numbers: Sequence[int], size: int, processes: int, process: int) -> list[Share]:
    """One process's shares of the items, at most `size` in each; every process has as many shares."""
    steps = (numbers[start : start + size * processes] for start in range(0, len(numbers), size * processes))
    return [Share(list(step[process::processes] or step[:1]), len(step[process::processes]), len(step)) for step in steps]


def loaded(
    items: Any, parts: Sequence[Share], collate: Callable[[Sequence[Any]], Any], device: Any
) -> Iterator[tuple[Share, Any]]:
    """The shares with their batches, on a torch device. `items`: a sequence, or what torch calls a dataset."""
    from accelerate.utils import send_to_device
    from torch.utils.data import DataLoader

    workers = min(_WORKERS, (os.cpu_count() or 1) - 1) if device.type == "cuda" else 0
    sampler = [part.numbers for part in parts]
    loader = DataLoader(items, batch_sampler=sampler, collate_fn=collate, num_workers=workers)
    for part, batch in zip(parts, loader, strict=True):
        yield part, send_to_device(batch, device)
