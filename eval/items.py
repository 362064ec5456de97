"""Scores item by item, for the comparison of runs, the breakdowns and the report."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from eval.errors import classify
from eval.metrics import hexagons, minecraft
from eval.predictions import Predictions
from harness.tasks.registry import TASKS, world_of


class Counts(NamedTuple):
    """How much of an answer is right. HEXAGONS counts the tiles that a step changes, Minecraft net actions, strictly; a judged
    turn counts as one change, which is right or not."""

    task: str
    wanted: int
    """The number of gold changes."""
    made: int
    """The number of the answer's changes."""
    hits: int
    """The number of changes in both: the same tile and color, or the same kind, color and cell."""

    @property
    def f1(self) -> float:
        """The F1 of this answer, 0..1; 1 if nothing was wanted and nothing made."""
        return 2 * self.hits / (self.wanted + self.made) if self.wanted + self.made else 1.0

    @property
    def exact(self) -> bool:
        return self.wanted == self.made == self.hits


@dataclass(frozen=True, slots=True)
class ItemScore:
    """One item of one run.

    HEXAGONS: action-based F1 and exact match. Minecraft: overall F1 and exact match over net actions, after alignment if
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
    task: str,
    items: Sequence[Any],
    predictions: Predictions,
    *,
    multiple: Set[str] = frozenset(),
    discarded: Mapping[str, Set[str]] = MappingProxyType({}),
) -> list[ItemScore]:
    """The scores of each item; `multiple` are the Minecraft items that allow several interpretations. The errors are classified
    with the parser's reasons for discarding pieces of the text, by item id."""
    predicted: list[Any] = [predictions.actions.get(item.id, ()) for item in items]
    scores = []
    for item, actions, size, alike in zip(items, predicted, *_sizes(task, items, predicted, multiple), strict=True):
        of, answered = discarded.get(item.id, frozenset()), item.id in predictions.actions
        classes = () if size.exact else classify(item, actions, of, answered=answered, same_shape=alike)
        scores.append(ItemScore(item.id, item.cluster, size.f1, size.exact, size.wanted, size.made, size.hits, classes))
    return scores


def sizes(task: str, items: Sequence[Any], predicted: Sequence[Sequence[Any]], multiple: Set[str] = frozenset()) -> list[Counts]:
    """The counts of each item's predicted actions, strict except for the Minecraft items in `multiple`; an item may come more
    than once, with other actions."""
    return _sizes(task, items, predicted, multiple)[0]


def _sizes(
    task: str, items: Sequence[Any], predicted: Sequence[Sequence[Any]], multiple: Set[str]
) -> tuple[list[Counts], list[bool]]:
    """The counts of each item, and whether its shape is right wherever it stands."""
    same_shape = np.zeros(len(items), bool)
    if TASKS[task].judged:
        return [Counts(task, 1, 1, int(item.meta["solved"])) for item in items], same_shape.tolist()
    if world_of(task) == "hexagons":
        table = hexagons.sizes(items, predicted)
    else:
        counts = minecraft.count(items, predicted, multiple=multiple)
        (hits, extra, missed), shape = counts[:, 0].T, counts[:, minecraft.METRICS.index("shape")]
        table = np.column_stack([hits + missed, hits + extra, hits])
        same_shape = (shape[:, 0] > 0) & (shape[:, 1:] == 0).all(axis=1)
    return [Counts(task, *row) for row in table.tolist()], same_shape.tolist()
