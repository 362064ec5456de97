"""Figures on the board: lines, rings, triangles, moves and mirror images. Tiles are 0-based and may lie beyond the edge."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import NoReturn, cast

from harness.worlds import pieces
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile, from_cube, on_board, step, to_cube
from serialization.program.errors import ProgramError
from serialization.program.expressions import Mapped, Shift
from serialization.program.figure import Cell

MARGIN = 18
"""How many tiles a figure may reach beyond the edge; tiles further out are dropped."""
ALL = tuple(Tile(row, column) for column in range(COLUMNS) for row in range(ROWS))
WAYS = {way: (0, 0, x, z) if x else (z, 0, 0, 0) for way, (x, z) in DIRECTIONS.items()}
WAYS |= {"left": (0, -1, 0, 0), "right": (0, 1, 0, 0)}
"""One step in a direction: numbers of rows and columns, and cube coordinates (x, z)."""


def near_board(tile: Cell) -> bool:
    return bool(-MARGIN <= tile[0] < ROWS + MARGIN and -MARGIN <= tile[1] < COLUMNS + MARGIN)


@cache
def next_tile(tile: Tile, way: str, count: int = 1) -> Tile:
    """The tile `count` steps away. Raises ProgramError for an unknown direction."""
    if way not in WAYS:
        unknown_way(way)
    if way in ("left", "right"):
        return Tile(tile[0], tile[1] + count * WAYS[way][1])
    return step(Tile(*tile), way, count)


@cache
def around(tile: Tile) -> tuple[Tile, ...]:
    """The six tiles that touch a tile, clockwise from the top, including tiles beyond the edge."""
    return tuple(next_tile(tile, way) for way in DIRECTIONS)


def ray(start: Tile, way: str, count: int | None) -> list[Tile]:
    """`count` tiles from `start` on, or all up to the edge of the board. Raises ProgramError for an unknown direction."""
    tiles: list[Tile] = []
    tile = start
    next_tile(start, way)
    while near_board(tile) and (on_board(*tile) if count is None else len(tiles) < count):
        tiles.append(tile)
        tile = next_tile(tile, way)
    return tiles


def grown(tiles: Iterable[Cell], count: int) -> list[list[Tile]]:
    """The tiles at distance 1, 2, ..., `count` from a set, a list for each distance, in the order of discovery."""
    seen = dict.fromkeys(cast("Iterable[Tile]", tiles))
    edge, layers = list(seen), []
    for _ in range(min(count, 2 * MARGIN)):
        layer = dict.fromkeys(near for tile in edge for near in around(Tile(*tile)) if near not in seen and near_board(near))
        seen |= layer
        edge = list(layer)
        layers.append(edge)
    return layers


def ring(center: Tile, radius: int) -> list[Tile]:
    """The tiles at distance `radius` from one tile, clockwise from the top."""
    tiles = [next_tile(center, "up", radius)]
    for way in ("down-right", "down", "down-left", "up-left", "up", "up-right"):
        for _ in range(radius):
            tiles.append(next_tile(tiles[-1], way))
    return tiles[:-1] if radius else [center]


def enclosed(tiles: Iterable[Cell]) -> list[Tile]:
    """The tiles of the board that cannot leave it without crossing the set, column by column."""
    walls = set(tiles)
    free = [Tile(r, c) for c in range(-1, COLUMNS + 1) for r in range(-1, ROWS + 1) if (r, c) not in walls]
    inner = {tile for piece in pieces(free, around) if all(on_board(*tile) for tile in piece) for tile in piece}
    return [tile for tile in ALL if tile in inner]


SPREAD = {"up": ("up-left", "up-right"), "right": ("up-right", "down-right"), "down": ("down-right", "down-left"),
          "left": ("down-left", "up-left")}  # fmt: skip
"""The sides of a triangle that opens in a direction."""


def triangle(corner: Tile, way: str, size: int) -> list[Tile]:
    """Lines of 1, 2, ..., `size` tiles, opening from a corner; the tiles of a line touch only if `way` is left or right."""
    one, other = SPREAD[way]
    count = min(size, 2 * MARGIN)
    return [next_tile(next_tile(corner, one, k - i), other, i) for k in range(count) for i in range(k + 1)]


def middle(tiles: Iterable[Cell]) -> Tile:
    """The tile nearest to the center of a set's bounding box as drawn. Raises ProgramError for the empty set."""
    places = [_drawn_at(tile) for tile in tiles]
    if not places:
        raise ProgramError("the empty set has no middle")
    x, y = ((min(p[k] for p in places) + max(p[k] for p in places)) / 2 for k in (0, 1))
    column, row = round(x), round(y)
    near = [Tile(r, c) for c in range(column - 1, column + 2) for r in range(row - 1, row + 2)]
    return min(near, key=lambda tile: (_drawn_at(tile)[0] - x) ** 2 * 0.75 + (_drawn_at(tile)[1] - y) ** 2)


