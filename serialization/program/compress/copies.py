"""Copies for the compressor: repetitions of a set, and copies from the board, moved, mirrored, turned or in other colors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import or_
from typing import NamedTuple

from harness.worlds.hexagons import COLUMNS, ROWS, Tile, from_cube, on_board, to_cube
from serialization.program import ast
from serialization.program.ast import Call, Expr, Move, Name, Span, number
from serialization.program.compress.sets import BOARD, Painting, bit, direction, mask_tiles, shifted, tile_expr, to_mask, union
from serialization.program.compress.shared import length
from serialization.program.hexagons import Drawing, DrawingState
from serialization.program.hexagons_geometry import ALL, board_shift, flipped, mirrored, turned
from serialization.program.literal import change
from serialization.program.written import write_statement

ACROSS, DOWN, SLANTED = 9, 5, 6
"""The longest moves of a repetition, in columns, in rows, and in tiles along a diagonal."""
MAX_COPIES = 9
Vector = tuple[int, int]
"""A vector in cube coordinates (x, z)."""


def move(*steps: tuple[str, int], grid: bool = False) -> Move:
    """`right 4 down`; steps of length 0 are left out."""
    nonzero = ((way, count) for way, count in steps if count)
    return Move(tuple((way, None if count == 1 else number(count)) for way, count in nonzero), grid)


def move_between(start: Tile, end: Tile) -> Move:
    """The shortest move from one tile to another."""
    across, down = end.column - start.column, end.row - start.row
    sideways = ("right" if across > 0 else "left", abs(across))
    level = move(sideways, ("down" if down > 0 else "up", abs(down)))
    x, z = (b - a for a, b in zip(to_cube(start), to_cube(end), strict=True))
    if x and z in (0, -x):
        return move((("down-" if (x > 0) == (z == 0) else "up-") + sideways[0], abs(x))) if down else level
    return level


class Path(NamedTuple):
    """A move and the vectors of its repetitions (0, 1, 2, ... times), which depend on the parity of the start's column."""

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
    """The moves of repetitions, from even and from odd columns; moves with short texts come first."""
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
    """The tiles to draw first, the move, the number of turns (None: to the edge), and how many tiles need not be listed."""

    base: Painting
    move: Move
    turns: Expr | None
    saved: int


def repetitions(needed: Painting, allowed: Painting, *, whole: bool = False) -> Iterator[Repeated]:
    """Repetitions that stay within the allowed tiles; `whole`: only those that make all needed tiles."""
    total = sum(mask.bit_count() for mask in needed.values())
    for path in paths():
        again = sum((shifted(mask, *path.vectors[1]) & mask).bit_count() for mask in needed.values())
        if again * 3 < total or not again:
            continue
        last = -1
        for count in (*range(2, MAX_COPIES + 1), None):
            vectors = path.vectors[:count]
            bases = {color: _starts(mask, allowed[color], vectors) for color, mask in needed.items()}
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
    return reduce(or_, (shifted(mask, *vector) for vector in vectors), 0)


def _starts(needed: int, allowed: int, vectors: Sequence[Vector]) -> int:
    """The tiles whose copies are all allowed or off the board, and that are not copies of other tiles themselves."""
    starts = allowed
    for x, z in vectors[1:]:
        starts &= shifted(allowed, -x, -z) | (BOARD & ~shifted(BOARD, -x, -z))
    starts &= _copies(needed, [(-x, -z) for x, z in vectors])
    return starts & ~_copies(starts, vectors[1:])


LEAST = 3
"""A copy must make at least this many needed tiles."""
FLIPS = ("right", "up", "down-right", "up-right")


class CopySource(NamedTuple):
    """A set that can be copied, its first tile, and its tiles by their colors on the board."""

    expr: Expr
    first: Tile
    painting: Painting


class Copied(NamedTuple):
    """A statement, the needed tiles that it paints (a mask), and its length."""

    statement: ast.Statement
    made: int
    cost: float


def copies(source: CopySource, needed: Painting, fitting: Painting) -> Iterator[Copied]:
    """Statements that copy a source onto needed tiles, and otherwise only onto tiles that already have the color.

    `fitting`: the tiles that may be painted in each color without harm, because they need the color or already have it.
    """
    wanted, possible = union(needed), union(fitting)
    if wanted.bit_count() < LEAST:
        return
    for expr, image in _images(source, wanted, possible):
        swaps: dict[str, str] = {}
        painted = 0
        for color, mask in image.items():
            hit = [other for other, tiles in needed.items() if mask & tiles] or [color]
            if len(hit) > 1 or mask & ~fitting.get(hit[0], 0):
                break
            swaps[color] = hit[0]
            painted |= mask & needed.get(hit[0], 0)
        else:
            if painted.bit_count() >= LEAST:
                yield _statement(expr, swaps, painted)


def _statement(expr: Expr, swaps: Mapping[str, str], made: int) -> Copied:
    ways: list[ast.Statement] = [ast.Copy(expr, tuple((old, new) for old, new in swaps.items() if old != new))]
    if len(set(swaps.values())) == 1:
        ways.append(change(next(iter(swaps.values())), expr))
    costs = [length(write_statement(way)) for way in ways]
    best = costs.index(min(costs))
    return Copied(ways[best], made, costs[best])


