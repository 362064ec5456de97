"""Which items a training run uses, and in which order, epoch by epoch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from random import Random
from typing import NamedTuple

from harness.corpora.item import Item, data_set
from harness.errors import UsageError
from harness.training.curriculum import stages
from harness.training.recipe import Training
from harness.training.steps import Data

_POOL = 16
"""Batches whose items are sorted by length together."""


def subset(items: Sequence[Item], count: int | None, seed: int, flag: str = "training.train_items=") -> list[Item]:
    """`count` items for a learning curve, in their order; all of them for None. Raises UsageError, which begins with `flag` and
    `count`, if there are fewer.

    Whole drawing procedures or games are taken in the random order of the seed, and the last one is cut short: with one seed, a
    smaller part lies within a larger one.
    """
    if count is None:
        return list(items)
    if count > len(items):
        raise UsageError(f"{flag}{count}: there are {len(items)} items to train on")
    clusters = list(dict.fromkeys(item.cluster for item in items))
    Random(f"{seed}/part").shuffle(clusters)
    place = {cluster: number for number, cluster in enumerate(clusters)}
    chosen = {item.id for item in sorted(items, key=lambda item: place[item.cluster])[:count]}
    return [item for item in items if item.id in chosen]


def dev_set(train: Iterable[Item], validation: Sequence[Item], seed: int) -> list[Item]:
    """The validation items of the data sets that are trained on, in the proportions of train (BAP v2, 12.3), in their order.

    They are as many as the splits allow, whole games drawn at random: the paper leaves both open. Raises UsageError, in one line,
    for a data set without validation items, and for validation items of a data set that is not trained on.
    """
    wanted, there = Counter(map(data_set, train)), Counter(map(data_set, validation))
    if missing := sorted(wanted.keys() - there.keys()):
        raise UsageError(f"--dev-data: there are train items of {missing[0]}, but none to validate on: add its validation split")
    if others := sorted(there.keys() - wanted.keys()):
        raise UsageError(f"--dev-data: there are no train items of {others[0]}: leave its validation split out")
    share = min((there[name] / count for name, count in wanted.items()), default=0.0)
    parts = {name: [item for item in validation if data_set(item) == name] for name in wanted}
    chosen = {item.id for name, part in parts.items() for item in subset(part, round(share * wanted[name]), seed)}
    return [item for item in validation if item.id in chosen]


class EpochPlan(NamedTuple):
    """The item indices of each epoch."""

    epochs: list[list[int]]
    batch: int
    """Items of a step, over all processes."""
    lengths: Sequence[int] | None
    """Lengths of the items, if batches should have items of similar length."""

    @property
    def ends(self) -> list[int]:
        """The last step of each epoch, counted from 1."""
        return list(accumulate(math.ceil(len(epoch) / self.batch) for epoch in self.epochs))

    def order(self, epoch: int, seed: int) -> list[int]:
        """An epoch's items in the order in which they are trained on, which depends on the seed and the epoch alone."""
        random = Random(f"{seed}/{epoch}")
        numbers = list(self.epochs[epoch])
        random.shuffle(numbers)
        if self.lengths is None:
            return numbers
        pool, ordered = _POOL * self.batch, []
        for start in range(0, len(numbers), pool):
            near = sorted(numbers[start : start + pool], key=self.lengths.__getitem__)
            batches = [near[n : n + self.batch] for n in range(0, len(near), self.batch)]
            # An incomplete batch stays last.
            whole = batches[: len(near) // self.batch]
            random.shuffle(whole)
            ordered += [*whole, *batches[len(whole) :]]
        return list(chain(*ordered))


def make_plan(data: Data, training: Training, processes: int) -> EpochPlan:
    """The stages of the curriculum, if there is one, and then epochs of all items.

    Raises UsageError for items that the curriculum cannot order, and for fewer items than it has buckets.
    """
    items, length = data.items, data.length
    first = stages(items, training.curriculum, training.seed, data.history) if training.curriculum else []
    epochs = [*first, *[list(range(len(items)))] * training.epochs]
    return EpochPlan(epochs, training.batch_size * processes, [length(item) for item in items] if length else None)
