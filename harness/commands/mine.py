"""`harness mine`: programs for the instructions of the train split."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import UsageError
from harness.tasks import DEFAULT_TASK, TASKS

if TYPE_CHECKING:
    from harness.mining.miner import Mined


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--task", type=click.Choice(list(TASKS)), default=DEFAULT_TASK, show_default=True)
@click.option("--split", default="train", show_default=True, help="Only train is allowed.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Mine the items of this file (from harness simulate or augment) instead of the corpus.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N items.")
@click.option("--keep", type=click.IntRange(1, 12), default=1, show_default=True, help="Most programs per item, best first.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The file, JSON Lines.")
@click.option("--overwrite", is_flag=True, help="Start over instead of continuing an existing file.")
def mine(task: str, split: str, data: Path | None, limit: int | None, keep: int, out: Path, overwrite: bool) -> None:
    """Write (instruction, program) pairs: programs that reproduce the gold actions and fit the words.

    \b
    harness mine --task hexagons --out hexagons.programs.jsonl
    {"id", "instruction", "program", "score", "characters", "literal"}, an item's best first

    "literal" is the length in characters of the program that only lists cells.
    """
    from harness.corpora import load
    from harness.corpora.records import load_items
    from harness.mining.miner import Miner, append, check_split, read, resume
    from harness.util.terminal import bar

    check_split(split)
    items = (load_items(data, task) if data else load(task, "train"))[:limit]
    if data and (other := next((item.id for item in items if item.split != "train"), None)):
        raise UsageError(f"--data {data}: {other} is not a train item of {task}")
    if overwrite:
        out.unlink(missing_ok=True)
    done = resume(out, {item.id for item in items})
    miner = Miner(keep)
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
