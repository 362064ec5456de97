"""The game of HEXAGONS: its valid events, and its scores."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from harness.errors import UsageError
from harness.page.procedure import BLANK, Event, description, execution, happened, scores
from harness.page.store import State

IMAGE = {"id": "P01C01T01", "category": "simple", "split": "train", "board": "4" + BLANK[1:]}


EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def after(state: State, *events: dict[str, Any]) -> State:
    for event in events:
        state, _ = happened(state, EVENT.validate_python(event))
    return state


def board(*colors: int) -> str:
    return "".join(map(str, colors)).ljust(180, "0")


def paint(step: int, *colors: int) -> dict[str, Any]:
    return {"type": "paint", "step": step, "board": board(*colors)}


def go(step: int) -> dict[str, Any]:
    return {"type": "go", "step": step}


ADD = {"type": "add", "text": "  one \n\n two\r\nthree"}
FINISH, UNDO, DONE = {"type": "finish"}, {"type": "undo"}, {"type": "done"}


def test_the_instructor_draws_each_step_on_the_one_before_and_may_go_back() -> None:
    state = after(description(IMAGE), ADD, UNDO, FINISH, paint(0, 4), go(1))
    assert state["steps"][1]["board"] == board(4)
    state = after(state, paint(1, 4, 5), go(0), paint(0, 3))
    assert [step["board"] for step in state["steps"]] == [board(3), None]
    state = after(state, go(1))
    finished, done = happened(state, EVENT.validate_python(DONE))
    assert done
    assert finished["phase"] == "finished"
    with pytest.raises(UsageError, match="finished"):
        after(finished, UNDO)


@pytest.mark.parametrize(
    "events",
    [
        [FINISH],
        [{"type": "add", "text": " \n "}],
        [ADD, go(1)],
        [ADD, FINISH, ADD],
        [ADD, FINISH, go(2)],
        [ADD, FINISH, DONE],
        [ADD, FINISH, paint(1, 4)],
        [{"type": "add", "text": "x\n" * 201}],
    ],
)
def test_what_cannot_happen_is_refused(events: list[dict[str, Any]]) -> None:
    with pytest.raises(UsageError):
        after(description(IMAGE), *events)


def test_a_verifier_only_goes_forward_and_sees_no_image() -> None:
    state = execution(after(description(IMAGE), ADD, FINISH, paint(0, 4), go(1), go(2), DONE))
    assert "image" not in state
    assert [step["board"] for step in state["steps"]] == [BLANK, None, None]
    state = after(state, paint(0, 1), go(1))
    with pytest.raises(UsageError, match="one after the other"):
        after(state, go(0))


def test_scores_are_those_of_the_metrics() -> None:
    gold: State = {"steps": [{"board": board(4)}, {"board": board(4, 5, 5)}, {"board": board(4, 5, 5)}]}
    drawn: State = {"steps": [{"board": board(4)}, {"board": board(4, 5, 0, 5)}, {"board": board(4, 5, 0, 5)}]}
    first, second, third = scores(gold, drawn)
    assert first["board"]["em"] == first["action"]["f1"] == 1
    assert second["board"]["f1"] == pytest.approx(2 / 3)
    assert second["action"]["f1"] == pytest.approx(1 / 2)
    # A step without gold actions, and without painted tiles.
    assert third["action"]["em"] == 1
    assert third["board"]["em"] == 0