def _images(source: CopySource, wanted: int, possible: int) -> Iterator[tuple[Expr, Painting]]:
    """Expressions for copies of a source, each with the tiles that it would paint; `copies` checks their colors."""
    tiles = mask_tiles(union(source.painting))
    ends = mask_tiles(wanted)
    ends = ends[:1] + ends[1:][-1:]
    yield from _moved(source, tiles, ends)
    yield from _repeated(source, possible)
    yield from _mirrored(source, possible)
    yield from _turned(source, tiles, ends, possible)


def _vectors(places: Sequence[tuple[int, int]], ends: Sequence[Tile]) -> list[tuple[int, int]]:
    """The vectors, in cube coordinates, that move one of the places to one of the ends."""
    return list(dict.fromkeys((x - a, z - b) for x, z in map(to_cube, ends) for a, b in places))


def _moved(source: CopySource, tiles: Sequence[Tile], ends: Sequence[Tile]) -> Iterator[tuple[Expr, Painting]]:
    x0, z0 = to_cube(source.first)
    for x, z in _vectors(list(map(to_cube, tiles)), ends):
        if x or z:
            image = {color: shifted(mask, x, z) for color, mask in source.painting.items()}
            move = move_between(source.first, from_cube(x0 + x, z0 + z))
            yield Call("shift", (source.expr, move)), image


def _repeated(source: CopySource, possible: int) -> Iterator[tuple[Expr, Painting]]:
    whole = union(source.painting)
    if whole & ~possible:
        return
    for path in paths():
        image = dict(source.painting)
        for count, vector in enumerate(path.vectors[1:], start=2):
            more = shifted(whole, *vector)
            if not more:
                yield Call("repeat", (source.expr, path.move)), image
            if not more or more & ~possible:
                break
            image = {color: image[color] | shifted(mask, *vector) for color, mask in source.painting.items()}
            if count <= MAX_COPIES:
                yield Call("repeat", (source.expr, path.move, number(count))), image


@cache
def mirrors() -> tuple[tuple[Expr, Mapping[Tile, Tile]], ...]:
    """The axes over which `reflect` can mirror, each with the image of every tile of the board."""
    axes: list[Expr] = [ast.Numbers((Span(total // 2, (total + 1) // 2),)) for total in range(2, 2 * COLUMNS + 1)]
    axes += [ast.Tiles((), (Span(total // 2, (total + 1) // 2),)) for total in range(2, 2 * ROWS + 1)]
    board = Drawing(DrawingState())
    images = [(axis, mirrored(board.figure(axis))) for axis in (*axes, Name("all"))]
    return tuple((axis, {tile: to(tile) for tile in ALL}) for axis, to in images)


def _mirrored(source: CopySource, possible: int) -> Iterator[tuple[Expr, Painting]]:
    tiles = mask_tiles(union(source.painting))
    for axis, to in mirrors():
        if _within((to[tile] for tile in tiles), possible):
            image = {color: to_mask(to[tile] for tile in mask_tiles(mask)) for color, mask in source.painting.items()}
            yield Call("reflect", (source.expr, axis)), image


def _within(tiles: Iterable[Tile], possible: int) -> bool:
    """Whether all tiles that lie on the board are possible."""
    return all(not on_board(*tile) or bit(tile) & possible for tile in tiles)


@cache
def _centers() -> tuple[tuple[str, int, Mapping[tuple[int, int], Tile]], ...]:
    """The mirrorings and turns about a tile: the function, its variant, and the center tile by the image of the origin."""
    images = []
    origin = from_cube(0, 0)
    for name, count in (("flip", len(FLIPS)), ("rotate", 6)):
        for how in range(name == "rotate", count):
            images.append((name, how, {to_cube(_about(name, how, origin, tile)): tile for tile in reversed(ALL)}))
    return tuple(images)


def _about(name: str, how: int, tile: Tile, center: Tile) -> Tile:
    return flipped(tile, center, FLIPS[how]) if name == "flip" else turned(tile, how, center)


def _turned(source: CopySource, tiles: Sequence[Tile], ends: Sequence[Tile], possible: int) -> Iterator[tuple[Expr, Painting]]:
    origin = from_cube(0, 0)
    for name, how, centers in _centers():
        there = {tile: to_cube(_about(name, how, tile, origin)) for tile in tiles}
        for x, z in _vectors(list(there.values()), ends):
            if (x, z) not in centers or not _within((from_cube(a + x, b + z) for a, b in there.values()), possible):
                continue
            image: dict[str, int] = {}
            for color, mask in source.painting.items():
                image[color] = to_mask(from_cube(there[tile][0] + x, there[tile][1] + z) for tile in mask_tiles(mask))
            center = tile_expr(centers[x, z])
            if name == "rotate":
                yield Call(name, (source.expr, number(how), center)), image
            else:
                yield Call(name, (source.expr, center, *(() if how == 0 else (direction(FLIPS[how]),)))), image
