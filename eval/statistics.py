"""Confidence intervals by the cluster bootstrap: items of one drawing procedure or one game are not independent.

Every number the harness prints is a ratio of sums over items (a mean over items is one too), so one function serves all.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Interval = list[float] | None
"""The lower and the upper end."""

SEED = 0
RESAMPLES = 10_000
LEVEL = 0.95


class Percentage(NamedTuple):
    """A fraction that is shown in percent, and its 95% interval if it has one."""

    value: float | None
    interval: Sequence[float] | None = None

    def __format__(self, sign: str) -> str:
        """In percent, with the ends of the interval; if `sign` is "+", positive numbers have a sign."""
        low_high = [f"{100 * end:{sign}.1f}" for end in self.interval or ()]
        ends = f" [{', '.join(low_high)}]" if low_high else ""
        return "" if self.value is None else f"{100 * self.value:{sign}.2f}{ends}"

    def __str__(self) -> str:
        return format(self)


def cluster_sums(values: Floats, clusters: Sequence[str]) -> Floats:
    """Sums of the rows of `values`, shape (items, k), by cluster: shape (clusters, k), in order of first appearance."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    sums = np.zeros((len(numbers), values.shape[1]))
    np.add.at(sums, [numbers[name] for name in clusters], values)
    return sums


def ratio(above: Any, below: Any) -> float:
    """The ratio of two sums, of numbers or arrays; 0 if the denominator is 0."""
    whole = np.sum(below)
    return float(np.sum(above) / whole) if whole else 0.0


def _resampled_ratios(numerators: Floats, denominators: Floats, clusters: Sequence[str]) -> Floats | None:
    """k ratios of sums in each resample of whole clusters, shape (RESAMPLES, k); None for fewer than two clusters."""
    width = numerators.shape[1]
    sums = cluster_sums(np.hstack([numerators, denominators]), clusters)
    if len(sums) < 2:
        return None
    drawn = np.random.default_rng(SEED).integers(len(sums), size=(RESAMPLES, len(sums)))
    drawn += np.arange(RESAMPLES)[:, None] * len(sums)
    times = np.bincount(drawn.ravel(), minlength=RESAMPLES * len(sums)).reshape(RESAMPLES, len(sums))
    totals = times @ sums
    return ratios(totals[:, :width], totals[:, width:])


def ratios(above: npt.NDArray[Any], below: npt.NDArray[Any], nothing: float = 0) -> Floats:
    """Elementwise ratios of two arrays of one shape; `nothing` where the denominator is 0."""
    made: Floats = np.divide(above, below, out=np.full(above.shape, float(nothing)), where=below > 0)
    return made


def _interval(values: Floats) -> list[float]:
    tail = (1 - LEVEL) / 2
    ends: list[float] = np.quantile(values, [tail, 1 - tail]).tolist()
    return ends


def ratio_intervals(numerators: Floats, denominators: Floats, clusters: Sequence[str]) -> list[Interval]:
    """95% percentile intervals of k ratios sum(numerators) / sum(denominators), resampling whole clusters.

    Both arrays have shape (items, k); `clusters` names the cluster of each item. A
    resample with a denominator of 0 counts as 0, as F1 does with nothing predicted and nothing to predict. None for fewer than
    two clusters, which tell nothing about how clusters vary.
    """
    drawn = _resampled_ratios(numerators, denominators, clusters)
    return [None] * numerators.shape[1] if drawn is None else [_interval(column) for column in drawn.T]


def mean_interval(values: Floats, clusters: Sequence[str]) -> Interval:
    """The 95% interval of the mean of `values`, shape (items,), resampling whole clusters; None for fewer than two."""
    return ratio_intervals(values[:, None], np.ones((len(values), 1)), clusters)[0]


def difference_interval(numerators: Floats, denominators: Floats, clusters: Sequence[str]) -> Interval:
    """95% percentile interval of the difference of two ratios over the same items: the paired cluster bootstrap.

    Both arrays have shape (items, 2), a column for each of the two. None for fewer than two clusters.
    """
    drawn = _resampled_ratios(numerators, denominators, clusters)
    return None if drawn is None else _interval(drawn[:, 0] - drawn[:, 1])


def permutation_p(numerators: Floats, denominators: Floats, clusters: Sequence[str]) -> float:
    """Two-sided p-value of a difference of two ratios over the same items, exchanging the two within whole clusters.

    Arrays as for `difference_interval`. Exact if all exchanges can be tried, otherwise from random exchanges; 1 for fewer than
    two clusters.
    """
    from scipy.stats import permutation_test

    sums = cluster_sums(np.hstack([numerators, denominators]), clusters)
    # Both systems' clusters stacked: scipy permutes indices, and each stands for a numerator and a denominator.
    both = np.concatenate([sums[:, [0, 2]], sums[:, [1, 3]]])

    def difference(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], axis: int = -1) -> Floats:
        one, other = both[first].sum(axis=-2), both[second].sum(axis=-2)
        return ratios(one[..., 0], one[..., 1]) - ratios(other[..., 0], other[..., 1])

    indices = np.arange(len(sums))
    if len(sums) < 2:
        return 1.0
    tested = permutation_test(
        (indices, indices + len(sums)),
        difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=1000,
        rng=np.random.default_rng(SEED),
    )
    return float(min(1.0, tested.pvalue))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for testing all of them (Holm 1979)."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(order))
    corrected[order] = np.maximum.accumulate(np.sort(p_values) * np.arange(len(order), 0, -1)).clip(max=1)
    return [float(p) for p in corrected]
