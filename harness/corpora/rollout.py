"""Items as a model meets them after its own earlier answers: with the state that they led to, and with them in the history."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from harness.corpora.item import Executed, HexagonsItem, Item
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Structure


class Rollout:
    """A model's own answers so far, by drawing procedure or request."""

    def __init__(self, items: Iterable[Item] = (), records: Iterable[Mapping[str, Any]] = ()) -> None:
        """`items` give the state in which each procedure begins, which is empty if the first item is missing. `records` are
        answers, {"id", "actions"}."""
        self._starts = {
            _procedure(item.id): item.before for item in items if not any(isinstance(turn, Executed) for turn in item.history)
        }
        self._answers: dict[str, list[tuple[Sequence[Sequence[Any]], str]]] = defaultdict(list)
        for record in records:
            self.add(record["id"], record["actions"], record)

    def add(self, item_id: str, actions: Iterable[Sequence[Any]], notes: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Take in the answer to the next item of a procedure; `notes` are the other fields of its record."""
        self._answers[_procedure(item_id)].append((list(actions), _program(notes)))

    def before(self, item: Item) -> Item:
        """The item with the model's state and answers instead of the gold state and the gold actions of its history."""
        procedure = _procedure(item.id)
        carry_out = _draw if isinstance(item, HexagonsItem) else _build
        state: Any = self._starts.get(procedure, Board() if isinstance(item, HexagonsItem) else Structure())
        done: list[dict[str, Any]] = []
        for answer, text in self._answers[procedure]:
            state, actions = carry_out(state, answer)
            done.append({"actions": actions, "text": text})
        own = iter(done)
        missing = {"actions": (), "text": ""}
        history = tuple(turn._replace(**next(own, missing)) if isinstance(turn, Executed) else turn for turn in item.history)
        return replace(item, before=state, history=history)


def _program(notes: Mapping[str, Any]) -> str:
    """The text of an answer that is a program, if the answer's actions are its result: nothing of it was discarded, and no change
    was voted on by itself. Otherwise empty."""
    whole = str(notes.get("format")).endswith("program") and not notes.get("discarded") and not notes.get("voted")
    return str(notes["text"]).strip() if whole else ""


def _draw(board: Board, answer: Iterable[Sequence[Any]]) -> tuple[Board, tuple[Paint, ...]]:
    painted = tuple(Paint(*row) for row in answer)
    return board.apply(painted).board, painted


def _build(structure: Structure, answer: Iterable[Sequence[Any]]) -> tuple[Structure, tuple[Action, ...]]:
    """The structure after an answer, and the actions that could be carried out; removals have the removed block's color."""
    done: list[Action] = []
    for row in answer:
        action = Action(*row)
        if structure.feasible(action):
            color = action.color if action.kind == "place" else structure.color_at(*action.cell)
            done.append(action._replace(color=color))
            structure = structure.apply([action]).structure
    return structure, tuple(done)


def _procedure(item_id: str) -> str:
    return item_id.rpartition("/")[0]


def as_met(items: Sequence[Item], records: Iterable[Mapping[str, Any]]) -> Iterator[Item]:
    """The items as the model that gave the answers `records` met them: in the states and after the answers of its own.

    The items of a procedure must be in order. An item without a record counts as answered with no actions.
    """
    answers = {record["id"]: record for record in records}
    rollout = Rollout(items)
    for item in items:
        yield rollout.before(item)
        record = answers.get(item.id, {})
        rollout.add(item.id, record.get("actions", ()), record)
