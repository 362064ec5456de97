"""The simulator of the toy task."""

from __future__ import annotations

from random import Random

from harness.corpora.item import HexagonsItem
from harness.worlds.hexagons import COLORS, ROWS, Board, Paint


def columns(rng: Random, n: int, split: str) -> tuple[HexagonsItem, ...]:
    """A drawing of one step."""
    column, color = rng.randrange(18), rng.choice(COLORS[1:])
    actions = tuple(Paint(row, column, color) for row in range(ROWS))
    name = f"toy-columns/{split}/{n}"
    text = f"Paint column {column + 1} {color}."
    return (HexagonsItem(f"{name}/1", split, text, (), Board(), actions, Board().apply(actions).board, name, name),)
