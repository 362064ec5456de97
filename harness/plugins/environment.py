"""A game, or a single item, as an environment: messages to a player, its answers or tool calls, and rewards.

    game = GridEnvironment("minecraft")
    message = game.reset(seed=1)
    while not game.done:
        message = game.step(answer(game.messages))
    game.reward

A game is the live game of `harness play`. A single item ends after one answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from harness.api import Counts, apply, load, parse, render, score
from harness.corpora.item import Item
from harness.errors import HarnessError
from harness.play.games import ending
from harness.play.targets import live_games
from harness.plugins.rows import spec_of
from harness.runs.answering import Answer
from harness.runs.reasons import why
from harness.simulators.live import LiveGame
from harness.tasks.registry import world_of
from prompts.rendered import Message
from prompts.spec import PromptSpec
from serialization.formats import grouped
from serialization.formats.tools import call_text

OVER = "The game is over."


class GridEnvironment:
    """Games of a task or, with `single`, its items. The same seed gives the same game and, for equal answers, the same words.

    A step of a game is corrected up to `patience` times, and a game ends after `turns` answers at the latest. `names` are keyword
    arguments of `harness.PromptSpec.make`; games are chats by default. The reward of a game is the F1 of what stands, 0..1, in
    Minecraft up to turns and shifts; the reward of a single answer is its F1, plus 0.5 if it is exact.
    """

    def __init__(self, task: str, *, single: bool = False, patience: int = 3, turns: int = 100, **names: str | None) -> None:
        """Raises UsageError for an unknown task or format."""
        self.task, self.single, self.patience, self.turns = task, single, patience, turns
        # A game shows the player's own earlier answers, and a single item has none.
        chosen = {**names, "context": names.get("context") or "conversation"}
        self.spec = spec_of(task, **names) if single else PromptSpec.make(task, **chosen)
        self.done = True
        self.game: LiveGame | None = None
        """None for a single item."""
        self.item: Item | None = None
        self.counts: Counts | None = None
        """What the last answer got right of its message."""
        self.reason: str | None = None
        """Why the last answer did nothing, or not everything."""
        self.reward = 0.0
        """The reward so far; what a turn adds to it may be negative."""
        self._calls: list[str] = []

    def reset(self, seed: int | None = None, split: str = "train", index: int | None = None) -> str:
        """Begin the game or item that the seed draws, or the one at `index`; returns its first message.

        Raises IndexError if there is no item at `index`, UsageError as `live_games` does.
        """
        first: Item | None
        if self.single:
            items = load(self.task, split)
            number = Random(seed).randrange(len(items)) if index is None else index
            if not 0 <= number < len(items):
                raise IndexError(f"{split} has the items 0 to {len(items) - 1}, not {number}")
            self.game, first = None, items[number]
        else:
            drawn = Random().randrange(2**32) if seed is None else seed
            self.game = live_games(self.task, (index or 0) + 1, drawn, split, self.patience)[-1]
            first = self.game.ask()
        self.reward, self.counts, self.reason, self._calls = 0.0, None, None, []
        return self._ask(first)

    def _ask(self, item: Item | None) -> str:
        self.done = item is None
        self.item = item or self.item
        return OVER if self.done else self.messages[-1]["content"]

    @property
    def messages(self) -> list[Message]:
        """The whole prompt of the turn; its last message is the one that `reset` or `step` returned."""
        if self.item is None:
            raise HarnessError("there is no item to answer: reset the environment first")
        return render(self.item, self.spec)

    def step(self, text: str) -> str:
        """Answer the message with any text; returns the next message. Raises HarnessError if nothing was asked."""
        if self.item is None or self.done:
            raise HarnessError("there is no item to answer: reset the environment first")
        parsed = parse(text, self.item, self.spec)
        notes = {"discarded": parsed.discarded, "text": text}
        self.reason = why(self.item, Answer(parsed.actions, notes=notes))
        self.counts = score(self.item, parsed.actions)
        self._calls = []
        if self.game is None:
            self.reward = self.counts.f1 + 0.5 * self.counts.exact
            return self._ask(None)
        self.game.take(parsed.actions)
        *_, scores = ending(self.game)
        self.reward = scores.get("f1_aligned", scores["f1"])
        return self._ask(None if self.game.turns >= self.turns else self.game.ask())

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Answer by calls of tools (format `tools`): actions are collected until `done` hands them in as the answer.

        Returns what the player is told, also about a call that is wrong. Raises HarnessError if nothing was asked.
        """
        if self.done or self.item is None:
            return OVER
        if name == "done":
            return self.step("\n".join(self._calls) or "none")
        so_far = parse("\n".join(self._calls), self.item, self.spec).actions
        if name == "look":
            return _seen(self.task, apply(self.item, so_far))
        text = call_text(name, dict(arguments))
        parsed = parse(text, self.item, self.spec)
        if not parsed.actions:
            return f"Error: {parsed.discarded[0].reason if parsed.discarded else 'not a call'}"
        if set(self.item.before.apply((*so_far, *parsed.actions))[1]) & set(parsed.actions):
            return "Error: this cannot be carried out here."
        self._calls.append(text)
        return "Done."


def _seen(task: str, state: Any) -> str:
    """A state in words: painted tiles as the format `grouped` writes them, or color and x y z of each block."""
    if world_of(task) == "hexagons":
        return grouped.write(type(state)().diff(state))
    return "; ".join(f"{block.color} {block.x} {block.y} {block.z}" for block in state.blocks()) or "nothing"
