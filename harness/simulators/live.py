"""A live game with someone who builds or draws: each step is stated, the answer is checked, and corrected if it is wrong.

This module holds what both worlds share. The steps of a game come from its target. After each answer, the state is compared
with the state to which the step should lead. If they differ, corrections follow until the patience is used up; then the game
goes on.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from harness.corpora.item import Item, Turn


class LiveGame(ABC):
    """A game to play by calling `ask` and `take` alternately until `ask` returns None."""

    task: str
    target: Any
    """The board or structure to be reached."""
    built: Any
    """The present board or structure."""
    dialogue: list[Turn]
    """The messages and the feasible actions so far."""

    def __init__(self, name: str, patience: int) -> None:
        """`patience` is the maximum number of corrections a step."""
        self.name = name
        self.patience = patience
        self.turns = 0
        """The number of messages that were answered: steps and corrections."""
        self.steps = 0
        self.corrections = 0
        self.at_once = 0
        """The number of steps that were right without a correction."""
        self.left_wrong = 0
        """The number of steps that stayed wrong."""
        self.over = False
        self._tries: int | None = None
        """The number of corrections of the step in progress; None between steps."""

    def ask(self) -> Item | None:
        """The next message, as an item with gold actions that carry it out; None if the game is over.

        The item's `meta` has "kind" ("order" or "correction") and, for a correction, "fault", the kind of error.
        """
        while not self.over:
            if self._tries is None:
                item = self._begin()
                self.over = item is None
                self.steps += not self.over
                self._tries = 0
                return item
            if self._tries < self.patience and (item := self._correct()) is not None:
                self._tries += 1
                self.corrections += 1
                return item
            self.left_wrong += 1
            self._tries = None
            self._leave()
        return None

    def take(self, actions: Sequence[Any]) -> None:
        """Carry out the actions that answer the last message, and check whether the step is now right."""
        self.turns += 1
        if self._carry_out(actions):
            self.at_once += self._tries == 0
            self._tries = None

    @abstractmethod
    def _begin(self) -> Item | None:
        """The next step; None if there is none."""

    @abstractmethod
    def _correct(self) -> Item | None:
        """A message that corrects the step in progress or brings it closer; None if there are no words for one."""

    @abstractmethod
    def _carry_out(self, actions: Sequence[Any]) -> bool:
        """Applies the actions and returns whether the step's goal is reached."""

    @abstractmethod
    def _leave(self) -> None:
        """Move on from a step that stays wrong."""
