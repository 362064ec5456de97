"""The language of programs: parsing, writing, error messages, and limits of time and memory."""

import re
import tracemalloc
from time import monotonic

import pytest
from hypothesis import given

from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure
from serialization.formats.program import run
from serialization.program import ast
from serialization.program.errors import MAX_STEPS, ProgramError
from serialization.program.hexagons import Drawing
from serialization.program.machine import State
from serialization.program.parse import parse, parse_front
from serialization.program.written import write
from tests.helpers import cases
from tests.helpers.programs import programs, texts

CASES = cases(__file__)


@given(program=programs)
def test_what_is_written_is_read_back(program: ast.Program) -> None:
    text = write(program)
    assert parse(text) == program, text
    assert hash(parse(text)) == hash(program)


@given(text=texts)
def test_any_text_is_a_program_or_a_program_error(text: str) -> None:
    program, error = parse_front(text)
    assert parse(write(program)) == program
    if error is not None:
        # The position is one that an editor shows: inside the text, or directly after it.
        assert 1 <= error.line <= text.count("\n") + 1
        assert error.column >= 1
        with pytest.raises(ProgramError):
            parse(text)


@pytest.mark.parametrize(("text", "written"), CASES["shortest"])
def test_texts_and_their_shortest_forms(text: str, written: str) -> None:
    assert write(parse(text)) == written
    assert parse(written) == parse(text)


@pytest.mark.parametrize(("text", "at", "says"), CASES["errors"])
def test_errors_name_their_place_and_what_was_meant(text: str, at: list[int], says: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(says)) as caught:
        parse(text)
    assert [caught.value.line, caught.value.column] == at, str(caught.value)
    assert str(caught.value).startswith(f"line {at[0]}, column {at[1]}: ")


ENDLESS: list[tuple[Board | Structure, str]] = [
    (Board(), "repeat 9 right 1{" * 20 + "red 1:1" + "}" * 20),
    (Board(), "f=" + "+".join(["all"] * 4500)),
    (Board(), "f=near(all,18);repeat 9999{g=touch(f,f)+ring(f,18)}"),
    (Board(), "f=near(all,18);repeat 9999{g=ray(f,up,50)}"),
    (Board(), ";".join(f"n{k}=near(all,18)" for k in range(900))),
    (Structure(), "f=box(-5,1,-5,5,9,5);repeat 9999{g=rotate(f,3,0,1,0)}"),
    (Structure(), "f=shift(0,1,0,left 15)+shift(0,1,0,right 15 front 15)+shift(0,1,0,up 15);repeat 9999{g=box(f)}"),
]


@pytest.mark.parametrize(("start", "text"), ENDLESS, ids=range(len(ENDLESS)))
def test_what_costs_too_much_is_stopped_in_time_and_within_little_memory(start: Board | Structure, text: str) -> None:
    program = parse(text)
    tracemalloc.start()
    begin = monotonic()
    error = str(run(program, State(start)).error)
    seconds, peak = monotonic() - begin, tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    assert error.startswith("line 1, column ")
    assert "too many steps" in error or "a set of more than 4,000 cells" in error
    assert seconds < 30
    assert peak < 50


@pytest.mark.parametrize("body", ["x = all", "x = count(all)", "if all { x = 1 }"])
def test_cells_cost_a_further_step_for_each_repetition_that_moves_them(body: str) -> None:
    machine = Drawing(State(Board()))
    machine.run(parse("repeat 1 up {" * 20 + body + "}" * 20))
    assert MAX_STEPS - machine.budget.steps >= 20 * 180
