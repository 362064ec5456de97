"""`harness experiment`: runs, scores and compares rows of our own commands that differ in some options."""

from __future__ import annotations

import functools
import json
import os
import shlex
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import UsageError
from harness.util.options import ModelCommand, argument, option
from harness.util.registry import Table
from harness.util.settings import Strict, settings_file

if TYPE_CHECKING:
    from harness.experiments.costs import Cost
    from harness.experiments.file import ExperimentStep
    from harness.experiments.grid import Grid
    from harness.experiments.rows import Asked, Plan
    from harness.prompting.options import Options

    Lines = list[dict[str, Any]]


class ExperimentOptions(Strict):
    file: str = argument()
    name: str | None = option(None, "Name of the folder under runs/. [default: the file's, or its base's]")
    only: tuple[str, ...] = option((), metavar="ROW")
    """Run this row only. Repeatable."""
    checkpoint: tuple[str, ...] = option((), metavar="ROW=MODEL")
    """Ask this trained model in place of the row's own. Repeatable."""
    scale: str | None = option(
        None, "tiny: tiny models, a few steps and the shipped samples, to try the file out.", choices=("tiny",)
    )
    overrides: tuple[str, ...] = option((), names=("--set",), metavar="KEY=VALUE")
    """Change a key of the file for all rows, as in prompt.limit=20."""
    dry_run: bool = option(False, "Check the file and print every row's commands and what training takes; run nothing.")
    as_json: bool = option(False, "Print JSON, with fractions, instead of tables in percent.", names=("--json",))


@click.command(cls=ModelCommand, model=ExperimentOptions)
def experiment(options: ExperimentOptions) -> int:
    """Run and score every row of FILE, a YAML file of prompts or trainings (or a shipped one: demo, grid, contexts),
    and compare the rows of each task with its first row. papers/hexagons-table-7, papers/bap-v2-table-4 and so on
    print a table of a paper.

    \b
    harness experiment demo
    harness experiment contexts --set finetune.base=meta-llama/Meta-Llama-3-8B
    harness experiment papers/bap-v2-table-4 --only M_mc --dry-run

    To resume a killed experiment or to try failed rows again, give the same command again.
    """
    from harness.experiments.file import NAME, SHIPPED, folder_name
    from harness.experiments.grid import Grid
    from harness.experiments.rows import read_experiment
    from harness.runs.folder import RUNS

    shipped = {file.relative_to(SHIPPED).with_suffix("").as_posix(): file for file in SHIPPED.rglob("*.yaml")}
    path = settings_file(options.file, Table("experiment", shipped))
    if options.name and not NAME.fullmatch(options.name):
        raise UsageError(f"--name {options.name}: use letters, digits, ., _, + and -")
    name = options.name or folder_name(path) + (f"-{options.scale}" if options.scale else "")
    costs: dict[str, Cost | str] = {}

    def look(row: str, job: Any, items: int) -> None:
        # Rows that are run need no estimate.
        if options.dry_run:
            from harness.experiments.costs import cost_of

            costs[row] = cost_of(job, items)

    plan = read_experiment(path, name, steps(), _asked(options), look)
    if options.dry_run:
        _show(plan, costs)
        return 0
    with closing(Grid(RUNS / name, plan.rows)) as grid:
        grid.run(functools.partial(click.echo, err=True))
        report = _paper if plan.table else _report
        report(grid, plan, RUNS / name / (path.stem if plan.table else "table"), options.as_json)
    failed = list(dict.fromkeys(row.name for row in plan.rows if not row.reason and grid.error(row)))
    if failed:
        which = f"{len(failed)} of {len(plan.rows)} rows failed: {', '.join(failed)}"
        click.echo(f"Error: {which}; the same command tries them again", err=True)
    return 1 if failed else 0


def _asked(options: ExperimentOptions) -> Asked:
    from harness.experiments.file import load_scale
    from harness.experiments.rows import Asked

    models = dict(one.partition("=")[::2] for one in options.checkpoint)
    if lacking := [row for row, model in models.items() if not model]:
        raise UsageError(f"--checkpoint {lacking[0]}: write ROW=MODEL")
    if options.scale:
        # The rows' commands inherit it.
        os.environ.pop("HARNESS_DATA", None)
    scale = load_scale(options.scale) if options.scale else None
    return Asked(overrides=options.overrides, only=options.only, checkpoints=models, scale=scale)


