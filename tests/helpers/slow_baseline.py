"""A baseline for tests of runs: its answers depend on all of its input, including the batch."""

from __future__ import annotations

import time
from collections.abc import Sequence

from harness.corpora.item import HexagonsItem, Item
from harness.runs.answering import Answer, Predictor
from harness.worlds.hexagons import COLORS, Paint


class Slow(Predictor):
    """Paints one tile more than the board before has painted tiles, in a color that depends on the batch."""

    tasks = ("hexagons",)
    decoding = ("beams",)
    batch_size = 3
    rolls_out = True

    def __init__(self, seconds: float = 0.05) -> None:
        self.seconds = seconds
        self.seen: list[Item] = []

    def predictor(self, task: str) -> Slow:
        return self

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        time.sleep(self.seconds)
        self.seen += items
        color = COLORS[1 + len("".join(item.id for item in items)) % 7]
        counts = [len(item.before.painted()) for item in items if isinstance(item, HexagonsItem)]
        return [Answer([Paint(n % 10, n // 10, color) for n in range(min(180, count + 1))], True) for count in counts]
