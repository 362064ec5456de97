"""`harness adapters`: list, show, check, merge, export, push and import LoRA adapters."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapters import MAX_MEGABYTES
from harness.tasks.registry import TASK_NAMES
from harness.util.options import ModelCommand, argument, option
from harness.util.settings import Strict

if TYPE_CHECKING:
    from adapters.catalog import AdapterEntry
    from adapters.registry import Adapter

_SHOWN = ("task", "context", "format", "frame", "template", "prompt_hash", "base", "base_fingerprint", "imported")
"""The fields of an adapter's record that are listed as JSON."""
BASE = option(None, "Hub name or local folder of the base. [default: the one it was trained on]", names=("--base", "--model"))


@click.group()
def adapters() -> None:
    """List, show, check, merge, export and push LoRA adapters, and import published ones."""


class List(Strict):
    as_json: bool = option(False, "Print JSON.", names=("--json",))


@adapters.command("list", cls=ModelCommand, model=List)
def list_adapters(options: List) -> None:
    """List the adapters that ship with the harness and the adapters of runs here."""
    from rich.console import Console

    from adapters.catalog import catalog
    from eval.printing import numbers_table

    entries, problems = catalog()
    if options.as_json:
        click.echo(json.dumps([_values(entry) for entry in entries]))
    elif entries:
        table = numbers_table("name", "where", "task", "base", "format", "MB", "dev F1")
        for entry in entries:
            about = entry.about
            where = f"{entry.where}, imported" if about.imported else entry.where
            cells = (where, about.task, about.base, about.prompt_format, f"{entry.megabytes:.1f}", entry.dev_f1)
            table.add_row(entry.name, *cells)
        Console().print(table)
    else:
        click.echo("No adapters here; `harness finetune` makes one")
    for problem in problems:
        click.echo(f"left out: {problem}", err=True)


def _values(entry: "AdapterEntry") -> dict[str, Any]:
    own = {"name": entry.name, "where": entry.where, "folder": str(entry.folder)}
    return own | {"megabytes": round(entry.megabytes, 3), "dev": entry.dev_f1} | entry.about.model_dump(include={*_SHOWN})


class ShowAdapter(List):
    name: str = argument()


@adapters.command(cls=ModelCommand, model=ShowAdapter)
def show(options: ShowAdapter) -> None:
    """Show the details of the adapter NAME (a shipped adapter, a run or a folder)."""
    from adapters.catalog import CARD_FILE, read_entry, read_scores
    from adapters.registry import find_adapter
    from harness.engines.models.bases import fingerprint

    folder = find_adapter(options.name)
    entry, scores = read_entry(folder), read_scores(folder)
    details = _values(entry) | {"fingerprint": fingerprint(folder)}
    details |= entry.about.model_dump(include={"steps", "items", "seconds", "recipe", "curve", "versions"})
    if options.as_json:
        click.echo(json.dumps(details | {"scores": [{"command": s.command, **s.scores} for s in scores]}))
        return
    for key, value in details.items():
        if value and key != "curve":
            click.echo(f"{key.replace('_', ' ')}: {value if isinstance(value, str) else json.dumps(value)}")
    for scored in scores:
        score = f"{scored.headline.label} {scored.headline}"
        click.echo(f"{scored.part}: {score} on {scored.scores['items']:,} items; {scored.command}")
    if (folder / CARD_FILE).is_file() and scores:
        click.echo(f"\n{(folder / CARD_FILE).read_text()}")


class CheckAdapter(Strict):
    name: str = argument()
    base: str | None = BASE


@adapters.command(cls=ModelCommand, model=CheckAdapter)
def check(options: CheckAdapter) -> None:
    """Check that the adapter NAME is complete and fits its base and this harness's prompts."""
    from adapters.registry import load_adapter

    _check(options.name, load_adapter(options.name, options.base))


def _check(name: str, adapter: "Adapter") -> None:
    """Print what fits. Raises AdapterError as `check_weights` does."""
    from adapters.registry import check_weights
    from harness.engines.models.bases import display_name
    from harness.engines.models.weights import weights_fingerprint
    from harness.engines.vllm.engine import not_served
    from prompts.probe import format_hash

    origin = weights_fingerprint(adapter.base) or "its weights are not here to compare"
    click.echo(
        f"{name} fits {display_name(adapter.base)} ({origin}) and the prompt format {adapter.spec.name} "
        f"({format_hash(adapter.spec)}): rank {adapter.rank}, {check_weights(adapter):,} weights"
    )
    if refused := not_served(adapter.path):
        click.echo(f"vLLM cannot serve it unmerged: it has {refused}; prompt with --merge, or with --engine transformers")


