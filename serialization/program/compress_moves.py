"""Moves of a board and their repetition, for the compressor: which copies of which tiles lie within a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from harness.worlds.hexagons import COLUMNS, ROWS, Tile, to_cube
from serialization.program.ast import Expr, Move, number
from serialization.program.compress_masks import BOARD, Painting, shifted
from serialization.program.hexagons_geometry import board_shift

ACROSS, DOWN, SLANTED = 9, 5, 6
"""How far the moves of a repetition reach: columns, rows, and tiles along a diagonal."""
MAX_COPIES = 9
Vector = tuple[int, int]
"""A vector in cube coordinates (x, z)."""


def move(*steps: tuple[str, int], grid: bool = False) -> Move:
    """`right 4 down`; what goes no way is left out."""
    nonzero = ((way, count) for way, count in steps if count)
    return Move(tuple((way, None if count == 1 else number(count)) for way, count in nonzero), grid)


def move_between(start: Tile, end: Tile) -> Move:
    """The shortest move that leads from one tile to another."""
    across, down = end.column - start.column, end.row - start.row
    sideways = ("right" if across > 0 else "left", abs(across))
    level = move(sideways, ("down" if down > 0 else "up", abs(down)))
    x, z = (b - a for a, b in zip(to_cube(start), to_cube(end), strict=True))
    if x and z in (0, -x):
        return move((("down-" if (x > 0) == (z == 0) else "up-") + sideways[0], abs(x))) if down else level
    return level


class Path(NamedTuple):
    """A move and where each of its repetitions leads from a tile in an even (or odd) column."""

    move: Move
    vectors: tuple[Vector, ...]


def _path(steps: Sequence[tuple[str, int]], parity: int) -> Path:
    anchor = Tile(0, parity)
    shift = board_shift([step for step in steps if step[1]], False)
    start = to_cube(anchor)

    def vector(turn: int) -> Vector:
        there, _ = shift.times(turn).mapping(anchor)
        x, z = to_cube(Tile(*there(anchor)))
        return x - start[0], z - start[1]

    return Path(move(*steps), tuple(vector(turn) for turn in range(max(COLUMNS, ROWS) + 1)))


@cache
def paths() -> tuple[Path, ...]:
    """The moves of repetitions, each way they can go; those that are short to say first."""
    moves: list[tuple[tuple[str, int], ...]] = [(("right", k),) for k in range(1, ACROSS + 1)]
    moves += [(("down", k),) for k in range(1, DOWN + 1)]
    moves += [((way, k),) for way in ("down-right", "up-right") for k in range(1, SLANTED + 1)]
    moves += [(("right", k), (way, j)) for k in range(1, ACROSS + 1) for way in ("down", "up") for j in range(1, DOWN + 1)]
    found: dict[tuple[Vector, ...], Path] = {}
    for steps in moves:
        for parity in (0, 1):
            path = _path(steps, parity)
            found.setdefault(path.vectors, path)
    return tuple(found.values())


class Repeated(NamedTuple):
    """The tiles to draw first, the move, how often (None: to the edge), and how many needed tiles that saves to list."""

    base: Painting
    move: Move
    turns: Expr | None
    saved: int


def repetitions(needed: Painting, allowed: Painting, *, whole: bool = False) -> Iterator[Repeated]:
    """What, moved again and again, stays within the allowed tiles; `whole`: and makes all of the needed ones."""
    total = sum(mask.bit_count() for mask in needed.values())
    for path in paths():
        again = sum((shifted(mask, *path.vectors[1]) & mask).bit_count() for mask in needed.values())
        if again * 3 < total or not again:
            continue
        last = -1
        for count in (*range(2, MAX_COPIES + 1), None):
            vectors = path.vectors[:count]
            bases = {color: _starts(mask, allowed[color], path.vectors, vectors) for color, mask in needed.items()}
            copied = {color: _copies(base, vectors) & needed[color] for color, base in bases.items()}
            covered = sum(mask.bit_count() for mask in copied.values())
            if not covered or (whole and covered < total) or (count is not None and covered == last):
                continue
            last = covered
            used = sum(base.bit_count() for base in bases.values())
            times = None if count is None else number(count)
            if covered > used:
                yield Repeated({color: base for color, base in bases.items() if base}, path.move, times, covered - used)


def _copies(mask: int, vectors: Sequence[Vector]) -> int:
    made = 0
    for vector in vectors:
        made |= shifted(mask, *vector)
    return made


def _starts(needed: int, allowed: int, path: Sequence[Vector], vectors: Sequence[Vector]) -> int:
    """The tiles whose copies are all allowed, or off the board, and that are no copies of others themselves."""
    starts = allowed
    for x, z in vectors[1:]:
        starts &= shifted(allowed, -x, -z) | (BOARD & ~shifted(BOARD, -x, -z))
    starts &= _copies_back(needed, vectors)
    return starts & ~_copies(starts, vectors[1:])


def _copies_back(mask: int, vectors: Sequence[Vector]) -> int:
    return _copies(mask, [(-x, -z) for x, z in vectors])
