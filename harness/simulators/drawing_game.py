"""The simulated Instructor of a live drawing procedure, which gives one step at a time and checks the board after each."""

from collections import deque
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from harness.corpora.item import Executed, HexagonsItem, Utterance
from harness.corpora.wording import joined
from harness.simulators.live import LiveGame
from harness.worlds.hexagons import Board, Paint, Tile

_MOST = 30
"""The most tiles that a correction names."""


class DrawingGame(LiveGame):
    """A procedure with its own instructions, on the board that the Executor draws.

    A step is right if the board equals the procedure's board after that step, except for tiles that were left wrong earlier and
    that this step does not paint.
    """

    target: Board
    built: Board

    def __init__(self, name: str, steps: Sequence[HexagonsItem], patience: int) -> None:
        super().__init__(name, patience)
        self.task, self.target = steps[0].task, steps[-1].after
        self.split, self.group = steps[0].split, steps[0].group
        self.built = Board()
        self._left = deque(steps)
        self.dialogue = []
        self._wanted = Board()
        self._given_up: set[Tile] = set()

    def _begin(self) -> HexagonsItem | None:
        if not self._left:
            return None
        step = self._left.popleft()
        self._given_up -= {action.tile for action in step.actions}
        unchanged = [Paint(*tile, self.built[tile]) for tile in self._given_up]
        self._wanted = step.after.apply(unchanged).board
        return self._item(step.instruction, self._wanted, {"kind": "order"})

    def _correct(self) -> HexagonsItem | None:
        wrong = self.built.diff(self._wanted)
        # Column by column from the left, up to _MOST tiles.
        wrong_first = sorted(wrong, key=lambda action: (action.column, action.row))[:_MOST]
        text = f"{'That is still not right' if self._tries else 'That is not right'}: {_spelled(wrong_first)}."
        return self._item(text, self.built.apply(wrong_first).board, {"kind": "correction", "fault": "tiles"})

    def _item(self, text: str, wanted: Board, meta: dict[str, str]) -> HexagonsItem:
        name, history, actions = f"{self.name}/{self.turns + 1}", tuple(self.dialogue), self.built.diff(wanted)
        states = self.built, actions, wanted
        item = HexagonsItem(name, self.split, text, history, *states, self.group, self.name, meta)
        self.dialogue.append(Utterance("Instructor", text))
        return item

    def _carry_out(self, actions: Sequence[Paint]) -> bool:
        applied = self.built.apply(actions)
        self.built = applied.board
        self.dialogue.append(Executed(tuple(action for action in actions if action not in applied.ignored)))
        return self.built == self._wanted

    def _leave(self) -> None:
        self._given_up |= {action.tile for action in self.built.diff(self._wanted)}


def _spelled(paints: Sequence[Paint]) -> str:
    """Some tiles, column by column, in words: "color tiles 2 and 3 of column 1 red and tile 9 of column 4 white"."""
    parts = []
    by_color = sorted(paints, key=attrgetter("color"))
    for (color, column), ones in groupby(by_color, attrgetter("color", "column")):
        rows = [str(one.row + 1) for one in ones]
        parts.append(f"{'tile' if len(rows) == 1 else 'tiles'} {joined(rows)} of column {column + 1} {color}")
    return f"color {joined(parts)}"
