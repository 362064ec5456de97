"""Which train items are a prompt's examples."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property

from harness.corpora.item import Item
from harness.util.hashing import json_hash


class ShotPool:
    """Training items in the order of a seed. The same seed gives every item the same examples, so that an engine can
    reuse their prefix, except where an example would share the item's target structure or image.
    """

    def __init__(self, pool: Sequence[Item], seed: int) -> None:
        def key(item: Item) -> bytes:
            return hashlib.sha256(f"{seed}/{item.id}".encode()).digest()

        self._order = sorted(pool, key=key)

    @cached_property
    def hash(self) -> str:
        """16 hex digits over the items in their order, by their ids and gold actions."""
        return json_hash([[item.id, item.actions] for item in self._order])

    def choose(self, item: Item, count: int) -> list[Item]:
        """The first `count` items of distinct groups other than the item's own.

        With fewer groups than that, some give a second item; fewer items if there are too few in all.
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
