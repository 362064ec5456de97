"""Training items that show other colors in every epoch, so that what a network learns of one color it learns of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Literal, overload

from harness.corpora.item import Item
from harness.corpora.permute import permute_colors, random_colors

Augment = Literal["none", "colors"]
"""The key of a recipe: "colors" trains on `Recolored` items."""


class Recolored(Sequence[Item]):
    """The items, each with its colors exchanged by a random permutation (white stays) in all that is said, shown and done.

    `Loop.run` takes its items anew in every epoch. A permutation depends on the seed, the epoch and the item's id alone, so a
    run that was killed goes on with the same ones: `epoch` must count from the run's beginning, as `Loop.state.epoch` does.
    """

    def __init__(self, items: Sequence[Item], seed: int, epoch: Callable[[], int]) -> None:
        self.items, self.seed, self.epoch = items, seed, epoch

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, number: int) -> Item: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Item]: ...
    def __getitem__(self, number: int | slice) -> Item | Sequence[Item]:
        if isinstance(number, slice):
            return [self._drawn(item) for item in self.items[number]]
        return self._drawn(self.items[number])

    def _drawn(self, item: Item) -> Item:
        return permute_colors(item, random_colors(item.task, Random(f"{self.seed}/{self.epoch()}/{item.id}")))
