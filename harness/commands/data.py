"""`harness data`: which corpora there are, how to get them, their statistics, and their items as JSON Lines."""

import json
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict


@click.group()
def data() -> None:
    """Get, list, count and print the items of a corpus."""


@data.command("list")
def list_corpora() -> None:
    """List the corpora that were found, with their counts and folders."""
    from rich.console import Console
    from rich.table import Table

    from harness.corpora import SPLITS, load, locate

    table = Table("task", "corpus", "items", "license")
    sources = [locate(task) for task in SPLITS]
    for source in sources:
        counts = dict.fromkeys(SPLITS[source.task], 0)
        for item in load(source.task):
            counts[item.split] += 1
        numbers = ", ".join(f"{split} {count:,}" for split, count in counts.items())
        table.add_row(source.task, source.kind, numbers, source.license)
    Console().print(table)
    for source in sources:  # below the table, where a long path is not broken
        click.echo(f"{source.task}: {source.path}" + (f", {source.name}" if source.kind == "sample" else ""))


class Get(Strict):
    tasks: tuple[str, ...] = argument(())
    host: str = option("https://github.com", "The host of the repositories: a mirror with the same paths.")


@data.command(cls=ModelCommand, model=Get)
def get(options: Get) -> None:
    """Download the published corpora of TASKS (all without one) into $HARNESS_DATA or, if it is not set, the user's cache.

    The revision of the repository and the sum of the items are fixed. A download that was interrupted goes on. HTTPS_PROXY names
    a proxy.
    """
    from harness.corpora import download
    from harness.tasks.registry import TASKS

    for name in options.tasks or [name for name, task in TASKS.items() if task.published]:
        if published := TASKS[name].published:
            click.echo(f"{name}: {published.repository}, license: {TASKS[name].license}", err=True)
        click.echo(download.get(name, options.host.rstrip("/")))


class CorpusStats(Strict):
    task: str = argument()
    as_json: bool = option(False, "Print JSON; shares are fractions 0..1.", names=("--json",))


@data.command(cls=ModelCommand, model=CorpusStats)
def stats(options: CorpusStats) -> None:
    """Count the corpus of TASK (see `harness data list`); published ones as in their papers."""
    from harness.corpora import corpus_of, locate

    counts = corpus_of(options.task).stats(locate(options.task).path)
    if options.as_json:
        click.echo(json.dumps(counts))
    else:
        _print_counts(options.task, counts)


def _print_counts(task: str, counts: dict[str, Any]) -> None:
    from rich.console import Console

    from eval.printing import numbers_table

    tables = {"splits": counts["splits"]}
    if "rounds" in counts:
        ends = ("mean", "lower verifier", "higher verifier")
        agreement = {name: dict(zip(ends, values or [None] * 3, strict=True)) for name, values in counts["agreement"].items()}
        tables |= {"annotation rounds": counts["rounds"] | {"total": counts["total"]}, "verifiers' boards": agreement}
    if "left_out" in counts:
        faults = {kind: fault["lines"] for kind, fault in counts["left_out"].items() if fault["lines"]}
        tables |= {"the file": {"": counts["instructions"]}, "lines that are left out": {"": faults}}
    for name, columns in tables.items():
        rows = ((row, *(_shown(values[row]) for values in columns.values())) for row in next(iter(columns.values()), {}))
        texts = ([str(cell).replace("_", " ") for cell in row] for row in (("", *columns), *rows))
        Console().print(f"\n{task}: {name}", numbers_table(*next(texts), rows=texts), sep="\n")


def _shown(value: float | None) -> str:
    if isinstance(value, float):
        return f"{100 * value:.2f}%"
    return "none verified" if value is None else f"{value:,}"


class Items(Strict):
    task: str = argument()
    split: str = option("dev", "train, dev or test.")
    limit: int | None = option(None, "Print only the first items.", ge=0)
    ask: bool = option(False, "Print all fields of the items, then the unclear instructions (iglu).")
    out: Path | None = option(None, "Write the items to this file instead of printing them.")


@data.command(cls=ModelCommand, model=Items)
def items(options: Items) -> None:
    """Print the items of TASK (see `harness data list`) as JSON Lines."""
    from harness.corpora import corpus_of, load, locate, split_name
    from harness.corpora.records import to_full_record, to_record
    from harness.errors import UsageError
    from harness.util.files import write_atomically

    task, split = options.task, options.split
    unclear = corpus_of(task).unclear(locate(task).path, split_name(task, split)) if options.ask else ()
    if unclear is None:
        raise UsageError(f"--ask: {task} has no list of unclear instructions")
    part = islice(chain(load(task, split), unclear), options.limit)
    lines = (json.dumps((to_full_record if options.ask else to_record)(item), ensure_ascii=False) for item in part)
    if options.out:
        write_atomically(options.out, "".join(f"{line}\n" for line in lines))
        return
    for line in lines:
        click.echo(line)
