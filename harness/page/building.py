"""A building game as states and events: a person as the Architect of a model, or as the Builder of a simulated Architect."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from eval.metrics.alignment import align, net_actions
from harness.corpora.item import Executed, MinecraftItem
from harness.corpora.records import ActionRecord
from harness.errors import UsageError
from harness.page.builder import question, said
from harness.page.corpus import turn_record
from harness.page.store import State
from harness.service.schema import BUILDER, BuildRequest, ExecuteResponse
from harness.simulators.games import ARCHITECTS, game
from harness.worlds.minecraft import Action, Structure, lasting

MOST_TEXT = 20_000


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Say(_Event):
    """The Architect says something."""

    type: Literal["say"]
    text: str = Field(max_length=MOST_TEXT, pattern=r"\S")


class Undo(_Event):
    """The Architect takes the last message back, with what was said and done after it."""

    type: Literal["undo"]


class Build(_Event):
    """The Builder did something, and looks where the pose says."""

    type: Literal["build"]
    actions: list[ActionRecord] = Field(max_length=500)


class End(_Event):
    """The game is over: what stands is compared with the target."""

    type: Literal["end"]


Event = Say | Undo | Build | End
EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def with_model(target: dict[str, Any]) -> State:
    """A game that a person directs. `target` has name and blocks; without blocks there is nothing to compare with."""
    pose = BUILDER.model_dump()
    return {"role": "architect", "phase": "playing", "target": target, "turns": [], "blocks": [], "pose": pose, "score": None}


def with_simulator(simulator: str, seed: int) -> State:
    """A game in which a person builds what a simulated Architect says. Raises UsageError for an unknown simulator."""
    if simulator not in ARCHITECTS:
        raise UsageError(f"there is no such Architect: choose one of {', '.join(ARCHITECTS)}")
    items = _items(simulator, seed)
    blocks = [list(block) for block in items[-1].after.blocks()]
    state: State = {
        "role": "builder",
        "phase": "playing",
        "target": {"name": f"{simulator} {seed}", "blocks": blocks},
        "orders": {"simulator": simulator, "seed": seed, "next": 0, "of": len(items), "right": 0},
        "turns": [],
        "blocks": [],
        "score": None,
    }
    return state | _ordered(items[0], 0)


def _items(simulator: str, seed: int) -> tuple[MinecraftItem, ...]:
    """The first game from a seed on that has items: those whose targets are for training."""
    for n in range(100):
        if items := game(simulator, seed, "train", n):
            return tuple(item for item in items if isinstance(item, MinecraftItem))
    raise UsageError(f"{simulator}: no game for the seed {seed}; take another")


def _ordered(item: MinecraftItem, known: int) -> State:
    """What an order adds to the state: the words since the `known` first turns of its history, and where the Builder stands."""
    turns = [turn_record(turn) for turn in item.history]
    return {"turns": turns, "heard": known, "pose": item.pose._asdict()}


def happened(state: State, event: Event) -> tuple[State, bool]:
    """The state after an event, and whether the game is over. Raises UsageError for what cannot happen now."""
    if state["phase"] != "playing":
        raise UsageError("this game is over: nothing can be changed any more")
    if isinstance(event, End):
        return state | {"phase": "finished", "score": score(state["blocks"], state["target"]["blocks"])}, True
    if isinstance(event, Build):
        if state["role"] == "builder":
            return _obeyed(state, _actions(event))
        return _helped(state, _actions(event)), False
    if state["role"] != "architect":
        raise UsageError("in this game the simulated Architect speaks")
    if isinstance(event, Say):
        return state | {"turns": [*state["turns"], {"speaker": "Architect", "text": event.text.strip()}]}, False
    return _undone(state), False


def _actions(event: Build) -> tuple[Action, ...]:
    return tuple(Action(*action) for action in event.actions)


def answered(state: State, answer: ExecuteResponse) -> State:
    """The state after a model's answer to the Architect's last words."""
    before = request_of(state, answer.model).item.before
    actions, ignored = ([Action(*action) for action in listed] for listed in (answer.actions, answer.ignored))
    carried = [list(action) for action in actions if action not in ignored]
    done = [{"actions": carried, "pose": state["pose"]}] if carried else []
    reply = {"speaker": "Builder", "text": said(actions, ignored, before), "by": answer.model}
    blocks = [list(block) for block in answer.blocks or ()]
    return state | {"turns": [*state["turns"], *done, reply], "blocks": blocks}


def asked_back(state: State, player: str) -> State | None:
    """The state with the Builder's question, where the Architect's words lack a color or a place; else None."""
    asked = question(request_of(state, player).item)
    if asked is None:
        return None
    return state | {"turns": [*state["turns"], {"speaker": "Builder", "text": asked, "by": player}]}


def request_of(state: State, player: str) -> BuildRequest:
    """The task API's request for an answer to the Architect's last words. Raises UsageError if the Architect is not next."""
    if state["phase"] != "playing" or not state["turns"] or state["turns"][-1].get("speaker") != "Architect":
        raise UsageError("the Architect has to say something first")
    *history, last = state["turns"]
    past = [{key: value for key, value in turn.items() if key != "by"} for turn in history]
    body = {"model": player, "instruction": last["text"], "history": past, "blocks": state["blocks"], "pose": state["pose"]}
    # From text, since pydantic takes JSON's arrays as tuples only then.
    return BuildRequest.model_validate_json(json.dumps(body | {"task": "minecraft"}))


def score(built: list[Any], target: list[Any]) -> dict[str, float] | None:
    """F1, precision and recall of what was built, after the turn and shift that fit the target best; None without a target."""
    if not target:
        return None
    import numpy as np

    empty = Structure().cells[None]
    made, wanted = (net_actions(empty, Structure.of(map(tuple, blocks)).cells[None]) for blocks in (built, target))
    right = int(align(made, wanted, 1)[0][0]) if len(made) else 0
    return {
        "right": right,
        "built": len(made),
        "wanted": len(wanted),
        "f1": float(np.divide(2 * right, len(made) + len(wanted))),
    }


def _helped(state: State, actions: tuple[Action, ...]) -> State:
    """The Architect put something right by hand."""
    before = Structure.of(map(tuple, state["blocks"]))
    after, ignored = before.apply(actions)
    if ignored:
        raise UsageError(f"{list(ignored[0])} cannot be carried out")
    done = {"actions": [list(action) for action in lasting(actions, before)], "pose": state["pose"], "by": "person"}
    return state | {"turns": [*state["turns"], done], "blocks": [list(block) for block in after.blocks()]}


def _obeyed(state: State, actions: tuple[Action, ...]) -> tuple[State, bool]:
    """After a person carried out an order. The next order is about what the Architect meant, so that is what stands then."""
    orders = state["orders"]
    items = _items(orders["simulator"], orders["seed"])
    item = items[orders["next"]]
    built, ignored = item.before.apply(actions)
    if ignored:
        raise UsageError(f"{list(ignored[0])} cannot be carried out")
    right = built == item.after
    log = [*state.get("log", []), {"order": orders["next"], "right": right, "actions": [list(action) for action in actions]}]
    orders = orders | {"next": orders["next"] + 1, "right": orders["right"] + right}
    state = state | {"orders": orders, "log": log, "blocks": [list(block) for block in item.after.blocks()]}
    if orders["next"] == len(items):
        turns = [*state["turns"], turn_record(Executed(item.actions, item.pose))]
        return state | {"phase": "finished", "turns": turns, "score": score(state["blocks"], state["target"]["blocks"])}, True
    return state | _ordered(items[orders["next"]], len(state["turns"]) + 1), False


def _undone(state: State) -> State:
    turns = list(state["turns"])
    while turns and turns[-1].get("speaker") != "Architect":
        turns.pop()
    if not turns:
        raise UsageError("there is nothing to take back")
    turns.pop()
    after = Structure()
    for turn in turns:
        after = after.apply(Action(*action) for action in turn.get("actions", ())).structure
    return state | {"turns": turns, "blocks": [list(block) for block in after.blocks()]}
