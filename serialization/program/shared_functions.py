"""The functions that both worlds have: moves, copies, parts of sets in their order, and what lies ahead in a direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from serialization.program.ast import Span
from serialization.program.errors import ProgramError
from serialization.program.expressions import Function, Mapped, Shift
from serialization.program.figure import Cell, ColorName, Figure, Way, together

if TYPE_CHECKING:
    from serialization.program.machine import Machine

MAX_COPIES = 40
"""The limit on copies of one set: more than fit into any world."""
PATH_STEPS = 10
"""The cost of a look ahead from one cell, in steps."""


def shift(m: Machine, cells: Figure, move: Shift) -> Figure:
    """The set moved so that its first cell makes the move and the others keep their places around it."""
    if not cells:
        return cells
    there, _ = m.mapping(move, next(iter(cells)))
    return moved_to(m, cells, there)


def moved_to(m: Machine, cells: Figure, there: Mapped) -> Figure:
    """The moved cells, without those that end up too far outside the world."""
    return cells.mapped(there).filtered(m.close)


def repeat(m: Machine, cells: Figure, move: Shift, count: int | None = None) -> Figure:
    """`count` copies, the first in place; without a count, as many as reach the world. Each copy is an object."""
    if count is None and not move:
        raise ProgramError("repeat needs a count or a move to the edge")
    if count is not None and count < 0:
        raise ProgramError(f"repeat {count}: a count cannot be negative")
    copies: list[Figure] = []
    anchor = next(iter(cells), None)
    while anchor is not None and len(copies) < min(MAX_COPIES, MAX_COPIES if count is None else count):
        there, _ = m.mapping(move.times(len(copies)), anchor)
        copy = moved_to(m, cells, there)
        if count is None and not any(map(m.inside, copy)):
            break
        m.budget.spend(len(cells))
        copies.append(Figure.one(copy.cells))
    return together(copies)


def every(m: Machine, cells: Figure, step: int, start: int = 1) -> Figure:
    """Every `step`-th cell, from the `start`-th on."""
    if step < 1 or start < 1:
        raise ProgramError("every counts from 1 in steps of at least 1")
    return cells.within(set(list(cells)[start - 1 :: step]))


def _part(choose: Callable[[list[Cell], int], list[Cell]]) -> Callable[..., Figure]:
    def chosen(m: Machine, cells: Figure, count: int = 1) -> Figure:
        if count < 0:
            raise ProgramError("a count cannot be negative")
        return cells.within(set(choose(list(cells), count)))

    return chosen


def part(m: Machine, cells: Figure, number: int) -> Figure:
    """The `number`-th object of a set: a term of a union, a copy of a repetition, or otherwise a connected component."""
    parts = m.objects(cells)
    return cells.within(set(parts[position(number, len(parts), "object")]))


def position(number: int, count: int, name: str) -> int:
    """The index of a number that counts from 1, or from -1 backward. Raises ProgramError if it is out of range."""
    if not 1 <= abs(number) <= count:
        raise ProgramError(f"no {name} {number}: there are {count}")
    return number - 1 if number > 0 else count + number


def indices(spans: Iterable[Span], count: int, name: str) -> list[int]:
    """The indices of numbers that count from 1, or from -1 backward. Raises ProgramError if any is out of range."""
    ends = ((position(span.first, count, name), position(span.last, count, name), span.step) for span in spans)
    return [index for first, last, step in ends for index in Span(first, last, step).numbers()]


def step(m: Machine, numbers: Sequence[Span], *colors: ColorName) -> Figure:
    """The cells that earlier steps or turns drew, optionally only in some colors: 1 is the first step, -1 the previous one."""
    drawn = (one for index in indices(numbers, len(m.steps), "step") for one in m.steps[index])
    return Figure.of(cell for cell, color in drawn if not colors or color in colors)


def count(m: Machine, cells: Figure) -> int:
    """The number of cells inside the world."""
    m.budget.spend(len(cells) * len(m.moved))
    return sum(m.inside(m.outward(cell)) for cell in cells)


def number_of(axis: int, first: int) -> Callable[[Machine, Figure], int]:
    """A function that returns a coordinate of a set's first cell; coordinates of the axis count from `first`."""

    def number(m: Machine, cells: Figure) -> int:
        if not cells:
            raise ProgramError("the empty set has no position")
        return int(next(iter(cells))[axis]) + first

    return number