def steps() -> dict[str, ExperimentStep]:
    """The steps that rows are made of, by their keys in the file."""
    from harness.commands import augment, baseline, finetune, simulate
    from harness.commands.prompt import prompt
    from harness.experiments.file import ExperimentStep

    return {
        "finetune": ExperimentStep(("finetune",), finetune.finetune, finetune.check, "recipe", finetune.recipe_schema),
        "train": ExperimentStep(
            ("baseline", "train"), baseline.train, baseline.check_training, "baseline", baseline.recipe_schema
        ),
        "prompt": ExperimentStep(("prompt",), prompt, _check_prompt),
        "predict": ExperimentStep(("baseline", "predict"), baseline.predict, baseline.check_predict, "baseline"),
        "simulate": ExperimentStep(("simulate",), simulate.simulate, simulate.check, "simulator"),
        "augment": ExperimentStep(("augment",), augment.augment, augment.check),
    }


def _check_prompt(options: Options, untrained: bool) -> str:
    """The task that `harness prompt` asks."""
    from harness.engines.engine import ENGINES
    from harness.prompting.adapter import chosen_adapter, chosen_spec
    from harness.prompting.options import LOCAL_ENGINES
    from harness.util.registry import choose

    choose("engine", options.engine, LOCAL_ENGINES if untrained else ENGINES)
    return "" if untrained else chosen_spec(options, chosen_adapter(options)).task


def _show(plan: Plan, costs: Mapping[str, Cost | str]) -> None:
    for row in plan.rows:
        click.echo(f"# {row.name}{f': {row.reason}' if row.reason else ''}")
        if row.name in costs:
            click.echo(f"# {costs[row.name]}")
        for one in row.commands if not row.reason else ():
            click.echo(shlex.join(("harness", *one.words)))
    known = [cost for cost in costs.values() if not isinstance(cost, str)]
    if len(known) > 1:
        from harness.experiments.costs import together

        click.echo(f"# {together(known)}")


def _report(grid: Grid, plan: Plan, to: Path, as_json: bool) -> None:
    """Print the tables that compare rows, and write them to the files `to`."""
    from rich.console import Console

    from eval.printing import numbers_table
    from eval.tables import named
    from harness.experiments.tables import as_markdown, cells, compared, missing

    made = {title: compared(grid, rows, test) for title, (test, rows) in plan.parts().items()}
    lines = [line for part in made.values() for line in part]
    console, pages = Console(), []
    for title, part in made.items():
        scored = next((named(line["scores"]) for line in part if line["error"] is None), "nothing was scored")
        caption = f"{scored}. Percent [95% interval]; difference to the first row, paired, in points; p by a permutation test."
        pages.append((f"## {title}\n\n" if len(made) > 1 else "") + as_markdown(part, caption))
        head, rows = cells(part)
        if not as_json:
            console.print(numbers_table(*head, rows=rows, caption="\n".join((caption, *missing(part)))))
    _write(to, lines, "\n".join(pages), as_json)


def _paper(grid: Grid, plan: Plan, to: Path, as_json: bool) -> None:
    """Print a table of a paper with our scores, and write it to the files `to`."""
    from rich.console import Console

    from eval.paper_table import notes, paper_table
    from eval.printing import numbers_table
    from eval.tables import markdown_table, markdown_text
    from harness.experiments.tables import chosen, missing, scored

    assert plan.table is not None
    rows = [row for row in plan.rows if row.tests or row.reason]
    lines = scored(grid, rows, plan.table)
    runs, choices = chosen(rows, lines)
    head, body = paper_table(plan.table, runs)
    remarks = [*notes(plan.table, runs), *choices, *missing(lines)]
    if not as_json:
        Console().print(numbers_table(*head, rows=body, caption="\n".join(remarks)))
    page = "\n".join([markdown_table(head, body, (0,)), "", *(f"- {markdown_text(one)}" for one in remarks), ""])
    _write(to, lines, page, as_json)


def _write(to: Path, lines: Lines, page: str, as_json: bool) -> None:
    from harness.util.files import write_atomically

    files = [to.with_name(f"{to.name}.{kind}") for kind in ("md", "json")]
    for file, text in zip(files, (page, json.dumps(lines, indent=1) + "\n"), strict=True):
        write_atomically(file, text)
    click.echo(json.dumps(lines) if as_json else ", ".join(map(str, files)))
