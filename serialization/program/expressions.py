"""The evaluation of expressions to sets, numbers and moves. The worlds add literals, functions and directions."""

from __future__ import annotations

import inspect
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from serialization.program import ast
from serialization.program.errors import Budget, Place, ProgramError, located, suggestion
from serialization.program.figure import Cell, Figure, together
from serialization.program.written import write_expression

Value = Figure | int
"""The value of a name."""
Mapped = Callable[[Cell], Cell]
MAX_NUMBER = 1_000_000


KINDS = {
    "Figure": "figure",
    "Cell": "cell",
    "int": "number",
    "Sequence[Span]": "numbers",
    "Shift": "move",
    "Way": "direction",
    "Sequence[Way]": "directions",
    "ColorName": "color",
}
"""The kind of a program's argument, by the parameter's type annotation."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a world. `kinds`: the kinds of its arguments; "?" marks an optional one, "*" any number of them."""

    call: Callable[..., Any]
    kinds: tuple[str, ...]
    counts: bool
    """Whether it returns a number."""

    @classmethod
    def of(cls, call: Callable[..., Any]) -> Function:
        """The function with the kinds of its signature, whose first parameter is the machine."""
        signature = inspect.signature(call)
        kinds = []
        for it in [*signature.parameters.values()][1:]:
            mark = "*" if it.kind is it.VAR_POSITIONAL else "" if it.default is it.empty else "?"
            kinds.append(KINDS[it.annotation.removesuffix(" | None")] + mark)
        return cls(call, tuple(kinds), signature.return_annotation == "int")


@dataclass(frozen=True, slots=True)
class Shift:
    """A move with evaluated numbers, as the sum of the vectors of its steps. `grid`: see `ast.Move`."""

    vector: tuple[int, ...]
    grid: bool = False

    def times(self, count: int) -> Shift:
        return Shift(tuple(count * number for number in self.vector), self.grid)

    def __bool__(self) -> bool:
        """Whether the move has any effect."""
        return any(self.vector)


