"""Building programs: the blocks that every literal, statement and function places, and their order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds.minecraft import COLORS, Action, Pose, Structure
from serialization.program import ast
from serialization.program.literal import building_program
from serialization.program.machine import State
from serialization.program.minecraft import Building, run
from serialization.program.parse import parse
from serialization.program.written import write
from tests.helpers import cases
from tests.helpers.programs import check_error, programs, state_after

CASES = cases(__file__)

Cell = tuple[int, int, int]


def built(text: str, *turns: str, pose: Pose | None = None) -> str:
    """The plain program for the actions of a program, which must be feasible."""
    state = state_after(Structure(), *turns, pose=pose)
    outcome = run(parse(text), state)
    assert outcome.error is None, outcome.error
    assert not state.before.apply(outcome.actions).ignored
    return write(building_program(outcome.actions)).replace("\n", "; ")


def cells(text: str, *turns: str) -> set[Cell]:
    """The cells of a set, even if it floats."""
    machine = Building(state_after(Structure(), *turns))
    found = machine.figure(parse(f"red {text}").statements[0].what)  # type: ignore[union-attr]
    return {(x, y, z) for x, y, z in found}


@pytest.mark.parametrize(("text", "does"), CASES["literals"])
def test_literals_and_statements(text: str, does: str) -> None:
    assert built(text).replace("blue 4,2,0; blue 5,2,0", "blue 4-5,2,0") == does


@pytest.mark.parametrize("name", CASES["functions"])
def test_functions(name: str) -> None:
    text, listed = CASES["functions"][name]
    assert cells(text) == cells(listed)


def test_names_of_the_structure() -> None:
    turns = ("red 0,1-2,0; blue 1,1,0", "green 0,3,0; remove 1,1,0")
    assert cells("all", *turns) == cells("0,1-3,0")
    assert cells("last", *turns) == {(0, 3, 0)}
    assert cells("floor") == cells("-5..5,1,-5..5")
    assert cells("end(floor,north west)") == {(-5, 1, -5)}
    assert built("purple on(last); yellow on(it)", *turns) == "purple 0,4,0; yellow 0,5,0"


@pytest.mark.parametrize("way", ast.COMPASS)
def test_left_and_front_are_those_of_someone_who_faces_a_direction(way: str) -> None:
    turn = ["north", "east", "south", "west"]
    side = [turn[(turn.index(way) + quarters) % 4] for quarters in range(4)]
    said = "red behind(0,1,0,1)+right(0,1,0,2)+front(0,1,0,3)+left(0,1,0,4)"
    pose = Pose(0.5, 1.0, 0.5, 90.0, 0.0)
    compass = "+".join(f"{where}(0,1,0,{n})" for n, where in enumerate(side, 1))
    assert built(f"red 0,1,0; facing {way}; {said}", pose=pose) == built(f"red 0,1,0; red {compass}", pose=pose)


@pytest.mark.parametrize(("text", "does"), CASES["held"])
def test_blocks_are_placed_when_something_holds_them(text: str, does: str) -> None:
    assert built(text) == does


def test_a_step_holds_what_it_left_standing() -> None:
    one, other = (0, 1, 0), (1, 1, 0)
    placed = [Action("place", "red", *one), Action("place", "red", *other)]
    changed = [Action("remove", "red", *other), Action("remove", "red", *one), Action("place", "blue", *one)]
    state = State(Structure(), [[*placed, *changed]])
    for step, cells in {"1": {one}, "1,red": set(), "1,blue": {one}}.items():
        (statement,) = parse(f"red step({step})").statements
        assert isinstance(statement, ast.PaintSet)
        assert set(Building(state).figure(statement.what)) == cells


@pytest.mark.parametrize(("text", "at", "says"), CASES["errors"])
def test_errors_say_where_and_what(text: str, at: list[int], says: str) -> None:
    check_error(text, lambda program: run(program, State(Structure())), at, says)


sides, heights = st.integers(-5, 5), st.integers(1, 9)
blocks = st.dictionaries(st.tuples(sides, heights, sides), st.sampled_from(COLORS), max_size=12)


@given(program=programs, before=blocks)
def test_any_program_runs_to_feasible_actions(program: ast.Program, before: dict[Cell, str]) -> None:
    structure = Structure.of((*cell, color) for cell, color in before.items())
    outcome = run(program, State(structure))
    assert not structure.apply(outcome.actions).ignored


@given(before=blocks, wanted=blocks)
def test_everything_can_be_built(before: dict[Cell, str], wanted: dict[Cell, str]) -> None:
    structure = Structure.of((*cell, color) for cell, color in before.items())
    new = {cell: color for cell, color in wanted.items() if cell not in before}
    text = "\n".join(f"{color} {x},{y},{z}" for (x, y, z), color in new.items())
    outcome = run(parse(text), State(structure))
    assert outcome.error is None
    done, ignored = structure.apply(outcome.actions)
    assert not ignored
    assert done == Structure.of((*cell, color) for cell, color in {**before, **new}.items())
