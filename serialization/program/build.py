"""The parser's trees as values of `ast`."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer, v_args

from harness.worlds.hexagons import COLORS
from serialization.program import ast
from serialization.program.errors import Place, ProgramError

MAX_NUMBER = 9999
_SAME = {"toward": "front", "away": "behind"}
"""Two words for one direction."""


def _at(meta: Any) -> tuple[int, int]:
    return (0, 0) if meta.empty else (meta.line, meta.column)


def _spans(text: str, at: tuple[int, int]) -> tuple[ast.Span, ...]:
    return tuple(_span(piece, at) for piece in text.split(",")) if text else ()


def _span(text: str, at: tuple[int, int]) -> ast.Span:
    whole, _, step = text.partition("/")
    first, dots, last = whole.partition("..")
    if not dots:
        # The sign of a first number is no dash.
        head, _, last = whole[1:].partition("-")
        first = whole[0] + head
    numbers = int(first), int(last or first), int(step or 1)
    if max(map(abs, numbers)) > MAX_NUMBER:
        raise ProgramError(f"{text}: numbers go up to {MAX_NUMBER}", at)
    if numbers[2] < 1:
        raise ProgramError(f"{text}: the step of a range is at least 1", at)
    return ast.Span(numbers[0], numbers[1], numbers[2] if numbers[0] != numbers[1] else 1)


def literal(text: str, at: Place = ast.NOWHERE) -> ast.Expr:
    """The set or number of a literal such as 3,5:1-10."""
    columns, colon, rows = text.partition(":")
    if colon and columns.startswith("-"):
        raise ProgramError(f"{text}: columns count from 1", at)
    return ast.Tiles(_spans(columns, at), _spans(rows, at), at=at) if colon else ast.Numbers(_spans(columns, at), at=at)


def _single(value: ast.Expr) -> int:
    """The number of a literal that is one."""
    if isinstance(value, ast.Numbers) and len(value.spans) == 1 and value.spans[0].first == value.spans[0].last:
        return value.spans[0].first
    raise ProgramError("expected a number here", value.at)


def _name(token: Token) -> str:
    """Refuses a color as a name: written without parentheses, it would be read as the color."""
    if token in COLORS:
        raise ProgramError(
            f"{token} is a color, not a set; write is({token}) for what has it", (token.line or 0, token.column or 0)
        )
    return str(token)


@v_args(meta=True)
class TreeBuilder(Transformer[Token, ast.Program]):
    def start(self, meta: Any, children: list[Any]) -> ast.Program:
        return ast.Program(tuple(children))

    def block(self, meta: Any, children: list[Any]) -> tuple[ast.Statement, ...]:
        return tuple(children)

    def paint(self, meta: Any, children: list[Any]) -> ast.PaintSet:
        colors, *way, what = children
        return ast.PaintSet(colors, what, way[0] if way else None, at=_at(meta))

    def shades(self, meta: Any, children: list[Any]) -> tuple[Any, ...]:
        return tuple(children)

    def shade(self, meta: Any, children: list[Any]) -> tuple[str, int]:
        color, *times = children
        count = _single(self._literal(times[-1])) if times else 1
        if not 0 < count <= 180:
            raise ProgramError(f"{color}*{count}: a color may be repeated 1 to 180 times", (color.line, color.column))
        return str(color), count

    def way(self, meta: Any, children: list[Any]) -> tuple[str, ...]:
        return tuple(map(str, children))

    def remove(self, meta: Any, children: list[Any]) -> ast.Remove:
        return ast.Remove(children[0], at=_at(meta))

    def copy(self, meta: Any, children: list[Any]) -> ast.Copy:
        return ast.Copy(children[0], tuple(children[1:]), at=_at(meta))

    def swap(self, meta: Any, children: list[Any]) -> tuple[str, str]:
        return str(children[0]), str(children[2])

    def assign(self, meta: Any, children: list[Any]) -> ast.Assign:
        name, value = children[0], children[-1]
        return ast.Assign(_name(name), value, at=_at(meta))

    def repeat(self, meta: Any, children: list[Any]) -> ast.Repeat:
        *head, body = children
        move = head.pop() if head and isinstance(head[-1], ast.Move) else None
        return ast.Repeat(head[0] if head else None, move, body, at=_at(meta))

    def loop(self, meta: Any, children: list[Any]) -> ast.For:
        name, values, body = children
        return ast.For(_name(name), values, body, at=_at(meta))

    def choice(self, meta: Any, children: list[Any]) -> ast.If:
        otherwise: tuple[ast.Statement, ...] = ()
        if isinstance(children[-1], list):
            otherwise = children.pop()[0]
        return ast.If(tuple(zip(children[::2], children[1::2], strict=True)), otherwise, at=_at(meta))

    def otherwise(self, meta: Any, children: list[Any]) -> list[Any]:
        return children

    def condition(self, meta: Any, children: list[Any]) -> ast.Condition:
        negated = isinstance(children[0], Token)
        left, *compared = children[negated:]
        operator, right = (str(compared[0]), compared[1]) if compared else (None, None)
        return ast.Condition(left, operator, right, negated, at=_at(meta))

    def frame(self, meta: Any, children: list[Any]) -> ast.Frame:
        return ast.Frame(str(children[0]), at=_at(meta))

    def union(self, meta: Any, children: list[Any]) -> ast.Expr:
        joined = ast.plus(children)
        return (
            ast.Chain(joined.first, joined.rest, at=_at(meta)) if isinstance(joined, ast.Chain) and len(children) > 1 else joined
        )

    def between(self, meta: Any, children: list[Any]) -> ast.Chain:
        return ast.Chain(children[0], (("..", children[-1]),), at=_at(meta))

    def sum(self, meta: Any, children: list[Any]) -> ast.Chain:
        return ast.Chain(children[0], tuple(zip(map(str, children[1::2]), children[2::2], strict=True)), at=_at(meta))

    both = product = sum

    def negative(self, meta: Any, children: list[Any]) -> ast.Negative:
        return ast.Negative(children[-1], at=_at(meta))

    def literal(self, meta: Any, children: list[Any]) -> ast.Expr:
        return self._literal(children[0])

    def _literal(self, token: Token) -> ast.Expr:
        return literal(str(token), (token.line or 0, token.column or 0))

    def name(self, meta: Any, children: list[Any]) -> ast.Name:
        return ast.Name(_name(children[0]), at=_at(meta))

    def call(self, meta: Any, children: list[Any]) -> ast.Call:
        return ast.Call(str(children[0]), tuple(children[1:]), at=_at(meta))

    def color(self, meta: Any, children: list[Any]) -> ast.Color:
        return ast.Color(str(children[0]), at=_at(meta))

    def move(self, meta: Any, children: list[Any]) -> ast.Move:
        grid = isinstance(children[0], Token)
        return ast.Move(tuple(children[grid:]), grid, at=_at(meta))

    def step(self, meta: Any, children: list[Any]) -> tuple[str, ast.Expr | None]:
        way, *count = children
        if count and isinstance(count[0], ast.Numbers):
            _single(count[0])
        return _SAME.get(way, str(way)), count[0] if count else None
