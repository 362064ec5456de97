"""A game in progress with whoever builds or draws: something is said, the answer is looked at, and corrected if it is wrong.

What both tasks share. The steps of a game come from its target; after each answer the state is compared with the one that the
step should lead to. If they differ there is a correction, as often as there is patience; then the game goes on, or ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.corpora.item import Item, Turn


class Manner(NamedTuple):
    """How much is put right: the most corrections of a step, and whether a step that stays wrong ends the game."""

    patience: int = 3
    gives_up: bool = False


class LiveGame(ABC):
    """`ask` and `take` in turn, until `ask` returns None."""

    task: str
    target: Any
    """The board or structure that the game is about."""
    built: Any
    """What is there now."""

    def __init__(self, name: str, manner: Manner) -> None:
        self.name = name
        self.manner = manner
        self.turns = 0
        """The messages that were answered: steps and corrections."""
        self.steps = 0
        self.corrections = 0
        self.at_once = 0
        """The steps that were right without a correction."""
        self.left_wrong = 0
        """The steps that no correction put right."""
        self.over = False
        self._tries: int | None = None
        """The corrections of the step in progress; None between steps."""

    def ask(self) -> Item | None:
        """What is said next, with gold actions that carry it out; None if the game is over.

        The item's `meta` has "kind", "order" or "correction", and for a correction "fault", what was wrong.
        """
        while not self.over:
            if self._tries is None:
                item = self._begin()
                self.over = item is None
                self.steps += not self.over
                self._tries = 0
                return item
            if self._tries < self.manner.patience and (item := self._correct()) is not None:
                self._tries += 1
                self.corrections += 1
                return item
            self.left_wrong += 1
            self._tries = None
            self._leave()
            self.over = self.manner.gives_up
        return None

    def take(self, actions: Sequence[Any]) -> None:
        """Carry out the actions of the answer to what was asked last, and look whether the step is right now."""
        self.turns += 1
        if self._carry_out(actions):
            self.at_once += self._tries == 0
            self._tries = None

    @property
    @abstractmethod
    def dialogue(self) -> tuple[Turn, ...]:
        """What was said and done so far; of what was done, that which could be carried out."""

    @abstractmethod
    def _begin(self) -> Item | None:
        """The next step, None if there is none."""

    @abstractmethod
    def _correct(self) -> Item | None:
        """What puts the step in progress right, or nearer to it; None if there are no words for it."""

    @abstractmethod
    def _carry_out(self, actions: Sequence[Any]) -> bool:
        """The state after the actions; whether it is the one that the step should lead to."""

    @abstractmethod
    def _leave(self) -> None:
        """Go on with a step that stays wrong."""
