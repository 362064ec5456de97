"""Which training items stand in a prompt as examples."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from harness.corpora.item import Item


class ShotPool:
    """Training items in the order of a seed. The same seed gives every item the same examples, so that an engine can
    reuse their prefix, except where an example would share the item's target structure or image.
    """

    def __init__(self, pool: Sequence[Item], seed: int) -> None:
        def key(item: Item) -> bytes:
            return hashlib.sha256(f"{seed}/{item.id}".encode()).digest()

        self._order = sorted(pool, key=key)

    def choose(self, item: Item, count: int) -> list[Item]:
        """The first `count` items of distinct groups other than the item's own; fewer if the pool has no more."""
        chosen: list[Item] = []
        groups = {item.group}
        for candidate in self._order:
            if len(chosen) == count:
                break
            if candidate.group not in groups and candidate.id != item.id:
                groups.add(candidate.group)
                chosen.append(candidate)
        return chosen
