"""One entry for both tasks: items and predictions in, the numbers of `harness score --json` out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval import hexagons, minecraft
from eval.predictions import Predictions
from harness.errors import UsageError

BENCHMARKS = ("legacy", "fair")
"""For Minecraft. legacy: the strict metrics of 2020 on all items. fair: the same items, aligned where the board is empty."""


def score(
    task: str,
    split: str,
    items: Sequence[Any],
    predictions: Predictions,
    *,
    benchmark: str = "legacy",
    rollout: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """The scores of all `items` (`hexagons.DrawingStep` or `minecraft.BuilderTurn`), as fractions.

    An item without a prediction ("missing") and one with an error ("errors") count in every denominator as empty
    predictions, and are counted. Raises UsageError where there is nothing to score and for an unknown task or benchmark.
    """
    if not items:
        raise UsageError(f"there is nothing to score: no items of {task}/{split}")
    predicted: list[Any] = [predictions.actions.get(item.id, ()) for item in items]
    ids = {item.id for item in items}
    head: dict[str, Any] = {"task": task, "split": split, "items": len(items)}
    head["missing"] = len(ids - predictions.actions.keys() - predictions.errors)
    head["errors"] = len(ids & predictions.errors)
    if task == "hexagons":
        return head | hexagons.score(items, predicted, rollout=rollout, seed=seed)
    if task != "minecraft":
        raise UsageError(f"no task named {task!r}: known: hexagons, minecraft")
    if benchmark not in BENCHMARKS:
        raise UsageError(f"no benchmark named {benchmark!r} can be computed here: choose one of {', '.join(BENCHMARKS)}")
    return {"benchmark": benchmark} | head | minecraft.score(items, predicted, fair=benchmark == "fair", seed=seed)
