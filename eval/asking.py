"""Act or ask: a model should act on clear instructions and ask back about unclear ones (IGLU's, `harness data items iglu --ask`).

A model asks if it does nothing: it answers "none", or a question. If its answers have a certainty, it also asks below a
threshold. Precision and recall of asking are over instructions. Its acting is measured by the strict micro F1 on the clear ones,
where an instruction that it asks about counts as an empty prediction.
"""

from collections.abc import Mapping
from math import exp
from typing import Any

import numpy as np
from rich.console import Console

from eval.answers import Answers
from eval.items import sizes
from eval.printing import numbers_table
from eval.statistics import Percentage, ratio, ratio_intervals
from harness.errors import UsageError

STEPS = 20
"""The number of thresholds that are tried, which are quantiles of the certainty."""


def certainty(record: Mapping[str, Any]) -> float | None:
    """How sure a model is of an answer, 0..1: the likelihood per token of its likeliest sample (taken to have the samples' mean
    length), otherwise its recorded confidence, otherwise None."""
    logprobs, tokens = record.get("logprobs"), record.get("completion_tokens")
    if isinstance(logprobs, list) and logprobs and isinstance(tokens, int) and tokens:
        return exp(max(float(value) for value in logprobs) * len(logprobs) / tokens)
    value = record.get("confidence")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def score_asking(answers: Answers, below: float | None = None) -> dict[str, Any]:
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
    known = [certainty(answers.records.get(item.id, {})) for item in items]
    if below is not None and all(value is None for value in known):
        raise UsageError(f"--ask-below {below:g}: the answers of {answers.name} have no confidence")
    predicted = [answers.predictions.actions.get(item.id, ()) for item in items]
    sure = np.array([1.0 if value is None else value for value in known])
    silent = np.array([not actions for actions in predicted], bool)
    counts = np.array([[size.wanted, size.made, size.hits] for size in sizes("minecraft", items, predicted)], float)
    clusters = np.array([item.cluster for item in items])

    def scored(threshold: float) -> dict[str, Any]:
        asks = silent | (sure < threshold)
        right, total = asks & unclear, asks * 1.0 + unclear
        ask = {"precision": ratio(right, asks), "recall": ratio(right, unclear), "f1": ratio(2 * right, total)}
        (ask_ends,) = ratio_intervals(2.0 * right[:, None], total[:, None], clusters.tolist())
        wanted, made, hits = (counts * np.column_stack([np.ones(len(items)), ~asks, ~asks]))[~unclear].T
        act = {"precision": ratio(hits, made), "recall": ratio(hits, wanted), "f1": ratio(2 * hits, made + wanted)}
        (act_ends,) = ratio_intervals(2 * hits[:, None], (wanted + made)[:, None], clusters[~unclear].tolist())
        return {"asked": int(asks.sum()), "ask": {**ask, "interval": ask_ends}, "act": {**act, "interval": act_ends}}

    result: dict[str, Any] = {"task": answers.task, "split": answers.split, "benchmark": "ask"}
    result |= {"clear": int((~unclear).sum()), "unclear": int(unclear.sum()), "below": below, **scored(below or 0.0)}
    values = sorted({value for value in known if value is not None})
    if below is None and values:
        tried = sorted({values[len(values) * n // STEPS] for n in range(STEPS)})
        result["thresholds"] = rows = [{"below": value, **scored(value)} for value in tried]
        result["best"] = max(rows, key=lambda row: row["ask"]["f1"] + row["act"]["f1"])["below"]
    return result


def print_asking(scores: Mapping[str, Any]) -> None:
    """The scores as a table in percent."""
    rows: list[tuple[object, ...]] = []
    for row in (scores, *scores.get("thresholds", ())):
        ask, act, below = row["ask"], row["act"], row["below"]
        name = "only if it does nothing" if below is None else f"{below:.3f}"
        best = " (best)" if below is not None and below == scores.get("best") else ""
        asking = (Percentage(ask["f1"], ask["interval"]), Percentage(ask["precision"]), Percentage(ask["recall"]))
        rows.append((name + best, f"{row['asked']:,}", *asking, Percentage(act["f1"], act["interval"])))
    caption = "Percent [95% interval over games]. Acting: strict micro F1 on the clear ones; asking counts as doing nothing."
    table = numbers_table("asks below", "asked", "asking F1", "P", "R", "acting F1", rows=rows, caption=caption)
    counts = f"{scores['clear']:,} clear and {scores['unclear']:,} unclear instructions"
    Console().print(f"{scores['task']}/{scores['split']}, ask benchmark: {counts}", table, sep="\n")
