"""What several sampled answers to an item say: pass@k, and how much the scores differ from sample to sample."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from scipy.special import comb

from eval.items import sizes
from eval.score import Chosen
from eval.statistics import Floats, mean_interval, ratio, ratio_intervals, ratios
from harness.corpora.item import Item
from harness.tasks.registry import TASKS, world_of
from serialization.formats import get_format
from serialization.pose import read_in_frame


def sample_scores(chosen: Chosen, records: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The scores of a run's samples, as fractions; None if the run drew one answer an item, and for judged tasks, whose turns
    start from one answer.

    `records` are the run's lines by item id and `settings` those of its run.yaml. "pass" has, by k, the share of items that one
    of k samples answers exactly, estimated without bias from all samples of an item (Chen et al. 2021), with its 95% interval.
    "f1" and "em" have the mean over samples, its interval, and the standard deviation over samples of the whole set's score.
    A sample that is missing counts as an empty answer.
    """
    items, multiple = chosen.items, chosen.multiple
    texts = [records.get(item.id, {}).get("samples", ()) for item in items]
    drawn = max(map(len, texts), default=0)
    if drawn < 2 or TASKS[items[0].task].judged:
        return None
    each = [_changes(items, [of[n] if n < len(of) else None for of in texts], settings, multiple) for n in range(drawn)]
    hits, both, exact = (np.array([[row[column] for row in one] for one in each], float) for column in range(3))
    # Minecraft's F1 is that of all changes, HEXAGONS' the mean over steps.
    above, below = (hits, both) if world_of(items[0].task) == "minecraft" else (ratios(hits, both, nothing=1), np.ones_like(hits))
    clusters = [item.cluster for item in items]
    wrong = drawn - exact.sum(axis=0)
    passed = {k: 1 - comb(wrong, k) / comb(drawn, k) for k in sorted({1, 2, 4, 8, 16, 32, drawn}) if k <= drawn}
    return {
        "drawn": drawn,
        "pass": {str(k): {"value": float(of.mean()), "interval": mean_interval(of, clusters)} for k, of in passed.items()},
        "f1": _spread(above, below, clusters),
        "em": _spread(exact, np.ones_like(exact), clusters),
    }


def _changes(
    items: Sequence[Item], texts: Sequence[str | None], settings: Mapping[str, Any], multiple: Set[str]
) -> list[tuple[int, int, bool]]:
    """For one sample of each item: twice the right changes, the changes of gold and answer, and whether it is exact."""
    fmt, frame = get_format(items[0].task, settings["format"]), settings.get("frame", "world")
    pairs = zip(items, texts, strict=True)
    predicted = [() if text is None else read_in_frame(text, item, fmt, frame).actions for item, text in pairs]
    return [(2 * of.hits, of.wanted + of.made, of.exact) for of in sizes(items[0].task, items, predicted, multiple)]


def _spread(above: Floats, below: Floats, clusters: Sequence[str]) -> dict[str, Any]:
    """The ratio of two sums over all samples with its interval, and the ratios' standard deviation. Shapes (samples, items)."""
    together = above.sum(axis=0)[:, None], below.sum(axis=0)[:, None]
    deviation = float(ratios(above.sum(axis=1), below.sum(axis=1)).std(ddof=1))
    return {"mean": ratio(*together), "interval": ratio_intervals(*together, clusters)[0], "deviation": deviation}
