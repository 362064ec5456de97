"""`harness compare`: which of several runs is better, by how much, and on which items."""

import json
from collections.abc import Mapping
from typing import Any

import click

from harness.commands.score import ScoredRuns
from harness.errors import UsageError
from harness.tasks.registry import TASKS
from harness.util.options import ModelCommand, option


class Compare(ScoredRuns):
    intersect: bool = option(False, "Compare only the items that all runs share.")
    as_json: bool = option(False, "Print JSON, with fractions, instead of tables in percent.", names=("--json",))


@click.command(cls=ModelCommand, model=Compare)
def compare(options: Compare) -> None:
    """Test two or more runs (names, folders or predictions files) against each other.

    Runs are paired by item. Intervals come from a cluster bootstrap, p-values from a permutation test over clusters, with
    Holm's correction if there are more than two runs.
    """
    from eval.answers import read_runs
    from eval.compare import compare_runs
    from eval.score_run import score_items
    from eval.tables import named

    if len(options.runs) < 2:
        raise UsageError("harness compare takes two or more runs")
    how, read = options.how, read_runs(options.runs, intersect=options.intersect)
    first = next(iter(read.values()))
    scores = {name: score_items(answers, how) for name, answers in read.items()}
    result = compare_runs(first.task, scores) | {"split": first.split}
    if TASKS[first.task].scoring == "minecraft":
        chosen = how.select(first)
        result = {"benchmark": chosen.benchmark, **({"annotation": chosen.annotation} if chosen.annotation else {}), **result}
    if options.as_json:
        click.echo(json.dumps(result))
        return
    f1 = {name: {score.id: score.f1 for score in items} for name, items in scores.items()}
    _print(result, f1, f"{named(result)}: {result['items']:,} items in {result['clusters']:,} clusters")


def _print(result: dict[str, Any], f1: Mapping[str, Mapping[str, float]], head: str) -> None:
    from rich.console import Console

    from eval.compare import LABELS, WITHOUT_LONGEST
    from eval.metrics.hexagons import LONGEST
    from eval.printing import numbers_table
    from eval.statistics import Percentage

    console = Console(highlight=False)
    console.print(head)
    metrics = list(next(iter(result["scores"].values())))
    rows: Any = ([name, *(Percentage(values[metric]) for metric in metrics)] for name, values in result["scores"].items())
    console.print("", numbers_table("", *(LABELS[metric] for metric in metrics), rows=rows))
    corrected = len(result["runs"]) > 2
    caption = "Percentage points [95% interval, paired cluster bootstrap]; p: permutation test; d: effect over clusters."
    if any(metric.endswith(WITHOUT_LONGEST) for metric in metrics):
        caption += f" Without longest: all but the {LONGEST} longest procedures."
    table = numbers_table("", "metric", "difference", "p", *(["p (Holm)"] if corrected else []), "d", caption=caption)
    for pair in result["pairs"]:
        p_values = [pair["p"], *([pair["p_holm"]] if corrected else [])]
        table.add_row(
            f"{pair['a']} - {pair['b']}",
            LABELS[pair["metric"]],
            f"{Percentage(pair['difference'], pair['interval']):+}",
            *(f"{p:.4f}" if p >= 0.0001 else "<0.0001" for p in p_values),
            "" if pair["effect"] is None else f"{pair['effect']:.2f}",
        )
    console.print("", table)
    for pair in [p for p in result["pairs"] if p["metric"] == metrics[0]]:
        a, b = pair["a"], pair["b"]
        console.print(f"\n{a} against {b}: {pair['wins']} wins, {pair['losses']} losses, {pair['ties']} ties")
        if pair["changed"]:
            rows = ((item, f"{100 * f1[a][item]:.1f}", f"{100 * f1[b][item]:.1f}") for item in pair["changed"])
            caption = "The item's score; `harness show ITEM --run RUN` draws it."
            console.print(numbers_table("most changed", a, b, rows=rows, caption=caption))
