"""`parser`: semantic parsers for HEXAGONS and for building instructions (`harness.baselines.parser.minecraft`).

A small grammar turns words into meanings, which are painted in a memory of the earlier steps; see `hexagons`."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.baselines.parser.hexagons.execute import paint_program
from harness.baselines.parser.hexagons.memory import Memory
from harness.baselines.parser.hexagons.ranker import RankedReading, RankReader, shipped_weights
from harness.baselines.parser.minecraft import BuilderParser
from harness.corpora.item import HexagonsItem, Item, Utterance
from harness.runs.answering import Answer, Predictor
from harness.tasks.registry import TASKS, world_of
from serialization.program.hexagons import run
from serialization.program.machine import State
from serialization.program.written import write

KNOWN = 10_000
"""The number of beginnings of drawing procedures that are remembered; the largest split has fewer."""


class Known(NamedTuple):
    """The result of some instructions: the memory, and the product of their readings' probabilities."""

    memory: Memory
    share: float

    def after(self, understood: RankedReading) -> "Known":
        return Known(understood.memory, self.share * understood.share)


class Parser(Predictor):
    """See `harness.baselines.Ruled`."""

    tasks = tuple(TASKS)
    decoding = ()
    batch_size = 64
    rolls_out = True
    independent = True

    def __init__(self, ranker: RankReader | None = None) -> None:
        self._ranker = ranker or RankReader(shipped_weights())
        self._known: dict[tuple[str, ...], Known] = {(): Known(Memory(), 1.0)}

    def predictor(self, task: str) -> Predictor:
        return self if world_of(task) == "hexagons" else BuilderParser(task=task)

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        return [self._answer(item) for item in items if isinstance(item, HexagonsItem)]

    def _answer(self, item: HexagonsItem) -> Answer:
        understood = self.understand(item)
        program = paint_program(understood.memory.painted)
        notes = {
            "reading": [str(action) for action in understood.reading.actions],
            "program": write(program),
            "confidence": round(self._after((*_told(item), item.instruction)).share, 3),
        }
        return Answer(run(program, State(item.before)).actions, True, notes)

    def understand(self, item: HexagonsItem) -> RankedReading:
        instructions = _told(item)
        understood = self._ranker.understand(item.instruction, self.memory(instructions))
        self._known[(*instructions, item.instruction)] = self._after(instructions).after(understood)
        return understood

    def memory(self, instructions: tuple[str, ...]) -> Memory:
        """The memory after some instructions; it depends on them alone."""
        return self._after(instructions).memory

    def _after(self, instructions: tuple[str, ...]) -> Known:
        if len(self._known) > KNOWN:
            self._known = {(): self._known[()]}
        start = next(n for n in range(len(instructions), -1, -1) if instructions[:n] in self._known)
        for n in range(start, len(instructions)):
            before = self._known[instructions[:n]]
            self._known[instructions[: n + 1]] = before.after(self._ranker.understand(instructions[n], before.memory))
        return self._known[instructions]


def _told(item: HexagonsItem) -> tuple[str, ...]:
    """The instructions of the earlier steps."""
    return tuple(turn.text for turn in item.history if isinstance(turn, Utterance))
