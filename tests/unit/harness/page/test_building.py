"""The Builder's messages, and building games as states."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.baselines.parser import Parser
from harness.errors import UsageError
from harness.page.building import EVENT, answered, happened, new_game, reply_text, request_of
from harness.page.store import State
from harness.service.app import executed
from harness.service.players import BaselinePlayer
from harness.service.workers import Workers
from harness.worlds.minecraft import Action, Structure


def after(state: State, *events: dict[str, Any]) -> State:
    for event in events:
        state, _ = happened(state, EVENT.validate_python(event))
    return state


def say(text: str) -> dict[str, Any]:
    return {"type": "say", "text": text}


def reply(state: State, workers: Workers) -> State:
    return answered(state, asyncio.run(executed(BaselinePlayer("parser", Parser(), workers), request_of(state, "parser"))))


def test_the_parser_builds_and_says_what_it_did(workers: Workers) -> None:
    state = reply(after(new_game({"name": "", "blocks": []}), say("Place a red block in the middle.")), workers)
    assert state["turns"][-1] == {"speaker": "Builder", "text": "I placed a red block.", "by": "parser"}
    ((_, height, _, color),) = state["blocks"]
    assert (height, color) == (1, "red")


def test_a_builder_says_what_was_built_and_what_failed() -> None:
    there = Structure.of([(0, 1, 0, "blue")])
    actions = [Action("place", "red", 1, 1, 0), Action("place", "red", 2, 1, 0), Action("place", "orange", 3, 1, 0)]
    gone, off = Action("remove", None, 0, 1, 0), Action("place", "red", 0, 9, 0)
    assert reply_text([*actions, gone, off], [off], there) == (
        "I placed 2 red blocks and an orange block and removed a blue block. 1 of 5 actions could not be carried out."
    )
    assert reply_text([], [], there).startswith("Sorry, I did not understand that.")


def test_a_correction_takes_the_place_of_the_answer(workers: Workers) -> None:
    game = new_game({"name": "t", "blocks": [[3, 1, 3, "green"]]})
    state = reply(after(game, say("Place a red block in the middle.")), workers)
    actions = [("place", "green", 0, 1, 0), ("place", "blue", 1, 1, 0), ("remove", None, 1, 1, 0)]
    fixed = after(state, {"type": "build", "actions": actions})
    assert fixed["blocks"] == [[0, 1, 0, "green"]]
    # A block that was removed again is not part of the answer.
    assert fixed["turns"][-2]["actions"] == [["place", "green", 0, 1, 0]]
    with pytest.raises(UsageError, match="cannot be carried out"):
        after(state, {"type": "build", "actions": [("place", "green", 0, 5, 0)]})
    ended = after(fixed, {"type": "end"})
    assert ended["score"] == {"right": 1, "built": 1, "wanted": 1, "f1": 1.0}
    with pytest.raises(UsageError, match="over"):
        after(ended, say("more"))
