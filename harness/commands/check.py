"""`harness check`: whether a base model can be trained and prompted correctly."""

import click

from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict


class CheckBase(Strict):
    model: str = argument("smollm2-135m")
    full: bool = option(False, "Check the model itself, with its weights, instead of a miniature.")


@click.command(cls=ModelCommand, model=CheckBase)
def check(options: CheckBase) -> None:
    """Check that the base MODEL can be trained and prompted correctly, in under a minute, on a miniature of its architecture.

    \b
    harness check meta-llama/Meta-Llama-3-8B
    harness check ./my-model --full

    The check needs the model's configuration, tokenizer and chat template, and with --full its weights. MODEL is a hub name or a
    folder, by default smollm2-135m. Exits with code 1 if a check fails.
    """
    from rich.console import Console
    from rich.table import Table

    from adapters.base_check import run_checks
    from harness.engines.models.bases import display_name, load_config, load_tokenizer, resolve_base

    base, full = resolve_base(options.model), options.full
    outcomes = run_checks(base, load_tokenizer(base), load_config(base), full=full)
    table = Table("check", "", "", title=f"{display_name(base)}: {'its own weights' if full else 'a miniature'}")
    words = {True: "passed", None: "skipped", False: "FAILED"}
    for one in outcomes:
        table.add_row(one.name, words[one.passed], one.detail)
    Console().print(table)
    if any(one.passed is False for one in outcomes):
        raise SystemExit(1)
