"""The IGLU competition's F1: the best overlap of two whole structures over horizontal shifts and quarter turns.

The target is turned about the vertical axis and shifted along the ground in every way that keeps all of it in the build region;
the blocks that it then has in common with what was built, in cell and color, are counted, and the largest such count is the
maximal intersection. Precision is its share of what was built, recall its share of the target. Blocks that stood there before
count like all others, so doing nothing scores well where little is asked for: `unchanged` says how well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.metrics.alignment import align, net_actions
from eval.metrics.minecraft import BuilderTurn
from eval.statistics import Floats, as_pairs, ratio_intervals
from harness.worlds.minecraft import SHAPE, Action, Structure


def overlap_scores(items: Sequence[BuilderTurn], predicted: Sequence[Sequence[Action]], *, seed: int = 0) -> dict[str, Any]:
    """Means over items, as fractions: f1, precision, recall; `unchanged`, the F1 of doing nothing; `interval`, of f1."""
    reached = [item.before.apply(actions).structure for item, actions in zip(items, predicted, strict=True)]
    target = [item.after for item in items]
    precision, recall, f1 = _each(reached, target)
    unchanged = _each([item.before for item in items], target)[2]
    ends = ratio_intervals(f1[:, None], np.ones((len(items), 1)), [item.cluster for item in items], seed=seed)
    means = {"f1": f1.mean(), "precision": precision.mean(), "recall": recall.mean(), "unchanged": unchanged.mean()}
    return {**{name: float(value) for name, value in means.items()}, "interval": as_pairs(ends, 1)[0]}


def _each(built: Sequence[Structure], target: Sequence[Structure]) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F1 of each item; a share of nothing is 1 where both are nothing, else 0."""
    nothing = np.zeros((len(built), *SHAPE), np.uint8)
    cells = [np.stack([structure.cells for structure in structures]) for structures in (built, target)]
    # The target moves: none of it may leave the region, while of what was built some may be cut off.
    common, _ = align(net_actions(nothing, cells[1]), net_actions(nothing, cells[0]), len(built))
    made, wanted = ((of > 0).sum(axis=(1, 2, 3)) for of in cells)
    both = np.maximum(common, 0)
    return _share(both, made, wanted), _share(both, wanted, made), _share(2 * both, made + wanted, made)


def _share(part: npt.NDArray[Any], whole: npt.NDArray[Any], other: npt.NDArray[Any]) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), (other == 0).astype(float))