def sort(m: Machine, cells: Figure, way: Way) -> Figure:
    """The same cells in the order of a direction."""
    return Figure.one({cell: cells.cells[cell] for cell in sorted(cells, key=m.along(way))})


def _layers(m: Machine, cells: Figure, way: str) -> list[set[Cell]]:
    """The cells by how far they lie in a direction, furthest first."""
    far = m.along(way)
    layers: dict[int, set[Cell]] = {}
    for cell in cells:
        layers.setdefault(far(cell), set()).add(cell)
    return [layers[distance] for distance in sorted(layers, reverse=True)]


def nth(m: Machine, cells: Figure, way: Way, number: int) -> Figure:
    """The `number`-th layer of a set, counted from the side in a direction; -1 is the last."""
    layers = _layers(m, cells, way)
    return cells.within(layers[position(number, len(layers), "layer")])


def end(m: Machine, cells: Figure, ways: Sequence[Way], count: int = 1) -> Figure:
    """The `count` layers of a set that lie furthest in a direction; with several, of these the furthest in the next."""
    for k, way in enumerate(ways, 1):
        layers = _layers(m, cells, way)[: max(0, count if k == len(ways) else 1)]
        cells = cells.within(set[Cell]().union(*layers))
    return cells


def next_cells(m: Machine, cells: Figure, way: Way, count: int | None = 1, skip: int = 0) -> Figure:
    """In each line along a direction, `count` cells beyond the set's last one, or all up to the edge, from the `skip`-th on."""
    if min(count or 0, skip) < 0:
        raise ProgramError("a count cannot be negative")
    found: list[Cell] = []
    m.budget.spend(PATH_STEPS * len(cells))
    for cell in cells:
        path = m.ahead(cell, way)
        if not any(other in cells for other in path):
            found += takewhile(m.inside, path[skip:]) if count is None else path[skip : skip + count]
    return Figure.of(found)


def beyond(way: str, usual: int | None) -> Callable[..., Figure]:
    """The function that `next_cells` gives for a direction and a count that may be left out."""

    def chosen(m: Machine, cells: Figure, count: int | None = usual, skip: int = 0) -> Figure:
        return next_cells(m, cells, way, count, skip)

    return chosen


def until(m: Machine, cells: Figure, way: Way, walls: Figure | None = None) -> Figure:
    """The cells that follow each cell in a direction, up to the first of `walls` (excluded) or the edge."""
    closed = walls or Figure()
    m.budget.spend(PATH_STEPS * len(cells))
    open_cells = (takewhile(lambda near: m.inside(near) and near not in closed, m.ahead(cell, way)) for cell in cells)
    return Figure.of(near for path in open_cells for near in path)


def between(m: Machine, cells: Figure, others: Figure | None = None) -> Figure:
    """The cells on a straight line between a cell of one set and a cell of the other, or between two cells of one set."""
    ends = cells if others is None else others
    m.budget.spend(PATH_STEPS * len(cells) * len(m.ways))
    found: list[Cell] = []
    for cell, way in ((cell, way) for cell in cells for way in m.ways):
        path = m.ahead(cell, way)
        length = next((k for k, near in enumerate(path) if near in ends), 0)
        found += path[:length]
    return Figure.of(found).without(cells)


def odd(m: Machine, cells: Figure) -> Figure:
    return every(m, cells, 2)


def even(m: Machine, cells: Figure) -> Figure:
    return every(m, cells, 2, 2)


_CALLS: dict[str, Callable[..., Any]] = {
    **{call.__name__: call for call in (shift, repeat, every, odd, even, sort, nth, end, until, between)},
    "next": next_cells,
    "first": _part(lambda cells, n: cells[:n]),
    "last": _part(lambda cells, n: cells[max(0, len(cells) - n) :]),
    **{call.__name__: call for call in (part, step, count)},
}
SHARED = {name: Function.of(call) for name, call in _CALLS.items()}
