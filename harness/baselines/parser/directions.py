"""Directions, runs and edges: geometry as people speak of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.baselines.parser.meaning import Term
from harness.baselines.parser.memory import Memory
from harness.worlds.hexagons import COLUMNS, Tile, step

WAYS = {"u": "up", "d": "down", "ur": "up-right", "dr": "down-right", "dl": "down-left", "ul": "up-left"}


def number(value: object) -> int:
    return value if isinstance(value, int) else 1


def way(direction: Term, memory: Memory) -> str:
    """Letters of a direction, up or down first; a diagonal of which one half is told goes on as before, else down, right."""
    letters = str(direction.args[0])
    vertical = next((letter for letter in letters if letter in "ud"), "")
    across = next((letter for letter in letters if letter in "lr"), "")
    if "g" in letters:
        known = memory.direction + "dr"
        vertical = vertical or next(letter for letter in known if letter in "ud")
        across = across or next(letter for letter in known if letter in "lr")
    return vertical + across


def run(start: Tile, towards: str, count: int) -> list[Tile]:
    """The tiles after one in a direction; to the left or right they zig-zag along the row."""
    if towards in WAYS:
        return [step(start, WAYS[towards], n) for n in range(1, min(count, COLUMNS) + 1)]
    sign = 1 if towards == "r" else -1
    return [Tile(start.row, start.column + sign * n) for n in range(1, min(count, COLUMNS) + 1)]


def extreme(group: Sequence[Tile], edge: str) -> Tile:
    keys: dict[str, Callable[[Tile], float]] = {
        "t": lambda tile: tile.row + tile.column % 2 / 2,
        "b": lambda tile: -tile.row - tile.column % 2 / 2,
        "l": lambda tile: tile.column,
        "r": lambda tile: -tile.column,
    }
    return min(group, key=keys[edge])


def beside(around: Sequence[Tile], towards: str) -> list[Tile]:
    """What touches some tiles in a direction; to the left and right that is two tiles each."""
    ways = [WAYS[towards]] if towards in WAYS else [WAYS[vertical + towards] for vertical in "ud"]
    found = [step(tile, one) for tile in around for one in ways]
    return [tile for tile in dict.fromkeys(found) if tile not in around]
