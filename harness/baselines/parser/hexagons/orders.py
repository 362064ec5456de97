"""Painting in an order of colors, as far as something, and back to white."""

from __future__ import annotations

from typing import cast

from harness.baselines.parser.hexagons.directions import run, way
from harness.baselines.parser.hexagons.meaning import Term
from harness.baselines.parser.hexagons.memory import Memory
from harness.baselines.parser.hexagons.places import tiles
from harness.worlds.hexagons import COLUMNS, Tile, on_board


def paint_runs(memory: Memory, runs: Term, what: Term) -> None:
    """Colors one after the other, or in turn, in each column or along all of the tiles."""
    order = [str(color) for count, color in cast(tuple[tuple[int, str], ...], runs.args) for _ in range(count)]
    if what.op in ("next", "turned"):
        memory.direction = way(cast(Term, what.args[1]), memory) if what.op == "turned" else memory.direction
        what = Term("next", (len(order),))
    found = _upper_or_lower(tiles(what, memory), len(order))
    groups = [[tile for tile in found if tile.column == column] for column in dict.fromkeys(tile.column for tile in found)]
    if len(found) == 1 and len(order) > 1:
        found += run(found[0], memory.direction if memory.direction in "ud" else "d", len(order) - 1)
        found = [tile for tile in found if on_board(*tile)]
    by_column = what.op in ("columns", "cross") and any(len(group) > 1 for group in groups)
    for group in groups if by_column else [found]:
        for n, tile in enumerate(group):
            if (n < len(order) or runs.op == "cycle") and order[n % len(order)] != "white":
                memory.paint([tile], order[n % len(order)])


def _upper_or_lower(found: list[Tile], count: int) -> list[Tile]:
    """A whole row, or, for as many colors as fit, those of its tiles that stick out of the board's edge."""
    if len({tile.row for tile in found}) != 1 or len(found) != COLUMNS or count > COLUMNS // 2:
        return found
    return [tile for tile in found if tile.column % 2 == (tile.row > 0)]


def runs_on(memory: Memory, runs: Term) -> None:
    """Colors one after the other from where the last tiles ended."""
    paint_runs(memory, runs, Term("next", (1,)))


def erase(memory: Memory, _: Term, what: Term) -> None:
    """Tiles become white again."""
    memory.paint(tiles(what, memory), "white")


def until(memory: Memory, action: Term, stop: Term) -> None:
    """Painting that goes, in each column, as far as some tiles: down, or up from below them."""
    color, what = cast(tuple[Term, Term], action.args)
    ends = {tile.column: tile.row for tile in tiles(stop, memory)}
    if stop.op == "colored":
        shade = stop.args[0]
        ends = {column: row for (row, column), found in sorted(memory.cells.items(), reverse=True) if found == shade}
    found = tiles(what, memory)
    if all(column in ends for column in {tile.column for tile in found}):
        upward = memory.direction == "u" or (what.op == "cross" and all(tile.row > ends[tile.column] for tile in found))
        whole = tiles(Term("columns", (Term("same_columns"),)), memory) if what.op == "cross" else found
        found = [tile for tile in whole if (tile.row > ends[tile.column] if upward else tile.row < ends[tile.column])]
    memory.paint(found, str(color.args[0]), over=False, by_column=True)
