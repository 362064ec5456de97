"""Programs for tests: random valid ones, and texts that resemble programs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Pose, Structure
from serialization.formats.program import run
from serialization.program import ast
from serialization.program.build import MAX_NUMBER
from serialization.program.machine import ProgramResult, State
from serialization.program.parse import parse, parse_front

COLORS = ("white", "black", "yellow", "green", "red", "blue", "purple", "orange")
WAYS = ("up", "down", "left", "right", "up-right", "down-left", "front", "behind", "north")
NAMES = ("f", "g2", "n", "it", "all", "row", "x")
FUNCTIONS = ("ring", "shift", "at", "left", "line", "count", "box", "nothing_such")


def _spans(low: int, high: int = 20) -> st.SearchStrategy[ast.Span]:
    ends = st.one_of(st.integers(low, high), st.integers(max(low, 0), MAX_NUMBER))
    return st.builds(lambda a, b, step: ast.Span(a, b, step if a != b else 1), ends, ends, st.integers(1, 12))


def _lists(low: int, least: int, most: int = 4) -> st.SearchStrategy[tuple[ast.Span, ...]]:
    return st.lists(_spans(low), min_size=least, max_size=most).map(tuple)


singles = st.integers(0, MAX_NUMBER).map(ast.number)
literals: st.SearchStrategy[ast.Expr] = st.one_of(
    singles,
    _lists(0, 1, 1).map(ast.Numbers),
    _lists(-6, 1).filter(lambda spans: len(spans) > 1 or spans[0].first != spans[0].last or spans[0].first >= 0).map(ast.Numbers),
    st.builds(ast.Tiles, _lists(-6, 0), _lists(-6, 1)),
)
names: st.SearchStrategy[ast.Expr] = st.sampled_from(NAMES).map(ast.Name)
colors = st.sampled_from(COLORS)


def _chains(inner: st.SearchStrategy[ast.Expr], operators: str) -> st.SearchStrategy[ast.Expr]:
    pairs = st.tuples(st.sampled_from(list(operators)), inner)
    return st.builds(ast.Chain, inner, st.lists(pairs, min_size=1, max_size=4).map(tuple))


def _larger(inner: st.SearchStrategy[ast.Expr]) -> st.SearchStrategy[ast.Expr]:
    arguments = st.one_of(inner, colors.map(ast.Color), moves(inner))
    return st.one_of(
        st.builds(ast.Negative, inner),
        st.builds(ast.Call, st.sampled_from(FUNCTIONS), st.lists(arguments, max_size=4).map(tuple)),
        _chains(inner, "+-"),
        _chains(inner, "&"),
        _chains(inner, "*/"),
        st.builds(lambda a, b: ast.Chain(a, (("..", b),)), inner, inner),
    )


def moves(inner: st.SearchStrategy[ast.Expr]) -> st.SearchStrategy[ast.Move]:
    counts = st.one_of(st.none(), singles, names, inner.filter(lambda value: not isinstance(value, ast.Numbers)))
    steps = st.lists(st.tuples(st.sampled_from(WAYS), counts), min_size=1, max_size=3)
    return st.builds(ast.Move, steps.map(tuple), st.booleans())


expressions = st.recursive(st.one_of(literals, names), _larger, max_leaves=8)
_ways: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.tuples(st.sampled_from(["by", "along"]), st.sampled_from(["column", "row", "layer", "object"]))
)
_shades = st.lists(st.tuples(st.sampled_from([*COLORS, "none"]), st.integers(1, 180)), min_size=1, max_size=3).map(tuple)
_simple: st.SearchStrategy[ast.Statement] = st.one_of(
    st.builds(ast.PaintSet, _shades, expressions, _ways),
    st.builds(ast.Remove, expressions),
    st.builds(ast.Copy, expressions, st.lists(st.tuples(colors, colors), max_size=2).map(tuple), st.booleans()),
    st.builds(ast.Replace, expressions, _shades),
    st.builds(ast.Assign, st.sampled_from(NAMES), expressions),
    st.sampled_from(ast.COMPASS).map(ast.Frame),
)
_conditions = st.one_of(
    st.builds(lambda value, no: ast.Condition(value, negated=no), expressions, st.booleans()),
    st.builds(ast.Condition, expressions, st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), expressions, st.booleans()),
)


def _nested(inner: st.SearchStrategy[ast.Statement]) -> st.SearchStrategy[ast.Statement]:
    body = st.lists(inner, max_size=3).map(tuple)
    times = st.one_of(st.none(), singles, names)
    return st.one_of(
        st.builds(ast.Repeat, times, st.one_of(st.none(), moves(expressions)), body),
        st.builds(ast.For, st.sampled_from(NAMES), expressions, body),
        st.builds(ast.If, _conditions, body, body),
    )


programs = st.lists(st.recursive(_simple, _nested, max_leaves=4), max_size=4).map(lambda found: ast.Program(tuple(found)))

_PIECES = """
    red blue 3 3:4 1-9/2 :2 0,1,0 -1,2,-3 f g = + - & * / .. , ( ) { } ; ring( shift( at( repeat for in if else not by along
    column object copy with remove place grid world up right 4 down-left it all last blank is( red) step(-1) count( > <= # é
"""
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from([*_PIECES.split(), "\n", "\t"]), max_size=25).map(" ".join),
    st.lists(st.sampled_from(_PIECES.split()), max_size=25).map("".join),
)


def state_after(before: Board | Structure, *steps: str, pose: Pose | None = None) -> State:
    """The state after programs that run without an error and whose actions are feasible, with the builder's pose at the end."""
    state = State(before)
    for step in steps:
        done = run(parse(step), state)
        assert done.error is None, done.error
        after, ignored = state.before.apply(done.actions)
        assert not ignored
        state = replace(state, before=after, steps=[*state.steps, done.actions], names=done.names)
    return replace(state, pose=pose or state.pose)


def check_error(text: str, run: Callable[[ast.Program], ProgramResult], at: list[int], says: str) -> None:
    """Checks that a text that cannot be parsed, or run to its end, has an error with this position and message."""
    program, error = parse_front(text)
    error = error or run(program).error
    assert error is not None
    assert says in str(error)
    assert [error.line, error.column] == at, str(error)
