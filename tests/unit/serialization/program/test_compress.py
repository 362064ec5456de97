"""Short programs for actions: exact, never longer than the plain ones, and with the functions for which people have words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.corpora import load
from harness.worlds import hexagons as hex_world
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Structure
from prompts.messages import gold_answer, read_answer
from prompts.spec import PromptSpec
from serialization.formats import get_format
from serialization.program import ast, hexagons, minecraft
from serialization.program.compress import building_programs, drawing_programs
from serialization.program.compress.sets import SetExpression, cover
from serialization.program.hexagons import DrawingState
from serialization.program.literal import building_program, drawing_program
from serialization.program.minecraft import BuildingState
from serialization.program.parse import parse
from serialization.program.written import write
from tests.helpers.programs import building_after, drawing_after

tiles = st.builds(Paint, st.integers(0, 9), st.integers(0, 17), st.sampled_from(hex_world.COLORS[:4]))
paints = st.lists(tiles, max_size=25, unique_by=lambda paint: paint.tile)
near = st.integers(-2, 2)
wishes = st.lists(
    st.builds(
        Action, st.sampled_from(["place", "place", "remove"]), st.sampled_from(["red", "blue"]), near, st.integers(1, 3), near
    ),
    max_size=30,
)


def feasible(wanted: list[Action], structure: Structure) -> list[Action]:
    """The feasible actions, in order; removals carry no color."""
    done = []
    for action in wanted:
        if structure.feasible(action):
            structure = structure.apply([action]).structure
            done.append(action if action.kind == "place" else action._replace(color=None))
    return done


@settings(max_examples=25, deadline=None)
@given(board=paints, step=paints, actions=paints)
def test_any_tiles_are_painted_exactly_on_any_board(board: list[Paint], step: list[Paint], actions: list[Paint]) -> None:
    state = DrawingState(Board().apply([*board, *step]).board, [board, step])
    actions = [action for action in actions if state.board[action.tile] != action.color]
    programs = drawing_programs(actions, state, 3)
    assert len(write(programs[0])) <= len(write(drawing_program(actions)))
    assert len({write(program) for program in programs}) == len(programs)
    for program in programs:
        outcome = hexagons.run(program, state)
        assert outcome.error is None
        assert outcome.actions == tuple(sorted(actions))


@settings(max_examples=40, deadline=None)
@given(before=wishes, turn=wishes, wanted=wishes)
def test_any_blocks_leave_the_same_structure(before: list[Action], turn: list[Action], wanted: list[Action]) -> None:
    before = feasible(before, Structure())
    first = Structure().apply(before).structure
    turn = feasible(turn, first)
    state = BuildingState(first.apply(turn).structure, turns=[before, turn])
    actions = feasible(wanted, state.structure)
    programs = building_programs(actions, state, 3)
    assert len(write(programs[0])) <= len(write(building_program(actions)))
    for program in programs:
        outcome = minecraft.run_lenient(program, state)
        assert outcome.error is None
        assert state.structure.apply(outcome.actions) == state.structure.apply(actions)
    (alone,) = building_programs(actions)
    assert list(minecraft.run(alone).actions) == actions
    assert parse(write(alone)) == parse(write(parse(write(alone))))


DRAWINGS = [
    ("red 3:1-10", "red 3"),
    ("red 1-18/2", "red 1-17/2"),
    ("red ring(5:4)", "red ring(5:4)"),
    ("red 5:4; red ring(5:4)", "red flower(5:4)"),
    ("blue ring(5:4); yellow 5:4", "yellow 5:4\nblue ring(5:4)"),
    ("red repeat(ring(3:3,2),down-right 5,3)", "red repeat(ring(3:3,2),down-right 5,3)"),
    ("red repeat(flower(3:3,2),down-right 6,3)", "red repeat(flower(3:3,2),down-right 6,3)"),
    ("repeat right 4{blue ring(2:2);yellow 2:2}", "repeat right 4{yellow 2:2;blue ring(2:2)}"),
    ("red triangle(12:7,left,6)", "red triangle(12:7,left,6)"),
    ("red line(2:10,12:5)", "red line(2:10,12:5)"),
    ("red,blue 1-18", "red,blue 1-18"),
    ("red,blue,green by column 3-14:2-9", "red,blue,green by column 3-14:2-9"),
    ("red*3,yellow 4:1-10", "red*3,yellow 4"),
    ("red,green,blue line(1:1,12:6)", "red,green,blue line(1:1,12:6)"),
]


@pytest.mark.parametrize(("program", "short"), DRAWINGS)
def test_actions_that_people_have_a_word_for(program: str, short: str | None) -> None:
    actions = hexagons.run(parse(program)).actions
    made = write(*drawing_programs(actions, DrawingState()))
    assert hexagons.run(parse(made)).actions == actions
    assert len(made) <= len(program)
    if short is not None:
        assert len(made) <= len(short)
        assert made.split("(")[0] == short.split("(")[0], made


@pytest.mark.parametrize(
    ("steps", "program", "short"),
    [
        (["red 2:2+3:2-4+4:3"], "copy reflect(step(1),9-10)", "reflect(step(-1),9-10)"),
        (["red 2:2+3:2-4+4:3", "blue 9:9"], "copy flip(step(1),9:3,up) with red=green", "green reflect(step(1),9)"),
        (["blue flower(3:3); yellow 3:3"], "copy shift(step(1),right 5)", "copy shift(step(-1),right 5)"),
        (["blue flower(3:3); yellow 3:3"], "copy repeat(step(1),right 4) with yellow=red,blue=blue", None),
        (["blue flower(3:3); yellow 3:3"], "copy repeat(step(1),right 4)", "copy repeat(step(-1),right 4)"),
        (["red line(3:3,9:6)", "blue 1:1"], "green rotate(step(1),2,9:6)-9:6", None),
        (["red ring(9:5,3)"], "yellow inside(step(1))", "yellow inside(step(-1))"),
        (["red ring(9:5,3)"], "yellow near(step(1))", "yellow near(is(red))"),
        (["red ring(9:5,3)+1:5-8"], "yellow 1-18:5&blank", "yellow :5&blank"),
        (["red ring(9:5,3)"], "yellow blank", "yellow blank"),
        (["red 3:3; blue 7-9:3-9"], "white is(blue)", "white is(blue)"),
    ],
)
def test_programs_that_refer_to_the_board(steps: list[str], program: str, short: str | None) -> None:
    state = drawing_after(*steps)
    actions = hexagons.run(parse(program), state).actions
    made = write(*drawing_programs(actions, state))
    assert hexagons.run(parse(made), state).actions == actions
    assert len(made) <= len(write(drawing_program(actions)))
    if short is not None:
        assert made.replace("flip(", "reflect(").split("(")[:2] == short.split("(")[:2] or len(made) < len(short), made


@pytest.mark.parametrize(
    ("turns", "actions", "short"),
    [
        ([], "red 0,1-5,0", "red 0,1-5,0"),
        ([], "red plane(0,1,0,left,3,behind,3)", None),
        ([], "red 0-2,1,0-2", "red 0-2,1,0-2"),
        ([], "red 0,1,0+2,1,0+4,1,0", "red 0-4/2,1,0"),
        ([], "red diagonal(0,1,0,left,behind,5)", "red line(0,1,0,4,1,4)"),
        ([], "red frame(0,1,0,left,4,behind,4)", "red frame(0,1,0,left,4,behind,4)"),
        ([], "red,blue 0-4,1,0", "red,blue 0-4,1,0"),
        ([], "repeat 3 left 2{red 0,1,0;blue 0,2,0}", "red,blue 0-4/2,1-2,0"),
        ([], "repeat 4 left{red 0,1,0;blue 0,2,0;remove 0,2,0}", "red 0-3,1,0"),
        (["red 0-3,1,0-1"], "remove is(red)", "remove all"),
        (["red 0-3,1,0-1", "blue 0,2,0"], "remove step(1)", None),
        (["red 0,1,0; blue 0-1,2,0; red 1,3,0"], "copy shift(step(1),left 3 behind)", None),
        (["red 0,1,0; blue 0,2,0"], "blue 1,1,0; remove 1,1,0; red 1,1,0", "red 1,1,0"),
        ([], "red 1,1,0; red -1,1,0; red 0,1,0", "red -1..1,1,0"),
    ],
)
def test_what_builders_do(turns: list[str], actions: str, short: str | None) -> None:
    state = building_after(*turns)
    done = minecraft.run(parse(actions), state).actions
    made = write(*building_programs(done, state))
    assert state.structure.apply(minecraft.run_lenient(parse(made), state).actions) == state.structure.apply(done)
    assert len(made) <= len(write(building_program(done)))
    assert short is None or made == short


def test_a_cover_has_no_term_too_many() -> None:
    """A greedy search takes the small terms first, which the large one then makes redundant."""
    small, other, large = (
        SetExpression(mask, ast.Name(name), cost) for mask, name, cost in ((1, "a", 1), (2, "b", 1), (7, "c", 30))
    )
    assert [found.expr for found in cover(7, [small, other, large], beam=1, options=1)] == [ast.Name("c")]


def test_infeasible_actions_are_listed() -> None:
    floating = [Action("place", "red", 0, y, 0) for y in (4, 5, 6)]
    assert write(*building_programs(floating, BuildingState())) == "red 0,4-6,0"
    assert drawing_programs([]) == building_programs([]) == [ast.Program()]


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_answers_are_read_back_and_admitted(task: str) -> None:
    """On the shipped sample, in each frame."""
    accepts = pytest.importorskip("xgrammar.testing")._is_grammar_accept_string
    grammar = get_format(task, "program").constraint().value
    for frame in ("world", "builder") if task == "minecraft" else ("world",):
        spec = PromptSpec.make(task, format="program", frame=frame)
        for number, item in enumerate(load(task, "train")[:20]):
            text = check_answer(item, spec)
            assert number % 4 or accepts(grammar, text), text


def check_answer(item: Any, spec: PromptSpec) -> str:
    """The gold answer. Checks that it is exact, and not longer than the plain one."""
    text = gold_answer(item, spec)
    plain = spec.written.write(item.actions)
    read = read_answer(text, item, spec)
    assert read.discarded == ()
    if spec.frame == "world":
        assert len(text) <= len(plain)
        assert item.task == "minecraft" or read == read_answer(plain, item, spec)
    gold = item.before.apply(item.actions)
    assert item.before.apply(read.actions)[0] == gold[0] or len(gold.ignored) > 0
    return text
