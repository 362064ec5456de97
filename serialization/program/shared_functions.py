"""The functions that both worlds have: moves, copies, and parts of sets in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from serialization.program.errors import ProgramError
from serialization.program.expressions import Function, Mapped, Shift
from serialization.program.figure import Cell, ColorName, Figure, together

if TYPE_CHECKING:
    from serialization.program.machine import Machine

MAX_COPIES = 40
"""The limit on copies of one set: more than fit into any world."""


def shift(m: Machine, cells: Figure, move: Shift) -> Figure:
    """The set moved so that its first cell makes the move and the others keep their places around it."""
    if not cells:
        return cells
    there, _ = move.mapping(next(iter(cells)))
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
        there, _ = move.times(len(copies)).mapping(anchor)
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


def step(m: Machine, number: int, *colors: ColorName) -> Figure:
    """The cells that an earlier step or turn drew, optionally only in some colors: 1 is the first step, -1 the previous one."""
    drawn = m.steps[position(number, len(m.steps), "step")]
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


def in_order(cells: Figure, key: Callable[[Cell], Any]) -> Figure:
    return Figure.one({cell: cells.cells[cell] for cell in sorted(cells, key=key)})


def odd(m: Machine, cells: Figure) -> Figure:
    return every(m, cells, 2)


def even(m: Machine, cells: Figure) -> Figure:
    return every(m, cells, 2, 2)


_CALLS: dict[str, Callable[..., Any]] = {
    **{call.__name__: call for call in (shift, repeat, every, odd, even)},
    "first": _part(lambda cells, n: cells[:n]),
    "last": _part(lambda cells, n: cells[max(0, len(cells) - n) :]),
    **{call.__name__: call for call in (part, step, count)},
}
SHARED = {name: Function.of(call) for name, call in _CALLS.items()}
