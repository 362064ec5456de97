"""Directions, runs and edges: geometry as people speak of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.baselines.parser.hexagons.meaning import Term
from harness.baselines.parser.hexagons.memory import Memory
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, step

WAYS = {"u": "up", "d": "down", "ur": "up-right", "dr": "down-right", "dl": "down-left", "ul": "up-left"}


def number(value: object) -> int:
    return value if isinstance(value, int) else 1


def ways(direction: Term, memory: Memory) -> list[str]:
    """Letters of each of some directions."""
    several = direction.args if direction.op == "ways" else (direction,)
    return [way(one, memory) for one in several if isinstance(one, Term)]


def way(direction: Term, memory: Memory) -> str:
    """Letters of a direction, up or down first; a diagonal of which one half is told goes on as before, else down, right."""
    if direction.op == "ways":
        return ways(direction, memory)[-1]
    letters = str(direction.args[0])
    vertical = next((letter for letter in letters if letter in "ud"), "")
    across = next((letter for letter in letters if letter in "lr"), "")
    if "g" in letters:
        known = memory.direction + "dr"
        vertical = vertical or next(letter for letter in known if letter in "ud")
        across = across or next(letter for letter in known if letter in "lr")
    return vertical + across


def sticks_out(tile: Tile) -> bool:
    """Whether a tile is one of the nine that stick out of the board's upper or lower edge."""
    return tile.row == (ROWS - 1 if tile.column % 2 else 0)


def run(start: Tile, towards: str, count: int) -> list[Tile]:
    """The tiles after one in a direction; to the left or right they zig-zag along the row."""
    if towards in WAYS:
        return [step(start, WAYS[towards], n) for n in range(1, min(count, COLUMNS) + 1)]
    sign = 1 if towards == "r" else -1
    if sticks_out(start):
        return [Tile(start.row, start.column + 2 * sign * n) for n in range(1, min(count, COLUMNS) + 1)]
    return [Tile(start.row, start.column + sign * n) for n in range(1, min(count, COLUMNS) + 1)]


def extreme(group: Sequence[Tile], edge: str) -> Tile:
    keys: dict[str, Callable[[Tile], float]] = {
        "t": lambda tile: tile.row + tile.column % 2 / 2,
        "b": lambda tile: -tile.row - tile.column % 2 / 2,
        "l": lambda tile: tile.column,
        "r": lambda tile: -tile.column,
    }
    return min(group, key=keys[edge])


def extremes(group: Sequence[Tile], edge: str) -> list[Tile]:
    """The tiles of the outermost row or column."""
    last = extreme(group, edge)
    return [tile for tile in group if (tile.row == last.row if edge in "tb" else tile.column == last.column)]


def beside(around: Sequence[Tile], towards: str) -> list[Tile]:
    """What touches some tiles in a direction; to the left and right that is two tiles each."""
    ways = [WAYS[towards]] if towards in WAYS else [WAYS[vertical + towards] for vertical in "ud"]
    found = [step(tile, one) for tile in around for one in ways]
    return [tile for tile in dict.fromkeys(found) if tile not in around]
