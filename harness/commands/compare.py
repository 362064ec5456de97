"""`harness compare`: which of some runs is better, by how much, and on which items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import UsageError
from harness.tasks import world_of

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
}


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--benchmark", help="Minecraft: legacy (default), fair or v2.")
@click.option("--annotation", type=click.Path(path_type=Path), help="Annotation file for v2. [default: ours, for test]")
@click.option("--intersect", is_flag=True, help="Compare only the items that all runs share.")
@click.option(
    "--changed", default=10, show_default=True, type=click.IntRange(0), help="How many of the most different items to list."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the resampling.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with fractions, instead of tables in percent.")
def compare(
    runs: tuple[Path, ...],
    benchmark: str | None,
    annotation: Path | None,
    intersect: bool,
    changed: int,
    seed: int,
    as_json: bool,
) -> None:
    """Test two or more runs (names, folders or predictions files) against each other.

    Paired by item: intervals by the cluster bootstrap, p-values by a permutation test over clusters, with Holm's correction
    where there are more than two runs.
    """
    from eval.compare import compare_runs
    from eval.score_run import Benchmark, read_runs, score_items
    from eval.tables import benchmark_name

    if len(runs) < 2:
        raise UsageError("harness compare takes two or more runs")
    how = Benchmark(benchmark, annotation)
    read = read_runs(runs, intersect=intersect)
    first = next(iter(read.values()))
    scores = {name: score_items(answers, how) for name, answers in read.items()}
    result = compare_runs(first.task, scores, changed=changed, seed=seed)
    if world_of(first.task) == "minecraft":
        name, judged = how.of(first)
        result = {"benchmark": name, **({"annotation": judged.name} if judged else {}), **result}
    result = {**result, "split": first.split}
    if as_json:
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
            rows = numbers_table("most changed", a, b, caption="F1 of the item; `harness show ITEM --run RUN` draws it.")
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
