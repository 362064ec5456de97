"""Building programs, run on a Minecraft structure. Cells are x, y, z as in actions; left and right are the builder's. Counts
include the first cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import prod
from operator import mul
from typing import Any, ClassVar

from harness.worlds import pieces
from harness.worlds.minecraft import COLORS, HEIGHT, SIDE, Action, Structure, in_region, touching, turn
from serialization.program import ast
from serialization.program.ast import Span
from serialization.program.errors import Place, ProgramError
from serialization.program.expressions import Function, Mapped, Shift
from serialization.program.figure import Cell, ColorName, Figure, Way, together
from serialization.program.machine import Machine, ProgramResult, State
from serialization.program.minecraft_order import ordered
from serialization.program.shared_functions import SHARED, beyond, moved_to, number_of

MARGIN = 20
"""The largest absolute coordinate of a cell that a set may hold."""
_WAYS = {"left": (1, 0), "right": (-1, 0), "behind": (0, 1), "front": (0, -1)}
"""(x, z) for a builder who looks along +z; behind a block is the side away from the builder."""
_FIXED = {"up": (0, 1, 0), "down": (0, -1, 0), "east": (1, 0, 0), "west": (-1, 0, 0), "south": (0, 0, 1), "north": (0, 0, -1)}
DIRECTIONS = (*_WAYS, *_FIXED)
LONGEST = 40
"""The limit on the cells of a row: about the width of the region with its margins."""


def run(program: ast.Program, state: State | None = None) -> ProgramResult:
    """Runs a building program. Never raises ProgramError: the result holds the error and the actions before it.

    With a state, the actions are feasible in it: a block waits until something holds it; if nothing ever does, it gets supports,
    which are removed again. Without a state, the structure is unknown and all actions of
    the program are returned in its order.
    """
    machine = Building(state)
    outcome = machine.run(program)
    if state is None:
        return outcome
    return outcome._replace(actions=tuple(ordered(machine.before, machine.changes)))


def _left(actions: Sequence[Action]) -> list[tuple[Cell, str]]:
    """The blocks that a turn left standing, in order. A block of another color that was removed is one that stood before."""
    blocks: dict[Cell, str] = {}
    for action in actions:
        if action.kind == "place" or action.color in (None, blocks.get(action.cell)):
            blocks.pop(action.cell, None)
        if action.kind == "place" and action.color:
            blocks[action.cell] = action.color
    return list(blocks.items())


def _moved(cell: Cell, *steps: tuple[Cell, int]) -> Cell:
    return tuple(value + sum(way[axis] * count for way, count in steps) for axis, value in enumerate(cell))


def at(b: Building, xs: Sequence[Span], ys: Sequence[Span], zs: Sequence[Span]) -> Figure:
    cells = list(product(*([number for span in spans for number in span.numbers()] for spans in (xs, ys, zs))))
    for x, y, z in cells:
        if not in_region(x, y, z):
            sides = f"x and z are -{SIDE} to {SIDE}, y is 1 to {HEIGHT}"
            raise ProgramError(f"{x},{y},{z} is outside the build region: {sides}")
    return Figure.of(cells)


def row(b: Building, cells: Figure, way: Way, count: int) -> Figure:
    return plane(b, cells, way, count, way, 1)


def tower(b: Building, cells: Figure, count: int) -> Figure:
    return row(b, cells, "up", count)


def _flat(b: Building, cell: Cell, way: Way, other: Way, steps: Iterable[tuple[int, int]]) -> Figure:
    """The cells at the given numbers of steps from a cell in two directions."""
    one, two = b.vector(way), b.vector(other)
    return b.kept((_moved(cell, (one, k), (two, j)) for k, j in steps))


def plane(b: Building, cells: Figure, way: Way, count: int, other: Way, size: int) -> Figure:
    """The planes that begin at each cell of a set."""
    steps = [(k, j) for j in range(min(size, LONGEST)) for k in range(min(count, LONGEST))]
    return together(_flat(b, cell, way, other, steps) for cell in cells)


def frame(b: Building, cell: Cell, way: Way, count: int, other: Way, size: int) -> Figure:
    """The border of a plane."""
    both = product(range(min(size, LONGEST)), range(min(count, LONGEST)))
    return _flat(b, cell, way, other, ((k, j) for j, k in both if j in (0, size - 1) or k in (0, count - 1)))


def diagonal(b: Building, cell: Cell, way: Way, other: Way, count: int) -> Figure:
    return _flat(b, cell, way, other, ((k, k) for k in range(min(count, LONGEST))))


def line(b: Building, first: Cell, last: Cell) -> Figure:
    """The cells nearest to the straight line between two cells."""
    count = max(abs(p - q) for p, q in zip(first, last, strict=True)) or 1
    cells = (tuple(p + round((q - p) * k / count) for p, q in zip(first, last, strict=True)) for k in range(count + 1))
    return b.kept(dict.fromkeys(cells))


def lshape(b: Building, corner: Cell, way: Way, count: int, other: Way, size: int) -> Figure:
    """Two arms from a corner; the length of each includes the corner."""
    return together(row(b, Figure.of([corner]), side, length) for side, length in ((way, count), (other, size)))


def tshape(b: Building, crossing: Cell, way: Way, count: int, other: Way, size: int) -> Figure:
    """A bar of `count` cells with the crossing in its middle, and a stem of `size` cells that starts at the crossing."""
    start = _moved(crossing, (b.vector(way), -((count - 1) // 2)))
    return together([row(b, Figure.of([start]), way, count), row(b, Figure.of([crossing]), other, size)])


def ushape(b: Building, corner: Cell, way: Way, count: int, other: Way, size: int) -> Figure:
    """A base of `count` cells, and arms of `size` cells that start at both ends of the base."""
    ends = Figure.of([corner, _moved(corner, (b.vector(way), count - 1))])
    return together([row(b, Figure.of([corner]), way, count), row(b, ends, other, size)])


def cross(b: Building, middle: Cell, way: Way, other: Way, arm: int = 1) -> Figure:
    """A middle and four arms of `arm` cells each."""
    sides = product(((1, 0), (-1, 0), (0, 1), (0, -1)), range(1, min(arm, LONGEST) + 1))
    return _flat(b, middle, way, other, [(0, 0), *((k * n, j * n) for (k, j), n in sides)])


def box(b: Building, first: Figure, *others: Figure) -> Figure:
    """All cells of the bounding box of some sets."""
    cells = [cell for figure in (first, *others) for cell in figure]
    if not cells:
        return Figure()
    spans = [range(min(values), max(values) + 1) for values in zip(*cells, strict=True)]
    b.budget.admit(prod(map(len, spans)))
    return Figure.of(product(*spans))


def ground(b: Building, cells: Figure) -> Figure:
    """The lowest layer under a set."""
    return Figure.of((x, 1, z) for x, _, z in cells)


def columns(b: Building, cells: Figure) -> Figure:
    return b.kept(((x, y, z) for x, _, z in ground(b, cells) for y in range(1, HEIGHT + 1)))


def floating(b: Building, cells: Figure) -> Figure:
    """The connected pieces of a set that do not reach the ground."""
    loose = (piece for piece in pieces(cells, touching) if all(y > 1 for _, y, _ in piece))
    return cells.within({cell for piece in loose for cell in piece})


def ring(b: Building, cells: Figure, radius: int = 1) -> Figure:
    """The cells at distance `radius` on the level of a set, where the eight cells around one are at distance 1."""
    if not 1 <= radius <= LONGEST:
        raise ProgramError(f"a ring's radius is 1 to {LONGEST}")
    grown: list[set[Cell]] = []
    for size in (radius - 1, radius):
        steps = range(-size, size + 1)
        b.budget.spend(len(cells) * len(steps) ** 2)
        grown.append({(x + dx, y, z + dz) for x, y, z in cells for dx in steps for dz in steps})
    return b.kept(sorted(grown[1] - grown[0]))


def near(b: Building, cells: Figure) -> Figure:
    return b.kept(dict.fromkeys(other for cell in cells for other in touching(cell) if other not in cells))


def middle(b: Building, cells: Figure) -> Figure:
    """The cell in the middle of the set's bounding box, rounded down."""
    return Figure.of([tuple((min(values) + max(values)) // 2 for values in zip(*cells, strict=True))] if cells else [])


def corners(b: Building, cells: Figure) -> Figure:
    """The cells of the set that lie at an end in every direction in which it extends."""
    if not cells:
        return cells
    ends = [(min(values), max(values)) for values in zip(*cells, strict=True)]
    return cells.filtered(lambda cell: all(value in pair for value, pair in zip(cell, ends, strict=True)))


def reflect(b: Building, cells: Figure, way: Way, axis: Figure) -> Figure:
    """The mirror image along a direction, over the middle of another set."""
    if not axis:
        raise ProgramError("the empty set cannot be an axis")
    step = b.vector(way)
    k = next(k for k in range(3) if step[k])
    total = min(cell[k] for cell in axis) + max(cell[k] for cell in axis)
    return moved_to(b, cells, lambda cell: (*cell[:k], total - cell[k], *cell[k + 1 :]))


def rotate(b: Building, cells: Figure, quarters: int, center: Cell) -> Figure:
    """The set turned about the vertical axis through a cell, clockwise as seen from above."""

    def there(cell: Cell) -> Cell:
        x, z = turn(cell[0] - center[0], cell[2] - center[2], quarters)
        return int(x) + center[0], cell[1], int(z) + center[2]

    return moved_to(b, cells, there)


def is_color(b: Building, color: ColorName, *others: ColorName) -> Figure:
    return b.seen([cell for cell, shade in sorted(b.blocks.items()) if shade in (color, *others)])


_CALLS: Mapping[str, Callable[..., Any]] = {
    **{call.__name__: call for call in (at, row, tower, plane, frame, diagonal, line, lshape, tshape, ushape, cross, box)},
    "on": beyond("up", 1),
    "below": beyond("down", 1),
    **{way: beyond(way, 1) for way in (*_WAYS, *ast.COMPASS)},
    **{call.__name__: call for call in (near, ring, ground, columns, floating, middle, corners, reflect, rotate)},
    "is": is_color,
    **{f"{name}of": number_of(axis, 0) for axis, name in enumerate("xyz")},
}
FUNCTIONS: Mapping[str, Function] = {**SHARED, **{name: Function.of(call) for name, call in _CALLS.items()}}

CONSTANTS: Mapping[str, Callable[[Building], Figure]] = {
    "all": lambda b: b.seen(sorted(b.blocks)),
    "floor": lambda b: b.seen([(x, 1, z) for x in range(-SIDE, SIDE + 1) for z in range(-SIDE, SIDE + 1)]),
    "it": lambda b: b.seen([cell for cell, color in b.changes if color and cell in b.blocks]),
    "last": lambda b: b.seen([cell for cell in b.newest if cell in b.blocks][-1:]),
}


class Building(Machine):
    functions = FUNCTIONS
    constants: ClassVar[Mapping[str, Callable[[Any], Figure]]] = CONSTANTS
    colors = COLORS
    ways = ("up", "down", *ast.COMPASS)
    groups: ClassVar = {"layer": (1,), "column": (0, 2)}
    origin = (0, 1, 0)

    def __init__(self, state: State | None) -> None:
        start = state or State(Structure())
        super().__init__(start.names, [_left(actions) for actions in start.steps])
        self.blind = state is None
        self.before: dict[Cell, str] = {(b.x, b.y, b.z): b.color for b in start.before.blocks()}
        self.blocks: dict[Cell, str] = dict(self.before)
        self.newest: list[Cell] = [cell for step in self.steps for cell, _ in step]
        """The cells of all placements, in order."""
        self.changes: list[tuple[Cell, str | None]] = []
        self.quarter = start.pose.quarter

    def actions(self) -> tuple[Action, ...]:
        """The actions in program order; a removal carries no color."""
        return tuple(Action("place" if color else "remove", color, *cell) for cell, color in self.changes)

    def inside(self, cell: Cell) -> bool:
        return in_region(*cell)

    def close(self, cell: Cell) -> bool:
        return all(-MARGIN <= value <= MARGIN for value in cell)

    def touching(self, cell: Cell) -> Sequence[Cell]:
        return touching(cell)

    def ahead(self, cell: Cell, way: str) -> Sequence[Cell]:
        (x, y, z), (dx, dy, dz) = cell, self.vector(way)
        room = MARGIN - (x * dx + y * dy + z * dz)
        return [(x + dx * k, y + dy * k, z + dz * k) for k in range(1, room + 1)]

    def along(self, way: str) -> Callable[[Cell], int]:
        step = self.vector(way)
        return lambda cell: sum(map(mul, cell, step))

    def color_at(self, cell: Cell) -> str | None:
        return self.blocks.get(cell)

    def paint(self, painting: Mapping[Cell, str | None]) -> None:
        """Places blocks in empty cells and removes blocks from filled ones; if the structure is unknown, records every change."""
        for cell, color in painting.items():
            if not self.blind and (cell in self.blocks) == (color is not None):
                continue
            self.changes.append((cell, color))
            if color is None:
                self.blocks.pop(cell, None)
            else:
                self.blocks[cell] = color
                self.newest.append(cell)

    def face(self, frame: str, at: Place) -> None:
        self.quarter = ast.COMPASS.index(frame)

    def vector(self, way: str) -> tuple[int, int, int]:
        """One step in a direction. Raises ProgramError for an unknown direction."""
        if way in _FIXED:
            return _FIXED[way]
        if way not in _WAYS:
            raise ProgramError(f"no direction {way} here: {', '.join(DIRECTIONS)}")
        x, z = turn(*_WAYS[way], self.quarter)
        return int(x), 0, int(z)

    def mapping(self, shift: Shift, anchor: Cell) -> tuple[Mapped, Mapped]:
        dx, dy, dz = shift.vector
        return (
            lambda cell: (cell[0] + dx, cell[1] + dy, cell[2] + dz),
            lambda cell: (cell[0] - dx, cell[1] - dy, cell[2] - dz),
        )

    def literal(self, value: ast.Numbers | ast.Tiles) -> Figure:
        if isinstance(value, ast.Tiles) or len(value.spans) != 3:
            raise ProgramError("a cell is x,y,z, and any of them may be a range: 0,1-3,-5..-2", value.at)
        for name, span, low, high in zip("xyz", value.spans, (-SIDE, 1, -SIDE), (SIDE, HEIGHT, SIDE), strict=True):
            for end in (span.first, span.last):
                if not low <= end <= high:
                    raise ProgramError(f"{name} {end} is outside the build region: {name} is {low} to {high}", value.at)
        xs, ys, zs = (span.numbers() for span in value.spans)
        return Figure.of((x, y, z) for x in xs for y in ys for z in zs)

    def arguments(self, call: ast.Call, kinds: Sequence[str]) -> list[Any]:
        """Three numbers in a row are a cell if a set or a cell is needed: tower(0,1,0,4)."""
        joined: list[ast.Expr | ast.Color | ast.Move] = []
        args = list(call.args)
        while args:
            kind = kinds[min(len(joined), len(kinds) - 1)] if kinds else ""
            if kind.startswith(("figure", "cell")) and len(args) > 2 and all(map(self._coordinate, args[:3])):
                joined.append(ast.Call("at", tuple(args[:3]), at=args[0].at))
                del args[:3]
            else:
                joined.append(args.pop(0))
        return super().arguments(ast.Call(call.name, tuple(joined), at=call.at), kinds)

    def _coordinate(self, arg: ast.Expr | ast.Color | ast.Move) -> bool:
        match arg:
            case ast.Numbers(spans):
                return len(spans) == 1
            case ast.Chain(_, (("..", _),)):
                return True
        return self.is_number(arg)
