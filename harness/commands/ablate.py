"""`harness ablate`: trainings that differ in an ingredient, each scored on dev, as one command."""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.runs.grid import Grid


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
    from harness.runs.ablation import ablation_path, read_ablation
    from harness.runs.folder import RUNS
    from harness.runs.grid import Grid

    path = ablation_path(file)
    name = name or path.stem
    folder = RUNS / name
    rows, problems = read_ablation(path, name, base, _commands())
    if len(problems) > 1:
        click.echo("\n".join(f"{path}: {problem}" for problem in problems), err=True)
        raise UsageError(f"{path} has {len(problems)} faults; nothing was trained")
    if problems:
        raise UsageError(f"{path}: {problems[0]}")
    if dry_run:
        for row in rows:
            click.echo("\n".join([f"# {row.name}", *(shlex.join(("harness", *words)) for words in row.commands)]))
        return 0
    grid = Grid(folder, rows)
    try:
        grid.run(functools.partial(click.echo, err=True))
        lines = _report(grid, as_json)
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
    from harness.runs.ablation import Commands
    from harness.runs.prompt_plan import LOCAL_ENGINES, Options
    from harness.util.registry import choose

    def check_prompt(words: Sequence[str]) -> None:
        values = prompt.make_context("prompt", list(words), click.get_current_context()).params
        choose("engine", values["engine"], LOCAL_ENGINES)
        Options(**values)

    return Commands(finetune, prompt, check, check_prompt)


def _report(grid: Grid, as_json: bool) -> list[dict[str, Any]]:
    """Print the table and write it into the grid's folder."""
    from rich.console import Console

    from eval.export import named
    from eval.tables import numbers_table
    from harness.runs.ablation import facts
    from harness.runs.grid import as_markdown, cells, table
    from harness.util.files import write_atomically

    lines = table(grid, facts)
    scored = next((named(line["scores"]) for line in lines if line["error"] is None), "nothing was scored")
    caption = (
        f"{scored}. Percent [95% interval]; difference to the first row, paired, in points; p by a permutation test. "
        "Seconds and tokens: training / answering."
    )
    write_atomically(grid.folder / "table.json", json.dumps(lines, indent=1) + "\n")
    write_atomically(grid.folder / "table.md", as_markdown(lines, caption))
    if as_json:
        click.echo(json.dumps(lines))
        return lines
    head, rows = cells(lines)
    shown = numbers_table(*head, caption=caption)
    for row in rows:
        shown.add_row(*row)
    Console().print(shown)
    click.echo(f"{grid.folder / 'table.md'}, {grid.folder / 'table.json'}")
    return lines
