"""Drawing programs: the tiles that every literal, statement and function paints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds.hexagons import Board, Tile, distance, neighbors
from serialization.program import ast
from serialization.program.hexagons import run
from serialization.program.literal import drawing_program
from serialization.program.machine import State
from serialization.program.parse import parse
from serialization.program.written import write
from tests.helpers.programs import check_error, programs, state_after


def drawn(text: str, *steps: str) -> str:
    """The plain program for the tiles that a program paints after some steps."""
    state = state_after(Board(), *steps)
    outcome = run(parse(text), state)
    assert outcome.error is None, outcome.error
    assert state.before.diff(state.before.apply(outcome.actions).board) == outcome.actions
    return write(drawing_program(outcome.actions)).replace("\n", "; ")


def tiles(text: str) -> set[Tile]:
    """The tiles, 0-based, of a set."""
    return {action.tile for action in run(parse(f"red {text}"), State(Board())).actions}


@pytest.mark.parametrize(
    ("text", "paints"),
    [
        ("red 3:1-4 - 3:2 + 3:2 & 4", "red 3:1,3,4"),
        (
            "red -1:-2; blue -18:4..-3; green -3,-2:-1,1; yellow 5..-12/2:1",
            "yellow 5,7:1; green 16,17:1,10; red 18:9; blue 1:4-8",
        ),
        ("red -4--4:2; blue top(-2,2)+shift(-5:3,down); n=-3; green n&:1", "green 16:1; red 15:1,3-10; blue 14:4+17:1,2"),
        ("red,none*2,blue 1:1-5; green,none by column 1-3:10", "green 1,3:10; red 1:1,5; blue 1:4"),
        ("red,blue by object :1-2 & (1-3+6-7+9)", "red 1-3,9:1,2; blue 6,7:1,2"),
        ("red 1:1; blue 1:2; move shift(1:1-2,down) with red=green", "green 1:2; blue 1:3"),
        ("red 1:1-3; replace 1:2-5 with blue,none,green", "green 1:4; red 1:1,3; blue 1:2,5"),
        ("repeat 2 right 2 {repeat 2 down 2 {red 3:1}}", "red 3,5:1,3"),
        ("repeat 3 {red near(it) + 5:5}", "red 3,7:4-6+4,6:3-6+5:3-7"),
        ("repeat 2 right 4 {red 3:1; if 3:1 & is(red) {blue 3:2}}", "red 3,7:1; blue 3,7:2"),
        ("red 7:1; repeat 3 right 4 {if is(red)&3:1 {blue 3:2} else {green 3:2}}", "green 3,11:2; red 7:1; blue 7:2"),
        ("for n in 3..1 {red,blue at(n,1..n)}", "red 1,2:1+3:1,3; blue 2,3:2"),
        ("if 2*3<6 {red 1:1} else {if 7/2>=3 {blue 1:1} else {green 1:1}}", "blue 1:1"),
    ],
)  # fmt: skip
def test_literals_and_statements(text: str, paints: str) -> None:
    assert drawn(text) == paints


FIGURES = {
    "fill": ("fill(ring(5:4))", "4,6:3,4+5:3-5"),
    "touch": ("touch(5:1-9,4:3-4+6:3-4,2)", "5:3-5"),
    "span": ("span(3:1+3:4+5:2+5:4)", "3:1-4+5:2-4"),
    "below": ("below(3:4+3:6,2)+below(5:9)", "3:7,8+5:10"),
    "left": ("left(3:4)+left(9:4,2)", "1,2,7,8:4"),
    "top": ("top(3:4-9+4:6,2)", "3:4,5+4:6"),
    "rightmost": ("rightmost(3-9/3:1-2)", "9:1,2"),
    "first": ("first(3:5-1,2)", "3:4,5"),
    "last": ("last(3:5-1,2)+last(4:1,0)", "3:1,2"),
    "odd": ("odd(3:1-5)", "3:1-5/2"),
    "every": ("every(3:1-10,3,2)", "3:2-8/3"),
    "sort": ("first(sort(3:1-5+8:1,up),2)+first(sort(3:1-5+8:1,left),1)", "3:4,5+8:1"),
    "part": ("part(3:1+5:1+7:1,-1)+part(9-11:1 + 3:4 & 1,1)", "7:1+9-11:1"),
    "columns": ("columns(3:1+5:1-3)", "3,5"),
    "rows": ("rows(3:2)", ":2"),
    "middle": ("middle(ring(5:4))+middle(12:1-3)", "5:4+12:2"),
    "count": ("at(count(3:1-4+shift(1:1,left 2)),1)", "4:1"),
    "columnof": ("at(columnof(7:3),1)", "7:1"),
    "rowof": ("at(1,rowof(7:3))", "1:3"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_functions(name: str) -> None:
    text, paints = FIGURES[name]
    assert tiles(text) == tiles(paints)


def test_a_move_keeps_shapes_and_grid_keeps_numbers() -> None:
    ring = {*neighbors(Tile(2, 2))}
    moved = tiles("shift(ring(3:3),right 3)")
    assert any(moved == set(neighbors(Tile(row, 5))) for row in range(10))
    assert tiles("shift(ring(3:3),grid right 3)") == {Tile(r, c + 3) for r, c in ring}
    assert tiles("shift(ring(3:3),right 4)") == tiles("shift(ring(3:3),grid right 4)")
    # The first painted tile decides how the others of a body move.
    body = {a.tile for a in run(parse("repeat 2 right 3{red ring(3:3);red 3:3}")).actions}
    assert body == tiles("flower(3:3)+shift(ring(3:3)+3:3,right 3)")


spots = st.builds(lambda c, r: f"{c}:{r}", st.integers(1, 18), st.integers(1, 10))
shapes = st.lists(spots, min_size=1, max_size=5).map("+".join)
ways = st.sampled_from(["up", "down", "left", "right", "up-right", "up-left", "down-right", "down-left"])
BACK = {"up": "down", "left": "right", "up-right": "down-left", "up-left": "down-right"}
BACK |= {value: key for key, value in BACK.items()}


@given(shape=shapes, spot=spots, way=ways, n=st.integers(0, 6))
def test_geometry(shape: str, spot: str, way: str, n: int) -> None:
    """Moves there and back cancel out; mirror images and turns keep distances."""
    same = tiles(shape)
    assert tiles(f"shift(shift({shape},{way} {n}),{BACK[way]} {n})") == same
    assert tiles(f"shift(shift({shape},grid {way} {n}),grid {BACK[way]} {n})") == same
    assert tiles(f"flip(flip({shape},{spot},{way}),{spot},{way})") == same
    assert tiles(f"reflect(reflect({shape},{spot}),{spot})") == same
    assert tiles(f"rotate(rotate({shape},{n},{spot}),-{n},{spot})") == same
    assert tiles(f"rotate({shape},3,{spot})") == tiles(f"reflect({shape},{spot})")
    (center,) = tiles(spot)
    assert tiles(f"ring({spot},{n + 1})") == {
        Tile(r, c) for r in range(10) for c in range(18) if distance(Tile(r, c), center) == n + 1
    }
    assert tiles(f"near({shape})") == {near for tile in same for near in neighbors(tile)} - same


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("red 19:1", (1, 5), "no column 19: there are 18"),
        ("flower = ring(5:4); red flowr", (1, 25), "flowr has no meaning yet (did you mean flower?)"),
        ("red ring(3:4,2,3)", (1, 5), "ring takes set, number (optional)"),
        ("red shift(3,5:1,right 4)", (1, 5), "shift takes set, move; a list stands in parentheses"),
        ("red line(3,5:1)", (1, 10), "expected one cell, found 10"),
        ("red triangle(3:4,up-right,2)", (1, 5), "a triangle opens up, right, down, left"),
        ("red ring(3:4,1/0)", (1, 16), "division by zero"),
        ("facing south", (1, 1), "only a Minecraft program has a frame"),
        ("f = ring(f)", (1, 1), "f refers to itself"),
        ("repeat {red 3}", (1, 1), "repeat takes a count, or a direction to go to the edge"),
        ("red repeat(3:4,right 0)", (1, 5), "repeat needs a count or a move"),
        ("red step(1)", (1, 5), "no step 1: there are 0"),
        ("red at(columnof(3 - 3),1)", (1, 8), "the empty set has no position"),
        ("n = 9999; m = n*n", (1, 17), "numbers go up to 1,000,000"),
    ],
)  # fmt: skip
def test_errors_say_where_and_what(text: str, at: tuple[int, int], says: str) -> None:
    check_error(text, run, at, says)


def test_names_are_kept_for_later_programs() -> None:
    first = run(parse("f = ring(5:4); n = 2"))
    assert drawn("blue f & (n+2)", "f = ring(5:4); n = 2") == "blue 4:3,4"
    assert set(run(parse("red f"), State(Board(), names=first.names)).names) == {"f", "n"}


@given(program=programs)
def test_any_program_runs_to_an_outcome(program: ast.Program) -> None:
    state = state_after(Board(), "red 3:1-4; blue flower(9:5)", "green 12")
    outcome = run(program, state)
    assert all(state.before[a.tile] != a.color for a in outcome.actions)
    assert run(program, state).actions == outcome.actions
