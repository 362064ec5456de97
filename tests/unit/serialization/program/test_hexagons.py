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
from tests.helpers import cases
from tests.helpers.programs import check_error, programs, state_after

CASES = cases(__file__)


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


@pytest.mark.parametrize(("text", "paints"), CASES["literals"])
def test_literals_and_statements(text: str, paints: str) -> None:
    assert drawn(text) == paints


@pytest.mark.parametrize("name", CASES["functions"])
def test_functions(name: str) -> None:
    text, paints = CASES["functions"][name]
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


@pytest.mark.parametrize(("text", "at", "says"), CASES["errors"])
def test_errors_say_where_and_what(text: str, at: list[int], says: str) -> None:
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
