"""Simulated items for tests."""

from itertools import chain, count, islice
from typing import Any

from harness.simulators.games import game


def first_items(simulator: str, seed: int, items: int, split: str = "train") -> list[Any]:
    """The first items of a simulator, taken directly from its games."""
    return list(islice(chain.from_iterable(game(simulator, seed, split, n) for n in count()), items))
