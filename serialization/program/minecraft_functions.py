"""The functions and names of building programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from harness.worlds.minecraft import HEIGHT, SIDE, in_region, turn
from serialization.program.errors import ProgramError
from serialization.program.expressions import Function
from serialization.program.figure import Cell, Figure, together
from serialization.program.minecraft_order import touching
from serialization.program.shared_functions import SHARED

if TYPE_CHECKING:
    from serialization.program.minecraft import Building

LONGEST = 40
"""No row reaches from one side of the region and its margin to the other with more cells."""


def _moved(cell: Cell, *steps: tuple[Cell, int]) -> Cell:
    return tuple(value + sum(way[axis] * count for way, count in steps) for axis, value in enumerate(cell))


def _figure(b: Building, cells: Iterable[Cell]) -> Figure:
    return Figure.of(cell for cell in cells if b.close(cell))


# --- places and shapes; counts include the first cell ---


def at(b: Building, xs: Sequence[int], ys: Sequence[int], zs: Sequence[int]) -> Figure:
    cells = list(product(xs, ys, zs))
    for x, y, z in cells:
        if not in_region(x, y, z):
            sides = f"x and z are -{SIDE} to {SIDE}, y is 1 to {HEIGHT}"
            raise ProgramError(f"{x},{y},{z} is outside the build region: {sides}")
    return Figure.of(cells)


def row(b: Building, cell: Cell, way: str, count: int) -> Figure:
    step = b.vector(way)
    return _figure(b, (_moved(cell, (step, k)) for k in range(min(count, LONGEST))))


def plane(b: Building, cell: Cell, way: str, count: int, other: str, size: int) -> Figure:
    one, two = b.vector(way), b.vector(other)
    both = product(range(min(size, LONGEST)), range(min(count, LONGEST)))
    return _figure(b, (_moved(cell, (one, k), (two, j)) for j, k in both))


def frame(b: Building, cell: Cell, way: str, count: int, other: str, size: int) -> Figure:
    """The border of a plane."""
    one, two = b.vector(way), b.vector(other)
    both = product(range(min(size, LONGEST)), range(min(count, LONGEST)))
    return _figure(b, (_moved(cell, (one, k), (two, j)) for j, k in both if j in (0, size - 1) or k in (0, count - 1)))


def diagonal(b: Building, cell: Cell, way: str, other: str, count: int) -> Figure:
    one, two = b.vector(way), b.vector(other)
    return _figure(b, (_moved(cell, (one, k), (two, k)) for k in range(min(count, LONGEST))))


def line(b: Building, first: Cell, last: Cell) -> Figure:
    """The cells nearest to the straight line between two."""
    count = max(abs(p - q) for p, q in zip(first, last, strict=True)) or 1
    cells = (tuple(p + round((q - p) * k / count) for p, q in zip(first, last, strict=True)) for k in range(count + 1))
    return _figure(b, dict.fromkeys(cells))


def lshape(b: Building, corner: Cell, way: str, count: int, other: str, size: int) -> Figure:
    """Two arms from a corner, which counts in both."""
    return together([row(b, corner, way, count), row(b, corner, other, size)])


def tshape(b: Building, crossing: Cell, way: str, count: int, other: str, size: int) -> Figure:
    """A bar of `count` cells with the crossing in its middle, and a stem of `size` cells from the crossing."""
    start = _moved(crossing, (b.vector(way), -((count - 1) // 2)))
    return together([row(b, start, way, count), row(b, crossing, other, size)])


def ushape(b: Building, corner: Cell, way: str, count: int, other: str, size: int) -> Figure:
    """A base of `count` cells, and arms of `size` cells from both of its ends, which count in them."""
    end = _moved(corner, (b.vector(way), count - 1))
    return together([row(b, corner, way, count), row(b, corner, other, size), row(b, end, other, size)])


def cross(b: Building, middle: Cell, way: str, other: str, arm: int = 1) -> Figure:
    """A middle and four arms of so many cells."""
    arms = [(b.vector(way), 1), (b.vector(way), -1), (b.vector(other), 1), (b.vector(other), -1)]
    ends = (_moved(middle, (step, sign * k)) for step, sign in arms for k in range(1, min(arm, LONGEST) + 1))
    return _figure(b, [middle, *ends])


def box(b: Building, *figures: Figure) -> Figure:
    """All cells between the outermost ones of some sets."""
    cells = [cell for figure in figures for cell in figure]
    if not cells:
        return Figure()
    spans = [range(min(values), max(values) + 1) for values in zip(*cells, strict=True)]
    b.budget.admit(len(spans[0]) * len(spans[1]) * len(spans[2]), (0, 0))
    return Figure.of(product(*spans))


# --- relative to blocks ---


def _beyond(way: str) -> Callable[..., Figure]:
    """In each line of the set in a direction the next cells beyond its last one."""

    def chosen(b: Building, cells: Figure, count: int = 1) -> Figure:
        step = b.vector(way)
        axis = next(k for k in range(3) if step[k])
        lines: dict[Cell, Cell] = {}
        for cell in cells:
            key = cell[:axis] + cell[axis + 1 :]
            if key not in lines or (cell[axis] - lines[key][axis]) * step[axis] > 0:
                lines[key] = cell
        return _figure(b, (_moved(cell, (step, k)) for cell in lines.values() for k in range(1, min(count, LONGEST) + 1)))

    return chosen


def end(b: Building, cells: Figure, way: str, count: int = 1) -> Figure:
    """The layers of the set that lie furthest in a direction."""
    step = b.vector(way)
    height = {cell: sum(p * q for p, q in zip(cell, step, strict=True)) for cell in cells}
    kept = sorted(set(height.values()), reverse=True)[: max(0, count)]
    return cells.kept(lambda cell: height[cell] in kept)


def near(b: Building, cells: Figure) -> Figure:
    return _figure(b, dict.fromkeys(other for cell in cells for other in touching(cell) if other not in cells))


def middle(b: Building, cells: Figure) -> Figure:
    """The cell in the middle of the set's extent, rounded down."""
    return Figure.of([tuple((min(values) + max(values)) // 2 for values in zip(*cells, strict=True))] if cells else [])


def corners(b: Building, cells: Figure) -> Figure:
    """The cells of the set that lie at an end in every direction in which it extends."""
    if not cells:
        return cells
    ends = [(min(values), max(values)) for values in zip(*cells, strict=True)]
    return cells.kept(lambda cell: all(value in pair for value, pair in zip(cell, ends, strict=True)))


def sort(b: Building, cells: Figure, way: str) -> Figure:
    """In the order in which they are met going in a direction."""
    step = b.vector(way)
    ordered = sorted(cells, key=lambda cell: sum(p * q for p, q in zip(cell, step, strict=True)))
    return Figure({cell: cells.cells[cell] for cell in ordered}, (tuple(ordered),))


# --- moved ---


def reflect(b: Building, cells: Figure, way: str, axis: Figure) -> Figure:
    """The mirror image in a direction, over the middle of another set."""
    if not axis:
        raise ProgramError("the empty set is no axis")
    step = b.vector(way)
    k = next(k for k in range(3) if step[k])
    total = min(cell[k] for cell in axis) + max(cell[k] for cell in axis)
    return cells.mapped(lambda cell: (*cell[:k], total - cell[k], *cell[k + 1 :])).kept(b.close)


def rotate(b: Building, cells: Figure, quarters: int, center: Cell) -> Figure:
    """Turned about the vertical axis through a cell, clockwise seen from above."""

    def there(cell: Cell) -> Cell:
        x, z = turn(cell[0] - center[0], cell[2] - center[2], quarters)
        return int(x) + center[0], cell[1], int(z) + center[2]

    return cells.mapped(there).kept(b.close)


# --- the structure ---


def supports(b: Building, cells: Figure) -> Figure:
    """The same cells; blocks there may float: what they are placed on is taken away at the end."""
    b.supported.update(map(b.outward, cells))
    return cells


def is_color(b: Building, *colors: str) -> Figure:
    return b.seen([cell for cell, color in sorted(b.blocks.items()) if color in colors])


def _number_of(axis: int) -> Callable[[Building, Figure], int]:
    def number(b: Building, cells: Figure) -> int:
        if not cells:
            raise ProgramError("the empty set lies nowhere")
        return int(next(iter(cells))[axis])

    return number


_SHAPE = ("cell", "direction", "number", "direction", "number")
_BESIDE = ("figure", "number?")

FUNCTIONS: Mapping[str, Function] = {
    **SHARED,
    "at": Function(at, ("numbers", "numbers", "numbers")),
    "row": Function(row, ("cell", "direction", "number")),
    "tower": Function(lambda b, cell, count: row(b, cell, "up", count), ("cell", "number")),
    "plane": Function(plane, _SHAPE),
    "frame": Function(frame, _SHAPE),
    "diagonal": Function(diagonal, ("cell", "direction", "direction", "number")),
    "line": Function(line, ("cell", "cell")),
    "lshape": Function(lshape, _SHAPE),
    "tshape": Function(tshape, _SHAPE),
    "ushape": Function(ushape, _SHAPE),
    "cross": Function(cross, ("cell", "direction", "direction", "number?")),
    "box": Function(box, ("figure", "figure*")),
    "on": Function(_beyond("up"), _BESIDE),
    "below": Function(_beyond("down"), _BESIDE),
    "left": Function(_beyond("left"), _BESIDE),
    "right": Function(_beyond("right"), _BESIDE),
    "front": Function(_beyond("front"), _BESIDE),
    "behind": Function(_beyond("behind"), _BESIDE),
    "end": Function(end, ("figure", "direction", "number?")),
    "near": Function(near, ("figure",)),
    "middle": Function(middle, ("figure",)),
    "corners": Function(corners, ("figure",)),
    "sort": Function(sort, ("figure", "direction")),
    "reflect": Function(reflect, ("figure", "direction", "figure")),
    "rotate": Function(rotate, ("figure", "number", "cell")),
    "supports": Function(supports, ("figure",)),
    "is": Function(is_color, ("color", "color*")),
    "xof": Function(_number_of(0), ("figure",), counts=True),
    "yof": Function(_number_of(1), ("figure",), counts=True),
    "zof": Function(_number_of(2), ("figure",), counts=True),
}

CONSTANTS: Mapping[str, Callable[[Building], Figure]] = {
    "all": lambda b: b.seen(sorted(b.blocks)),
    "it": lambda b: b.seen([one.cell for one in b.told if one.color and one.cell in b.blocks]),
    "last": lambda b: b.seen([cell for cell in b.newest if cell in b.blocks][-1:]),
}