class Evaluator(ABC):
    """Evaluates the expressions of one world. `names`: the values assigned by this program or earlier ones."""

    functions: ClassVar[Mapping[str, Function]]
    constants: ClassVar[Mapping[str, Callable[[Any], Figure]]]
    colors: ClassVar[Sequence[str]]

    def __init__(self, names: Mapping[str, Value]) -> None:
        self.names: dict[str, Value] = dict(names)
        self.budget = Budget()
        self.moved: list[tuple[Mapped, Mapped]] = []
        """The moves, there and back, of the bodies that are being repeated, outermost first."""

    @abstractmethod
    def literal(self, value: ast.Numbers | ast.Tiles) -> Figure:
        """The cells of a literal. Raises ProgramError if any lies outside the world."""

    @abstractmethod
    def vector(self, way: str) -> tuple[int, ...]:
        """One step in a direction. Raises ProgramError for a direction that the world lacks."""

    @abstractmethod
    def mapping(self, shift: Shift, anchor: Cell) -> tuple[Mapped, Mapped]:
        """The maps that move cells when `anchor` makes a move, there and back."""

    def outward(self, cell: Cell) -> Cell:
        """A cell of the current body as a cell of the world."""
        for there, _ in reversed(self.moved):
            cell = there(cell)
        return cell

    def seen(self, cells: Sequence[Cell]) -> Figure:
        """Cells of the world as cells of the current body. Raises ProgramError if the budget does not suffice."""
        self.budget.spend(len(cells) * len(self.moved))
        inward: dict[Cell, Cell] = {}
        for cell in cells:
            inner = cell
            for _, back in self.moved:
                inner = back(inner)
            inward[inner] = cell
        return Figure.one(inward)

    def figure(self, value: ast.Expr) -> Figure:
        """The value of a set. Raises ProgramError for anything else."""
        result = self._figure(value)
        self.budget.admit(len(result), value.at)
        return result

    def _figure(self, value: ast.Expr) -> Figure:
        match value:
            case ast.Numbers() | ast.Tiles():
                found = self.literal(value)
                self.budget.spend(len(found) * len(self.moved), value.at)
                return Figure({cell: self.outward(cell) for cell in found}, found.parts) if self.moved else found
            case ast.Name(name):
                named = self._named(value, name)
                return self._column(named, value.at) if isinstance(named, int) else named
            case ast.Call(name):
                result = self._call(value)
                if isinstance(result, Figure):
                    return result
                raise ProgramError(f"{name} gives a number where a set is needed", value.at)
            case ast.Negative():
                return self._column(self.number(value), value.at)
            case ast.Chain() if self.is_number(value) and _is_computed(value):
                return self._column(self.number(value), value.at)
            case ast.Chain(first, rest) if all(sign in "+-&" for sign, _ in rest):
                return self._algebra(first, rest)
        raise ProgramError("a number where a set is needed; sets are joined with +, - and &", value.at)

    def _column(self, number: int, at: Place) -> Figure:
        return self._figure(ast.Numbers((ast.Span(number, number),), at=at))

    def _algebra(self, first: ast.Expr, rest: Sequence[tuple[str, ast.Expr]]) -> Figure:
        joined = [self.figure(first)]
        for sign, term in rest:
            other = self.figure(term)
            if sign == "+":
                joined.append(other)
            else:
                whole = together(joined)
                self.budget.spend(len(whole), term.at)
                joined = [whole.within(other) if sign == "&" else whole.without(other)]
        return together(joined)

    def _named(self, value: ast.Name, name: str) -> Value:
        if name in self.constants:
            with located(value.at):
                return self.constants[name](self)
        if name not in self.names:
            known = [*self.names, *self.constants, *self.colors]
            raise ProgramError(f"{name} has no meaning yet{suggestion(name, known)}", value.at)
        return self.names[name]

    def is_number(self, value: ast.Expr | ast.Color | ast.Move) -> bool:
        """Whether an expression denotes a number; a list of numbers does not."""
        match value:
            case ast.Numbers(spans):
                return len(spans) == 1 and spans[0].first == spans[0].last
            case ast.Name(name):
                return isinstance(self.names.get(name), int)
            case ast.Call(name):
                return name in self.functions and self.functions[name].counts
            case ast.Negative():
                return True
            case ast.Chain(first, rest):
                return all(sign in "+-*/" and self.is_number(term) for sign, term in (("+", first), *rest))
        return False

    def number(self, value: ast.Expr) -> int:
        """The value of a number. Raises ProgramError for anything else."""
        self.budget.spend(1, value.at)
        match value:
            case ast.Numbers((ast.Span(first, last),)) if first == last:
                return first
            case ast.Negative(inner):
                return -self.number(inner)
            case ast.Chain(first, rest) if all(sign in _ARITHMETIC for sign, _ in rest):
                return self._arithmetic(first, rest)
            case ast.Name(name):
                result = self._named(value, name)
            case ast.Call(name):
                result = self._call(value)
            case _:
                text = write_expression(value)[:40]
                raise ProgramError(f"{text} is not a number (blanks around a minus subtract)", value.at)
        if isinstance(result, int):
            return result
        raise ProgramError(f"{name} is a set where a number is needed", value.at)

    def _arithmetic(self, first: ast.Expr, rest: Sequence[tuple[str, ast.Expr]]) -> int:
        total = self.number(first)
        for sign, term in rest:
            other = self.number(term)
            if sign == "/" and other == 0:
                raise ProgramError("division by zero", term.at)
            total = _ARITHMETIC[sign](total, other)
            if abs(total) > MAX_NUMBER:
                raise ProgramError(f"numbers go up to {MAX_NUMBER:,}", term.at)
        return total

    def numbers(self, value: ast.Expr) -> Sequence[ast.Span]:
        """The numbers of `3`, `1-9/2`, `2*n` or `1..n`. Raises ProgramError for any other value or a long list."""
        match value:
            case ast.Numbers(spans):
                pass
            case ast.Chain(first, (("..", last),)):
                spans = (ast.Span(self.number(first), self.number(last)),)
            case _:
                number = self.number(value)
                spans = (ast.Span(number, number),)
        self.budget.admit(sum(len(span.numbers()) for span in spans), value.at)
        return spans

    def move(self, move: ast.Move) -> Shift:
        steps = [(way, 1 if count is None else self.number(count)) for way, count in move.steps]
        with located(move.at):
            scaled = ([count * number for number in self.vector(way)] for way, count in steps)
            return Shift(tuple(map(sum, zip(*scaled, strict=True))), move.grid)

    def known_color(self, color: str, at: Place) -> None:
        """Raises ProgramError for a color of the other world."""
        if color not in self.colors:
            raise ProgramError(f"{color} is not a color of this world: {', '.join(self.colors)}", at)

    def _call(self, call: ast.Call) -> Value:
        function = self.functions.get(call.name)
        if function is None:
            raise ProgramError(f"no function {call.name}{suggestion(call.name, self.functions)}", call.at)
        self.budget.spend(CALL_STEPS, call.at)
        args = self.arguments(call, function.kinds)
        with located(call.at):
            result: Value = function.call(self, *args)
        if isinstance(result, Figure):
            self.budget.admit(len(result), call.at)
        return result

    def arguments(self, call: ast.Call, kinds: Sequence[str]) -> list[Any]:
        """The values of a call's arguments. Raises ProgramError if they are too many, too few or of other kinds."""
        count = len(call.args)
        least = sum(not kind.endswith(("?", "*")) for kind in kinds)
        if count < least or (count > len(kinds) and not kinds[-1].endswith("*")):
            raise ProgramError(f"{call.name} takes {_spoken(kinds)}; a list stands in parentheses", call.at)
        full = [*kinds, *[kinds[-1]] * (count - len(kinds))][:count]
        return [self.argument(kind.rstrip("?*"), arg) for kind, arg in zip(full, call.args, strict=True)]

    def argument(self, kind: str, arg: ast.Expr | ast.Color | ast.Move) -> Any:
        if isinstance(arg, ast.Color) and kind == "color":
            self.known_color(arg.color, arg.at)
            return arg.color
        if isinstance(arg, ast.Move) and kind == "move":
            return self.move(arg)
        if isinstance(arg, ast.Move) and kind.startswith("direction") and all(count is None for _, count in arg.steps):
            ways = [way for way, _ in arg.steps]
            if kind == "directions":
                return ways
            if len(ways) == 1:
                return ways[0]
        if isinstance(arg, ast.Color | ast.Move) or kind in ("color", "move", "direction", "directions"):
            raise ProgramError(f"expected a {_SAID.get(kind, kind)}", arg.at)
        match kind:
            case "number":
                return self.number(arg)
            case "numbers":
                return self.numbers(arg)
            case "cell":
                cells = self.figure(arg)
                if len(cells) != 1:
                    raise ProgramError(f"expected one cell, found {len(cells)}", arg.at)
                return next(iter(cells))
        return self.figure(arg)


CALL_STEPS = 50
"""The minimum cost of a call, in steps: a function may look at the whole world."""
_SAID = {"figure": "set", "cell": "single cell", "numbers": "list of numbers", "directions": "direction"}
_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv}


def _is_computed(value: ast.Expr) -> bool:
    """Whether a number is arithmetic, as n+1 with a named number; 3+4 is the union of two columns."""
    match value:
        case ast.Chain(first, rest):
            return any(map(_is_computed, (first, *(term for _, term in rest))))
        case ast.Negative(inner):
            return _is_computed(inner)
    return isinstance(value, ast.Name | ast.Call)


def _spoken(kinds: Sequence[str]) -> str:
    """`set, number (optional)`."""
    named = [_SAID.get(kind.rstrip("?*"), kind.rstrip("?*")) for kind in kinds]
    ends = [" (optional)" if kind.endswith("?") else " ..." if kind.endswith("*") else "" for kind in kinds]
    return ", ".join(name + end for name, end in zip(named, ends, strict=True)) or "nothing"
