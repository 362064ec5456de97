"""`parser`: a semantic parser for HEXAGONS. Words become meanings by a small grammar, meanings become paint in a memory of the
steps before; see `grammar`, `chart`, `execute`."""

from __future__ import annotations

from collections.abc import Sequence

from harness.baselines import Answer, Decoding
from harness.baselines.parser.memory import Memory
from harness.baselines.parser.program import program_of
from harness.baselines.parser.ranker import Ranker, Understood, shipped_weights
from harness.corpora.item import HexagonsItem, Item, Utterance
from serialization.program.ast import write
from serialization.program.hexagons import DrawingState, run


class Parser:
    """See `harness.baselines.Ruled` and `harness.baselines.Predictor`."""

    tasks = ("hexagons",)
    decoding = ()
    batch_size = 64
    rolls_out = True

    def __init__(self, ranker: Ranker | None = None) -> None:
        self._ranker = ranker or Ranker(shipped_weights())
        self._known: dict[tuple[str, ...], Memory] = {(): Memory()}

    def predictor(self) -> Parser:
        return self

    def predict(self, items: Sequence[Item], decoding: Decoding) -> list[Answer]:
        return [self._answer(item) for item in items if isinstance(item, HexagonsItem)]

    def _answer(self, item: HexagonsItem) -> Answer:
        found = self.understand(item)
        program = program_of(found.memory.painted)
        notes = {
            "reading": [str(action) for action in found.reading.actions],
            "program": write(program),
            "confidence": round(found.confidence, 3),
        }
        return Answer(run(program, DrawingState(item.before)).actions, True, notes)

    def understand(self, item: HexagonsItem) -> Understood:
        told = tuple(turn.text for turn in item.history if isinstance(turn, Utterance))
        found = self._ranker.understand(item.instruction, self.memory(told))
        self._known[(*told, item.instruction)] = found.memory
        return found

    def memory(self, told: tuple[str, ...]) -> Memory:
        """The memory after some instructions; what is told is enough to know it, so that it is the same however one got here."""
        known = next(n for n in range(len(told), -1, -1) if told[:n] in self._known)
        for n in range(known, len(told)):
            self._known[told[: n + 1]] = self._ranker.understand(told[n], self._known[told[:n]]).memory
        return self._known[told]
