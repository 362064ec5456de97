"""Answers with a confidence: their scores by confidence, and hybrids with another run where it is low."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from eval.export import headline, named
from eval.predictions import Predictions
from eval.report.curves import Curve, Point
from eval.score_run import Answers, Benchmark, score_answers
from harness.errors import DataError, UsageError
from harness.runs.folder import RUNS, Run

STEPS = 10


def confidences(answers: Answers) -> dict[str, float]:
    """By item id. Raises UsageError for answers without one, DataError if it is not a number from 0 to 1."""
    values = {item_id: record.get("confidence") for item_id, record in answers.records.items()}
    if all(value is None for value in values.values()):
        raise UsageError(f"the answers of {answers.name} have no confidence; the baseline parser's have one")
    for item_id, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise DataError(f'{answers.file}: {item_id}: "confidence" must be a number from 0 to 1, not {value!r}')
    return {item_id: float(value) for item_id, value in values.items() if value is not None}


def thresholds(sure: Mapping[str, float]) -> list[float]:
    """Confidences that split the answers into about ten equal groups, highest first; the lowest includes all answers."""
    ordered = sorted(sure.values(), reverse=True)
    places = {max(len(ordered) * step // STEPS, 1) - 1 for step in range(1, STEPS + 1)}
    return sorted({ordered[place] for place in places}, reverse=True)


def coverage(answers: Answers, how: Benchmark) -> Curve:
    """The scores of the answers with at least each threshold's confidence, on those items only."""
    sure, points, scored = confidences(answers), [], answers.name
    asked = {item.id for item in how.choose(answers).items}
    for threshold in thresholds(sure):
        kept = {item_id for item_id, value in sure.items() if value >= threshold} & asked
        if kept:
            scores = score_answers(replace(answers, only=kept), how)
            scored = f"{named(scores)}, {answers.name}"
            leading, second, *_ = headline(scores)
            points.append(Point(f"{threshold:.3f} ({100 * len(kept) / len(asked):.0f}%)", len(kept), (leading, second)))
    return Curve(points, scored, "items answered", "confidence at least (coverage)")


@dataclass(frozen=True)
class Hybrid:
    """Two runs over the same items: the first answers where it is confident enough, the second elsewhere.

    Raises UsageError for runs over different items and for a first one without confidences.
    """

    sure: Answers
    other: Answers

    def __post_init__(self) -> None:
        sure, other = ((a.task, a.split, a.only) for a in (self.sure, self.other))
        if sure != other:
            raise UsageError(f"{self.sure.name} and {self.other.name} answer different items; a hybrid needs the same")

    @cached_property
    def _confidence(self) -> Mapping[str, float]:
        return confidences(self.sure)

    def _from_first(self, item_id: str, below: float) -> bool:
        return self._confidence.get(item_id, 0.0) >= below

    def scores(self, below: float) -> dict[str, Any]:
        """The hybrid's scores if the second run answers all items with a confidence under `below`."""
        one, two = self.sure.predictions, self.other.predictions
        chosen = {item.id: one if self._from_first(item.id, below) else two for item in self.sure.items}
        actions = {item_id: source.actions[item_id] for item_id, source in chosen.items() if item_id in source.actions}
        errors = frozenset(item_id for item_id, source in chosen.items() if item_id in source.errors)
        return score_answers(replace(self.sure, predictions=Predictions(actions, errors)))

    def write(self, below: float, name: str) -> Run:
        """The hybrid as the run `runs/<name>`; every answer says which run it is "from"."""
        settings = {
            "command": "hybrid",
            "task": self.sure.task,
            "split": self.sure.split,
            "runs": [self.sure.name, self.other.name],
            "sha256": [hashlib.sha256(answers.file.read_bytes()).hexdigest() for answers in (self.sure, self.other)],
            "below": below,
            **{key: self.sure.settings[key] for key in ("limit", "items_file") if self.sure.settings.get(key)},
        }
        records = []
        for item in self.sure.items:
            source = self.sure if self._from_first(item.id, below) else self.other
            if item.id in source.records:
                actions = [list(action) for action in source.predictions.actions.get(item.id, ())]
                records.append({"id": item.id, **source.records[item.id], "actions": actions, "from": source.name})
        with closing(Run(RUNS / name, settings)) as run:
            run.keep(records)
        return run
