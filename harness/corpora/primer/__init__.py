"""Endless simple items made by rules: they teach a small model the coordinates, the words and the formats before real data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random

from harness.corpora.item import Item
from harness.corpora.primer import hexagons, minecraft
from harness.errors import UsageError

_MAKERS: dict[str, Callable[[Random], Iterator[Item]]] = {
    "hexagons": hexagons.procedures,
    "minecraft": minecraft.games,
}


def primer(task: str, count: int, seed: int) -> Iterator[Item]:
    """`count` synthetic train items of a task; the same seed gives the same items in every process.

    Items of one drawing procedure or game follow each other, each with the earlier ones in its history. Their gold actions
    are feasible in order and lead from `before` to `after`. Raises UsageError for an unknown task.
    """
    if task not in _MAKERS:
        raise UsageError(f"no primer for the task {task!r}; choose one of {', '.join(_MAKERS)}")
    # A string seed does not depend on PYTHONHASHSEED.
    return islice(_MAKERS[task](Random(f"{seed}/{task}")), count)
