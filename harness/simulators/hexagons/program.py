"""The meanings of instructions as programs of `serialization.program`.

Sets of tiles are expressions, paintings are programs. Tiles are 0-based in this module; programs count from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from harness.worlds.hexagons import COLUMNS, ROWS, Tile, step
from serialization.program import ast, literal

Painting = dict[Tile, str]


# --- sets of tiles ---


def call(name: str, *args: ast.Expr | ast.Color | ast.Move | int | None) -> ast.Call:
    return ast.Call(name, tuple(ast.number(arg) if isinstance(arg, int) else arg for arg in args if arg is not None))


def spans(numbers: Iterable[int]) -> tuple[ast.Span, ...]:
    """0-based numbers, in the given order, as spans of 1-based numbers."""
    rising: list[list[int]] = []
    for number in numbers:
        if not rising or number + 1 <= rising[-1][-1]:
            rising.append([])
        rising[-1].append(number + 1)
    return tuple(span for run in rising for span in literal.spans(run))


def tile(place: Tile) -> ast.Expr:
    return cells((place.column,), (place.row,))


def cells(columns: Sequence[int], rows: Sequence[int] = range(ROWS)) -> ast.Expr:
    """The tiles in some columns and rows, column by column."""
    if list(rows) == list(range(ROWS)):
        return ast.Numbers(spans(columns))
    return ast.Tiles(spans(columns), spans(rows))


def tiles(*places: Tile) -> ast.Expr:
    """The tiles in the given order; consecutive tiles of a column, and consecutive columns with equal rows, are merged."""
    columns = [(column, tuple(place.row for place in its)) for column, its in groupby(places, lambda place: place.column)]
    alike = groupby(columns, lambda column: column[1])
    return ast.plus([cells([column for column, _ in group], rows) for rows, group in alike])


def minus(what: ast.Expr, others: ast.Expr) -> ast.Expr:
    return ast.Chain(what, (("-", others),))


def among(what: ast.Expr, others: ast.Expr) -> ast.Expr:
    return ast.Chain(what, (("&", others),))


ALL, BLANK, PAINTED, IT = ast.Name("all"), ast.Name("blank"), ast.Name("painted"), ast.Name("it")


def colored(color: str) -> ast.Expr:
    return call("is", ast.Color(color))


def way(direction: str, count: int = 1) -> ast.Move:
    return ast.Move(((direction, None if count == 1 else ast.number(count)),))


def ray(start: Tile, direction: str, count: int | None = None) -> ast.Expr:
    """`count` tiles from `start` on, or all to the edge."""
    return call("ray", tile(start), way(direction), count)


def rays(start: Tile, directions: Sequence[str], count: int) -> ast.Expr:
    """`start`, and `count` tiles from it in each of some directions."""
    return ast.plus([ray(start, direction, count + 1) for direction in directions])


def ring(center: Tile, radius: int = 1) -> ast.Expr:
    return call("ring", tile(center), None if radius == 1 else radius)


def triangle(top: Tile, size: int, side: str) -> ast.Expr:
    """`size` tiles down from `top`, and one tile less in each next column to the `side` ("right" or "left"), down to one."""
    corner = step(top, f"down-{side}", size - 1)
    return call("triangle", tile(corner), way("left" if side == "right" else "right"), size)


def beside(places: ast.Expr, direction: str, count: int) -> ast.Expr:
    """The next `count` tiles from each of `places` in a direction, without `places` themselves."""
    near = call("shift", places, way(direction))
    return minus(near if count == 1 else call("ray", near, way(direction), count), places)


# --- paintings ---


def paint(what: ast.Expr, *colors: str, counts: Sequence[int] = (), by: str | None = None) -> ast.Program:
    """Alternating colors with run lengths (default 1), tile by tile or one color for each column, row or object."""
    cycle = tuple(zip(colors, counts or [1] * len(colors), strict=True))
    return ast.Program((ast.PaintSet(cycle, what, ("by", by) if by else None),))


def together(*parts: ast.Program) -> ast.Program:
    return ast.Program(tuple(statement for part in parts for statement in part.statements))


def rings(what: ast.Expr, colors: Sequence[str]) -> ast.Program:
    """One ring after another around a set; if the set is `it`, each ring surrounds everything that the program has painted."""
    sizes = (None if k == 1 or what == IT else k for k in range(1, len(colors) + 1))
    return together(*(paint(call("ring", what, size), color) for size, color in zip(sizes, colors, strict=True)))


def copy(what: ast.Expr) -> ast.Program:
    """A copy of a set, which is usually moved, in its own colors."""
    return ast.Program((ast.Copy(what),))


def recolored(program: ast.Program, old: Sequence[str], new: Sequence[str]) -> ast.Program:
    """The copies of a program, in which each old color is replaced by the new color at the same index."""
    swaps = tuple(pair for pair in zip(old, new, strict=True) if pair[0] != pair[1])
    return ast.Program(tuple(ast.Copy(s.what, swaps) for s in program.statements if isinstance(s, ast.Copy)))


def by(rows: int, columns: int) -> ast.Move:
    """A move by numbers of rows and columns; an even number of columns keeps every shape."""
    ways = ("right" if columns > 0 else "left", abs(columns)), ("down" if rows > 0 else "up", abs(rows))
    steps = tuple((where, None if count == 1 else ast.number(count)) for where, count in ways if count)
    return ast.Move(steps or (("right", ast.number(0)),), grid=bool(columns % 2))


def moved(what: ast.Expr, rows: int, columns: int) -> ast.Expr:
    return call("shift", what, by(rows, columns))


def copies(what: ast.Expr, times: int, rows: int, columns: int) -> ast.Expr:
    """`times` copies, each moved from the one before, without the original."""
    first = moved(what, rows, columns)
    return first if times == 1 else call("repeat", first, by(rows, columns), times)


def alternately(what: ast.Expr, times: int, rows: int, columns: int, colors: Sequence[str]) -> ast.Program:
    """`times` copies, each in a single color, in alternating colors."""
    if times == 1:
        return paint(moved(what, rows, columns), colors[0])
    return paint(copies(what, times, rows, columns), *colors, by="object")


def by_sign(sign: int, rows: Sequence[int], cases: Sequence[str], colors: Sequence[str]) -> ast.Program:
    """In each column whose tile in row `sign` has a color of `cases`, paints the rows in the color at the same index."""
    n = ast.Name("n")

    def at(rows: Sequence[int]) -> ast.Expr:
        return call("at", n, ast.Numbers(spans(rows)))

    paired = zip(cases, colors, strict=True)
    branches = tuple((ast.Condition(among(colored(x), at((sign,)))), paint(at(rows), color).statements) for x, color in paired)
    return ast.Program((ast.For("n", ast.Numbers(spans(range(COLUMNS))), (ast.If(branches),)),))
