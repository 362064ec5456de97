"""Answers with a confidence: the thresholds that split them, and their scores above each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eval.export import headline, named
from eval.report.curves import Curve, Point
from eval.score_run import Answers, Benchmark, score_answers
from harness.errors import DataError, UsageError

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


def thresholds(confidence: Mapping[str, float]) -> list[float]:
    """Confidences that split the answers into about ten equal groups, highest first; the lowest includes all answers."""
    ordered = sorted(confidence.values(), reverse=True)
    places = {max(len(ordered) * step // STEPS, 1) - 1 for step in range(1, STEPS + 1)}
    return sorted({ordered[place] for place in places}, reverse=True)


def coverage(answers: Answers, how: Benchmark) -> Curve:
    """The scores of the answers with at least each threshold's confidence, on those items only."""
    confidence, points, scored = confidences(answers), [], answers.name
    chosen = {item.id for item in how.choose(answers).items}
    for threshold in thresholds(confidence):
        answered = {item_id for item_id, value in confidence.items() if value >= threshold} & chosen
        if answered:
            scores = score_answers(replace(answers, only=answered), how)
            scored = f"{named(scores)}, {answers.name}"
            leading, second, *_ = headline(scores)
            share = 100 * len(answered) / len(chosen)
            points.append(Point(f"{threshold:.3f} ({share:.0f}%)", len(answered), (leading, second)))
    return Curve(points, scored, "items answered", "confidence at least (coverage)")
