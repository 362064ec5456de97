"""`harness mine`: programs for the instructions of the train split."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError
from harness.tasks import DEFAULT_TASK, TASKS
from harness.util.options import ModelCommand, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from harness.mining.miner import Mined


class Mine(Strict):
    task: str = option(DEFAULT_TASK, choices=list(TASKS))
    split: str = option("train", "Only train is allowed.")
    data: Path | None = option(type=click.Path(path_type=Path, dir_okay=False))
    """Mine the items of this file (from harness simulate or augment) instead of the corpus."""
    limit: int | None = option(None, "Only the first N items.", ge=1)
    keep: int = option(1, "Write at most N programs per item, best first.", ge=1, le=12)
    out: Path = option(..., "The file, JSON Lines.", type=click.Path(path_type=Path, dir_okay=False))
    overwrite: bool = option(False, "Start over instead of continuing an existing file.")


@click.command(cls=ModelCommand, model=Mine)
def mine(options: Mine) -> None:
    """Write (instruction, program) pairs, whose programs reproduce the gold actions and fit the words.

    \b
    harness mine --task hexagons --out hexagons.programs.jsonl
    {"id", "instruction", "program", "score", "characters", "literal"}, an item's best first

    "literal" is the length in characters of the program that only lists cells.
    """
    from harness.corpora import load
    from harness.corpora.records import load_items
    from harness.mining.miner import Miner, append, check_split, read, resume
    from harness.util.terminal import bar

    check_split(options.split)
    task, data, out = options.task, options.data, options.out
    items = (load_items(data, task) if data else load(task, "train"))[: options.limit]
    if data and (other := next((item.id for item in items if item.split != "train"), None)):
        raise UsageError(f"--data {data}: {other} is not a train item of {task}")
    if options.overwrite:
        out.unlink(missing_ok=True)
    done = resume(out, {item.id for item in items})
    miner = Miner(options.keep)
    with bar(task, len(items)) as report:
        for count, item in enumerate(items, start=1):
            if item.id not in done:
                append(out, miner.mine(item))
            report(count)
    _print(out, read(out), len(items))


def _print(out: Path, pairs: list[Mined], items: int) -> None:
    from rich.console import Console

    from eval.tables import numbers_table
    from harness.mining.miner import statistics

    best = list({pair.id: pair for pair in reversed(pairs)}.values())
    shorter = sum(pair.characters < pair.literal for pair in best)
    rows = numbers_table("construction", "pairs", "the words ask for it", "median characters")
    for name, count, asked, characters in statistics(best):
        rows.add_row(name, f"{count:,}", f"{asked:,}", f"{characters:g}")
    console = Console()
    console.print(rows, highlight=False)
    summary = (
        f"{out}: {len(pairs):,} pairs for {len(best):,} of {items:,} items; the best one is shorter than a list of cells for"
    )
    console.print(f"{summary} {shorter:,}", soft_wrap=True, highlight=False)
