"""Scores by subset: the items of a run in groups, such as levels of abstraction or numbers of actions, for every task.

The F1 and the exact match of a group are means over its items (`eval.items`): action-based for HEXAGONS, as in Tables 7 and 9 of
"Draw Me a Flower"; of net actions for Minecraft.

HEXAGONS levels of abstraction are those of Table 5. The paper labeled its dev steps but did not release the labels. The labels
here are our own, by the paper's definitions (`eval/annotations/README.md`), and every table of results by level says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from eval.annotation import LEVELS, OUR_LEVELS
from eval.items import ItemScore
from eval.statistics import Floats, mean_interval
from harness.errors import UsageError
from harness.tasks.registry import TASKS


class Grouping(NamedTuple):
    """A way to put items into groups: its name in full, and the labels in the order in which they are shown."""

    name: str
    labels: tuple[str, ...]
    note: str | None = None


_BINS = {0: "0", 1: "1", 5: "2-5", 10: "6-10", 20: "11-20", 50: "21-50"}
_MORE = "51+"
_SIZES = (*_BINS.values(), _MORE)

GROUPINGS = {
    "hexagons": {
        "level": Grouping("level of abstraction", tuple(LEVELS), OUR_LEVELS),
        "category": Grouping(
            "category",
            (
                *("simple", "bounded iteration", "conditional iteration", "conditions", "recursion", "symmetry"),
                *("composed objects", "other", "NONE"),
            ),
            "of the image; NONE: images of the second round, which have no category",
        ),
        "round": Grouping("annotation round", ("recruitment", "round I", "round II")),
        "position": Grouping("position of the step", ("only", "first", "middle", "last")),
        "actions": Grouping("gold actions", _SIZES),
    },
    "minecraft": {
        "board": Grouping("board before", ("EB", "NEB"), "EB: empty, NEB: not empty"),
        "actions": Grouping("net actions", _SIZES),
        "interpretations": Grouping(
            "interpretations",
            ("U", "M", "unclear"),
            "U: one, M: several; by the v2 benchmark's annotation, ours if it names none",
        ),
        "yaw": Grouping("yaw quadrant", ("+z", "-x", "-z", "+x"), "the axis that the builder looks along"),
        "seen": Grouping("target", ("seen", "new"), "seen: its name is in the train splits that were trained on"),
    },
    "judged": {"kind": Grouping("kind of request", (), "of turns")},
}
"""By kind of scores (`Task.scoring`), then by the name that `--by` takes. `actions` is counted here; items have the others."""


class Breakdown(NamedTuple):
    """The result of `break_down`."""

    tables: list[dict[str, Any]]
    """For each grouping {"name", "note", "groups": [{"label", "items", "f1", "em", "interval"}], "tests": {"f1", "em"}}, with
    fractions from 0 to 1. The interval is that of the F1. A test {"name", "statistic", "p"} tells whether F1 or EM differs
    between groups; None if undefined. It treats items as independent, although items of one procedure or game are not."""
    labels: dict[str, dict[str, str]]
    """By the grouping's name, the labels by item id; items without a label are missing."""


def break_down(
    task: str,
    scores: Sequence[ItemScore],
    attributes: Mapping[str, Mapping[str, str]],
    *,
    by: Iterable[str] | None = None,
) -> Breakdown:
    """The scores of some items in groups.

    `attributes` maps an item's id to its labels, such as {"category": "symmetry"}; an item without a label is in no group of
    that grouping. `by` are keys of `GROUPINGS`, in order; by default all for which some item has a label. Raises
    UsageError for a key that the task does not have, or for which no item has a label.
    """
    groupings = GROUPINGS[TASKS[task].scoring]
    result = Breakdown([], {})
    for key in groupings if by is None else by:
        if key not in groupings:
            raise UsageError(f"--by {key}: the groups of {task} are {', '.join(groupings)}")
        labels = {s.id: _bin(s.wanted) if key == "actions" else attributes.get(s.id, {}).get(key, "") for s in scores}
        labels = {item_id: label for item_id, label in labels.items() if label}
        if labels:
            result.tables.append(_table(groupings[key], labels, scores))
            result.labels[groupings[key].name] = labels
        elif by is not None:
            raise UsageError(f"--by {key}: none of these {len(scores)} items has a label for {groupings[key].name}")
    return result


def _bin(size: int) -> str:
    return next((label for most, label in _BINS.items() if size <= most), _MORE)


def find_group(tables: Iterable[Mapping[str, Any]], name: str, label: str) -> Mapping[str, Any]:
    """The numbers of a group in the tables of a `Breakdown`; empty if there is no such group."""
    groups = (group for table in tables if table["name"] == name for group in table["groups"])
    return next((group for group in groups if group["label"] == label), {})


def _table(grouping: Grouping, labels: Mapping[str, str], scores: Sequence[ItemScore]) -> dict[str, Any]:
    order = {label: place for place, label in enumerate(grouping.labels)}
    groups = []
    samples: dict[str, list[Floats]] = {"f1": [], "em": []}
    for label in sorted(set(labels.values()), key=lambda label: (order.get(label, len(order)), label)):
        members = [score for score in scores if labels.get(score.id) == label]
        samples["f1"].append(np.array([score.f1 for score in members]))
        samples["em"].append(np.array([score.exact for score in members], float))
        means = {metric: float(values[-1].mean()) for metric, values in samples.items()}
        interval = mean_interval(samples["f1"][-1], [score.cluster for score in members])
        groups.append({"label": label, "items": len(members), **means, "interval": interval})
    tests = {metric: _kruskal_wallis(values) for metric, values in samples.items()}
    return {"name": grouping.name, "note": grouping.note, "groups": groups, "tests": tests}


def _kruskal_wallis(samples: Sequence[Floats]) -> dict[str, Any] | None:
    """The result of the test; None for fewer than two groups, and if all values are equal."""
    if len(samples) < 2 or np.ptp(np.concatenate(samples)) == 0:
        return None
    from scipy.stats import kruskal

    result = kruskal(*samples)
    return {"name": "Kruskal-Wallis", "statistic": float(result.statistic), "p": float(result.pvalue)}
