"""A building game as states and events: a person as the Architect of a model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from eval.metrics.alignment import align, net_actions
from harness.corpora.records import ActionRecord
from harness.corpora.wording import joined
from harness.errors import UsageError
from harness.page.store import State
from harness.service.schema import BUILDER, MOST_SENT, Body, BuildRequest, ExecuteResponse
from harness.worlds.minecraft import Action, Structure, lasting

MOST_TEXT = 20_000


class Say(Body):
    """The Architect says something."""

    type: Literal["say"]
    text: str = Field(max_length=MOST_TEXT, pattern=r"\S")


class Back(Body):
    """The Architect takes back what was said and done after the last message, so that another Builder can answer it ("again"), or
    also the message ("undo")."""

    type: Literal["undo", "again"]


class BuildTurn(Body):
    """The Architect builds by hand, and so corrects the model's last answer."""

    type: Literal["build"]
    actions: list[ActionRecord] = Field(max_length=500, fail_fast=True)


class End(Body):
    """The game is over: what stands is compared with the target."""

    type: Literal["end"]


Event = Say | Back | BuildTurn | End
EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def new_game(target: dict[str, Any]) -> State:
    """A game that a person directs. `target` has name and blocks; without blocks there is nothing to compare with."""
    pose = BUILDER.model_dump()
    return {"phase": "playing", "target": target, "turns": [], "blocks": [], "pose": pose, "score": None}


def happened(state: State, event: Event) -> tuple[State, bool]:
    """The state after an event, and whether the game is over. Raises UsageError for an event that cannot happen now."""
    if state["phase"] != "playing":
        raise UsageError("this game is over: nothing can be changed any more")
    if isinstance(event, End):
        return state | {"phase": "finished", "score": score(state["blocks"], state["target"]["blocks"])}, True
    if isinstance(event, BuildTurn):
        return _corrected(state, tuple(Action(*action) for action in event.actions)), False
    if isinstance(event, Say):
        if len(state["turns"]) > MOST_SENT - 3:
            raise UsageError("this game is as long as a game can be: finish it, and begin another")
        return state | {"turns": [*state["turns"], {"speaker": "Architect", "text": event.text.strip()}]}, False
    turns = _to_last_order(state["turns"])
    turns = turns if event.type == "again" else turns[:-1]
    return state | {"turns": turns, "blocks": [list(block) for block in _built(turns).blocks()]}, False


def answered(state: State, answer: ExecuteResponse) -> State:
    """The state after a model's answer to the Architect's last words."""
    before = Structure.of(map(tuple, state["blocks"]))
    actions, ignored = ([Action(*action) for action in listed] for listed in (answer.actions, answer.ignored))
    carried = [list(action) for action in actions if action not in ignored]
    done = [{"actions": carried, "pose": state["pose"]}] if carried else []
    text = reply_text(actions, ignored, before)
    reply = {"speaker": "Builder", "text": text, "by": answer.model}
    blocks = [list(block) for block in answer.blocks or ()]
    return state | {"turns": [*state["turns"], *done, reply], "blocks": blocks}


def reply_text(actions: Sequence[Action], ignored: Sequence[Action], before: Structure) -> str:
    """A few sentences about some actions: what was placed and removed, and how many failed."""
    if not actions:
        return "Sorry, I did not understand that. Can you say it in other words?"
    done = [action for action in actions if action not in set(ignored)]
    there = {block[:3]: block.color for block in before.blocks()}
    parts = []
    for kind, verb in (("place", "placed"), ("remove", "removed")):
        counts = Counter(action.color or there.get(action.cell, "") for action in done if action.kind == kind)
        parts += [f"{verb} {joined([_counted(*one) for one in counts.items()])}"] if counts else []
    sentences = [f"I {' and '.join(parts)}."] if parts else []
    if ignored:
        sentences.append(f"{len(ignored)} of {len(actions)} actions could not be carried out.")
    return " ".join(sentences)


def _counted(color: str, count: int) -> str:
    """Such as "2 red blocks", or "a block" if nobody knows its color."""
    number = str(count) if count > 1 else "an" if color == "orange" else "a"
    return " ".join(filter(None, (number, color, "blocks" if count > 1 else "block")))


def request_of(state: State, player: str) -> BuildRequest:
    """The task API's request for an answer to the Architect's last words. Raises UsageError if the Architect is not next."""
    if state["phase"] != "playing" or not state["turns"] or state["turns"][-1].get("speaker") != "Architect":
        raise UsageError("the Architect has to say something first")
    *past, last = ({key: value for key, value in turn.items() if key != "by"} for turn in state["turns"])
    fields = {"task": "minecraft", "model": player, "instruction": last["text"], "history": past}
    # From text, since pydantic takes JSON's arrays as tuples only then.
    return BuildRequest.model_validate_json(json.dumps(fields | {"blocks": state["blocks"], "pose": state["pose"]}))


def score(built: list[Any], target: list[Any]) -> dict[str, float] | None:
    """F1 of what was built, after the rotation and shift that fit the target best, and the numbers of blocks that are right, that
    were built and that were wanted; None without a target."""
    if not target:
        return None
    empty = Structure().cells[None]
    made, wanted = (net_actions(empty, Structure.of(map(tuple, blocks)).cells[None]) for blocks in (built, target))
    right = int(align(made, wanted, 1)[0][0]) if len(made) else 0
    return {"right": right, "built": len(made), "wanted": len(wanted), "f1": 2 * right / (len(made) + len(wanted))}


def _corrected(state: State, actions: tuple[Action, ...]) -> State:
    """The state with what the Architect built by hand in place of the model's answer to the last words."""
    turns = _to_last_order(state["turns"])
    before = _built(turns)
    after = carried_out(before, actions)
    done = {"actions": [list(action) for action in lasting(actions, before)], "pose": state["pose"]}
    by_hand = {"speaker": "Builder", "text": "(put right by hand)", "by": "you"}
    added = [done, by_hand] if actions else [by_hand]
    return state | {"turns": [*turns, *added], "blocks": [list(block) for block in after.blocks()]}


def carried_out(before: Structure, actions: tuple[Action, ...]) -> Structure:
    """The structure after the actions. Raises UsageError for an action that cannot be carried out."""
    after, ignored = before.apply(actions)
    if ignored:
        raise UsageError(f"{list(ignored[0])} cannot be carried out")
    return after


def _to_last_order(turns: list[Any]) -> list[Any]:
    """The turns up to and including the Architect's last words. Raises UsageError if there are none."""
    last = max((n for n, turn in enumerate(turns) if turn.get("speaker") == "Architect"), default=None)
    if last is None:
        raise UsageError("the Architect has not said anything yet")
    return turns[: last + 1]


def _built(turns: list[Any]) -> Structure:
    return Structure().apply(Action(*action) for turn in turns for action in turn.get("actions", ())).structure
