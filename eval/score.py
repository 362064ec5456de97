"""One entry for all tasks: items and predictions in, the numbers of `harness score --json` out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np

from eval.annotation import Annotation, clean_set
from eval.metrics import hexagons, minecraft
from eval.predictions import Predictions
from eval.statistics import mean_interval
from harness.errors import UsageError
from harness.tasks.registry import get_task
from harness.worlds.hexagons import Paint, on_board
from harness.worlds.minecraft import Action, in_region

BENCHMARKS = ("legacy", "fair", "v2")
"""For Minecraft. legacy: the strict metrics of 2020 on all items. fair: the same items, aligned if the board is empty.
v2: the clean test set, aligned if the annotation says that several interpretations are right."""


def score(
    task: str,
    split: str,
    items: Sequence[Any],
    predictions: Predictions,
    *,
    benchmark: str = "legacy",
    annotation: Annotation | None = None,
    only: Set[str] | None = None,
    discarded: Mapping[str, int] | None = None,
    rollout: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """The scores of the `items` of a split (`HexagonsItem` or `MinecraftItem`), as fractions.

    `only` restricts them to some ids. An item without a prediction ("missing") and one with an error ("errors") count in
    every denominator as empty predictions, and are counted. Actions off the board or outside the build region do nothing and
    are counted ("off_board"), together with those that a parser left out of the text: `discarded` has their number by item id.
    The v2 benchmark needs the annotation of the whole split and scores its clean test set. Raises UsageError if there is
    nothing to score and for an unknown task.
    """
    chosen = choose_items(items, benchmark, annotation, only)
    if not chosen.items:
        raise UsageError(f"there is nothing to score: no items of {task}/{split}")
    ids = {item.id for item in chosen.items}
    head: dict[str, Any] = {"task": task, "split": split, "items": len(ids)}
    head["missing"] = len(ids - predictions.actions.keys() - predictions.errors)
    head["errors"] = len(ids & predictions.errors)
    predicted: list[Any] = [predictions.actions.get(item.id, ()) for item in chosen.items]
    tail = {"off_board": _off_board(predicted) + sum(count for item, count in (discarded or {}).items() if item in ids)}
    its = get_task(task)
    more = {key: resolve_name(made)(chosen.items, predicted, seed=seed) for key, made in its.scores.items()}
    if its.judged:
        return head | _requests(chosen.items, seed) | more | tail
    if its.world == "hexagons":
        return head | hexagons.score(chosen.items, predicted, rollout=rollout, seed=seed) | more | tail
    named = {"benchmark": benchmark} | ({"annotation": annotation.name} if annotation else {})
    interpretations = {"U": ids - chosen.multiple, "M": chosen.multiple} if annotation else {}
    scores = minecraft.score(chosen.items, predicted, multiple=chosen.multiple, subsets=interpretations, seed=seed)
    return named | head | scores | more | tail


def _off_board(predicted: Sequence[Sequence[Paint | Action]]) -> int:
    """How many of the actions are off the board or outside the build region."""
    actions = (action for one in predicted for action in one)
    return sum(not (on_board(*a.tile) if isinstance(a, Paint) else in_region(*a.cell)) for a in actions)


class Chosen(NamedTuple):
    """What a benchmark scores: the items, with its gold states, and the ids that allow several interpretations."""

    items: Sequence[Any]
    multiple: Set[str] = frozenset()


def choose_items(items: Sequence[Any], benchmark: str, annotation: Annotation | None, only: Set[str] | None) -> Chosen:
    """The items of a split that a benchmark scores, with `only` restricted to these ids; an annotation makes it v2."""
    multiple: Set[str] = frozenset()
    if annotation is not None:
        # Before the selection: the repair of an item looks at those after it.
        items, multiple = clean_set(items, annotation)
    elif benchmark == "fair":
        multiple = minecraft.empty_boards(items)
    return Chosen([item for item in items if only is None or item.id in only], multiple)


def _requests(items: Sequence[Any], seed: int) -> dict[str, Any]:
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
        "requests": _solved(solved, seed),
        "turns": _solved(right, seed),
        "kinds": {kind: _solved({name: solved[name] for name in kinds[kind]}, seed) for kind in sorted(kinds)},
    }


def _solved(right: Mapping[str, Sequence[bool]], seed: int) -> dict[str, Any]:
    """{"of", "solved", "interval"}: a count, and the fraction of it that is right, with its 95% interval."""
    values = np.array([value for turns in right.values() for value in turns], float)
    clusters = [name for name, turns in right.items() for _ in turns]
    return {"of": len(values), "solved": float(values.mean()), "interval": mean_interval(values, clusters, seed=seed)}
