from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from eval.statistics import ratio_intervals


def test_agrees_with_scipy_on_a_ratio_of_sums() -> None:
    random = np.random.default_rng(5)
    above, below = random.integers(0, 5, 60).astype(float), random.integers(5, 9, 60).astype(float)
    (ours,) = ratio_intervals(above[:, None], below[:, None], [str(i) for i in range(60)])
    theirs = bootstrap(
        (above, below),
        lambda a, b, axis: a.sum(axis) / b.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.005)


def test_a_resample_with_nothing_to_divide_by_counts_as_zero() -> None:
    assert ratio_intervals(np.array([[1.0], [0.0]]), np.array([[1.0], [0.0]]), ["a", "b"]) == [[0.0, 1.0]]


def test_one_cluster_has_no_interval() -> None:
    assert ratio_intervals(np.ones((3, 2)), np.ones((3, 2)), ["a"] * 3) == [None, None]