class Merge(Strict):
    name: str = argument()
    folder: Path = argument()
    base: str | None = BASE


@adapters.command(cls=ModelCommand, model=Merge)
def merge(options: Merge) -> None:
    """Merge the adapter NAME into its base, and write the whole model to a new FOLDER.

    \b
    harness adapters merge my-run my-model
    """
    from adapters.merging import write_merged
    from adapters.registry import load_adapter
    from harness.engines.models.weights import weights_size

    folder = options.folder
    about = write_merged(load_adapter(options.name, options.base), folder)
    named = [key for key in ("task", "context", "format", "frame", "template") if key in about]
    words = ["harness", "prompt", "--model", str(folder), *(word for key in named for word in (f"--{key}", str(about[key])))]
    click.echo(f"{folder}: {weights_size(folder) / 1e6:,.1f} MB; {shlex.join(words)}")


class Import(Strict):
    source: str = argument()
    task: str = option(..., f"{TASK_NAMES}.")
    context: str = option(..., "The context that it was trained with, or the nearest one.")
    format: str = option(..., "The format in which it was trained to write actions.")
    frame: str | None = option(None, "Minecraft: world, builder or pose. [default: world]")
    template: str | None = option(None, "The prompts' wording: a shipped template or a folder. [default: our own]")
    base: str | None = option(names=("--base", "--model"))
    """Hub name or local folder of the base. [default: the one that adapter_config.json names]"""
    name: str | None = option(None, "Name of the run folder under runs/. [default: the folder's or the repository's]")


@adapters.command("import", cls=ModelCommand, model=Import)
def import_published(options: Import) -> None:
    """Import a published peft adapter from SOURCE: a folder that holds adapter_config.json and adapter_model.safetensors, or
    user/name or user/name@revision on the Hugging Face hub.

    \b
    harness adapters import NeBuLa-org --task minecraft --context full-dialogue+mission --format lines
        --template nebula --name nebula
    """
    from adapters.importing import import_adapter
    from prompts.spec import PromptSpec

    spec = PromptSpec.make(options.task, options.context, options.format, options.frame, options.template)
    adapter = import_adapter(options.source, spec, options.base, options.name)
    _check(str(adapter.path), adapter)
    click.echo(shlex.join(["harness", "prompt", "--adapter", adapter.path.parent.name, "--base", adapter.base]))


class ExportAdapter(Strict):
    run: str = argument()
    folder: Path = argument()
    scores: tuple[str, ...] = option((), "A scored run of the adapter, for its card. Repeatable.", metavar="RUN")
    large: bool = option(False, f"Allow more than {MAX_MEGABYTES} MB, the limit for shipped adapters.")
    note: str = option("", "Extra text for its card.")


class Push(Strict):
    name: str = argument()
    repository: str = argument()
    scores: tuple[str, ...] = option((), "A scored run of the adapter, for its card. Repeatable.", metavar="RUN")
    note: str = option("", "Extra text for its card.")
    private: bool = option(False, "Create a private repository.")
    dry_run: bool = option(False, "List the files and upload nothing.")


@adapters.command(cls=ModelCommand, model=Push)
def push(options: Push) -> None:
    """Upload the adapter NAME to the Hugging Face hub as REPOSITORY (user/name), with a card and its scores.

    \b
    harness adapters push my-run user/my-adapter --scores hexagons_dev_my-run_0-shot --dry-run

    The token is that of `hf auth login`.
    """
    from adapters.shipping import push_adapter
    from harness.prompting.adapter import scored_run

    repository, how = options.repository, options.model_dump(include={"note", "private", "dry_run"})
    files = push_adapter(options.name, repository, [scored_run(run, options.name, repository) for run in options.scores], **how)
    click.echo("\n".join(map(str, files)))
    click.echo("nothing was uploaded" if options.dry_run else f"harness prompt --adapter {shlex.quote(repository)}")


@adapters.command(cls=ModelCommand, model=ExportAdapter)
def export(options: ExportAdapter) -> None:
    """Copy the adapter of RUN to a new FOLDER with float16 weights and a card, to keep or to ship.

    \b
    harness adapters export my-run my-adapter --scores hexagons_dev_my-run_0-shot
    """
    from adapters.shipping import export_adapter
    from harness.prompting.adapter import scored_run

    scores = [scored_run(run, options.run, options.folder.name) for run in options.scores]
    size = export_adapter(options.run, options.folder, scores, large=options.large, note=options.note)
    click.echo(f"{options.folder}: {size:.1f} MB of weights in float16; prompt with --adapter {shlex.quote(str(options.folder))}")
