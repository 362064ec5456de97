"""What a reading painted, as a program of the drawing language: the answer is what the language's interpreter draws from it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from harness.worlds.hexagons import Paint, Tile, line, neighbors, step
from serialization.program import ast
from serialization.program.literal import tile_set
from serialization.program.written import write_expression


def program_of(painted: Sequence[Paint]) -> ast.Program:
    """One statement for each run of a color, in the order of the words; lines and rings by their names."""
    runs = [(color, [paint.tile for paint in group]) for color, group in groupby(painted, lambda paint: paint.color)]
    return ast.Program(tuple(ast.Paint(((color, 1),), _figure(list(dict.fromkeys(tiles)))) for color, tiles in runs))


def _figure(tiles: list[Tile]) -> ast.Expr:
    """The shortest way to write exactly these tiles: a list, a line from the first to the last, or a ring."""
    ways = [tile_set(tiles)]
    if len(tiles) > 2 and tuple(tiles) == line(tiles[0], tiles[-1]):
        ways.append(ast.Call("line", (tile_set(tiles[:1]), tile_set(tiles[-1:]))))
    center = step(min(tiles, key=lambda tile: tile.row + tile.column % 2 / 2), "down")
    if len(tiles) == 6 and set(tiles) == set(neighbors(center)):
        ways.append(ast.Call("ring", (tile_set([center]),)))
    return min(ways, key=lambda way: len(write_expression(way)))
