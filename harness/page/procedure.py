"""The game of HEXAGONS as states and events ("Draw Me a Flower", sections 3 and 4).

An Instructor describes an image step by step, then draws what each step means. A Verifier, who does not see the image, draws
the steps one by one on a board that keeps its state.
"""

from typing import Any, Literal

from pydantic import Field

from eval.metrics.hexagons import MEASURES, measure
from harness.corpora.records import Digits
from harness.errors import UsageError
from harness.page.store import State
from harness.service.schema import Body
from harness.worlds.hexagons import TILES, Board

BLANK = "0" * TILES
MOST_STEPS = 200
MOST_TEXT = 60_000


class Add(Body):
    """The Instructor writes steps: each line is one."""

    type: Literal["add"]
    text: str = Field(max_length=MOST_TEXT)


class Mark(Body):
    """The last step is taken back; the description is whole, and what each step means is drawn next; the last step is drawn."""

    type: Literal["undo", "finish", "done"]


class PaintOn(Body):
    """The board of the current step, as far as it is drawn."""

    type: Literal["paint"]
    step: int = Field(ge=0, lt=MOST_STEPS)
    board: Digits


class Go(Body):
    """To another step: the next one, or an earlier one that is drawn again (the Instructor only)."""

    type: Literal["go"]
    step: int = Field(ge=0, lt=MOST_STEPS)


Event = Add | Mark | PaintOn | Go


def description(image: dict[str, Any]) -> State:
    """A description that begins. `image` has an id and a board."""
    return {"phase": "describing", "image": image, "steps": [], "current": 0}


def execution(described: State) -> State:
    """An execution of a finished description, without its image and boards."""
    steps = [{"instruction": step["instruction"], "board": None} for step in described["steps"]]
    return {"phase": "executing", "steps": [steps[0] | {"board": BLANK}, *steps[1:]], "current": 0}


def happened(state: State, event: Event) -> tuple[State, bool]:
    """The state after an event, and whether the session is finished. Raises UsageError for an event that cannot happen now."""
    if state["phase"] == "finished":
        raise UsageError("this session is finished: nothing can be changed any more")
    return (_described(state, event), False) if state["phase"] == "describing" else _drawn(state, event)


def _described(state: State, event: Event) -> State:
    steps = state["steps"]
    if isinstance(event, Add):
        lines = [line.strip() for line in event.text.splitlines()]
        new = [{"instruction": line, "board": None} for line in lines if line]
        if not new:
            raise UsageError("write what the next step is")
        if len(steps) + len(new) > MOST_STEPS:
            raise UsageError(f"a procedure has at most {MOST_STEPS} steps")
        return state | {"steps": steps + new}
    if event.type == "undo" and steps:
        return state | {"steps": steps[:-1]}
    if event.type == "finish" and steps:
        return state | {"phase": "aligning", "steps": [steps[0] | {"board": BLANK}, *steps[1:]], "current": 0}
    raise UsageError("this cannot be done now: a procedure is being described, or has no steps yet")


def _drawn(state: State, event: Event) -> tuple[State, bool]:
    """The state after an event while steps are drawn, by the Instructor or a Verifier, and whether the session is finished."""
    steps, current = list(state["steps"]), state["current"]
    if isinstance(event, PaintOn):
        if event.step != current:
            raise UsageError(f"step {event.step + 1} is not the current one, which is {current + 1}")
        steps[current] = steps[current] | {"board": event.board}
        if state["phase"] == "aligning":
            # Later steps were drawn on a board that has changed now.
            steps[current + 1 :] = [step | {"board": None} for step in steps[current + 1 :]]
        return state | {"steps": steps}, False
    if isinstance(event, Go):
        back = event.step < current and state["phase"] == "aligning"
        if not back and not current < event.step == current + 1 < len(steps):
            raise UsageError("steps are drawn one after the other")
        if steps[event.step]["board"] is None:
            steps[event.step] |= {"board": steps[current]["board"]}
        return state | {"steps": steps, "current": event.step}, False
    if event.type == "done" and current == len(steps) - 1:
        return state | {"phase": "finished"}, True
    raise UsageError("this cannot be done before the last step")


def scores(gold: State, drawn: State) -> list[dict[str, dict[str, float]]]:
    """For each step, `board` and `action`, both with f1, em, precision and recall in 0..1: the drawing against what was meant."""
    import numpy as np

    wanted, made = _cells(gold), _cells(drawn)
    rows = {
        "board": measure(wanted[1:], made[1:], 0),
        "action": measure(np.where(wanted[1:] != wanted[:-1], wanted[1:], -1), np.where(made[1:] != made[:-1], made[1:], -1), -1),
    }
    return [
        {kind: dict(zip(MEASURES, map(float, values[n]), strict=True)) for kind, values in rows.items()}
        for n in range(len(wanted) - 1)
    ]


def _cells(state: State) -> Any:
    """The blank board and the boards of the steps, shape (steps + 1, 180)."""
    import numpy as np

    boards = [BLANK, *(step["board"] or BLANK for step in state["steps"])]
    return np.array([Board.from_digits(board).cells.ravel() for board in boards], np.int64)
