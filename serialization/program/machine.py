"""The statements that both worlds share: painting in color cycles, copies, names, repetition and conditions."""

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from harness.worlds import pieces
from harness.worlds.minecraft import Pose
from serialization.program import ast
from serialization.program.errors import Place, ProgramError
from serialization.program.expressions import Evaluator, Mapped, Value
from serialization.program.figure import Cell, Figure

_START = Pose(0.5, 1.0, -5.5, 0.0, 0.0)
MAX_TURNS = 200
"""The limit on repetitions of a body without a count: more than fit on any board."""


@dataclass(frozen=True, slots=True)
class State:
    """The state in which a program starts."""

    before: Any
    """The board or the structure."""
    steps: Sequence[Sequence[Any]] = ()
    """The actions of the earlier steps, or the builder's in each earlier turn."""
    pose: Pose = _START
    """The builder's; a board has none."""
    names: Mapping[str, Value] = field(default_factory=dict, hash=False)
    """The names of earlier programs."""


class ProgramResult(NamedTuple):
    """A program's actions, its names for later programs, and the error that ended it, if any.

    If there is an error, the actions and names come from the statements before the one that failed.
    """

    actions: tuple[Any, ...]
    names: Mapping[str, Value]
    error: ProgramError | None = None


class Machine(Evaluator):
    """Runs one program. Each world defines what painting means."""

    ways: ClassVar[Sequence[str]]
    """The directions in which a cell has a neighbor."""
    groups: ClassVar[Mapping[str, tuple[int, ...]]]
    """The groups by which colors can alternate, each with the coordinates of a cell that define the group."""
    origin: ClassVar[Cell]
    """The cell from which a body that has painted nothing moves."""

    def __init__(self, names: Mapping[str, Value], steps: Sequence[Sequence[tuple[Cell, str]]]) -> None:
        super().__init__(names)
        self.steps = steps
        """The cells that each earlier step drew, with their colors."""
        self._anchor: Cell | None = None
        """The first cell that the innermost repeated body painted."""
        self._reached: bool | None = None
        """Whether the innermost repeated body painted anything inside the world; None if it has painted nothing at all."""

    @abstractmethod
    def inside(self, cell: Cell) -> bool:
        """Whether the cell is part of the world."""

    @abstractmethod
    def close(self, cell: Cell) -> bool:
        """Whether the cell is inside the world or near enough to it to be kept in a set."""

    def kept(self, cells: Iterable[Cell]) -> Figure:
        """The cells that are close, as a set."""
        return Figure.of(filter(self.close, cells))

    @abstractmethod
    def touching(self, cell: Cell) -> Sequence[Cell]:
        """The neighbors of a cell, which share an edge (HEXAGONS) or a face (Minecraft) with it."""

    @abstractmethod
    def ahead(self, cell: Cell, way: str) -> Sequence[Cell]:
        """The cells that follow a cell in a direction, in and near the world. Raises ProgramError for an unknown direction."""

    @abstractmethod
    def along(self, way: str) -> Callable[[Cell], int]:
        """How far a cell lies in a direction. Raises ProgramError for an unknown direction."""

    @abstractmethod
    def paint(self, painting: Mapping[Cell, str | None]) -> None:
        """Give cells of the world a color, or empty them (None), in order."""

    @abstractmethod
    def color_at(self, cell: Cell) -> str | None:
        """The color that a copy takes from a cell; None if there is nothing to copy."""

    @abstractmethod
    def actions(self) -> tuple[Any, ...]:
        """The actions so far."""

    def face(self, frame: str, at: Place) -> None:
        """Change what left and right mean."""
        raise ProgramError(f"{frame}: only a Minecraft program has a frame", at)

    def run(self, program: ast.Program) -> ProgramResult:
        """Runs the statements in order. A statement that fails is undone and ends the program."""
        for statement in program.statements:
            saved = {name: copy(value) for name, value in vars(self).items()}
            try:
                self._execute(statement)
            except ProgramError as error:
                vars(self).update(saved)
                return ProgramResult(self.actions(), self.names, error)
        return ProgramResult(self.actions(), self.names)

    def _execute(self, statement: ast.Statement) -> None:
        self.budget.spend(1, statement.at)
        match statement:
            case ast.PaintSet(colors, what, way):
                self._paint(colors, self.figure(what), way, statement.at)
            case ast.Remove(what):
                self._change(dict.fromkeys(self.figure(what)), statement.at)
            case ast.Copy(what, swaps, away):
                self._copy(self.figure(what), dict(swaps), statement.at, away)
            case ast.Replace(what, colors):
                self._replace(self.figure(what), colors, statement.at)
            case ast.Assign(name, value):
                if name in ast.names_in(value):
                    raise ProgramError(f"{name} refers to itself: take another name", statement.at)
                self.names[self._free(name, statement.at)] = self.number(value) if self.is_number(value) else self.figure(value)
            case ast.Repeat(count, move, body):
                self._repeat(count, move, body, statement.at)
            case ast.For(name, values, body):
                for number in (number for span in self.numbers(values) for number in span.numbers()):
                    self.names[self._free(name, statement.at)] = number
                    self._block(body)
            case ast.If(test, body, otherwise):
                self._block(body if self._holds(test) else otherwise)
            case ast.Frame(frame):
                self.face(frame, statement.at)

    def _block(self, body: Sequence[ast.Statement]) -> None:
        for statement in body:
            self._execute(statement)

    def _paint(self, colors: Sequence[tuple[str, int]], what: Figure, way: tuple[str, str] | None, at: Place) -> None:
        cycle = self._cycle(colors, at)
        groups = [tuple(what)] if way is None else self.grouped(what, way[1], at)
        if way is not None and way[0] == "by":
            chosen = {cell: cycle[k % len(cycle)] for k, group in enumerate(groups) for cell in group}
        else:
            chosen = {cell: cycle[k % len(cycle)] for group in groups for k, cell in enumerate(group)}
        self._change({cell: color for cell, color in chosen.items() if color != "none"}, at)

    def _cycle(self, colors: Sequence[tuple[str, int]], at: Place) -> Sequence[str]:
        for color, _ in colors:
            if color != "none":
                self.known_color(color, at)
        return [color for color, count in colors for _ in range(count)]

    def _replace(self, what: Figure, colors: Sequence[tuple[str, int]], at: Place) -> None:
        """Cell by cell, so that the neighbors hold the new block."""
        cycle = self._cycle(colors, at)
        for k, cell in enumerate(what):
            if (color := cycle[k % len(cycle)]) != "none":
                self._change({cell: None}, at)
                self._change({cell: color}, at)

    def grouped(self, what: Figure, by: str, at: Place) -> Sequence[tuple[Cell, ...]]:
        """A set divided into columns, rows or other groups. Raises ProgramError for a group that this world lacks."""
        if by == "object":
            return self.objects(what)
        if by not in self.groups:
            raise ProgramError(f"no {by} in this world: {', '.join([*self.groups, 'object'])}", at)
        groups: dict[Cell, list[Cell]] = {}
        for cell in what:
            groups.setdefault(tuple(cell[axis] for axis in self.groups[by]), []).append(cell)
        return [tuple(group) for group in groups.values()]

    def objects(self, what: Figure) -> Sequence[tuple[Cell, ...]]:
        """A set's parts; if it has only one, its connected components in the order of their first cells."""
        return what.parts if len(what.parts) > 1 else pieces(what, self.touching)

    def _copy(self, what: Figure, swaps: Mapping[str, str], at: Place, away: bool) -> None:
        for color in (*swaps, *swaps.values()):
            self.known_color(color, at)
        sources = {cell: self.color_at(source) for cell, source in what.cells.items()}
        if away:
            self.paint({source: None for cell, source in what.cells.items() if sources[cell] is not None})
        self._change({cell: swaps.get(color, color) for cell, color in sources.items() if color is not None}, at)

    def _change(self, painting: Mapping[Cell, str | None], at: Place) -> None:
        """Paints the cells of a body, moved by the repetitions around it."""
        self.budget.admit(len(painting), at)
        self.budget.spend(len(painting) * len(self.moved), at)
        if painting and self._anchor is None:
            self._anchor = next(iter(painting))
        moved = {self.outward(cell): color for cell, color in painting.items()}
        here = {cell: color for cell, color in moved.items() if self.inside(cell)}
        if painting:
            self._reached = self._reached or bool(here)
        self.paint(here)

    def _free(self, name: str, at: Place) -> str:
        if name in self.constants:
            raise ProgramError(f"{name} has a meaning of its own: take another name", at)
        return name

    def _repeat(self, count: ast.Expr | None, move: ast.Move | None, body: Sequence[ast.Statement], at: Place) -> None:
        turns = MAX_TURNS if count is None else self.number(count)
        shift = None if move is None else self.move(move)
        if turns < 0 or (count is None and not shift):
            raise ProgramError("repeat takes a count, or a direction to go to the edge", at)
        outer, self._anchor = self._anchor, None
        for turn in range(turns):
            self.budget.spend(1, at)
            inside = self._turn(body, None if shift is None else self.mapping(shift.times(turn), self._anchor or self.origin))
            if count is None and not inside:
                break
        self._anchor = outer or self._anchor

    def _turn(self, body: Sequence[ast.Statement], moved: tuple[Mapped, Mapped] | None) -> bool:
        """Runs a moved body once. Returns False if it painted cells, but none inside the world."""
        before, self._reached = self._reached, None
        if moved:
            self.moved.append(moved)
        self._block(body)
        if moved:
            self.moved.pop()
        mine, self._reached = self._reached, before if self._reached is None else before or self._reached
        return mine is not False

    def _holds(self, test: ast.Condition) -> bool:
        if test.operator is None or test.right is None:
            cells = self.figure(test.left)
            self.budget.spend(len(cells) * len(self.moved), test.left.at)
            holds = any(self.inside(self.outward(cell)) for cell in cells)
        else:
            holds = _COMPARE[test.operator](self.number(test.left), self.number(test.right))
        return holds != test.negated


_COMPARE = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
