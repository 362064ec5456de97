"""The steps of a training, as a torch dataset, and how items change in every epoch, so that they cannot be learned by heart (for
adapters: `adapters.rows`)."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from random import Random
from typing import Any, NamedTuple

from harness.augmentation.paraphrase import lexicon
from harness.augmentation.variants import change, known_changes, variant
from harness.corpora.item import Item
from harness.training.curriculum import History, stages
from harness.training.recipe import Augment, Training

_POOL = 16
"""Batches in a group; the items of a group are sorted by length."""

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


class Steps:
    """The items of all steps, step after step: first the stages of the curriculum, if there is one, then epochs of all items. A
    step has `training.batch_size` items, the last one of an epoch perhaps fewer."""

    def __init__(self, data: Data, training: Training) -> None:
        self.data, self.size, self.seed = data, training.batch_size, training.seed
        first = stages(data.items, training.curriculum, self.seed, data.history) if training.curriculum else []
        self.epochs = [*first, *[list(range(len(data.items)))] * training.epochs]
        """The item indices of each epoch."""
        self.ends = list(accumulate(math.ceil(len(epoch) / self.size) for epoch in self.epochs))
        """The last step of each epoch, counted from 1."""
        self._lengths = [data.length(item) for item in data.items] if data.length else None
        self._epoch, self._numbers = -1, list[int]()

    def __len__(self) -> int:
        return self.ends[-1]

    def __getitem__(self, step: int) -> list[Any]:
        epoch = bisect_right(self.ends, step)
        if epoch != self._epoch:
            self._epoch, self._numbers = epoch, self.order(epoch)
        start = self.size * (step - (self.ends[epoch - 1] if epoch else 0))
        items = [self.data.items[n] for n in self._numbers[start : start + self.size]]
        return [self.data.vary(item, epoch) for item in items] if self.data.vary else items

    def order(self, epoch: int) -> list[int]:
        """An epoch's items in the order in which they are trained on, which depends on the seed and the epoch alone."""
        random = Random(f"{self.seed}/{epoch}")
        numbers = list(self.epochs[epoch])
        random.shuffle(numbers)
        if self._lengths is None:
            return numbers
        pool, ordered = _POOL * self.size, list[int]()
        for start in range(0, len(numbers), pool):
            near = sorted(numbers[start : start + pool], key=self._lengths.__getitem__)
            batches = [near[n : n + self.size] for n in range(0, len(near), self.size)]
            # An incomplete batch stays last.
            whole = batches[: len(near) // self.size]
            random.shuffle(whole)
            ordered += chain(*whole, *batches[len(whole) :])
        return ordered
