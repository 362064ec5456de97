"""Terms of a drawing program that lie within a set of tiles and hold some of another one, for the compressor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import NamedTuple

from harness.worlds.hexagons import COLUMNS, ROWS, Tile, line
from serialization.program.ast import Call, Chain, Expr, Move, Name, number
from serialization.program.compress_masks import (
    BOARD,
    LONGEST_RADIUS,
    bit,
    bit_numbers,
    mask_columns,
    mask_tiles,
    pieces,
    rings,
    to_mask,
    ways,
)
from serialization.program.hexagons_geometry import triangle
from serialization.program.literal import product, tile_set
from serialization.program.written import write_expression

LONGEST_NAME = 4
"""Most characters that a function's name counts as: a common word is as easy to say as a short one."""
UNION, TIMES = 2, 3
"""What `+` and `*` count as: joining terms, and counting cells, are more to think of than a character."""
MAX_PATTERNS = 60
_LONG_NAMES = re.compile(r"[a-z]{5,}(?=\()")


class Term(NamedTuple):
    """A set, the tiles of the board that it holds, and its length."""

    mask: int
    expr: Expr
    cost: float


def length(text: str) -> float:
    """The code length of a text, in characters, more or less."""
    names = sum(len(name) - LONGEST_NAME for name in _LONG_NAMES.findall(text))
    return len(text) - names + (UNION - 1) * text.count("+") + (TIMES - 1) * text.count("*")


def term(mask: int, expr: Expr) -> Term:
    return Term(mask, expr, length(write_expression(expr)))


def direction(way: str) -> Move:
    return Move(((way, None),))


def tile_expr(tile: Tile) -> Expr:
    return product((tile.column + 1,), (tile.row + 1,))


def literal_terms(needed: int, allowed: int) -> Iterator[Term]:
    """Columns in rows: for the rows that columns have, or share, all columns in which they are allowed."""
    want, may = mask_columns(needed), mask_columns(allowed)
    distinct = sorted({rows for rows in want if rows} | {rows & needs for rows, needs in _pairs(may, want) if rows & needs})
    patterns = dict.fromkeys(distinct)
    patterns |= dict.fromkeys(run for rows in distinct for run in _runs(rows))
    patterns |= dict.fromkeys(1 << row for row in range(ROWS))
    rest = sorted(patterns, key=lambda rows: -rows.bit_count() * sum(not rows & ~own for own in may))[:MAX_PATTERNS]
    for rows in dict.fromkeys([*rest, *(1 << row for row in range(ROWS)), *(rows for rows in want if rows)]):
        fitting = tuple(c + 1 for c, own in enumerate(may) if not rows & ~own)
        useful = tuple(c for c in fitting if rows & want[c - 1])
        if useful:
            yield _product(useful, rows)
            if len(fitting) > len(useful):
                yield _product(fitting, rows)
    for column, rows in enumerate(want, start=1):
        if rows:
            yield _product((column,), rows)


def _pairs(may: Sequence[int], want: Sequence[int]) -> Iterator[tuple[int, int]]:
    for (a, x), (b, y) in combinations(list(zip(may, want, strict=True)), 2):
        if x and y:
            yield a, y
            yield b, x


def _runs(rows: int) -> Iterator[int]:
    while rows:
        low = rows & -rows
        run = rows & ~(rows + low)
        yield run
        rows &= ~run


@lru_cache(maxsize=4096)
def _product(columns: tuple[int, ...], rows: int) -> Term:
    mask = sum(rows << ROWS * (column - 1) for column in columns)
    return term(mask, product(columns, bit_numbers(rows)))


@cache
def _round_terms() -> tuple[Term, ...]:
    """All rings and flowers about a tile of the board."""
    terms = []
    for tile, layers in rings():
        filled = layers[0]
        for radius in range(1, LONGEST_RADIUS + 1):
            size = () if radius == 1 else (number(radius),)
            filled |= layers[radius]
            terms.append(term(layers[radius], Call("ring", (tile_expr(tile), *size))))
            terms.append(term(filled, Call("flower", (tile_expr(tile), *size))))
            if radius > 1:
                terms.append(term(filled & ~layers[0], Call("near", (tile_expr(tile), *size))))
    return tuple(terms)


def shape_terms(needed: int, allowed: int) -> Iterator[Term]:
    """Rings, flowers, lines and triangles."""
    taken = BOARD & ~allowed
    yield from (one for one in _round_terms() if not one[0] & taken and one[0] & needed)
    yield from _lines(needed, allowed)
    yield from _triangles(needed, allowed)


def _lines(needed: int, allowed: int) -> Iterator[Term]:
    for start in mask_tiles(needed):
        for way in ("up-right", "down-right"):
            mask = 0
            for count, tile in enumerate(ways(start)[way], start=1):
                mask |= bit(tile)
                if not bit(tile) & allowed:
                    break
                if count > 2 and bit(tile) & needed:
                    yield term(mask, Call("line", (tile_expr(start), tile_expr(tile))))
    for piece in pieces(needed):
        ends = mask_tiles(piece)
        left, right = ([tile for tile in ends if tile.column == one.column][:4] for one in (ends[0], ends[-1]))
        if right[0].column - left[0].column > 2:
            for a, b in ((a, b) for a in left for b in right):
                mask = to_mask(line(a, b))
                if not mask & ~allowed:
                    yield term(mask, Call("line", (tile_expr(a), tile_expr(b))))


@cache
def _triangle(corner: Tile, way: str, size: int) -> int:
    """Nothing if more than a line of it is off the board."""
    tiles = triangle(corner, way, size)
    mask = to_mask(tiles)
    return mask if mask.bit_count() >= len(tiles) - size else 0


def _triangles(needed: int, allowed: int) -> Iterator[Term]:
    for corner in mask_tiles(allowed if needed.bit_count() > 4 else 0):
        for way in ("up", "right", "down", "left"):
            for size in range(2, 10):
                mask = _triangle(corner, way, size)
                if mask & ~allowed or not mask:
                    break
                if size > 2 and mask & needed:
                    yield term(mask, Call("triangle", (tile_expr(corner), direction(way), number(size))))


def remaining_terms(needed: int, allowed: int, blank: int) -> Iterator[Term]:
    """What is blank in columns and rows."""
    want = mask_columns(needed)
    columns = tuple(c for c, rows in enumerate(want, start=1) if rows)
    rows = 0
    for one in want:
        rows |= one
    whole = (1 << ROWS) - 1
    everywhere = tuple(range(1, COLUMNS + 1))
    if not blank & ~allowed:
        yield term(blank, Name("blank"))
    for across, down in ((columns, rows), (columns, whole), (everywhere, rows)):
        area = _product(across, down)
        if area.mask & blank & needed and not area.mask & blank & ~allowed and area.mask & ~allowed:
            yield term(area.mask & blank, Chain(area.expr, (("&", Name("blank")),)))


def difference_terms(needed: int, allowed: int, wholes: Iterable[Term]) -> Iterator[Term]:
    """A set without some of its tiles."""
    want = mask_columns(needed)
    columns = tuple(c for c, rows in enumerate(want, start=1) if rows)
    rows = 0
    for one in want:
        rows |= one
    board = Term(BOARD, Name("all"), 3)
    for whole in (_product(columns, rows), board, *wholes):
        over = whole.mask & ~allowed
        if over and over.bit_count() * 3 <= whole.mask.bit_count() and whole.mask & needed:
            yield term(whole.mask & allowed, Chain(whole.expr, (("-", tile_set(mask_tiles(over))),)))