def _drawn_at(tile: Cell) -> tuple[float, float]:
    """The drawn position of a tile: columns from the left, and tiles from the top."""
    return tile[1], tile[0] + (tile[1] & 1) / 2


def turned(tile: Cell, sixths: int, center: Tile) -> Tile:
    """The tile turned clockwise about `center` by sixths of a full turn."""
    (x, z), (cx, cz) = to_cube((tile[0], tile[1])), to_cube(center)
    x, z = x - cx, z - cz
    for _ in range(sixths % 6):
        x, z = -z, x + z
    return from_cube(x + cx, z + cz)


def mirrored(axis: Iterable[Cell]) -> Callable[[Cell], Tile]:
    """The map for an axis: whole columns mirror left to right, whole rows top to bottom; any other set is the center of half a
    turn.

    Mirroring goes by the numbers of rows and columns; half a turn keeps every shape, as `flipped` does. Raises ProgramError
    for the empty set.
    """
    cells = list(axis)
    if not cells:
        raise ProgramError("the empty set cannot be an axis")
    rows, columns = sorted({r for r, _ in cells}), sorted({c for _, c in cells})
    down, across = rows[0] + rows[-1], columns[0] + columns[-1]
    if len(rows) == ROWS and len(columns) < COLUMNS:
        return lambda tile: Tile(tile[0], across - tile[1])
    if len(columns) == COLUMNS and len(rows) < ROWS:
        return lambda tile: Tile(down - tile[0], tile[1])
    if across % 2:
        return lambda tile: Tile(down - tile[0], across - tile[1])
    down += (across // 2) & 1
    return lambda tile: Tile(down - tile[0] - (tile[1] & 1), across - tile[1])


_SIXTHS = {way: 2 * number for number, way in enumerate(DIRECTIONS)} | {"left": 3, "right": 3}
"""A mirror image over a direction is one over the vertical, turned by this many sixths."""


def flipped(tile: Cell, center: Tile, way: str) -> Tile:
    """The mirror image over the line through the middle of `center` in a direction (right: horizontal). Keeps every shape."""
    if way not in _SIXTHS:
        unknown_way(way)
    (x, z), (cx, _) = to_cube((tile[0], tile[1])), to_cube(center)
    return turned(from_cube(2 * cx - x, z + x - cx), _SIXTHS[way], center)


def shift_maps(shift: Shift, anchor: Cell) -> tuple[Mapped, Mapped]:
    """The maps of a move by numbers of rows and columns, then by cube coordinates (x, z), there and back.

    Without `grid`, shapes are kept: all tiles move by the same vector as the anchor, which moves by number. With `grid`, every
    tile moves by number.
    """
    rows, columns, x, z = shift.vector

    def there(tile: Cell) -> Tile:
        return _moved((tile[0] + rows, tile[1] + columns), x, z)

    def back(tile: Cell) -> Tile:
        row, column = _moved(tile, -x, -z)
        return Tile(row - rows, column - columns)

    if shift.grid:
        return there, back
    (ax, az), (tx, tz) = to_cube((anchor[0], anchor[1])), to_cube(there(anchor))
    dx, dz = tx - ax, tz - az
    return lambda tile: _moved(tile, dx, dz), lambda tile: _moved(tile, -dx, -dz)


def _moved(tile: Cell, dx: int, dz: int) -> Tile:
    x, z = to_cube((tile[0], tile[1]))
    return from_cube(x + dx, z + dz)


def unknown_way(way: str) -> NoReturn:
    raise ProgramError(f"no direction {way} on a board: {', '.join(WAYS)}")
