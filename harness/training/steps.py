"""The steps of a training, as a torch dataset: how several processes share the items that one process would take, and how items
change in every epoch, so that they cannot be learned by heart (for adapters: `adapters.rows`)."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from harness.augmentation.paraphrase import lexicon
from harness.augmentation.variants import change, known_changes, variant
from harness.corpora.item import Item
from harness.training.curriculum import History
from harness.training.recipe import Augment

_WORKERS = 8
"""Most processes that prepare batches for a GPU."""
Vary = Callable[[Item, int], Item]
"""Returns the form that an item takes in an epoch, counted from 0."""


class Losses(NamedTuple):
    """The result of a network's `forward` on a batch: for each item, the sum of its decisions' losses and their number."""

    sums: Any
    counts: Any


class Data(NamedTuple):
    """The data that a network is trained on."""

    items: Sequence[Any]
    dev: Sequence[Any]
    """The dev items whose loss ranks the epochs."""
    collate: Callable[[Sequence[Any]], Any]
    """Turns items into the network's input."""
    history: History
    """The length by which a curriculum sorts."""
    length: Callable[[Any], int] | None = None
    """The length of an item, if batches should have items of similar length."""
    vary: Vary | None = None
    """Changes the items in each epoch."""


def vary_by(augment: Augment, seed: int) -> Vary | None:
    """The changes of items that `augment` asks for, the same for all items of a game or drawing procedure; None for none. They
    depend on the seed, the epoch and the game alone, so a killed run resumes with the same ones."""
    if augment == "none":
        return None
    words = lexicon() if augment == "all" else {}

    def vary(item: Item, epoch: int) -> Item:
        changes = known_changes(item.task) if augment == "all" else ("colors",)
        how = variant(item.task, item.cluster, epoch, seed, changes)
        return replace(change(item, how, words), id=item.id, cluster=item.cluster)

    return vary


class Shard(NamedTuple):
    """The part of a step that one process computes."""

    numbers: list[int]
    """Indices of the items that it computes, at least one."""
    own: int
    """How many of them count, from the first on: a process without items of its own computes one that another process counts."""
    everyone: int
    """How many items the step has over all processes."""


class Steps:
    """The shards of all steps with their items, step after step: Trainer gives each step's first shard to the first process, etc.

    `ends` are the epochs' last steps, and `order` gives the indices of an epoch's items; `size` is the number of items that a
    process has in a step; the last step of an epoch may have fewer.
    """

    def __init__(
        self,
        items: Sequence[Any],
        ends: Sequence[int],
        order: Callable[[int], Sequence[int]],
        size: int,
        processes: int,
        vary: Vary | None = None,
    ) -> None:
        self.items, self.ends, self.order, self.vary = items, ends, order, vary
        self.processes, self.whole = processes, size * processes
        self._epoch, self._numbers = -1, cast("Sequence[int]", ())

    def __len__(self) -> int:
        return self.ends[-1] * self.processes

    def __getitem__(self, number: int) -> tuple[Shard, list[Any]]:
        step, process = divmod(number, self.processes)
        epoch = bisect_right(self.ends, step)
        if epoch != self._epoch:
            self._epoch, self._numbers = epoch, self.order(epoch)
        start = self.whole * (step - (self.ends[epoch - 1] if epoch else 0))
        whole = self._numbers[start : start + self.whole]
        own = list(whole[process :: self.processes])
        shard = Shard(own or list(whole[:1]), len(own), len(whole))
        items = [self.items[n] for n in shard.numbers]
        return shard, [self.vary(item, epoch) for item in items] if self.vary else items


def workers() -> int:
    """How many worker processes prepare batches: none without a GPU to keep busy."""
    import torch

    return min(_WORKERS, (os.cpu_count() or 1) - 1) if torch.cuda.is_available() else 0
