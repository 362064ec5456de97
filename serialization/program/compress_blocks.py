"""Terms of a building program that name cells in a given order, for the compressor."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from serialization.program import ast
from serialization.program.ast import Call, Expr, Move, Numbers, Span, number
from serialization.program.compress_terms import length
from serialization.program.errors import ProgramError
from serialization.program.minecraft import DIRECTIONS, Building
from serialization.program.written import write_expression

Block = tuple[int, int, int]
LONGEST_BASE, MAX_COPIES = 8, 20
PLANES = ("plane", "frame", "lshape", "ushape", "tshape")


class Row(NamedTuple):
    """An expression for the next `size` cells of a sequence."""

    size: int
    expr: Expr
    cost: float


def row(count: int, expr: Expr) -> Row:
    return Row(count, expr, length(write_expression(expr)))


def offset(start: Block, end: Block) -> Block:
    return end[0] - start[0], end[1] - start[1], end[2] - start[2]


def moved(cell: Block, by: Block, times: int = 1) -> Block:
    return cell[0] + by[0] * times, cell[1] + by[1] * times, cell[2] + by[2] * times


def beyond(cells: Iterable[Block], step: Block, count: int) -> list[Block]:
    """In each line of the cells along an axis the next ones beyond its last cell, in the order of `on`, `left` and the like."""
    axis = next(k for k in range(3) if step[k])
    ends: dict[tuple[int, ...], Block] = {}
    for cell in cells:
        line = cell[:axis] + cell[axis + 1 :]
        if line not in ends or (cell[axis] - ends[line][axis]) * step[axis] > 0:
            ends[line] = cell
    return [moved(cell, step, k) for cell in ends.values() for k in range(1, count + 1)]


def coordinates(spans: Sequence[Span]) -> tuple[Expr, ...]:
    """A cell, or a box of cells, as arguments of a function: three, or with steps one."""
    if any(span.step > 1 for span in spans):
        return (Numbers(tuple(spans)),)
    return tuple(number(span.first) if span.first == span.last else Numbers((span,)) for span in spans)


def cell_expr(cell: Block) -> tuple[Expr, ...]:
    return tuple(map(number, cell))


def _span(first: int, last: int, values: Collection[int]) -> Span | None:
    """From the first to the last in equal steps over all the values; None if they lie otherwise."""
    step = abs(last - first) // (len(values) - 1) if len(values) > 1 else 1
    span = Span(first, last, max(step, 1))
    return span if {*span.numbers()} == values else None


class Rows:
    """Finds expressions for what follows in a sequence of cells; a builder says what left and right mean."""

    def __init__(self, builder: Building) -> None:
        self.builder = builder
        self.vectors = {way: builder.vector(way) for way in DIRECTIONS[:6]}

    def move(self, by: Block) -> Move:
        """Directions as the builder sees them."""
        steps: list[tuple[str, Expr | None]] = []
        for way, vector in self.vectors.items():
            count = sum(a * b for a, b in zip(by, vector, strict=True))
            if count > 0:
                steps.append((way, None if count == 1 else number(count)))
        return Move(tuple(steps))

    def literals(self, cells: Sequence[Block]) -> Iterator[tuple[Row, tuple[Span, ...]]]:
        """Boxes, or cells in equal steps, that the sequence begins with, and their spans: x, within it y, within it z."""
        values: tuple[set[int], ...] = (set(), set(), set())
        for count, last in enumerate(cells, start=1):
            for own, value in zip(values, last, strict=True):
                own.add(value)
            if len(values[0]) * len(values[1]) * len(values[2]) != count:
                continue
            spans = tuple(_span(*ends) for ends in zip(cells[0], last, values, strict=True))
            written = tuple(span for span in spans if span)
            if len(written) == 3 and list(product(*(span.numbers() for span in written))) == list(cells[:count]):
                yield row(count, Numbers(written)), written

    def rows(self, cells: Sequence[Block], named: bool = False) -> Iterator[Row]:
        """All expressions that name the first cells of a sequence in its order; `named`: also longer ones that say what it is."""
        bases: list[tuple[int, tuple[Expr, ...]]] = []
        for one, spans in self.literals(cells):
            yield one
            bases.append((one.size, coordinates(spans)))
        for count in self._diagonals(cells):
            line = Call("line", (*cell_expr(cells[0]), *cell_expr(cells[count - 1])))
            yield row(count, line)
            bases.append((count, (line,)))
        for count, args in bases:
            if count <= LONGEST_BASE:
                yield from self._repeated(cells, count, args)
        if len(cells) > 1:
            yield from self._shapes(cells, named)

    def _diagonals(self, cells: Sequence[Block]) -> Iterator[int]:
        """How many cells a line over edges or corners may have that the sequence begins with."""
        steps = [offset(a, b) for a, b in pairwise(cells)]
        if not steps or max(map(abs, steps[0])) != 1 or sum(map(abs, steps[0])) == 1:
            return
        count = next((k for k, step in enumerate(steps) if step != steps[0]), len(steps)) + 1
        if count > 2:
            yield count

    def _repeated(self, cells: Sequence[Block], count: int, args: tuple[Expr, ...]) -> Iterator[Row]:
        if len(cells) < 2 * count:
            return
        by = offset(cells[0], cells[count])
        copies = 1
        while copies < MAX_COPIES and list(cells[copies * count : (copies + 1) * count]) == [
            moved(cell, by, copies) for cell in cells[:count]
        ]:
            copies += 1
        if copies > 1 and any(by):
            yield row(copies * count, Call("repeat", (*args, self.move(by), number(copies))))

    def _shapes(self, cells: Sequence[Block], named: bool) -> Iterator[Row]:
        """Shapes that are the whole sequence."""
        spans = [(min(values), max(values)) for values in zip(*cells, strict=True)]
        long = [axis for axis, (low, high) in enumerate(spans) if low < high]
        if len(long) == 1 and named:
            way = self._way(long[0], cells[-1][long[0]] > cells[0][long[0]])
            given = (*cell_expr(cells[0]), ast.Move(((way, None),)), number(len(cells)))
            yield from self._exactly(cells, Call("row", given))
            if way == "up":
                yield from self._exactly(cells, Call("tower", (*given[:3], given[4])))
        if len(long) == 2 and len(cells) > 3:
            for (one, other), senses in product((long, long[::-1]), product((False, True), repeat=2)):
                corner = list(cells[0])
                for axis, sense in zip((one, other), senses, strict=True):
                    corner[axis] = spans[axis][not sense]
                size, height = (spans[axis][1] - spans[axis][0] + 1 for axis in (one, other))
                ways = [Move(((self._way(axis, sense), None),)) for axis, sense in zip((one, other), senses, strict=True)]
                for name in PLANES:
                    if name == "tshape":
                        corner[one] += ((size - 1) // 2) * (1 if senses[0] else -1)
                    start = cell_expr((corner[0], corner[1], corner[2]))
                    yield from self._exactly(cells, Call(name, (*start, ways[0], number(size), ways[1], number(height))))

    def _way(self, axis: int, upward: bool) -> str:
        wanted = tuple((1 if upward else -1) * (k == axis) for k in range(3))
        return next(way for way, vector in self.vectors.items() if vector == wanted)

    def _exactly(self, cells: Sequence[Block], expr: Call) -> Iterator[Row]:
        try:
            named = list(self.builder.figure(expr))
        except ProgramError:
            return
        if named == list(cells):
            yield row(len(cells), expr)
