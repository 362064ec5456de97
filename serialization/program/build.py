"""The parser's trees as nodes of `ast`."""

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
        # A minus sign before the first number is not the dash of a range.
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
    return ast.Tiles(_spans(columns, at), _spans(rows, at), at=at) if colon else ast.Numbers(_spans(columns, at), at=at)


def _single(value: ast.Expr) -> int:
    """The value of a literal that is a single number. Raises ProgramError for any other expression."""
    if isinstance(value, ast.Numbers) and len(value.spans) == 1 and value.spans[0].first == value.spans[0].last:
        return value.spans[0].first
    raise ProgramError("expected a number here", value.at)


def _place(token: Token) -> Place:
    return token.line or 0, token.column or 0


def _name(token: Token) -> str:
    """Raises ProgramError if a name is a color: without parentheses, it would be parsed as the color."""
    if token in COLORS:
        raise ProgramError(f"{token} is a color, not a set; write is({token}) for what has it", _place(token))
    return str(token)


@v_args(meta=True, inline=True)
class TreeBuilder(Transformer[Token, ast.Program]):
    def start(self, meta: Any, *statements: ast.Statement) -> ast.Program:
        return ast.Program(statements)

    def block(self, meta: Any, *children: Any) -> tuple[Any, ...]:
        return children

    shades = block

    def paint(self, meta: Any, colors: Any, *rest: Any) -> ast.PaintSet:
        *way, what = rest
        return ast.PaintSet(colors, what, way[0] if way else None, at=_at(meta))

    def shade(self, meta: Any, color: Token, times: Token | None = None) -> tuple[str, int]:
        count = 1 if times is None else _single(literal(times, _place(times)))
        if not 0 < count <= 180:
            raise ProgramError(f"{color}*{count}: a color may be repeated 1 to 180 times", _place(color))
        return str(color), count

    def way(self, meta: Any, *words: Token) -> tuple[str, ...]:
        return tuple(map(str, words))

    def remove(self, meta: Any, what: ast.Expr) -> ast.Remove:
        return ast.Remove(what, at=_at(meta))

    def copy(self, meta: Any, what: ast.Expr, *swaps: tuple[str, str]) -> ast.Copy:
        return ast.Copy(what, swaps, at=_at(meta))

    def shifted(self, meta: Any, what: ast.Expr, *swaps: tuple[str, str]) -> ast.Copy:
        return ast.Copy(what, swaps, away=True, at=_at(meta))

    def replace(self, meta: Any, what: ast.Expr, colors: Any) -> ast.Replace:
        return ast.Replace(what, colors, at=_at(meta))

    def swap(self, meta: Any, old: Token, equals: Token, new: Token) -> tuple[str, str]:
        return str(old), str(new)

    def assign(self, meta: Any, name: Token, equals: Token, value: ast.Expr) -> ast.Assign:
        return ast.Assign(_name(name), value, at=_at(meta))

    def repeat(self, meta: Any, *children: Any) -> ast.Repeat:
        *head, body = children
        move = head.pop() if head and isinstance(head[-1], ast.Move) else None
        return ast.Repeat(head[0] if head else None, move, body, at=_at(meta))

    def loop(self, meta: Any, name: Token, values: ast.Expr, body: Any) -> ast.For:
        return ast.For(_name(name), values, body, at=_at(meta))

    def choice(self, meta: Any, test: ast.Condition, body: Any, otherwise: Any = ()) -> ast.If:
        return ast.If(test, body, otherwise, at=_at(meta))

    def condition(self, meta: Any, *children: Any) -> ast.Condition:
        negated = isinstance(children[0], Token)
        left, *compared = children[negated:]
        operator, right = (str(compared[0]), compared[1]) if compared else (None, None)
        return ast.Condition(left, operator, right, negated, at=_at(meta))

    def frame(self, meta: Any, frame: Token) -> ast.Frame:
        if frame not in ast.COMPASS:
            raise ProgramError(f"facing {frame}: expected {', '.join(ast.COMPASS)}", _place(frame))
        return ast.Frame(str(frame), at=_at(meta))

    def union(self, meta: Any, first: ast.Expr, *others: ast.Expr) -> ast.Expr:
        return ast.Chain(first, tuple(("+", term) for term in others), at=_at(meta)) if others else first

    def between(self, meta: Any, first: ast.Expr, last: ast.Expr) -> ast.Chain:
        return ast.Chain(first, (("..", last),), at=_at(meta))

    def sum(self, meta: Any, first: ast.Expr, *rest: Any) -> ast.Chain:
        return ast.Chain(first, tuple(zip(map(str, rest[::2]), rest[1::2], strict=True)), at=_at(meta))

    both = product = sum

    def negative(self, meta: Any, minus: Token, value: ast.Expr) -> ast.Negative:
        return ast.Negative(value, at=_at(meta))

    def literal(self, meta: Any, token: Token) -> ast.Expr:
        return literal(token, _place(token))

    def name(self, meta: Any, name: Token) -> ast.Name:
        return ast.Name(_name(name), at=_at(meta))

    def call(self, meta: Any, function: Token, *args: Any) -> ast.Call:
        return ast.Call(str(function), args, at=_at(meta))

    def color(self, meta: Any, color: Token) -> ast.Color:
        return ast.Color(str(color), at=_at(meta))

    def move(self, meta: Any, *children: Any) -> ast.Move:
        grid = isinstance(children[0], Token)
        return ast.Move(children[grid:], grid, at=_at(meta))

    def step(self, meta: Any, way: Token, count: ast.Expr | None = None) -> tuple[str, ast.Expr | None]:
        if isinstance(count, ast.Numbers):
            _single(count)
        return _SAME.get(way, str(way)), count
