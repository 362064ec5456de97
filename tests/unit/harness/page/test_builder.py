"""The Builder's questions and messages, and building games as states."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from harness.baselines.parser import Parser
from harness.errors import UsageError
from harness.page.building import EVENT, SIMULATORS, answered, asked_back, happened, request_of, with_model, with_simulator
from harness.page.store import State
from harness.service.app import executed
from harness.service.players import BaselinePlayer
from harness.service.schema import ExecuteResponse
from harness.service.workers import Workers

PARSER = BaselinePlayer("parser", Parser(), Workers())


@pytest.fixture(scope="module", autouse=True)
def at_work() -> Iterator[None]:
    with PARSER.workers:
        yield


def after(state: State, *events: dict[str, Any]) -> State:
    for event in events:
        state, _ = happened(state, EVENT.validate_python(event))
    return state


def say(text: str) -> dict[str, Any]:
    return {"type": "say", "text": text}


def reply(state: State) -> State:
    back = asked_back(state, PARSER.name)
    return back or answered(state, asyncio.run(executed(PARSER, request_of(state, PARSER.name))))


@pytest.mark.parametrize("player", ["parser", "rules"])
def test_a_builder_asks_for_a_color_and_is_then_asked_for_all_of_it(player: str) -> None:
    state = after(with_model({"name": "", "blocks": []}), say("Put a block on the ground in the middle."))
    asked = asked_back(state, player)
    assert asked is not None
    assert asked["turns"][-1] == {"speaker": "Builder", "text": "Which color should it be?", "by": player}
    state = after(asked, say("a red one"))
    assert request_of(state, player).instruction == "Put a block on the ground in the middle a red one"


def test_the_parser_asks_and_then_builds() -> None:
    state = reply(after(with_model({"name": "", "blocks": []}), say("Put a block on the ground in the middle.")))
    assert state["blocks"] == []
    state = reply(after(state, say("a red one")))
    assert state["turns"][-1]["text"] == "I placed a red block."
    ((_, height, _, color),) = state["blocks"]
    assert (height, color) == (1, "red")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Place three blue blocks.", "Where should it go?"),
        ("Place three blue blocks on top of it.", None),
        ("Put another one there.", None),
        ("Remove the red block.", None),
        ("Great job!", None),
        ("Build a tower on the left.", "Which color should it be?"),
    ],
)
def test_it_asks_only_for_what_is_missing(text: str, asks: str | None) -> None:
    state = reply(after(with_model({"name": "", "blocks": []}), say("Place a red block in the middle.")))
    back = asked_back(after(state, say(text)), PARSER.name)
    assert (back and back["turns"][-1]["text"]) == asks


def test_a_correction_takes_the_place_of_the_answer() -> None:
    state = reply(after(with_model({"name": "t", "blocks": [[3, 1, 3, "green"]]}), say("Place a red block in the middle.")))
    fixed = after(
        state, {"type": "build", "actions": [("place", "green", 0, 1, 0), ("place", "blue", 1, 1, 0), ("remove", None, 1, 1, 0)]}
    )
    assert fixed["blocks"] == [[0, 1, 0, "green"]]
    # A block that was removed again is not part of the answer.
    assert fixed["turns"][-2]["actions"] == [["place", "green", 0, 1, 0]]
    with pytest.raises(UsageError, match="cannot be carried out"):
        after(state, {"type": "build", "actions": [("place", "green", 0, 5, 0)]})
    ended = after(fixed, {"type": "end"})
    assert ended["score"] == {"right": 1, "built": 1, "wanted": 1, "f1": 1.0}
    with pytest.raises(UsageError, match="over"):
        after(ended, say("more"))


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_simulated_architect_talks_until_its_target_stands(simulator: str) -> None:
    """The Architect's gold actions build the target; they are recovered from the log, as after a restart."""
    from harness.page.building import _live
    from harness.worlds.minecraft import Action

    state = with_simulator(simulator, 3)
    assert state["turns"]
    wrong = after(state, {"type": "build", "actions": []})
    assert wrong["counts"]["corrections"] == 1
    while state["phase"] == "playing":
        live = _live(simulator, 3)
        item = live.ask()
        for actions in state["log"]:
            live.take([Action(*action) for action in actions])
            item = live.ask()
        assert item is not None
        state = after(state, {"type": "build", "actions": [tuple(action) for action in item.actions]})
    assert state["score"]["f1"] == 1
    assert state["counts"]["corrections"] == 0


@pytest.mark.parametrize(
    ("actions", "blocks", "told"),
    [
        ([], [], "Sorry, I did not understand that. Can you say it in other words?"),
        ([("place", "red", 0, 1, 0)], [(0, 1, 0, "red")], "I placed a red block."),
    ],
)
def test_a_builder_says_what_it_did(actions: list[Any], blocks: list[Any], told: str) -> None:
    state = after(with_model({"name": "", "blocks": []}), say("Build a flurb."))
    answer = {"task": "minecraft", "model": "parser", "ignored": [], "actions": actions, "blocks": blocks}
    done = answered(state, ExecuteResponse.model_validate(answer))
    assert done["turns"][-1] == {"speaker": "Builder", "text": told, "by": "parser"}
