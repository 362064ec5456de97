"""Answers ordinary requests with the reader for them, or with the research corpora's parser if the reader understands nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.corpora.item import Item
from harness.everyday.requests import run_on
from harness.runs.answering import Answer, Predictor
from serialization.program.parse import parse

log = logging.getLogger(__name__)


class Understood(NamedTuple):
    """A request as a program, and what was not understood of it."""

    program: str
    confidence: float
    """0..1; 0 if nothing was understood."""
    unknown: tuple[str, ...]
    """The words that are not known."""
    question: str | None
    """The question that the reader would ask, such as `Where?`."""


class Conversing(Predictor):
    """A predictor of a task of ordinary requests; `otherwise` answers what its reader does not understand."""

    batch_size = 64
    rolls_out = True
    independent = True

    def __init__(self, understand: Callable[[Any], Understood], otherwise: Predictor) -> None:
        self._understand = understand
        self._otherwise = otherwise

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        return [self._answer(item) for item in items]

    def _answer(self, item: Any) -> Answer:
        try:
            understood = self._understand(item)
        except (LookupError, ValueError, RecursionError):
            # Words in an order that no rule expects, or nested too deep: this must not stop a run.
            log.exception("the reader failed on item %s", item.id)
            understood = Understood("", 0, (), None)
        if understood.confidence == 0:
            (answer,) = self._otherwise.predict([item])
            return Answer(answer.actions, answer.stopped, {**answer.notes, **_asked(understood)})
        program = parse(understood.program)
        notes = {"program": understood.program, "confidence": understood.confidence, **_asked(understood)}
        return Answer(run_on(item, program).actions, True, notes)


def _asked(understood: Understood) -> Mapping[str, Any]:
    """The notes on what was not understood."""
    notes: dict[str, Any] = {"unknown": list(understood.unknown)} if understood.unknown else {}
    return notes | ({"question": understood.question} if understood.question else {})
