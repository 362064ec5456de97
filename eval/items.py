"""Scores item by item, for the comparison of runs, the breakdowns and the report."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.errors import Clues, classify
from eval.metrics import hexagons, minecraft
from eval.predictions import Predictions


@dataclass(frozen=True, slots=True)
class ItemScore:
    """One item of one run.

    HEXAGONS: action-based F1 and exact match. Minecraft: overall F1 and exact match over net actions, after alignment where
    the benchmark says so. `wanted` and `made` count changes of gold and prediction; `hits` those in both, so that
    2 * hits / (wanted + made) is the F1. `classes` are those of `eval.errors`, the main one first; empty if exact.
    """

    id: str
    cluster: str
    f1: float
    exact: bool
    wanted: int
    made: int
    hits: int
    classes: tuple[str, ...]


def item_scores(
    task: str, items: Sequence[Any], predictions: Predictions, *, multiple: Set[str] = frozenset(), clues: Clues | None = None
) -> list[ItemScore]:
    """The scores of each item; `multiple` are the Minecraft items that allow several interpretations."""
    clues = clues or Clues()
    predicted: list[Any] = [predictions.actions.get(item.id, ()) for item in items]
    same_shape = np.zeros(len(items), bool)
    if task == "hexagons":
        sizes = hexagons.sizes(items, predicted)
    else:
        counts = minecraft.count(items, predicted, multiple=multiple)
        (hits, extra, missed), shape = counts[:, 0].T, counts[:, minecraft.METRICS.index("shape")]
        sizes = np.column_stack([hits + missed, hits + extra, hits])
        same_shape = (shape[:, 0] > 0) & (shape[:, 1:] == 0).all(axis=1)
    scores = []
    for item, actions, (wanted, changed, hits), alike in zip(items, predicted, sizes.tolist(), same_shape.tolist(), strict=True):
        exact = wanted == changed == hits
        f1 = 2 * hits / (wanted + changed) if wanted + changed else 1.0
        classes = () if exact else classify(item, actions, clues, same_shape=alike)
        scores.append(ItemScore(item.id, item.cluster, f1, exact, wanted, changed, hits, classes))
    return scores
