"""Programs as values: hashable, equal without regard to where in a text they stood, written as their shortest text.

`write` gives the one text that `parse` reads back as an equal program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from serialization.program.errors import Place

NOWHERE: Place = (0, 0)


@dataclass(frozen=True, slots=True)
class Span:
    """Whole numbers from `first` to `last`, both included, every `step`-th; downward where `last` is the smaller."""

    first: int
    last: int
    step: int = 1

    def numbers(self) -> range:
        up = self.last >= self.first
        return range(self.first, self.last + 1, self.step) if up else range(self.first, self.last - 1, -self.step)


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of a program, and the place of its text, which does not count for equality."""

    at: Place = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Numbers(Node):
    """`3`, `3,5-8`: numbers; as a set of tiles, whole columns; as a set of blocks, three spans `x,y,z`.

    Lists and ranges may hold negative numbers; a single one is `Negative`.
    """

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Tiles(Node):
    """`3,5:1-10`: the tiles of some columns in some rows; without columns `:2`, in all of them."""

    columns: tuple[Span, ...]
    rows: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Name(Node):
    id: str


@dataclass(frozen=True, slots=True)
class Color(Node):
    """A color as an argument: `is(red)`."""

    color: str


@dataclass(frozen=True, slots=True)
class Move(Node):
    """`right 4 down`: directions, each with how far (None: 1, or as far as it makes sense). `grid` moves rows by number."""

    steps: tuple[tuple[str, Expr | None], ...]
    grid: bool = False


