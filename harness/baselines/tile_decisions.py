"""From the scores of 180 tiles to actions: each tile's likeliest class, or the set of tiles whose expected F1 is highest."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from eval.metrics.hexagons import measure

NO_ACTION = 0
TEMPERATURES = (1.0, 0.5, 0.7, 0.85, 1.15, 1.3, 1.5, 1.75, 2.0, 2.5)
"""Candidate divisors of the scores; the best on dev is used, ties go to the first."""

Decision = Literal["likeliest", "f1"]
Ints = npt.NDArray[np.int64]
Scores = np.ndarray[Any, np.dtype[np.float32]]


def decide(scores: Scores, decision: Decision, temperature: float) -> Ints:
    """The labels, shape (items, 180), for scores of shape (items, 180, 9)."""
    if decision == "likeliest":
        likeliest: Ints = scores.argmax(-1)
        return likeliest
    return for_f1(_probabilities(scores / temperature))


def for_f1(probabilities: Scores) -> Ints:
    """Paints the surest tiles, as many as make 2 E[right] / (painted + E[gold]) highest: that is near the expected action F1 if
    tiles are independent of each other. The F1 of painting nothing is the probability that there is nothing to paint."""
    painting = probabilities[..., NO_ACTION + 1 :]
    best, color = painting.max(-1), painting.argmax(-1) + NO_ACTION + 1
    order = np.argsort(-best, axis=1, kind="stable")
    right = np.take_along_axis(best, order, axis=1).cumsum(axis=1)
    painted = np.arange(1, best.shape[1] + 1)
    expected = 2 * right / (painted + painting.sum((1, 2))[:, None])
    nothing = probabilities[..., NO_ACTION].prod(axis=1)
    count = np.where(expected.max(axis=1) > nothing, expected.argmax(axis=1) + 1, 0)
    rank = np.argsort(order, axis=1)
    return np.where(rank < count[:, None], color, NO_ACTION)


def best_temperature(scores: Scores, gold: Ints, decision: Decision) -> float:
    """Which of `TEMPERATURES` gives the highest action F1; the likeliest class does not depend on it."""

    def f1(temperature: float) -> float:
        return float(measure(gold, decide(scores, decision, temperature), NO_ACTION)[:, 0].mean())

    return max(TEMPERATURES, key=f1) if decision == "f1" else TEMPERATURES[0]


def _probabilities(scores: Scores) -> Scores:
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    probabilities: Scores = raised / raised.sum(-1, keepdims=True)
    return probabilities
