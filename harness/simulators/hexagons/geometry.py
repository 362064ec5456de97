"""Sets of tiles and moves of them, for drawing programs. Tiles may lie off the board; positions are 0-based."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile, on_board
from harness.worlds.hexagons import neighbors as touching
from harness.worlds.hexagons import step as one_step

Tiles = tuple[Tile, ...]

ALL = tuple(Tile(row, column) for column in range(COLUMNS) for row in range(ROWS))
_CLOCKWISE = ("down-right", "down", "down-left", "up-left", "up", "up-right")
"""The sides of a ring, walked from its top tile."""

step = cache(one_step)
neighbors = cache(touching)


def inside(tiles: Iterable[Tile]) -> bool:
    """Whether all tiles are on the board."""
    return all(on_board(*tile) for tile in tiles)


def ray(start: Tile, way: str, count: int) -> Tiles:
    """`count` tiles in a straight line, `start` among them."""
    return tuple(step(start, way, i) for i in range(count))


def to_edge(start: Tile, way: str) -> Tiles:
    """The straight line from `start`, which is on the board, to the edge."""
    tiles = [start]
    while on_board(*(tile := step(tiles[-1], way))):
        tiles.append(tile)
    return tuple(tiles)


@cache
def ring(center: Tile, radius: int) -> Tiles:
    """The 6 * `radius` tiles at that distance from `center`, clockwise from the top."""
    tiles = [step(center, "up", radius)]
    for way in _CLOCKWISE:
        for _ in range(radius):
            tiles.append(step(tiles[-1], way))
    return tuple(tiles[:-1])


def triangle(top: Tile, size: int, side: str) -> Tiles:
    """`size` tiles down from `top`, and in each next column to that side ("right", "left") one less, down to one."""
    return tuple(step(step(top, f"down-{side}", k), "down", j) for k in range(size) for j in range(size - k))


def diamond(top: Tile, size: int) -> Tiles:
    """`size` tiles down from `top`, and in each next column to either side one less, down to one; column by column."""
    left, right = triangle(top, size, "left"), triangle(top, size, "right")
    return tuple(sorted({*left, *right}, key=lambda tile: (tile.column, tile.row)))


def around(tiles: Sequence[Tile]) -> Tiles:
    """The tiles of the board that touch some of `tiles` and are none of them, in the order in which they are met."""
    inner = set(tiles)
    return tuple(dict.fromkeys(near for tile in tiles for near in neighbors(tile) if near not in inner))


def moved(tile: Tile, rows: int, columns: int) -> Tile:
    """The tile so many rows lower and columns further right. An even number of columns keeps the shape of a drawing."""
    return Tile(tile.row + rows, tile.column + columns)


def mirrored(tile: Tile, column: int) -> Tile:
    """The mirror image left to right over a column, which keeps the shape of a drawing."""
    return Tile(tile.row, 2 * column - tile.column)


def flipped(tile: Tile, axis: Tile) -> Tile:
    """The mirror image top to bottom over the horizontal line through the middle of a tile."""
    return Tile(2 * axis.row + axis.column % 2 - tile.column % 2 - tile.row, tile.column)


def turned(tile: Tile) -> Tile:
    """The tile after half a turn of the board: column k from the left becomes column k from the right, and so for rows."""
    return Tile(ROWS - 1 - tile.row, COLUMNS - 1 - tile.column)


def straight(a: Tile, b: Tile) -> str | None:
    """The direction of `DIRECTIONS` that leads straight from `a` to `b`; None if there is none."""
    for way in DIRECTIONS:
        tile = step(a, way)
        while abs(tile.row - a.row) <= ROWS and abs(tile.column - a.column) <= COLUMNS:
            if tile == b:
                return way
            tile = step(tile, way)
    return None
