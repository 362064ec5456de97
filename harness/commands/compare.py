"""`harness compare`: which of several runs is better, by how much, and on which items."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from harness.commands.score import ScoredRuns
from harness.errors import UsageError
from harness.tasks import get_task
from harness.util.options import ModelCommand, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

_METRICS = {
    "f1": "F1",
    "em": "EM",
    "f1_without_longest": "F1 without longest",
    "em_without_longest": "EM without longest",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "turns": "turns solved",
}


class Compare(ScoredRuns):
    intersect: bool = option(False, "Compare only the items that all runs share.")
    changed: int = option(10, "List the N items whose scores differ most.", ge=0)
    seed: int = option(0, "Seed of the resampling.", ge=0)
    as_json: bool = option(False, "Print JSON, with fractions, instead of tables in percent.", names=("--json",))


@click.command(cls=ModelCommand, model=Compare)
def compare(options: Compare) -> None:
    """Test two or more runs (names, folders or predictions files) against each other.

    Runs are paired by item. Intervals come from a cluster bootstrap, p-values from a permutation test over clusters, with Holm's
    correction if there are more than two runs.
    """
    from eval.compare import compare_runs
    from eval.score_run import read_runs, score_items
    from eval.tables import benchmark_name

    if len(options.runs) < 2:
        raise UsageError("harness compare takes two or more runs")
    how, read = options.how, read_runs(options.runs, intersect=options.intersect)
    first = next(iter(read.values()))
    scores = {name: score_items(answers, how) for name, answers in read.items()}
    result = compare_runs(first.task, scores, changed=options.changed, seed=options.seed)
    if get_task(first.task).scoring == "minecraft":
        name, judged = how.of(first)
        result = {"benchmark": name, **({"annotation": judged.name} if judged else {}), **result}
    result = {**result, "split": first.split}
    if options.as_json:
        click.echo(json.dumps(result))
        return
    named = f", {benchmark_name(result)} benchmark" if "benchmark" in result else ""
    f1 = {name: {score.id: score.f1 for score in items} for name, items in scores.items()}
    _print(result, f1, f"{first.task}/{first.split}{named}: {result['items']:,} items in {result['clusters']:,} clusters")


def _print(result: dict[str, Any], f1: Mapping[str, Mapping[str, float]], head: str) -> None:
    from rich.console import Console

    from eval.tables import numbers_table

    console = Console()
    for part in (head, _scores(result), _pairs(result)):
        console.print(part, highlight=False)
        console.print()
    for pair in [p for p in result["pairs"] if p["metric"] == result["pairs"][0]["metric"]]:
        a, b = pair["a"], pair["b"]
        console.print(f"{a} against {b}: {pair['wins']} wins, {pair['losses']} losses, {pair['ties']} ties", highlight=False)
        if pair["changed"]:
            rows = numbers_table("most changed", a, b, caption="The item's score; `harness show ITEM --run RUN` draws it.")
            for item_id in pair["changed"]:
                rows.add_row(item_id, f"{100 * f1[a][item_id]:.1f}", f"{100 * f1[b][item_id]:.1f}")
            console.print(rows)
        console.print()


def _scores(result: dict[str, Any]) -> Table:
    from eval.tables import numbers_table

    metrics = list(next(iter(result["scores"].values())))
    rows = numbers_table("", *(_METRICS[metric] for metric in metrics))
    for name, values in result["scores"].items():
        rows.add_row(name, *(f"{100 * values[metric]:.2f}" for metric in metrics))
    return rows


def _pairs(result: dict[str, Any]) -> Table:
    from eval.compare import WITHOUT_LONGEST
    from eval.metrics.hexagons import LONGEST
    from eval.tables import numbers_table

    corrected = len(result["runs"]) > 2
    caption = "Percentage points [95% interval, paired cluster bootstrap]; p: permutation test; d: effect over clusters."
    if any(pair["metric"].endswith(WITHOUT_LONGEST) for pair in result["pairs"]):
        caption += f" Without longest: all but the {LONGEST} longest procedures."
    rows = numbers_table("", "metric", "difference", "p", *(["p (Holm)"] if corrected else []), "d", caption=caption)
    for pair in result["pairs"]:
        ends = pair["interval"]
        interval = f" [{100 * ends[0]:+.2f}, {100 * ends[1]:+.2f}]" if ends else ""
        p_values = [pair["p"], *([pair["p_holm"]] if corrected else [])]
        rows.add_row(
            f"{pair['a']} - {pair['b']}",
            _METRICS[pair["metric"]],
            f"{100 * pair['difference']:+.2f}{interval}",
            *(f"{p:.4f}" if p >= 0.0001 else "<0.0001" for p in p_values),
            "" if pair["effect"] is None else f"{pair['effect']:.2f}",
        )
    return rows
