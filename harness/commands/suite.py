"""`harness suite`: models by contexts, formats and examples, each combination prompted and scored, as one command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from harness.commands.ablate import run_grid


@click.command()
@click.argument("file")
@click.option("--name", help="Name of the folder under runs/. [default: the file's, without .yaml]")
@click.option("--dry-run", is_flag=True, help="Check the file and print the command of every row, without asking anything.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with fractions, instead of tables in percent.")
def suite(file: str, name: str | None, dry_run: bool, as_json: bool) -> int:
    """Prompt and score every combination in FILE, a YAML of models, contexts, formats and examples (or demo, grid), and compare
    those of a task with its first.

    \b
    harness suite demo
    harness suite my-suite.yaml --dry-run

    To go on with a killed one, or to try failed rows again, give the same command again.
    """
    from harness.experiments.grid import Grid
    from harness.experiments.suite import facts, read_suite, suite_path
    from harness.runs.folder import RUNS

    path = suite_path(file)
    name = name or path.stem
    from harness.commands.prompt import prompt

    parts = read_suite(path, name, prompt, _task)
    rows = [row for part in parts.values() for row in part]
    if dry_run:
        for row in rows:
            click.echo("\n".join([f"# {row.name}", *(shlex.join(("harness", *words)) for words in row.commands)]))
        return 0
    return run_grid(Grid(RUNS / name, rows), parts, facts, "Seconds and tokens: answering.", as_json=as_json)


def _task(words: Sequence[str]) -> str:
    """The task that `harness prompt WORDS` asks. Raises what it would raise before it loads a model."""
    from adapters.asking import chosen_adapter, chosen_spec
    from harness.commands.prompt import prompt
    from harness.engines.engine import ENGINES
    from harness.prompting.options import Options
    from harness.util.registry import choose

    options = Options(**prompt.make_context("prompt", list(words), click.get_current_context()).params)
    choose("engine", options.engine, ENGINES)
    return chosen_spec(options, chosen_adapter(options)).task