@dataclass(frozen=True, slots=True)
class Call(Node):
    name: str
    args: tuple[Expr | Color | Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Negative(Node):
    value: Expr


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """Operators of one precedence, from left to right: `first`, then pairs of operator and operand, at least one.

    The precedences: `..` (one pair only), then `+ -`, then `&`, then `* /`.
    """

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


Expr = Numbers | Tiles | Name | Call | Negative | Chain


@dataclass(frozen=True, slots=True)
class Condition(Node):
    """A set that is not empty, or a comparison of two numbers."""

    left: Expr
    operator: str | None = None
    right: Expr | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Paint(Node):
    """`red 3:4`, `red*2,blue by column 1-18`: colors with how often each comes, in a cycle, on a set (Minecraft: placed).

    `way`: the cycle goes cell by cell (None), gives each group one color (`by`), or begins anew in each (`along`).
    """

    colors: tuple[tuple[str, int], ...]
    what: Expr
    way: tuple[Literal["by", "along"], str] | None = None


@dataclass(frozen=True, slots=True)
class Remove(Node):
    what: Expr


@dataclass(frozen=True, slots=True)
class Copy(Node):
    """Paints a moved set in the colors of where it came from, some of them changed."""

    what: Expr
    swaps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Assign(Node):
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    """The body so many times in all, each time moved once more; without a count until it leaves the world."""

    count: Expr | None
    move: Move | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class For(Node):
    name: str
    values: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    """The body of the first branch that holds, else `otherwise`."""

    branches: tuple[tuple[Condition, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """Minecraft: `world` or `builder`, what left and right mean from here on."""

    frame: str


Statement = Paint | Remove | Copy | Assign | Repeat | For | If | Frame


@dataclass(frozen=True, slots=True)
class Program:
    statements: tuple[Statement, ...] = ()


def number(value: int) -> Numbers | Negative:
    """The expression of one number."""
    return Negative(number(-value)) if value < 0 else Numbers((Span(value, value),))


def plus(terms: Iterable[Expr]) -> Expr:
    """The union of one or more sets."""
    first, *others = terms
    return Chain(first, tuple(("+", term) for term in others)) if others else first


def is_plain(program: Program) -> bool:
    """Whether the program only lists cells: it does the same wherever it is run."""
    return all(isinstance(one, Paint | Remove) and _is_listed(one.what) for one in program.statements)


def _is_listed(value: Expr) -> bool:
    if isinstance(value, Chain):
        return all(operator == "+" and _is_listed(term) for operator, term in (("+", value.first), *value.rest))
    return isinstance(value, Numbers | Tiles)


def names_in(value: Expr | Color | Move) -> Iterator[str]:
    """The names that an expression uses."""
    match value:
        case Name(name):
            yield name
        case Call(_, args):
            for arg in args:
                yield from names_in(arg)
        case Negative(inner):
            yield from names_in(inner)
        case Chain(first, rest):
            for term in (first, *(term for _, term in rest)):
                yield from names_in(term)
        case Move(steps):
            for _, count in steps:
                if count is not None:
                    yield from names_in(count)


# --- writing ---

_RANGE = re.compile(r"\d(?:-|\.\.-?)\d+$")
_LEVELS = {"..": 0, "+": 1, "-": 1, "&": 2, "*": 3, "/": 3}


def write(program: Program) -> str:
    """The shortest text of the program, a statement a line."""
    return "\n".join(map(write_statement, program.statements))


def write_statement(statement: Statement) -> str:
    match statement:
        case Paint(colors, what, way):
            shades = ",".join(color if n == 1 else f"{color}*{n}" for color, n in colors)
            return " ".join([shades, *(way or ()), write_expression(what)])
        case Remove(what):
            return f"remove {write_expression(what)}"
        case Copy(what, swaps):
            changes = ",".join(f"{old}={new}" for old, new in swaps)
            return f"copy {write_expression(what)}" + (f" with {changes}" if changes else "")
        case Assign(name, value):
            return f"{name}={write_expression(value)}"
        case Repeat(count, move, body):
            head = ["repeat", *([] if count is None else [_count(count)]), *([] if move is None else [_move(move)])]
            return " ".join(head) + _block(body)
        case For(name, values, body):
            return f"for {name} in {write_expression(values)}{_block(body)}"
        case If(branches, otherwise):
            tests = " else ".join(f"if {_condition(test)}{_block(body)}" for test, body in branches)
            return tests + (f" else{_block(otherwise)}" if otherwise else "")
        case Frame(frame):
            return frame


def _block(body: tuple[Statement, ...]) -> str:
    return "{" + ";".join(map(write_statement, body)) + "}"


def _condition(test: Condition) -> str:
    compared = f"{test.operator}{write_expression(test.right)}" if test.operator and test.right else ""
    return "not " * test.negated + write_expression(test.left) + compared


def _move(move: Move) -> str:
    steps = " ".join(way if count is None else f"{way} {_count(count)}" for way, count in move.steps)
    return "grid " * move.grid + steps


def _count(count: Expr) -> str:
    text = write_expression(count, argument=True)
    return text if isinstance(count, Name) or text.isdigit() else f"({text})"


def _argument(value: Expr | Color | Move) -> str:
    match value:
        case Color(color):
            return color
        case Move():
            return _move(value)
    return write_expression(value, argument=True)


def write_expression(value: Expr, *, argument: bool = False) -> str:
    """The text of an expression; as an argument, where a comma would end it, a list stands in parentheses."""
    match value:
        case Numbers() | Tiles():
            text = _literal(value)
            return f"({text})" if argument and "," in text else text
        case Name(name):
            return name
        case Call(name, args):
            return f"{name}({','.join(map(_argument, args))})"
        case Negative(inner):
            text = write_expression(inner)
            # -3,4:1 is a list and -7..3 a range, both from a negative number on.
            listed = isinstance(inner, Numbers | Tiles) and ("," in text or ".." in text)
            return f"-({text})" if listed or isinstance(inner, Negative | Chain) else f"-{text}"
        case Chain(first, rest):
            return _chain(first, rest, argument)


def _literal(value: Numbers | Tiles) -> str:
    return spans_text(value.spans) if isinstance(value, Numbers) else f"{spans_text(value.columns)}:{spans_text(value.rows)}"


def _chain(first: Expr, rest: tuple[tuple[str, Expr], ...], argument: bool) -> str:
    level = _LEVELS[rest[0][0]]
    text = _operand(first, level, argument)
    for operator, operand in rest:
        right = _operand(operand, level, argument)
        # 3:4-6 is a range of rows, 1..3 one of numbers, and 1-9/2 one with a step.
        if operator == ".." and text[-1].isdigit() and right.lstrip("-")[0].isdigit():
            right = f"({right})"
        apart = (operator == "-" and text[-1].isdigit() and right[0].isdigit()) or (operator == "/" and _RANGE.search(text))
        text += f" {operator} {right}" if apart else f"{operator}{right}"
    return text


def _operand(value: Expr, level: int, argument: bool) -> str:
    own = _LEVELS[value.rest[0][0]] if isinstance(value, Chain) else 4
    return write_expression(value, argument=argument) if own > level else f"({write_expression(value)})"


def spans_text(spans: tuple[Span, ...]) -> str:
    return ",".join(map(_span, spans))


def _span(span: Span) -> str:
    if span.first == span.last:
        return str(span.first)
    between = "-" if min(span.first, span.last) >= 0 else ".."
    return f"{span.first}{between}{span.last}" + (f"/{span.step}" if span.step != 1 else "")
