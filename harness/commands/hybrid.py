"""`harness hybrid`: one run answers where it is sure, another one elsewhere."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.experiments.hybrid import Hybrid


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("sure", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@click.option("--below", type=click.FloatRange(0, 1), help="OTHER answers where SURE's confidence is below this.")
@click.option("--name", help="With --below: the hybrid's folder under runs/.")
def hybrid(sure: Path, other: Path, below: float | None, name: str | None) -> None:
    """Answer with the run SURE, and with OTHER where SURE is not confident. SURE is a run of the baseline parser.

    \b
    harness hybrid parser-dev lora-dev                               # what each threshold is worth on dev
    harness hybrid parser-test lora-test --below 0.6 --name hybrid   # a run like any other

    The threshold is chosen on dev: without --below, the test split is refused.
    """
    from eval.score_run import read_named
    from harness.experiments.hybrid import Hybrid

    if sure == other:
        raise UsageError("a hybrid needs two different runs")
    if (below is None) != (name is None):
        raise UsageError("--below and --name go together; without both, the thresholds are compared")
    both = Hybrid(*read_named((sure, other)).values())
    if below is None or name is None:
        _compare(both)
        return
    run = both.write(below, name)
    own = sum(record["from"] == both.sure.name for record in run.records)
    click.echo(f"{run.folder}: {own:,} answers of {both.sure.name}, {len(run.records) - own:,} of {both.other.name}")


def _compare(both: Hybrid) -> None:
    """Raises UsageError for the test split."""
    from rich.console import Console

    from eval.confidence import confidences, thresholds
    from eval.export import headline
    from eval.tables import numbers_table

    if both.sure.split == "test":
        raise UsageError("a threshold is chosen on dev: compare the runs over dev, then give --below and --name for test")
    tried = [0.0, *reversed(thresholds(confidences(both.sure))), math.inf]
    numbers = {below: headline(both.scores(below))[:2] for below in tried}
    best = max(numbers, key=lambda below: numbers[below][0].value)
    alone = {0.0: f"{both.sure.name} alone", math.inf: f"{both.other.name} alone"}
    rows = numbers_table("below", *(number.label for number in numbers[best]), "")
    for below, cells in numbers.items():
        rows.add_row(alone.get(below, f"{below:.3f}"), *map(str, cells), "best" if below == best else "")
    Console().print(rows, highlight=False)
