"""The scores of ordinary requests: how many were carried out, judged on what the player itself made before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.statistics import as_pairs, ratio_intervals


def score(items: Sequence[Any], *, seed: int = 0) -> dict[str, Any]:
    """Solved requests and turns, and requests by kind, as fractions with 95% intervals over requests.

    The items are turns that were judged (`harness.everyday.judge.as_judged`). A request is solved if all its turns are.
    """
    right: dict[str, list[bool]] = defaultdict(list)
    kinds: dict[str, str] = {}
    for item in items:
        right[item.cluster].append(item.meta["solved"])
        kinds[item.cluster] = item.meta["kind"]
    solved = {name: all(turns) for name, turns in right.items()}
    of_kind: dict[str, dict[str, bool]] = defaultdict(dict)
    for name in sorted(solved, key=lambda name: kinds[name]):
        of_kind[kinds[name]][name] = solved[name]
    return {
        "requests": _share({name: [value] for name, value in solved.items()}, seed),
        "turns": _share(right, seed),
        "kinds": {kind: _share({name: [value] for name, value in few.items()}, seed) for kind, few in of_kind.items()},
    }


def _share(right: Mapping[str, Sequence[bool]], seed: int) -> dict[str, Any]:
    """{"of", "solved", "interval"}: a count, and the fraction of it that is right."""
    values = np.array([value for turns in right.values() for value in turns], float)
    clusters = [name for name, turns in right.items() for _ in turns]
    ends = ratio_intervals(values[:, None], np.ones((len(values), 1)), clusters, seed=seed)
    return {"of": len(values), "solved": float(values.mean()), "interval": as_pairs(ends, 1)[0]}
