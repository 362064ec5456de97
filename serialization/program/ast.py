"""Programs as hashable values, compared without their positions in the text; `written.write` turns them into text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Literal

from serialization.program.errors import Place

NOWHERE: Place = (0, 0)
COMPASS = ("south", "west", "north", "east")
"""The directions that one can face, in the order of a turn to the right."""


@dataclass(frozen=True, slots=True)
class Span:
    """Whole numbers from `first` to `last`, both included, every `step`-th; downward if `last` is smaller."""

    first: int
    last: int
    step: int = 1

    def numbers(self) -> range:
        up = self.last >= self.first
        return range(self.first, self.last + 1, self.step) if up else range(self.first, self.last - 1, -self.step)


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of a program and its position in the text, which equality ignores."""

    at: Place = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Numbers(Node):
    """`3`, `3,5-8`: numbers; as a set of tiles, whole columns; as a set of blocks, three spans `x,y,z`.

    Lists and ranges may hold negative numbers; a single negative number is a `Negative`. As columns they count from the right.
    """

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Tiles(Node):
    """`3,5:1-10`: the tiles of some columns in some rows; without columns (`:2`), in all columns.

    Negative numbers count from the right and the bottom.
    """

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
    """`right 4 down`: directions with distances (None: 1, or as far as makes sense). `grid`: moves by row and column numbers."""

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
    """Operators of one precedence, from left to right: `first`, then at least one pair of operator and operand.

    The precedences, lowest first: `..` (one pair only), `+ -`, `&`, `* /`.
    """

    first: Expr
    rest: tuple[tuple[str, Expr], ...]


Expr = Numbers | Tiles | Name | Call | Negative | Chain


@dataclass(frozen=True, slots=True)
class Condition(Node):
    """Whether a set is non-empty, or a comparison of two numbers."""

    left: Expr
    operator: str | None = None
    right: Expr | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class PaintSet(Node):
    """`red 3:4`, `red*2,blue by column 1-18`: paints a set (Minecraft: places blocks) in a cycle of colors with their counts.

    The color "none" leaves cells as they are. `way`: the cycle goes cell by cell (None), gives each group one color (`by`), or
    restarts in each group (`along`).
    """

    colors: tuple[tuple[str, int], ...]
    what: Expr
    way: tuple[Literal["by", "along"], str] | None = None


@dataclass(frozen=True, slots=True)
class Remove(Node):
    what: Expr


@dataclass(frozen=True, slots=True)
class Copy(Node):
    """Paints a moved set in the colors of its source cells; `swaps` replaces some of the colors.

    `away`: the statement is `move`, which empties the source cells first.
    """

    what: Expr
    swaps: tuple[tuple[str, str], ...] = ()
    away: bool = False


@dataclass(frozen=True, slots=True)
class Replace(Node):
    """Gives the cells of a set other colors, in a cycle as in `PaintSet`."""

    what: Expr
    colors: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Assign(Node):
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    """Runs the body `count` times, each time moved once more; without a count, until it leaves the world."""

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
    """Runs the body if the condition holds, otherwise `otherwise`."""

    test: Condition
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """Minecraft: the direction of the compass that one faces, which says what left and right mean from here on."""

    frame: str


Statement = PaintSet | Remove | Copy | Replace | Assign | Repeat | For | If | Frame


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


def names_in(value: object) -> Iterator[str]:
    """The names that an expression, or a part of one, uses."""
    if isinstance(value, Name):
        yield value.id
    elif isinstance(value, Node | tuple):
        for part in value if isinstance(value, tuple) else (getattr(value, one.name) for one in fields(value)):
            yield from names_in(part)
