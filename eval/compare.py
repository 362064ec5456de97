"""Two or more runs over the same items: differences with intervals, tests and effect sizes, and where they differ.

Everything is paired: the same items, resampled and permuted by whole clusters (drawing procedures, games).
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.items import ItemScore
from eval.metrics.hexagons import longest
from eval.statistics import Floats, cluster_sums, difference_interval, holm, permutation_p, ratio
from harness.tasks.registry import TASKS

WITHOUT_LONGEST = "_without_longest"
"""Suffix of metrics without the longest drawing procedures (`eval.metrics.hexagons.longest`)."""
METRICS = {
    "hexagons": ("f1", "em", f"f1{WITHOUT_LONGEST}", f"em{WITHOUT_LONGEST}"),
    "minecraft": ("micro_f1", "macro_f1", "em"),
    "judged": ("turns",),
}
"""The compared numbers by kind of scores (`Task.scoring`), the leading one first. f1 is a mean over steps, turns the share of
right turns."""
LABELS = {"f1": "F1", "em": "EM", "micro_f1": "micro F1", "macro_f1": "macro F1", "turns": "turns solved"}
LABELS |= {f"{metric}{WITHOUT_LONGEST}": f"{LABELS[metric]} without longest" for metric in ("f1", "em")}
"""The names of these numbers in tables."""


def compare_runs(task: str, runs: Mapping[str, Sequence[ItemScore]], *, changed: int = 10) -> dict[str, Any]:
    """Compares every pair of runs, each given as the scores of the same items in the same order. Numbers are fractions.

    A pair has, for each metric, the difference a - b with its 95% interval (paired cluster bootstrap), a p-value (permutation
    test), the same after Holm's correction over all pairs of that metric, and the effect size (mean over standard deviation
    of the clusters' differences of item scores; None if they do not vary); then wins, losses and ties item by item in F1,
    and the `changed` items that differ most, the largest difference first. HEXAGONS metrics that end in `WITHOUT_LONGEST` leave
    out the longest procedures; if no items remain, these metrics are missing.
    """
    first = next(iter(runs.values()))
    left_out = longest([score.cluster for score in first])
    pairs: list[dict[str, Any]] = []
    means: dict[str, dict[str, float]] = {name: {} for name in runs}
    for metric in METRICS[TASKS[task].scoring]:
        short = metric.endswith(WITHOUT_LONGEST)
        scored = {name: [score for score in scores if not (short and score.cluster in left_out)] for name, scores in runs.items()}
        if not next(iter(scored.values())):
            continue
        pairs += _pairs(scored, metric, changed)
        for name, scores in scored.items():
            means[name][metric] = ratio(*_fractions(scores, metric))
    counts = {"items": len(first), "clusters": len({score.cluster for score in first})}
    return {"task": task, **counts, "runs": list(runs), "scores": means, "pairs": pairs}


def _pairs(runs: Mapping[str, Sequence[ItemScore]], metric: str, changed: int) -> list[dict[str, Any]]:
    """Every pair of runs in one metric, with Holm's correction over the pairs."""
    clusters = [score.cluster for score in next(iter(runs.values()))]
    fractions = {name: _fractions(scores, metric) for name, scores in runs.items()}
    pairs = []
    for a, b in itertools.combinations(runs, 2):
        numerators, denominators = (np.column_stack([fractions[a][part], fractions[b][part]]) for part in (0, 1))
        tests = {
            "difference": ratio(*fractions[a]) - ratio(*fractions[b]),
            "interval": difference_interval(numerators, denominators, clusters),
            "p": permutation_p(numerators, denominators, clusters),
            "effect": _effect(_item_values(runs[a], metric) - _item_values(runs[b], metric), clusters),
        }
        pairs.append({"a": a, "b": b, "metric": metric, **tests, **_wins(runs[a], runs[b], changed)})
    for pair, corrected in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        pair["p_holm"] = corrected
    return pairs


def _fractions(scores: Sequence[ItemScore], metric: str) -> tuple[Floats, Floats]:
    """Numerators and denominators by item, whose sums give the metric."""
    if metric == "micro_f1":
        return np.array([2.0 * s.hits for s in scores]), np.array([float(s.wanted + s.made) for s in scores])
    return _item_values(scores, metric), np.ones(len(scores))


def _item_values(scores: Sequence[ItemScore], metric: str) -> Floats:
    return np.array([float(s.exact) if metric.startswith("em") else s.f1 for s in scores])


def _effect(differences: Floats, clusters: Sequence[str]) -> float | None:
    """Cohen's d for paired samples, a cluster's mean difference being one sample."""
    sums = cluster_sums(np.column_stack([differences, np.ones(len(differences))]), clusters)
    means = sums[:, 0] / sums[:, 1]
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return float(means.mean()) / spread if spread else None


def _wins(a: Sequence[ItemScore], b: Sequence[ItemScore], changed: int) -> dict[str, Any]:
    differences = [one.f1 - other.f1 for one, other in zip(a, b, strict=True)]
    order = sorted(range(len(a)), key=lambda n: -abs(differences[n]))
    return {
        "wins": sum(d > 0 for d in differences),
        "losses": sum(d < 0 for d in differences),
        "ties": sum(d == 0 for d in differences),
        "changed": [a[n].id for n in order[:changed] if differences[n]],
    }
