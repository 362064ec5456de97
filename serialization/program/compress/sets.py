"""Sets of tiles for the compressor: masks, the terms that denote them, and the shortest union of terms that covers a mask.

A mask is a 180-bit integer: bit 10 * column + row, both 0-based.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import combinations
from operator import or_
from typing import NamedTuple

from harness.worlds.hexagons import CODES, COLUMNS, DIRECTIONS, ROWS, Tile, line, on_board
from serialization.program.ast import Call, Chain, Expr, Move, Name, number, plus
from serialization.program.compress.shared import UNION, length
from serialization.program.figure import Cell
from serialization.program.hexagons_geometry import ALL, ray, triangle
from serialization.program.hexagons_geometry import ring as ring_of
from serialization.program.literal import product, tile_set
from serialization.program.written import write_expression

Painting = Mapping[str, int]
"""The tiles of each color."""
BOARD = (1 << ROWS * COLUMNS) - 1
COLUMN = (1 << ROWS) - 1
LONGEST_RADIUS = 4


def bit(tile: Cell) -> int:
    return 1 << (int(tile[1]) * ROWS + int(tile[0]))


def to_mask(tiles: Iterable[Cell]) -> int:
    """Tiles off the board are left out."""
    mask = 0
    for tile in tiles:
        if on_board(tile[0], tile[1]):
            mask |= bit(tile)
    return mask


def mask_tiles(mask: int) -> list[Tile]:
    """Column by column."""
    tiles = []
    while mask:
        low = mask & -mask
        tiles.append(ALL[low.bit_length() - 1])
        mask ^= low
    return tiles


def mask_columns(mask: int) -> list[int]:
    """The rows of each of the 18 columns, as 10 bits."""
    return [mask >> ROWS * column & COLUMN for column in range(COLUMNS)]


def bit_numbers(bits: int) -> tuple[int, ...]:
    """The 1-based numbers of the bits that are set."""
    return tuple(k + 1 for k in range(bits.bit_length()) if bits >> k & 1)


_PARITIES = tuple(sum(COLUMN << ROWS * column for column in range(p, COLUMNS, 2)) for p in (0, 1))


@cache
def _rows_that_stay(down: int) -> int:
    """The tiles whose row is still on the board after a move by `down` rows."""
    rows = sum(1 << row for row in range(ROWS) if 0 <= row + down < ROWS)
    return sum(rows << ROWS * column for column in range(COLUMNS))


def shifted(mask: int, x: int, z: int) -> int:
    """The mask moved in cube coordinates; tiles that leave the board are dropped."""
    moved = 0
    for parity, columns in enumerate(_PARITIES):
        down = z + (parity + x) // 2
        part = mask & columns & _rows_that_stay(down)
        by = x * ROWS + down
        moved |= part << by if by >= 0 else part >> -by
    return moved & BOARD


def touching(mask: int) -> int:
    """The tiles at distance 0 or 1 from the mask."""
    return reduce(or_, (shifted(mask, *way) for way in DIRECTIONS.values()), mask)


def pieces(mask: int) -> list[int]:
    """The connected components."""
    parts = []
    while mask:
        piece = mask & -mask
        while (grown := touching(piece) & mask) != piece:
            piece = grown
        parts.append(piece)
        mask &= ~piece
    return parts


def union(painting: Painting) -> int:
    """The tiles of all colors."""
    return reduce(or_, painting.values(), 0)


def to_painting(shades: Mapping[Tile, str]) -> Painting:
    colors = sorted(set(shades.values()), key=CODES.__getitem__)
    return {color: to_mask(tile for tile, own in shades.items() if own == color) for color in colors}


def to_shades(painting: Painting) -> dict[Tile, str]:
    return {tile: color for color, mask in painting.items() for tile in mask_tiles(mask)}


MAX_PATTERNS = 60


class SetExpression(NamedTuple):
    """The tiles of the board that a set holds, its expression, and the expression's length."""

    mask: int
    expr: Expr
    cost: float


def term(mask: int, expr: Expr) -> SetExpression:
    return SetExpression(mask, expr, length(write_expression(expr)))


def direction(way: str) -> Move:
    return Move(((way, None),))


def tile_expr(tile: Tile) -> Expr:
    return product((tile.column + 1,), (tile.row + 1,))


def literal_terms(needed: int, allowed: int) -> Iterator[SetExpression]:
    """Columns in rows: for the rows that columns have or share, all columns in which these rows are allowed."""
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
def _product(columns: tuple[int, ...], rows: int) -> SetExpression:
    mask = sum(rows << ROWS * (column - 1) for column in columns)
    return term(mask, product(columns, bit_numbers(rows)))


@cache
def _round_terms() -> tuple[SetExpression, ...]:
    """All rings, flowers and neighborhoods of a tile of the board."""
    terms = []
    for tile in ALL:
        layers = [to_mask(ring_of(tile, radius)) for radius in range(LONGEST_RADIUS + 1)]
        filled = layers[0]
        for radius in range(1, LONGEST_RADIUS + 1):
            size = () if radius == 1 else (number(radius),)
            filled |= layers[radius]
            terms.append(term(layers[radius], Call("ring", (tile_expr(tile), *size))))
            terms.append(term(filled, Call("flower", (tile_expr(tile), *size))))
            if radius > 1:
                terms.append(term(filled & ~layers[0], Call("near", (tile_expr(tile), *size))))
    return tuple(terms)


