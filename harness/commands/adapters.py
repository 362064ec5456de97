"""`harness adapters`: list the adapters here, show one, check that it fits, and copy one to ship it."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from adapters.catalog import Entry


@click.group()
def adapters() -> None:
    """List the LoRA adapters here, show one, check that it fits, and copy one to ship it."""


@adapters.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_adapters(as_json: bool) -> None:
    """Show the adapters that ship with the harness and those of the runs here."""
    from rich.console import Console

    from adapters.catalog import catalog
    from eval.tables import numbers_table

    entries, problems = catalog()
    if as_json:
        click.echo(json.dumps([_values(entry) for entry in entries]))
    elif entries:
        table = numbers_table("name", "where", "task", "base", "format", "MB", "dev F1")
        for entry in entries:
            about = entry.about
            cells = (entry.where, about.task, about.base, about.prompt_format, f"{entry.megabytes:.1f}", entry.judged)
            table.add_row(entry.name, *cells)
        Console().print(table)
    else:
        click.echo("No adapters here; `harness finetune` makes one")
    for problem in problems:
        click.echo(f"left out: {problem}", err=True)


def _values(entry: Entry) -> dict[str, Any]:
    about = entry.about
    return {
        "name": entry.name,
        "where": entry.where,
        "folder": str(entry.folder),
        "task": about.task,
        "context": about.context,
        "format": about.format,
        "frame": about.frame,
        "template": about.template,
        "prompt_hash": about.prompt_hash,
        "base": about.base,
        "base_fingerprint": about.base_fingerprint,
        "megabytes": round(entry.megabytes, 3),
        "dev": entry.judged,
    }


@adapters.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(name: str, as_json: bool) -> None:
    """Show the details of the adapter NAME (the name of a shipped one, a run or a folder)."""
    from adapters.catalog import CARD_FILE, percent, read_entry, read_scores
    from adapters.registry import find_adapter
    from harness.engines.bases import fingerprint

    folder = find_adapter(name)
    entry, scores = read_entry(folder), read_scores(folder)
    about, own = entry.about, fingerprint(folder)
    if as_json:
        details = {"fingerprint": own, "recipe": about.recipe, "curve": about.curve, "versions": about.versions}
        click.echo(json.dumps(_values(entry) | details | {"scores": [{"command": s.command, **s.scores} for s in scores]}))
        return
    click.echo(f"{entry.name}: {entry.where}, {entry.megabytes:.1f} MB, fingerprint {own}")
    click.echo(f"prompt format: {about.task}/{about.prompt_format} ({about.prompt_hash})")
    click.echo(f"base: {about.base} ({about.base_fingerprint or 'from a hub'})")
    click.echo(f"trained: {about.steps:,} steps on {about.items:,} items in {about.seconds:,.0f} s")
    for scored in scores:
        click.echo(f"{scored.part}: F1 {percent(*scored.headline)} on {scored.scores['items']:,} items; {scored.command}")
    if not scores and entry.judged:
        click.echo(f"dev F1 at the end of training: {entry.judged}")
    click.echo(f"recipe: {json.dumps(about.recipe)}")
    if (folder / CARD_FILE).is_file() and scores:
        click.echo(f"\n{(folder / CARD_FILE).read_text()}")


@adapters.command()
@click.argument("name")
@click.option("--base", "--model", help="Hub name or local folder. [default: the one it was trained on]")
@click.option("--items", default=0, type=click.IntRange(0), help="Also compare N answers of the merged model with peft's.")
@click.option(
    "--engine", default="vllm", show_default=True, type=click.Choice(["vllm", "transformers"]), help="Runs the merged model."
)
@click.option(
    "--max-new-tokens", default=64, show_default=True, type=click.IntRange(1), help="Longest compared answer, in tokens."
)
def check(name: str, base: str | None, items: int, engine: str, max_new_tokens: int) -> int:
    """Check that the adapter NAME is complete and fits its base and this harness's prompts."""
    from adapters.checking import agreement, check_weights
    from adapters.registry import load_adapter
    from harness.engines.bases import display_name
    from harness.engines.weights import weights_fingerprint
    from prompts.probe import format_hash

    adapter = load_adapter(name, base)
    weights = check_weights(adapter)
    click.echo(
        f"{name} fits {display_name(adapter.base)} ({weights_fingerprint(adapter.base) or 'from a hub'}) and the prompt format "
        f"{adapter.spec.name} ({format_hash(adapter.spec)}): rank {adapter.rank}, {weights.count:,} weights in "
        f"{', '.join(weights.kinds)}"
    )
    if not items:
        return 0
    result = agreement(adapter, items, engine, functools.partial(click.echo, err=True), max_new_tokens)
    alike = f"{result.actions} equal actions, {result.texts} equal texts"
    click.echo(f"merged ({engine}) and unmerged (peft), {result.items} dev items: {alike}")
    if result.first:
        click.echo(f"the first that differs: {result.first}")
    return 0


@adapters.command()
@click.argument("run")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--scores", multiple=True, metavar="RUN", help="A scored run of the adapter, for its card. Repeatable.")
@click.option("--large", is_flag=True, help="Allow more than the 12 MB that may ship.")
@click.option("--note", default="", help="Extra text for its card.")
def export(run: str, folder: Path, scores: tuple[str, ...], large: bool, note: str) -> None:
    """Copy the adapter of RUN to a new FOLDER with float16 weights and a card, to keep or to ship.

    \b
    harness adapters export my-run my-adapter --scores hexagons_dev_my-run_0-shot
    """
    from adapters.shipping import export_adapter

    size = export_adapter(run, folder, scores, large=large, note=note)
    click.echo(f"{folder}: {size:.1f} MB of weights in float16; prompt with --adapter {folder}")
