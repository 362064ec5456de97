"""`harness ablate`: trainings that differ in an ingredient, each scored on dev, as one command."""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.experiments.grid import Facts, Grid, Row


@click.command()
@click.argument("file")
@click.option("--base", help="Base model of all rows that name none of their own. [default: the file's]")
@click.option("--name", help="Name of the folder under runs/. [default: the file's, without .yaml]")
@click.option("--dry-run", is_flag=True, help="Check the file and print the commands of every row, without training anything.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with fractions, instead of a table in percent.")
def ablate(file: str, base: str | None, name: str | None, dry_run: bool, as_json: bool) -> int:
    """Train and score every row of FILE, a YAML of trainings (or contexts, ingredients), and compare each with the first.

    \b
    harness ablate contexts
    harness ablate my-ablation.yaml --base meta-llama/Meta-Llama-3-8B

    To go on with a killed one, or to try failed rows again, give the same command again.
    """
    from harness.experiments.ablation import ablation_path, facts, read_ablation
    from harness.experiments.grid import Grid
    from harness.runs.folder import RUNS

    path = ablation_path(file)
    name = name or path.stem
    folder = RUNS / name
    rows = read_ablation(path, name, base, _commands())
    if dry_run:
        for row in rows:
            click.echo("\n".join([f"# {row.name}", *(shlex.join(("harness", *words)) for words in row.commands)]))
        return 0
    costs = "Seconds and tokens: training / answering."
    return run_grid(Grid(folder, rows), {"": rows}, facts, costs, as_json=as_json)


def run_grid(grid: Grid, parts: Mapping[str, Sequence[Row]], facts: Callable[[Row], Facts], costs: str, *, as_json: bool) -> int:
    """Run a grid, close it, and print a table of each part of its rows. Returns the exit code, 1 if a row failed.

    `costs` says what the facts are.
    """
    try:
        grid.run(functools.partial(click.echo, err=True))
        lines = _report(grid, parts, facts, costs, as_json)
    finally:
        grid.close()
    failed = [line["row"] for line in lines if line["error"]]
    if failed:
        click.echo(
            f"Error: {len(failed)} of {len(lines)} rows failed: {', '.join(failed)}; the same command tries them again", err=True
        )
    return 1 if failed else 0


def _commands() -> Any:
    from harness.commands.finetune import check, finetune
    from harness.commands.prompt import prompt
    from harness.experiments.ablation import Commands
    from harness.prompting.options import LOCAL_ENGINES, Options
    from harness.util.registry import choose

    def check_prompt(words: Sequence[str]) -> None:
        values = prompt.make_context("prompt", list(words), click.get_current_context()).params
        choose("engine", values["engine"], LOCAL_ENGINES)
        Options(**values)

    return Commands(finetune, prompt, check, check_prompt)


def _report(
    grid: Grid, parts: Mapping[str, Sequence[Row]], facts: Callable[[Row], Facts], costs: str, as_json: bool
) -> list[dict[str, Any]]:
    """Print the tables and write them into the grid's folder."""
    from rich.console import Console

    from eval.export import named
    from eval.tables import numbers_table
    from harness.experiments.grid import as_markdown, cells, table
    from harness.util.files import write_atomically

    made = {title: table(grid, facts, rows) for title, rows in parts.items()}
    lines = [line for part in made.values() for line in part]
    told, pages = Console(), []
    for title, part in made.items():
        scored = next((named(line["scores"]) for line in part if line["error"] is None), "nothing was scored")
        caption = (
            f"{scored}. Percent [95% interval]; difference to the first row, paired, in points; p by a permutation test. {costs}"
        )
        pages.append((f"## {title}\n\n" if title else "") + as_markdown(part, caption))
        head, rows = cells(part)
        shown = numbers_table(*head, caption=caption)
        for row in rows:
            shown.add_row(*row)
        if not as_json:
            told.print(shown)
    write_atomically(grid.folder / "table.json", json.dumps(lines, indent=1) + "\n")
    write_atomically(grid.folder / "table.md", "\n".join(pages))
    click.echo(json.dumps(lines) if as_json else f"{grid.folder / 'table.md'}, {grid.folder / 'table.json'}")
    return lines
