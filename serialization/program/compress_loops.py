"""Staircases, for the compressor: columns whose ends go up or down evenly, as a loop over the columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from serialization.program import ast
from serialization.program.ast import Call, Chain, Expr, Name, Numbers, Span, number
from serialization.program.compress_masks import bit_numbers, mask_columns

FEWEST = 3
"""Columns: two are said one by one."""
_N = Name("n")


def stairs(color: str, mask: int) -> Iterator[ast.For]:
    """The loop that paints exactly these tiles, if their columns are evenly spaced, have no gaps and end evenly."""
    columns = {column: bit_numbers(rows) for column, rows in enumerate(mask_columns(mask), start=1) if rows}
    spaced = _steps(list(columns))
    if spaced is None or len(columns) < FEWEST or any(rows[-1] - rows[0] >= len(rows) for rows in columns.values()):
        return
    top, bottom = (_linear(list(columns), [rows[end] for rows in columns.values()]) for end in (0, -1))
    if top is not None and bottom is not None:
        rows = top if top == bottom else Chain(top, (("..", bottom),))
        yield ast.For("n", Numbers((spaced,)), (ast.Paint(((color, 1),), Call("at", (_N, rows))),))


def _steps(values: Sequence[int]) -> Span | None:
    gaps = {b - a for a, b in pairwise(values)}
    return Span(values[0], values[-1], gaps.pop()) if len(gaps) == 1 else None


def _linear(columns: Sequence[int], ends: Sequence[int]) -> Expr | None:
    """`n+b`, `b-n`, `2*n+b`, `n/2+b` or `b` for the ends of columns."""
    for slope, term in ((1, _N), (2, Chain(number(2), (("*", _N),))), (0, Chain(_N, (("/", number(2)),)))):
        values = [slope * n if slope else n // 2 for n in columns]
        for sign in (1, -1):
            rest = {end - sign * value for end, value in zip(ends, values, strict=True)}
            if len(rest) == 1:
                return _sum(term, sign, rest.pop())
    return number(ends[0]) if len(set(ends)) == 1 else None


def _sum(term: Expr, sign: int, rest: int) -> Expr:
    if sign < 0:
        return Chain(number(rest), (("-", term),))
    return Chain(term, (("+" if rest > 0 else "-", number(abs(rest))),)) if rest else term
