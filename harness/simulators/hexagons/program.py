"""Drawing programs: what an instruction means, as calls of named operations that are run on the board before it.

Operations give tiles in order, or a painting: tiles with their colors. Written out, a program reads like
`paint(ring((4, 8), 1), red)`; positions are 0-based (row, column).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness.simulators.hexagons import geometry as g
from harness.simulators.hexagons.geometry import ALL, Tiles
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, on_board
from harness.worlds.hexagons import line as line_between

Painting = dict[Tile, str]


class Canvas(Protocol):
    """What a program is run on: the tiles that are not white, and the figures that were painted before."""

    @property
    def board(self) -> Mapping[Tile, str]: ...

    @property
    def paintings(self) -> Sequence[Painting]: ...


@dataclass(frozen=True, slots=True)
class Call:
    """An operation and its arguments: calls, tiles, numbers, words, or tuples of these."""

    name: str
    args: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(_written, self.args))})"


def _written(value: Any) -> str:
    return f"({', '.join(map(_written, value))})" if isinstance(value, tuple) else str(value)


def run(call: Call, canvas: Canvas) -> Any:
    """The tiles or the painting that a program stands for. Raises KeyError for an unknown operation."""
    args = [run(value, canvas) if isinstance(value, Call) else value for value in call.args]
    if call.name in _OF_CANVAS:
        return _OF_CANVAS[call.name](canvas, *args)
    return OPERATIONS[call.name](*args)


# --- tiles ---


def cells(columns: Sequence[int], rows: Sequence[int]) -> Tiles:
    """The tiles in some columns and rows, column by column."""
    return tuple(Tile(row, column) for column in columns for row in rows)


def stairs(columns: Sequence[int], first: int, change: int, side: str) -> Tiles:
    """`first` tiles from the "top" or "bottom" of the first column, and `change` more of each following one, down to none."""
    counts = [max(0, first + change * k) for k in range(len(columns))]
    rows = [range(n) if side == "top" else range(ROWS - n, ROWS) for n in counts]
    return tuple(Tile(row, column) for column, span in zip(columns, rows, strict=True) for row in span)


def rays(start: Tile, ways: Sequence[str], count: int) -> Tiles:
    """`start`, and `count` tiles from it in each of some directions."""
    return (start, *(g.step(start, way, k) for way in ways for k in range(1, count + 1)))


def beside(tiles: Sequence[Tile], way: str, count: int) -> Tiles:
    """The next `count` tiles from each of `tiles`; those that are `tiles` themselves are left out."""
    inner = set(tiles)
    near = (g.step(tile, way, k) for tile in tiles for k in range(1, count + 1))
    return tuple(dict.fromkeys(tile for tile in near if tile not in inner))


def without(tiles: Sequence[Tile], others: Sequence[Tile]) -> Tiles:
    left_out = set(others)
    return tuple(tile for tile in tiles if tile not in left_out)


# --- paintings ---


def cycle(tiles: Sequence[Tile], colors: Sequence[str]) -> Painting:
    """The colors over and over, one a tile."""
    return {tile: colors[k % len(colors)] for k, tile in enumerate(tiles)}


def by_column(tiles: Sequence[Tile], colors: Sequence[str]) -> Painting:
    """The colors over and over, one for all the tiles of a column; the columns come as in `tiles`."""
    order = {column: k for k, column in enumerate(dict.fromkeys(tile.column for tile in tiles))}
    return {tile: colors[order[tile.column] % len(colors)] for tile in tiles}


def runs(tiles: Sequence[Tile], counts: Sequence[int], colors: Sequence[str]) -> Painting:
    """The first color on the first so many tiles, the second on the next ones, and so on."""
    each = [color for color, n in zip(colors, counts, strict=True) for _ in range(n)]
    return dict(zip(tiles, each, strict=False))


def together(*parts: Painting) -> Painting:
    return {tile: color for part in parts for tile, color in part.items()}


def recolored(painting: Painting, old: Sequence[str], new: Sequence[str]) -> Painting:
    """Each of the old colors becomes the new one of the same place."""
    change = dict(zip(old, new, strict=True))
    return {tile: change.get(color, color) for tile, color in painting.items()}


def move(painting: Painting, rows: int, columns: int) -> Painting:
    return {g.moved(tile, rows, columns): color for tile, color in painting.items()}


def again(painting: Painting, times: int, rows: int, columns: int) -> Painting:
    """So many copies, each moved from the one before."""
    return together(*(move(painting, k * rows, k * columns) for k in range(1, times + 1)))


def alternately(painting: Painting, times: int, rows: int, columns: int, colors: Sequence[str]) -> Painting:
    """Copies in one color each, the colors over and over."""
    copies = (dict.fromkeys(move(painting, k * rows, k * columns), colors[(k - 1) % len(colors)]) for k in range(1, times + 1))
    return together(*copies)


def to_columns(painting: Painting, columns: Sequence[int]) -> Painting:
    """The first column of the painting, in other columns."""
    source = next(iter(painting)).column
    return {Tile(tile.row, column): color for column in columns for tile, color in painting.items() if tile.column == source}


def mirror(painting: Painting, column: int) -> Painting:
    return {g.mirrored(tile, column): color for tile, color in painting.items()}


def flip(painting: Painting, axis: Tile) -> Painting:
    return {g.flipped(tile, axis): color for tile, color in painting.items()}


def turn(painting: Painting) -> Painting:
    return {g.turned(tile): color for tile, color in painting.items()}


def rings(tiles: Sequence[Tile], colors: Sequence[str]) -> Painting:
    """Around `tiles` one ring after another, in these colors, as far as the board goes."""
    grown, painting = tuple(tiles), Painting()
    for color in colors:
        near = g.around(grown)
        painting |= dict.fromkeys(near, color)
        grown = (*grown, *near)
    return painting


# --- what depends on the board ---


def _figure(canvas: Canvas, number: int) -> Painting:
    return canvas.paintings[number]


def _white(canvas: Canvas, tiles: Sequence[Tile]) -> Tiles:
    """Those of the tiles that are on the board and white."""
    return tuple(tile for tile in tiles if on_board(*tile) and tile not in canvas.board)


def _colored(canvas: Canvas, color: str) -> Tiles:
    return tuple(tile for tile in ALL if canvas.board.get(tile) == color)


def _drawn(canvas: Canvas) -> Painting:
    """All that is not white."""
    return {tile: canvas.board[tile] for tile in ALL if tile in canvas.board}


def _beams(canvas: Canvas, tiles: Sequence[Tile], way: str) -> Tiles:
    """From next to each of the tiles straight to the edge of the board or to the next tile that is not white."""
    found: dict[Tile, None] = {}
    for tile in tiles:
        near = g.step(tile, way)
        while on_board(*near) and near not in canvas.board:
            found[near] = None
            near = g.step(near, way)
    return tuple(found)


def _by_sign(canvas: Canvas, sign: int, rows: Sequence[int], cases: Sequence[str], colors: Sequence[str]) -> Painting:
    """In each column whose tile in row `sign` has a color of `cases`, these rows in the color that belongs to it."""
    becomes = dict(zip(cases, colors, strict=True))
    signs = [(column, canvas.board.get(Tile(sign, column), "white")) for column in range(COLUMNS)]
    return {Tile(row, column): becomes[color] for column, color in signs if color in becomes for row in rows}


def _crowded(canvas: Canvas, color: str, least: int) -> Tiles:
    """White tiles that touch at least so many tiles of a color."""
    near = [tile for tile in ALL if tile not in canvas.board]
    return tuple(tile for tile in near if sum(canvas.board.get(other) == color for other in g.neighbors(tile)) >= least)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "tile": lambda tile: (tile,), "tiles": lambda *tiles: tiles, "cells": cells, "stairs": stairs, "board": lambda: ALL,
    "ray": g.ray, "to_edge": g.to_edge, "line": line_between, "rays": rays, "ring": g.ring, "triangle": g.triangle,
    "diamond": g.diamond, "around": g.around, "beside": beside, "without": without,
    "paint": lambda tiles, color: dict.fromkeys(tiles, color), "cycle": cycle, "by_column": by_column, "runs": runs,
    "together": together, "recolored": recolored, "move": move, "again": again, "alternately": alternately,
    "to_columns": to_columns, "mirror": mirror, "flip": flip, "turn": turn, "rings": rings, "nothing": dict,
}  # fmt: skip
"""By name, the operations that need no board."""

_OF_CANVAS: dict[str, Callable[..., Any]] = {
    "figure": _figure, "white": _white, "colored": _colored, "drawn": _drawn, "beams": _beams, "by_sign": _by_sign,
    "crowded": _crowded,
}  # fmt: skip


class _Names:
    """`op.ring(center, 1)` is `Call("ring", (center, 1))`."""

    def __getattr__(self, name: str) -> Callable[..., Call]:
        return lambda *args: Call(name, args)


op = _Names()
