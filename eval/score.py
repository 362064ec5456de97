"""One entry for all tasks: items and predictions in, the numbers of `harness score --json` out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np

from eval.errors import OFF_THE_BOARD
from eval.metrics import hexagons, minecraft
from eval.predictions import Predictions
from eval.statistics import mean_interval
from harness.errors import UsageError
from harness.tasks.registry import TASKS
from harness.worlds.hexagons import Paint, on_board
from harness.worlds.minecraft import Action, in_region

BENCHMARKS = ("legacy", "fair", "v2")
"""For Minecraft. legacy: the strict metrics of 2020 on all items. fair: the same items, aligned if the board is empty.
v2: the clean test set, aligned if the annotation says that several interpretations are right."""


class Chosen(NamedTuple):
    """What is scored: items (`HexagonsItem` or `MinecraftItem`) with a benchmark's gold states."""

    items: Sequence[Any]
    multiple: Set[str] = frozenset()
    """The ids of the Minecraft items that allow several interpretations."""
    benchmark: str = "legacy"
    annotation: str | None = None
    """Whose annotation chose the items and says which allow several interpretations; None if no annotation did."""


def score(task: str, split: str, chosen: Chosen, predictions: Predictions, *, rollout: bool = False) -> dict[str, Any]:
    """The scores of items of a split, as fractions.

    With an annotation, items with one and with several interpretations are also scored apart. An item without a prediction
    ("missing") and one with an error ("errors") count in every denominator as empty predictions, and are counted. Actions off the
    board or outside the build region do nothing and are counted ("off_board"), together with those that a parser left out of the
    text. Raises UsageError if there is nothing to score and for an unknown task.
    """
    items, multiple, benchmark, annotation = chosen
    if not items:
        raise UsageError(f"there is nothing to score: no items of {task}/{split}")
    ids = {item.id for item in items}
    head: dict[str, Any] = {"task": task, "split": split, "items": len(ids)}
    head["missing"] = len(ids - predictions.actions.keys() - predictions.errors)
    head["errors"] = len(ids & predictions.errors)
    predicted: list[Any] = [predictions.actions.get(item.id, ()) for item in items]
    left_out = (reason for item_id in ids for _, reason in predictions.discarded.get(item_id, ()))
    tail = {"off_board": _off_board(predicted) + sum(reason.endswith(OFF_THE_BOARD) for reason in left_out)}
    its = TASKS[task]
    more = {key: resolve_name(made)(items, predicted) for key, made in its.scores.items()}
    if its.judged:
        return head | _requests(items) | more | tail
    if its.world == "hexagons":
        return head | hexagons.score(items, predicted, rollout=rollout) | more | tail
    named = {"benchmark": benchmark} | ({"annotation": annotation} if annotation else {})
    interpretations = {"U": ids - multiple, "M": multiple} if annotation else {}
    scores = minecraft.score(items, predicted, multiple=multiple, subsets=interpretations)
    return named | head | scores | more | tail


def _off_board(predicted: Sequence[Sequence[Paint | Action]]) -> int:
    """How many of the actions are off the board or outside the build region."""
    actions = (action for one in predicted for action in one)
    return sum(not (on_board(*a.tile) if isinstance(a, Paint) else in_region(*a.cell)) for a in actions)


def _requests(items: Sequence[Any]) -> dict[str, Any]:
    """Solved requests and turns, and requests by kind, as fractions with 95% intervals over requests.

    The items are turns that were judged on what the player itself made before (`harness.everyday.judge.as_judged`). A request is
    solved if all its turns are.
    """
    right: dict[str, list[bool]] = defaultdict(list)
    kinds: dict[str, dict[str, None]] = defaultdict(dict)
    for item in items:
        right[item.cluster].append(item.meta["solved"])
        kinds[item.meta["kind"]][item.cluster] = None
    solved = {name: [all(turns)] for name, turns in right.items()}
    return {
        "requests": _solved(solved),
        "turns": _solved(right),
        "kinds": {kind: _solved({name: solved[name] for name in kinds[kind]}) for kind in sorted(kinds)},
    }


def _solved(right: Mapping[str, Sequence[bool]]) -> dict[str, Any]:
    """{"of", "solved", "interval"}: a count, and the fraction of it that is right, with its 95% interval."""
    values = np.array([value for turns in right.values() for value in turns], float)
    clusters = [name for name, turns in right.items() for _ in turns]
    return {"of": len(values), "solved": float(values.mean()), "interval": mean_interval(values, clusters)}
