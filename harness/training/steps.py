"""The steps of a training, as a torch dataset, and how items change in every epoch, so that they cannot be learned by heart (for
adapters: `adapters.rows`)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from harness.augmentation.paraphrase import lexicon
from harness.augmentation.variants import change, known_changes, variant
from harness.corpora.item import Item
from harness.training.curriculum import History
from harness.training.recipe import Augment

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
    """The items of all steps, step after step. `ends` are the epochs' last steps, and `order` gives the indices of an epoch's
    items; a step has `size` items, the last one of an epoch perhaps fewer."""

    def __init__(
        self,
        items: Sequence[Any],
        ends: Sequence[int],
        order: Callable[[int], Sequence[int]],
        size: int,
        vary: Vary | None = None,
    ) -> None:
        self.items, self.ends, self.order, self.size, self.vary = items, ends, order, size, vary
        self._epoch, self._numbers = -1, cast("Sequence[int]", ())

    def __len__(self) -> int:
        return self.ends[-1]

    def __getitem__(self, step: int) -> list[Any]:
        epoch = bisect_right(self.ends, step)
        if epoch != self._epoch:
            self._epoch, self._numbers = epoch, self.order(epoch)
        start = self.size * (step - (self.ends[epoch - 1] if epoch else 0))
        items = [self.items[n] for n in self._numbers[start : start + self.size]]
        return [self.vary(item, epoch) for item in items] if self.vary else items
