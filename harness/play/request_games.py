"""A request of the benchmark as a live game: each turn is asked on what the player made of those before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from harness.corpora.item import Executed, HexagonsItem, Item, Turn, Utterance
from harness.corpora.rollout import Rollout
from harness.everyday.judge import is_right
from harness.simulators.live import LiveGame, Manner


class RequestGame(LiveGame):
    """Nothing is corrected: a turn that is not answered rightly is left wrong, and the next one is asked.

    `target` is what stands after right answers to all turns, one of many. The items' `meta` has the request's "kind".
    """

    def __init__(self, turns: Sequence[Item]) -> None:
        super().__init__(turns[0].cluster, Manner(patience=0))
        self.task, self.target, self.built = turns[0].task, turns[-1].after, turns[0].before
        self._left = iter(turns)
        self._rollout = Rollout(turns)
        self._asked = turns[0]
        self._dialogue: tuple[Turn, ...] = ()

    def _begin(self) -> Item | None:
        turn = next(self._left, None)
        if turn is None:
            return None
        item = self._asked = self._rollout.before(turn)
        said = (Utterance("Instructor", item.instruction),) if isinstance(item, HexagonsItem) else ()
        self._dialogue = (*item.history, *said)
        return item

    def _carry_out(self, actions: Sequence[Any]) -> bool:
        item = self._asked
        self._rollout.add(item.id, actions)
        self.built, ignored = item.before.apply(actions)
        done = tuple(action for action in actions if action not in ignored)
        self._dialogue = (*self._dialogue, Executed(done, None if isinstance(item, HexagonsItem) else item.pose))
        return is_right(item, actions)

    @property
    def dialogue(self) -> tuple[Turn, ...]:
        return self._dialogue

    def _correct(self) -> None:
        return None

    def _leave(self) -> None:
        pass


def request_games(items: Sequence[Item]) -> Iterator[RequestGame]:
    """A game for each request, in the order of the items, which are those of whole requests."""
    for _, turns in groupby(items, lambda item: item.cluster):
        yield RequestGame(list(turns))
