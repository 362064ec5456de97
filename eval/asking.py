"""Act or ask: a model should act on clear instructions and ask back about unclear ones (IGLU's, `harness data items iglu --ask`).

A model asks if it does nothing: it answers "none", or a question. If its answers have a certainty, it also asks below a
threshold. Precision and recall of asking are over instructions. Its acting is measured by the strict micro F1 on the clear ones,
where an instruction that it asks about counts as an empty prediction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

import numpy as np
from rich.console import Console

from eval.items import sizes
from eval.score_run import Answers
from eval.statistics import ratio, ratio_intervals
from eval.tables import Percentage, numbers_table
from harness.errors import UsageError

STEPS = 20
"""The number of thresholds that are tried, which are quantiles of the certainty."""


def certainty(record: Mapping[str, Any]) -> float | None:
    """How sure a model is of an answer, 0..1: the likelihood per token of its likeliest sample (taken to have the samples' mean
    length), otherwise its recorded confidence, otherwise None."""
    told, tokens = record.get("logprobs"), record.get("completion_tokens")
    if isinstance(told, list) and told and isinstance(tokens, int) and tokens:
        return exp(max(float(value) for value in told) * len(told) / tokens)
    value = record.get("confidence")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def score_asking(answers: Answers, below: float | None = None, *, seed: int = 0) -> dict[str, Any]:
    """The scores as `harness score --benchmark ask --json` prints them; with `below`, the model also asks below that certainty.

    Without `below`, if answers have a certainty, "thresholds" has the scores at several thresholds, and "best" is the threshold
    with the largest sum of both F1. Raises UsageError unless some items are clear and some unclear, and for `below` without any
    certainty.
    """
    items = [item for item in answers.items if answers.only is None or item.id in answers.only]
    unclear = np.array(["question" in item.meta for item in items], bool)
    if not unclear.any() or unclear.all():
        raise UsageError(
            f"{answers.name}: --benchmark ask needs clear and unclear instructions: "
            "`harness data items iglu --split S --ask` prints both"
        )
    sure = [certainty(answers.records.get(item.id, {})) for item in items]
    if below is not None and all(value is None for value in sure):
        raise UsageError(f"--ask-below {below:g}: the answers of {answers.name} have no confidence")
    predicted = [answers.predictions.actions.get(item.id, ()) for item in items]
    counted = _Counted(items, unclear, predicted, [1.0 if value is None else value for value in sure], seed)
    result = {
        "task": answers.task,
        "split": answers.split,
        "benchmark": "ask",
        "clear": int((~unclear).sum()),
        "unclear": int(unclear.sum()),
        "below": below,
        **counted.scores(below or 0.0),
    }
    known = sorted({value for value in sure if value is not None})
    if below is None and known:
        tried = sorted({known[len(known) * n // STEPS] for n in range(STEPS)})
        rows = [{"below": value, **counted.scores(value)} for value in tried]
        result["thresholds"] = rows
        result["best"] = max(rows, key=lambda row: row["ask"]["f1"] + row["act"]["f1"])["below"]
    return result


class _Counted:
    """The answers of some items as arrays."""

    def __init__(
        self, items: Sequence[Any], unclear: Any, predicted: Sequence[Sequence[Any]], sure: Sequence[float], seed: int
    ) -> None:
        self.unclear, self.sure, self.seed = unclear, np.array(sure), seed
        self.silent = np.array([not actions for actions in predicted], bool)
        self.sizes = np.array([[size.wanted, size.made, size.hits] for size in sizes("minecraft", items, predicted)], float)
        self.clusters = [item.cluster for item in items]

    def scores(self, below: float) -> dict[str, Any]:
        asked = self.silent | (self.sure < below)
        wanted, made, hits = self.sizes[~self.unclear].T * np.where(asked, 0, 1)[~self.unclear][None]
        wanted = self.sizes[~self.unclear, 0]
        right = asked & self.unclear
        each = np.column_stack([2.0 * right, asked + 1.0 * self.unclear])
        ends = ratio_intervals(each[:, :1], each[:, 1:], self.clusters, seed=self.seed)
        precision, recall = ratio(right.sum(), asked.sum()), ratio(right.sum(), self.unclear.sum())
        of_clear = [cluster for cluster, one in zip(self.clusters, self.unclear, strict=True) if not one]
        acting = ratio_intervals(2 * hits[:, None], (wanted + made)[:, None], of_clear, seed=self.seed)
        ask = {"precision": precision, "recall": recall, "f1": ratio(2 * right.sum(), asked.sum() + self.unclear.sum())}
        act = {"precision": ratio(hits.sum(), made.sum()), "recall": ratio(hits.sum(), wanted.sum())}
        return {
            "asked": int(asked.sum()),
            "ask": {**ask, "interval": ends[0]},
            "act": {**act, "f1": ratio(2 * hits.sum(), made.sum() + wanted.sum()), "interval": acting[0]},
        }


def print_asking(scores: Mapping[str, Any]) -> None:
    """The scores as a table in percent."""
    caption = "Percent [95% interval over games]. Acting: strict micro F1 on the clear ones; asking counts as doing nothing."
    rows: list[tuple[object, ...]] = []
    for row in (scores, *scores.get("thresholds", ())):
        ask, act, below = row["ask"], row["act"], row["below"]
        name = "only if it does nothing" if below is None else f"{below:.3f}"
        best = " (best)" if below is not None and below == scores.get("best") else ""
        cells = (
            Percentage(ask["f1"], ask["interval"]),
            Percentage(ask["precision"]),
            Percentage(ask["recall"]),
            Percentage(act["f1"], act["interval"]),
        )
        rows.append((name + best, f"{row['asked']:,}", *cells))
    table = numbers_table("asks below", "asked", "asking F1", "P", "R", "acting F1", rows=rows, caption=caption)
    console = Console()
    counts = f"{scores['clear']:,} clear and {scores['unclear']:,} unclear instructions"
    console.print(f"{scores['task']}/{scores['split']}, ask benchmark: {counts}")
    console.print(table)
