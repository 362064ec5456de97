"""Confidence intervals by the cluster bootstrap: items of one drawing procedure or one game are not independent.

Every number the harness prints is a ratio of sums over items (a mean over items is one too), so one function serves all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RESAMPLES = 10_000
LEVEL = 0.95


def cluster_sums(values: Floats, clusters: Sequence[str]) -> Floats:
    """Sums of the rows of `values`, shape (items, k), by cluster: shape (clusters, k), in order of first appearance."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    sums = np.zeros((len(numbers), values.shape[1]))
    np.add.at(sums, [numbers[name] for name in clusters], values)
    return sums


def ratio_intervals(
    numerators: Floats, denominators: Floats, clusters: Sequence[str], *, seed: int = 0, resamples: int = RESAMPLES
) -> Floats | None:
    """95% percentile intervals of k ratios sum(numerators) / sum(denominators), resampling whole clusters.

    Both arrays have shape (items, k); `clusters` names the cluster of each item. Returns shape (2, k), lower and upper ends,
    the same for the same seed. A resample with a denominator of 0 counts as 0, as F1 does with nothing predicted and nothing
    to predict. None for fewer than two clusters, which tell nothing about how clusters vary.
    """
    width = numerators.shape[1]
    sums = cluster_sums(np.hstack([numerators, denominators]), clusters)
    if len(sums) < 2:
        return None
    drawn = np.random.default_rng(seed).integers(len(sums), size=(resamples, len(sums)))
    drawn += np.arange(resamples)[:, None] * len(sums)
    times = np.bincount(drawn.ravel(), minlength=resamples * len(sums)).reshape(resamples, len(sums))
    totals = times @ sums
    above, below = totals[:, :width], totals[:, width:]
    ratios = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    tail = (1 - LEVEL) / 2
    ends: Floats = np.quantile(ratios, [tail, 1 - tail], axis=0)
    return ends


def as_pairs(ends: Floats | None, count: int) -> list[list[float] | None]:
    """The k intervals as [lower, upper] for JSON, `count` times None where there are none."""
    return [None] * count if ends is None else [[float(low), float(high)] for low, high in ends.T]
