"""`harness finetune`: fine-tune a model, or say what that would do."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapters.options import Finetune, Prompt
from harness.errors import Faults
from harness.tasks.registry import DEFAULT_TASK
from harness.util.options import ModelCommand

if TYPE_CHECKING:
    from adapters.finetune import FinetuneJob
    from adapters.recipe import FinetuneRecipe
    from adapters.sources import TrainData
    from harness.training.job import Trained


@click.command(cls=ModelCommand, model=Finetune)
def finetune(options: Finetune) -> None:
    """Fine-tune a model with RECIPE (llama-lora, llama-grpo, nebula, ... or a file).

    \b
    harness finetune llama-lora
    harness finetune llama-lora --task minecraft --base meta-llama/Meta-Llama-3-8B
    harness finetune llama-lora --task minecraft --data simulated.jsonl
    harness finetune nebula --base smollm2-135m --dry-run

    To resume a killed run, give the same command again. To train a finished one for longer, add --resume.
    On several GPUs: torchrun --nproc-per-node 8 -m harness.cli finetune ..., or accelerate launch.
    """
    from adapters.base_check import require
    from adapters.dry_run import dry_run
    from harness.corpora import locate
    from harness.engines.models.bases import display_name
    from harness.runs.folder import RUNS, lengthen
    from harness.training.job import train as train_job
    from harness.training.processes import first_says, processes

    # The first process goes first, so that it refuses whatever is wrong before the others do anything.
    with processes().main_process_first():
        job, data = _job(options)
        source, added = locate(job.spec.task).name, data.added
        folder = RUNS / (options.name or f"{job.name}-{job.spec.task}")
        say = first_says(click.echo)
        say(
            f"{job.name} on {display_name(job.base)}: {job.spec.name}, {len(job.items)} train and {len(job.dev)} dev items "
            f"of {source}{''.join(f' and {name}' for name in added)}; {'dry run' if options.dry_run else folder}"
        )
        for line in filter(None, (job.learned, data.note, *job.shared)):
            say(line)
        require(job, say)
        if options.dry_run:
            dry_run(job, click.echo)
            return
    out = job.result(folder)
    # In addition to the train split: the files of --data, otherwise the recipe's sources, with their hashes.
    beside: dict[str, Any] = {"data" if options.data else "sources": added} if added else {}
    beside |= {"given": options.given} if options.given else {}
    if options.resume and processes().is_main_process:
        lengthen(folder, job.settings() | beside)
    result = train_job(job, folder, click.echo, beside)
    if result is None:
        say(f"This run is finished: the {out.name} is in {out}; choose another --name to train again, or --resume")
        return
    if processes().is_main_process:
        _print(result)
    which = f"of step {result.kept}, the best on dev" if result.kept < result.steps else f"of the last step, {result.kept}"
    say(f"The {out.name} {which}, is in {out}")


def check(options: Finetune, untrained: bool = False) -> FinetuneJob:
    """The training of `harness finetune`. Raises the errors that the command would raise before it."""
    job, *_ = _job(options)
    return job


def recipe_schema(recipe: str) -> type[FinetuneRecipe]:
    """The schema of every recipe."""
    from adapters.recipe import FinetuneRecipe

    return FinetuneRecipe


def _job(options: Finetune) -> tuple[FinetuneJob, TrainData]:
    """The training job, and its gathered data. Raises FaultsError if several flags or keys of the recipe do not fit."""
    from adapters.finetune import FinetuneJob
    from adapters.libraries import check_libraries
    from adapters.model import without_weights
    from adapters.registry import find_adapter, spec_to_train
    from adapters.sources import train_data
    from harness.corpora import load
    from harness.corpora.held_out import HeldOut
    from harness.engines.models.bases import resolve_base
    from harness.prompting.dev import dev_f1
    from harness.prompting.examples import choose_shots
    from harness.training.curriculum import check_curriculum
    from prompts.shots import ShotChoice

    faults = Faults()
    start = faults.attempt(partial(find_adapter, options.start)) if options.start else None
    loaded = _recipe(options, start)
    task = options.task or loaded.task or DEFAULT_TASK
    faults.attempt(partial(check_libraries, loaded))
    base = faults.attempt(lambda: resolve_base(loaded.base))
    spec = faults.attempt(lambda: spec_to_train(task, loaded.prompt, options.base, start if loaded.method != "full" else None))
    dev = faults.attempt(lambda: load(task, "dev")) or []
    held = faults.attempt(lambda: HeldOut(task))
    if held is None:
        faults.report()
    assert held is not None
    data = train_data(options, loaded, task, spec, held, faults)
    assert spec is not None
    assert base is not None
    check_curriculum(data.items, loaded.training.curriculum)
    choice = ShotChoice(loaded.shots, loaded.training.seed, loaded.prompt.select)
    job = FinetuneJob(
        name=loaded.file.stem,
        recipe=loaded,
        items=data.items,
        dev=dev,
        base=base,
        spec=spec,
        examples=partial(choose_shots, choice, [*data.items, *dev], data.items),
        dev_f1=dev_f1,
        start=start,
        resume=options.resume,
        learned=data.learned,
        pairs=data.pairs,
        gold={item.id: item for item in data.gold},
        held_out=held.compared(data.items),
    )
    if loaded.peft:
        without_weights(job.recipe, job.config)
    return job, data


def _recipe(options: Finetune, start: Path | None) -> FinetuneRecipe:
    """The recipe with the flags' changes, by default on the base of the adapter `start`."""
    from adapters.recipe import load_recipe
    from adapters.registry import read_record
    from harness.engines.models.bases import DEFAULT_BASE

    flags = {f"prompt.{key}": getattr(options, key) for key in Prompt.model_fields}
    flags |= {"training.max_steps": options.max_steps, "base": options.base or None}
    overrides = [*options.overrides, *(f"{key}={json.dumps(value)}" for key, value in flags.items() if value is not None)]
    return load_recipe(options.recipe, overrides, base=read_record(start).base if start else DEFAULT_BASE)


def _print(result: Trained) -> None:
    """Print the curve as a table, and a warning if training changed nothing."""
    from rich.console import Console
    from rich.table import Table

    formats = {"step": "{:.0f}", "seconds": "{:.0f}", "dev_f1": "{:.1%}"}
    names = dict.fromkeys(name for point in reversed(result.curve) for name in point)
    table = Table(*(name.replace("_", " ").replace("f1", "F1") for name in names))
    for point in result.curve:
        table.add_row(*(formats.get(name, "{:.3f}").format(point[name]) if name in point else "" for name in names))
    Console().print(table)
    if not result.effect:
        click.echo("Warning: training changed nothing: the model answers as its base does", err=True)