def shape_terms(needed: int, allowed: int) -> Iterator[SetExpression]:
    """Rings, flowers, lines and triangles."""
    taken = BOARD & ~allowed
    yield from (one for one in _round_terms() if not one[0] & taken and one[0] & needed)
    yield from _lines(needed, allowed)
    yield from _triangles(needed, allowed)


def _lines(needed: int, allowed: int) -> Iterator[SetExpression]:
    for start in mask_tiles(needed):
        for way in ("up-right", "down-right"):
            mask = 0
            for count, tile in enumerate(ray(start, way, None), start=1):
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
    """The mask of a triangle; empty if more tiles than its longest line holds are off the board."""
    tiles = triangle(corner, way, size)
    mask = to_mask(tiles)
    return mask if mask.bit_count() >= len(tiles) - size else 0


def _triangles(needed: int, allowed: int) -> Iterator[SetExpression]:
    for corner in mask_tiles(allowed if needed.bit_count() > 4 else 0):
        for way in ("up", "right", "down", "left"):
            for size in range(2, 10):
                mask = _triangle(corner, way, size)
                if mask & ~allowed or not mask:
                    break
                if size > 2 and mask & needed:
                    yield term(mask, Call("triangle", (tile_expr(corner), direction(way), number(size))))


def _extent(mask: int) -> tuple[tuple[int, ...], int]:
    """The numbers of the columns that hold tiles of a mask, and all rows that hold some, as bits."""
    by_column = mask_columns(mask)
    return tuple(column for column, rows in enumerate(by_column, start=1) if rows), reduce(or_, by_column)


def remaining_terms(needed: int, allowed: int, blank: int) -> Iterator[SetExpression]:
    """The blank tiles of the needed columns and rows."""
    columns, rows = _extent(needed)
    everywhere = tuple(range(1, COLUMNS + 1))
    if not blank & ~allowed:
        yield term(blank, Name("blank"))
    for across, down in ((columns, rows), (columns, COLUMN), (everywhere, rows)):
        area = _product(across, down)
        if area.mask & blank & needed and not area.mask & blank & ~allowed and area.mask & ~allowed:
            yield term(area.mask & blank, Chain(area.expr, (("&", Name("blank")),)))


def difference_terms(needed: int, allowed: int, wholes: Iterable[SetExpression]) -> Iterator[SetExpression]:
    """A set without some of its tiles."""
    columns, rows = _extent(needed)
    board = SetExpression(BOARD, Name("all"), 3)
    for whole in (_product(columns, rows), board, *wholes):
        over = whole.mask & ~allowed
        if over and over.bit_count() * 3 <= whole.mask.bit_count() and whole.mask & needed:
            yield term(whole.mask & allowed, Chain(whole.expr, (("-", tile_set(mask_tiles(over))),)))


def cover(needed: int, terms: Iterable[SetExpression], count: int = 1, beam: int = 6, options: int = 10) -> list[SetExpression]:
    """At most `count` short unions of terms that hold all needed tiles, shortest first, found by beam search.

    Each step takes the first tile that is not covered yet and adds a term that holds it.
    """
    by_tile: dict[int, list[SetExpression]] = defaultdict(list)
    for one in dict.fromkeys(terms):
        held = one.mask & needed
        while held:
            low = held & -held
            by_tile[low].append(one)
            held ^= low
    states: list[tuple[float, int, tuple[SetExpression, ...]]] = [(0.0, 0, ())]
    done: dict[str, SetExpression] = {}
    while states:
        following: dict[int, tuple[float, int, tuple[SetExpression, ...]]] = {}
        for cost, covered, chosen in states:
            left = needed & ~covered
            ranked = sorted(by_tile[left & -left], key=lambda t: (t.cost + UNION) / (t.mask & left).bit_count())
            for one in ranked[:options]:
                new = (cost + one.cost + UNION * bool(chosen), covered | (one.mask & needed), (*chosen, one))
                if new[1] == needed:
                    union = _union(_useful(new[2], needed))
                    done.setdefault(write_expression(union.expr), union)
                elif new[1] not in following or new[0] < following[new[1]][0]:
                    following[new[1]] = new
        limit = sorted(union.cost for union in done.values())[:count][-1] if len(done) >= count else float("inf")
        open_states = [state for state in following.values() if state[0] < limit]
        share = {state[1]: state[0] / state[1].bit_count() for state in open_states}
        states = sorted(open_states, key=lambda state: (share[state[1]], state[0], state[1]))[:beam]
    return sorted(done.values(), key=lambda union: union.cost)[:count]


def _useful(chosen: Sequence[SetExpression], needed: int) -> list[SetExpression]:
    """Drops terms whose needed tiles the others hold, trying the longest first."""
    kept = list(chosen)
    for one in sorted(chosen, key=lambda one: -one.cost):
        others = [other for other in kept if other is not one]
        if not needed & ~reduce(or_, (other.mask for other in others), 0):
            kept = others
    return kept


def _union(chosen: Sequence[SetExpression]) -> SetExpression:
    # Terms are written from left to right on the board.
    expr = plus(one.expr for one in sorted(chosen, key=lambda one: (one.mask & -one.mask, -one.mask)))
    return term(reduce(or_, (one.mask for one in chosen)), expr)
