"""HEXAGONS: an 18 x 10 board of flat-top hexagonal tiles in eight colors ("Draw Me a Flower", TACL 2022, section 3.1).

Tiles are addressed by 0-based (row, column). Columns 1, 3, ..., 17 are shifted down by half a tile ("odd-q"), so a row is
a zig-zag and no straight horizontal line of touching tiles exists.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.worlds import Cells

ROWS, COLUMNS = 10, 18
TILES = ROWS * COLUMNS
COLORS = ("white", "black", "yellow", "green", "red", "blue", "purple", "orange")
CODES = {color: code for code, color in enumerate(COLORS)}


class Tile(NamedTuple):
    """A position: row 0..9 from the top, column 0..17 from the left. May lie off the board; see `on_board`."""

    row: int
    column: int


class Paint(NamedTuple):
    """The one action of this world: paint a tile. Its JSON form is `[row, column, "color"]`."""

    row: int
    column: int
    color: str

    @property
    def tile(self) -> Tile:
        return Tile(self.row, self.column)


class AppliedPaints(NamedTuple):
    """The board after some actions, and the actions that could not be carried out (off the board, unknown color)."""

    board: "Board"
    ignored: tuple[Paint, ...]


def on_board(row: int, column: int) -> bool:
    """Whether row is in 0..9 and column in 0..17."""
    return 0 <= row < ROWS and 0 <= column < COLUMNS


def canonical(actions: Iterable[Paint]) -> tuple[Paint, ...]:
    """The last action for each tile, sorted by row and column."""
    return tuple(sorted({action.tile: action for action in actions}.values()))


def to_cube(tile: tuple[int, int]) -> tuple[int, int]:
    """Cube coordinates (x, z): a move is the same addition for every tile, in even and odd columns."""
    row, column = tile
    return column, row - (column - (column & 1)) // 2


def from_cube(x: int, z: int) -> Tile:
    """The inverse of `to_cube`."""
    return Tile(z + (x - (x & 1)) // 2, x)


# The six directions in cube coordinates (x, z), clockwise from the top.
DIRECTIONS = {"up": (0, -1), "up-right": (1, -1), "down-right": (1, 0), "down": (0, 1), "down-left": (-1, 1), "up-left": (-1, 0)}


def step(tile: Tile, direction: str, count: int = 1) -> Tile:
    """The tile `count` tiles away in one of `DIRECTIONS`; it may lie off the board. Raises KeyError for other names."""
    dx, dz = DIRECTIONS[direction]
    x, z = to_cube(tile)
    return from_cube(x + count * dx, z + count * dz)


def neighbors(tile: Tile) -> tuple[Tile, ...]:
    """The two to six tiles of the board that touch `tile`, clockwise from the top."""
    return tuple(t for t in (step(tile, d) for d in DIRECTIONS) if on_board(*t))


def distance(a: Tile, b: Tile) -> int:
    """The smallest number of steps between touching tiles from `a` to `b`."""
    (ax, az), (bx, bz) = to_cube(a), to_cube(b)
    return max(abs(ax - bx), abs(az - bz), abs(ax + az - bx - bz))


def line(a: Tile, b: Tile) -> tuple[Tile, ...]:
    """The `distance(a, b) + 1` tiles of the straight line from `a` to `b`, both included.

    If the line runs along an edge between two tiles, the tile nearer to the top left is taken.
    """
    n = distance(a, b)
    if n == 0:
        return (a,)
    start, end = (np.array([x, -x - z, z], float) for x, z in map(to_cube, (a, b)))
    points = start + (end - start) * np.arange(n + 1)[:, None] / n + np.array([-1e-6, 2e-6, -1e-6])
    rounded = np.rint(points)
    worst = np.argmax(np.abs(rounded - points), axis=1)
    rows = np.arange(n + 1)
    rounded[rows, worst] -= rounded.sum(axis=1)
    return tuple(from_cube(int(x), int(z)) for x, _, z in rounded)


class Board(Cells):
    """An immutable board. Equal boards compare and hash equal."""

    __slots__ = ()

    #: uint8 array of shape (10, 18), read-only: color codes 0..7, the index into `COLORS`.
    cells: npt.NDArray[np.uint8]

    def __init__(self, cells: npt.ArrayLike | None = None) -> None:
        """Takes 180 color codes in row-major order, in an array of any shape; None gives the blank board, all white.

        Raises ValueError if there are not 180 codes or one is outside 0..7.
        """
        codes = np.zeros(TILES, np.int64) if cells is None else np.asarray(cells)
        if codes.size != TILES:
            raise ValueError(f"a board has {TILES} cells, not {codes.size}")
        if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= len(COLORS):
            raise ValueError(f"a board holds whole numbers 0..{len(COLORS) - 1} only")
        frozen = codes.astype(np.uint8).reshape(ROWS, COLUMNS)
        frozen.setflags(write=False)
        super().__init__(frozen)

    @classmethod
    def from_digits(cls, digits: str) -> "Board":
        """The board written as 180 digits 0..7 in row-major order; raises ValueError for any other string."""
        if not (digits.isascii() and digits.isdigit()):
            raise ValueError("a board is a string of digits")
        return cls(np.frombuffer(digits.encode(), np.uint8) - ord("0"))

    def digits(self) -> str:
        return (self.cells + ord("0")).astype(np.uint8).tobytes().decode()

    def __getitem__(self, tile: tuple[int, int]) -> str:
        return COLORS[self.cells[tile]]

    def __repr__(self) -> str:
        return f"Board.from_digits({self.digits()!r})"

    def painted(self) -> frozenset[Paint]:
        """The tiles that are not white, as the actions that would draw them on a blank board."""
        return frozenset(Paint(int(r), int(c), COLORS[self.cells[r, c]]) for r, c in np.argwhere(self.cells))

    def apply(self, actions: Iterable[Paint]) -> AppliedPaints:
        """Paint in order: the last action on a tile wins. Actions that cannot be carried out are ignored and reported."""
        cells, ignored = self.cells.copy(), []
        for action in actions:
            if on_board(action.row, action.column) and action.color in CODES:
                cells[action.row, action.column] = CODES[action.color]
            else:
                ignored.append(action)
        return AppliedPaints(Board(cells), tuple(ignored))

    def diff(self, after: "Board") -> tuple[Paint, ...]:
        """The actions that turn this board into `after`, sorted by row and column; white is a color like any other."""
        changed = np.argwhere(self.cells != after.cells)
        return tuple(Paint(int(r), int(c), COLORS[after.cells[r, c]]) for r, c in changed)
