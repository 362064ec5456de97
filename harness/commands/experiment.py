"""`harness experiment`: runs, scores and compares rows of our own commands that differ in some options."""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict, settings_file

if TYPE_CHECKING:
    from harness.experiments.file import ExperimentStep
    from harness.experiments.grid import Grid, Row
    from harness.prompting.options import Options


class ExperimentOptions(Strict):
    file: str = argument()
    name: str | None = option(None, "Name of the folder under runs/. [default: the file's, without .yaml]")
    overrides: tuple[str, ...] = option((), names=("--set",), metavar="KEY=VALUE")
    """Change a key of the file for all rows, as in prompt.limit=20."""
    dry_run: bool = option(False, "Check the file and print the commands of every row, without running anything.")
    as_json: bool = option(False, "Print JSON, with fractions, instead of tables in percent.", names=("--json",))


@click.command(cls=ModelCommand, model=ExperimentOptions)
def experiment(options: ExperimentOptions) -> int:
    """Run and score every row of FILE, a YAML file of prompts or trainings (or a shipped one: demo, grid, contexts),
    and compare the rows of each task with its first row.

    \b
    harness experiment demo
    harness experiment contexts --set finetune.base=meta-llama/Meta-Llama-3-8B
    harness experiment my-experiment.yaml --dry-run

    To resume a killed experiment or to try failed rows again, give the same command again.
    """
    from harness.experiments.file import SHIPPED, read_experiment
    from harness.experiments.grid import Grid
    from harness.runs.folder import RUNS

    path = settings_file("experiment", options.file, SHIPPED.glob("*.yaml"))
    name = options.name or path.stem
    parts = read_experiment(path, name, steps(), options.overrides)
    rows = [row for part in parts.values() for row in part]
    if options.dry_run:
        for row in rows:
            click.echo("\n".join([f"# {row.name}", *(shlex.join(("harness", *words)) for words in row.commands)]))
        return 0
    with closing(Grid(RUNS / name, rows)) as grid:
        grid.run(functools.partial(click.echo, err=True))
        lines = _report(grid, parts, options.as_json)
    failed = [line["row"] for line in lines if line["error"]]
    if failed:
        click.echo(
            f"Error: {len(failed)} of {len(lines)} rows failed: {', '.join(failed)}; the same command tries them again", err=True
        )
    return 1 if failed else 0


def steps() -> dict[str, ExperimentStep]:
    """The steps that rows are made of, by their keys in the file."""
    from harness.commands import baseline, finetune
    from harness.commands.prompt import prompt
    from harness.experiments.file import ExperimentStep

    return {
        "finetune": ExperimentStep(("finetune",), finetune.finetune, finetune.check, "recipe"),
        "train": ExperimentStep(("baseline", "train"), baseline.train, baseline.check_training, "baseline"),
        "prompt": ExperimentStep(("prompt",), prompt, _check_prompt),
        "predict": ExperimentStep(("baseline", "predict"), baseline.predict, baseline.check_predict, "baseline"),
    }


def _check_prompt(options: Options, untrained: bool) -> str:
    """The task that `harness prompt` asks."""
    from adapters.asking import chosen_adapter, chosen_spec
    from harness.engines.engine import ENGINES
    from harness.prompting.options import LOCAL_ENGINES
    from harness.util.registry import choose

    choose("engine", options.engine, LOCAL_ENGINES if untrained else ENGINES)
    return "" if untrained else chosen_spec(options, chosen_adapter(options)).task


def _report(grid: Grid, parts: Mapping[str, Sequence[Row]], as_json: bool) -> list[dict[str, Any]]:
    """Print the tables and write them into the grid's folder."""
    from rich.console import Console

    from eval.export import named
    from eval.tables import numbers_table
    from harness.experiments.grid import as_markdown, cells, table
    from harness.util.files import write_atomically

    made = {title: table(grid, rows) for title, rows in parts.items()}
    lines = [line for part in made.values() for line in part]
    console, pages = Console(), []
    for title, part in made.items():
        scored = next((named(line["scores"]) for line in part if line["error"] is None), "nothing was scored")
        caption = (
            f"{scored}. Percent [95% interval]; difference to the first row, paired, in points; p by a permutation test. "
            "Seconds and tokens: of the training, where there is one, and of the answers."
        )
        pages.append((f"## {title}\n\n" if len(made) > 1 else "") + as_markdown(part, caption))
        head, rows = cells(part)
        if not as_json:
            console.print(numbers_table(*head, rows=rows, caption=caption))
    write_atomically(grid.folder / "table.json", json.dumps(lines, indent=1) + "\n")
    write_atomically(grid.folder / "table.md", "\n".join(pages))
    click.echo(json.dumps(lines) if as_json else f"{grid.folder / 'table.md'}, {grid.folder / 'table.json'}")
    return lines
