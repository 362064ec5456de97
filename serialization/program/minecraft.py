"""Building programs, run on a Minecraft structure. Cells are x, y, z as in the actions; left and right are the builder's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harness.worlds.minecraft import COLORS, HEIGHT, SIDE, Action, Pose, Structure, in_region, turn
from serialization.program import ast
from serialization.program.budget import Budget
from serialization.program.errors import Place, ProgramError
from serialization.program.expressions import Mapped, Shift, Value
from serialization.program.figure import Cell, Figure
from serialization.program.machine import Machine, Outcome
from serialization.program.minecraft_functions import CONSTANTS, FUNCTIONS
from serialization.program.minecraft_order import Told, ordered, touching

_START = Pose(0.5, 1.0, -5.5, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class BuildingState:
    """What a program finds: the structure, the builder, the builder's earlier turns, and names that earlier programs left."""

    structure: Structure = field(default_factory=Structure)
    pose: Pose = _START
    turns: Sequence[Sequence[Action]] = ()
    names: Mapping[str, Value] = field(default_factory=dict)


def run(program: ast.Program, state: BuildingState | None = None, budget: Budget | None = None) -> Outcome:
    """Runs a building program. Never raises ProgramError: the outcome holds it, and what was built in spite of it.

    With a state the actions are feasible in it: what cannot be held waits, and is an error if nothing comes to hold it.
    Without one the structure is unknown, and all that the program says is done as it says it.
    """
    machine = Building(state, budget)
    outcome = machine.run(program)
    if state is None:
        return outcome
    actions, floating = ordered(machine.before, machine.told, frozenset(machine.supported))
    error = outcome.error
    if floating and error is None:
        x, y, z = floating[0].cell
        error = ProgramError(f"nothing holds a block at {x},{y},{z}: place what it hangs on, or supports(...)", floating[0].at)
    return Outcome(tuple(actions), outcome.names, error)


def run_told(program: ast.Program, state: BuildingState) -> Outcome:
    """As `run`, but a program of cells only that asks for what cannot be done does all of it, as without a state."""
    outcome = run(program, state)
    if ast.is_plain(program):
        told = run(program)
        return outcome if len(outcome.actions) == len(told.actions) else told
    return outcome


def _placed(actions: Sequence[Action]) -> list[tuple[Cell, str]]:
    return [(action.cell, action.color) for action in actions if action.kind == "place" and action.color]


@dataclass(frozen=True, slots=True)
class BlockShift(Shift):
    x: int
    y: int
    z: int

    def times(self, count: int) -> BlockShift:
        return BlockShift(self.x * count, self.y * count, self.z * count)

    def __bool__(self) -> bool:
        return any((self.x, self.y, self.z))

    def mapping(self, anchor: Cell) -> tuple[Mapped, Mapped]:
        dx, dy, dz = self.x, self.y, self.z
        return (
            lambda cell: (cell[0] + dx, cell[1] + dy, cell[2] + dz),
            lambda cell: (cell[0] - dx, cell[1] - dy, cell[2] - dz),
        )


MARGIN = 20
"""How far from the middle of the region a set may reach."""
_WAYS = {"left": (1, 0), "right": (-1, 0), "behind": (0, 1), "front": (0, -1)}
"""(x, z) for a builder who looks along +z: behind a block is where the builder does not stand."""
_FIXED = {"up": (0, 1, 0), "down": (0, -1, 0), "east": (1, 0, 0), "west": (-1, 0, 0), "south": (0, 0, 1), "north": (0, 0, -1)}
DIRECTIONS = (*_WAYS, *_FIXED)


class Building(Machine):
    functions = FUNCTIONS
    constants: ClassVar[Mapping[str, Callable[[Any], Figure]]] = CONSTANTS
    colors = COLORS
    groups: ClassVar = {"layer": (1,), "column": (0, 2)}
    origin = (0, 1, 0)

    def __init__(self, state: BuildingState | None, budget: Budget | None = None) -> None:
        known = state or BuildingState()
        super().__init__(known.names, [_placed(actions) for actions in known.turns], budget)
        self.blind = state is None
        self.before: dict[Cell, str] = {(b.x, b.y, b.z): b.color for b in known.structure.blocks()}
        self.blocks: dict[Cell, str] = dict(self.before)
        self.newest: list[Cell] = [cell for step in self.steps for cell, _ in step]
        """The cells of placements, the last one last."""
        self.told: list[Told] = []
        self.supported: set[Cell] = set()
        self.quarter = self._own = known.pose.quarter

    def actions(self) -> tuple[Action, ...]:
        """As told: a removal carries no color."""
        return tuple(Action("place" if one.color else "remove", one.color, *one.cell) for one in self.told)

    def save(self) -> Any:
        return dict(self.blocks), len(self.told), len(self.newest), set(self.supported), self.quarter

    def restore(self, saved: Any) -> None:
        self.blocks, told, newest, self.supported, self.quarter = saved
        del self.told[told:], self.newest[newest:]

    def inside(self, cell: Cell) -> bool:
        return in_region(cell[0], cell[1], cell[2])

    def close(self, cell: Cell) -> bool:
        return all(-MARGIN <= value <= MARGIN for value in cell)

    def touching(self, cell: Cell) -> Sequence[Cell]:
        return touching(cell)

    def color_at(self, cell: Cell) -> str | None:
        return self.blocks.get(cell)

    def paint(self, painting: Mapping[Cell, str | None], at: Place) -> None:
        """Places blocks where there are none, and removes those that are there; where the structure is unknown, all of it."""
        for cell, color in painting.items():
            if not self.blind and (cell in self.blocks) == (color is not None):
                continue
            self.told.append(Told(cell, color, at))
            if color is None:
                self.blocks.pop(cell, None)
            else:
                self.blocks[cell] = color
                self.newest.append(cell)

    def face(self, frame: str, at: Place) -> None:
        self.quarter = 0 if frame == "world" else self._own

    def vector(self, way: str) -> tuple[int, int, int]:
        """One step in a direction. Raises ProgramError for one that this world lacks."""
        if way in _FIXED:
            return _FIXED[way]
        if way not in _WAYS:
            raise ProgramError(f"no direction {way} here: {', '.join(DIRECTIONS)}")
        x, z = turn(*_WAYS[way], self.quarter)
        return int(x), 0, int(z)

    def shift(self, move: ast.Move, steps: Sequence[tuple[str, int]]) -> BlockShift:
        x = y = z = 0
        for way, count in steps:
            try:
                dx, dy, dz = self.vector(way)
            except ProgramError as error:
                raise ProgramError(error.problem, move.at) from None
            x, y, z = x + count * dx, y + count * dy, z + count * dz
        return BlockShift(x, y, z)

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
        """Where a set or a cell is needed, three numbers in a row are one: tower(0,1,0,4)."""
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
