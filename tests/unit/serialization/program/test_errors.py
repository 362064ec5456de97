"""Programs that need too many resources are stopped in time and within little memory, with the position of the error."""

from __future__ import annotations

import tracemalloc
from time import monotonic

import pytest

from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure
from serialization.formats.program import run
from serialization.program.errors import MAX_STEPS
from serialization.program.hexagons import Drawing
from serialization.program.machine import State
from serialization.program.parse import parse

DRAWING = {
    "endless loops": "repeat 9999{repeat 9999{repeat 9999{}}}",
    "moves inside moves": "repeat 9 right 1{" * 20 + "red 1:1" + "}" * 20,
    "a long union": "f=" + "+".join(["all"] * 4500),
    "everything around everything": "f=near(all,18);repeat 9999{g=touch(f,f)+ring(f,18)}",
    "rays from everywhere": "f=near(all,18);repeat 9999{g=ray(f,up,50)}",
    "small functions": "repeat 9999{f=inside(1:1)}",
    "many names": ";".join(f"n{k}=near(all,18)" for k in range(900)),
}
BUILDING = {
    "turns of everything": "f=box(-5,1,-5,5,9,5);repeat 9999{g=rotate(f,3,0,1,0)}",
    "looks ahead from everywhere": "f=box(-5,1,-5,5,9,5);repeat 9999{g=on(f)+until(f,left)}",
    "a box around far cells": "f=shift(0,1,0,left 15)+shift(0,1,0,right 15 front 15)+shift(0,1,0,up 15);repeat 9999{g=box(f)}",
}


def spent(task: str, text: str) -> tuple[str | None, float, float]:
    """The error of a program, its run time in seconds, and its peak memory in MiB."""
    program = parse(text)
    tracemalloc.start()
    begin = monotonic()
    outcome = run(program, State(Board() if task == "hexagons" else Structure()))
    seconds, peak = monotonic() - begin, tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return str(outcome.error) if outcome.error else None, seconds, peak


@pytest.mark.parametrize(
    ("task", "text"),
    [*(("hexagons", text) for text in DRAWING.values()), *(("minecraft", text) for text in BUILDING.values())],
    ids=[*DRAWING, *BUILDING],
)
def test_what_costs_too_much_is_stopped(task: str, text: str) -> None:
    error, seconds, peak = spent(task, text)
    assert error is not None
    assert error.startswith("line 1, column ")
    assert "too many steps" in error or "a set of more than 4,000 cells" in error
    assert seconds < 30
    assert peak < 50


@pytest.mark.parametrize("body", ["x = all", "x = count(all)", "if all { x = 1 }"])
def test_cells_cost_a_further_step_for_each_repetition_that_moves_them(body: str) -> None:
    machine = Drawing(State(Board()))
    machine.run(parse("repeat 1 up {" * 20 + body + "}" * 20))
    assert MAX_STEPS - machine.budget.steps >= 20 * 180
