"""Which train items are a prompt's examples: random ones, equal for all items, given ones, or the most similar to each item."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.util.hashing import json_hash

if TYPE_CHECKING:
    from harness.corpora.item import Item

RANDOM, FIXED = "random", "fixed"
RETRIEVED = ("bm25", "embedding")
"""Ways to choose examples by their similarity to an item."""
SELECTIONS = (RANDOM, FIXED, *RETRIEVED)


@dataclass(frozen=True, slots=True)
class ShotChoice:
    """How examples are chosen; the fields are the flags of `harness prompt` of the same names."""

    shots: int
    seed: int = 0
    select: str | None = None
    shot_ids: str | None = None


def by_seed(seed: int) -> Callable[[Item], bytes]:
    """The key by which train items are sorted into the order of a seed."""
    return lambda item: hashlib.sha256(f"{seed}/{item.id}".encode()).digest()


def _answer(item: Item) -> Any:
    """What an example's answer is made from."""
    from harness.corpora.item import own_program

    program = own_program(item)
    return [program, item.actions] if program else item.actions


def may_show(shot: Item, item: Item) -> bool:
    """Whether an item may be an example for another: not if their drawing procedures or games are the same or share the image or
    target structure."""
    return shot.group != item.group and shot.cluster != item.cluster and shot.id != item.id


class ShotPool:
    """Training items in the order of a seed. The same seed gives every item the same examples, so that an engine can
    reuse their prefix, except where an example would share the item's target structure or image.
    """

    def __init__(self, pool: Sequence[Item], seed: int) -> None:
        self._order = sorted(pool, key=by_seed(seed))

    @cached_property
    def hash(self) -> str:
        """16 hex digits over the items in their order, by their ids, programs and gold actions."""
        return json_hash([[item.id, _answer(item)] for item in self._order])

    def choose(self, item: Item, count: int) -> list[Item]:
        """The first `count` items of distinct groups other than the item's own.

        If there are fewer groups, some give further items; if there are too few items in all, fewer are returned.
        """
        first: list[Item] = []
        second: list[Item] = []
        groups: set[str] = set()
        for candidate in self._order:
            if len(first) == count:
                break
            if candidate.group != item.group and candidate.id != item.id:
                (second if candidate.group in groups else first).append(candidate)
                groups.add(candidate.group)
        return [*first, *second][:count]

    def arrange(self, shots: Sequence[Item]) -> list[Item]:
        """The examples in the order given."""
        return list(shots)


class ChosenShots:
    """Examples that were chosen for each item beforehand, the best first. In a prompt, `best_last` turns their order around."""

    def __init__(self, chosen: Mapping[str, Sequence[Item]], best_last: bool) -> None:
        self._chosen, self._best_last = chosen, best_last

    @cached_property
    def hash(self) -> str:
        """16 hex digits over the examples of each item in the order of the prompt, and their gold actions."""
        stand = {key: [shot.id for shot in self.arrange(shots)] for key, shots in self._chosen.items()}
        told = {shot.id: _answer(shot) for shots in self._chosen.values() for shot in shots}
        return json_hash([stand, told])

    def choose(self, item: Item, count: int) -> list[Item]:
        """At most `count` examples of an item, the best first. Raises KeyError for an item without chosen examples."""
        return list(self._chosen[item.id][:count])

    def arrange(self, shots: Sequence[Item]) -> list[Item]:
        """Some of an item's examples, given the best first, in the order of the prompt."""
        return list(reversed(shots)) if self._best_last else list(shots)


class LiveShots(ChosenShots):
    """Examples that are chosen for each item when it is asked, as the items of a game or a request are not known before.

    `choose` gives an item's examples, the best first; `pool_hash` is the `ShotPool.hash` of the pool that it chooses from.
    """

    def __init__(self, choose: Callable[[Item], Sequence[Item]], pool_hash: str, best_last: bool) -> None:
        super().__init__({}, best_last)
        self._choose, self.hash = choose, pool_hash

    def choose(self, item: Item, count: int) -> list[Item]:
        """At most `count` examples of an item, the best first."""
        return list(self._choose(item)[:count])


Shots = ShotPool | ChosenShots
