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
    from harness.corpora.held_out import HeldOut
    from harness.corpora.item import Item
    from harness.training.job import Trained
    from prompts.spec import PromptSpec
    from serialization.annotations import ProgramAnswers


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
        for line in filter(None, (job.learned, *_leaks(job, data.left_out))):
            say(line)
        require(job.base, say)
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


def _leaks(job: FinetuneJob, left_out: int) -> list[str]:
    """Lines about what the train items have in common with dev and test."""
    lines = [f"{left_out} simulated or augmented items are also in dev or test, and are left out"] if left_out else []
    if alike := job.held_out.get("published_alike"):
        lines.append(f"{alike} train items say and do the same as an item of dev or test, as the corpus was published")
    shared = job.held_out.get("shared_targets", {})
    return lines + [
        f"{count} of the {total} test items of {task} have a target that is trained on; harness score --by seen tells them apart"
        for task, (count, total) in shared.items()
    ]


def _job(options: Finetune) -> tuple[FinetuneJob, TrainData]:
    """The training job, and its gathered data. Raises FaultsError if several flags or keys of the recipe do not fit."""
    from adapters.finetune import FinetuneJob, without_weights
    from adapters.libraries import check_libraries
    from adapters.registry import find_adapter
    from adapters.sources import with_thought
    from harness.corpora import load
    from harness.corpora.held_out import HeldOut
    from harness.engines.models.bases import resolve_base
    from harness.prompting.dev import dev_f1
    from harness.prompting.examples import choose_shots
    from harness.training.curriculum import check_curriculum
    from prompts.shots import ShotChoice

    loaded = _recipe(options)
    task, faults = options.task or loaded.task or DEFAULT_TASK, Faults()
    faults.attempt(partial(check_libraries, loaded))
    base = faults.attempt(lambda: resolve_base(loaded.base))
    start = faults.attempt(partial(find_adapter, options.start)) if options.start else None
    spec = faults.attempt(lambda: _spec(task, loaded.prompt, options.base, start if loaded.method != "full" else None))
    dev = faults.attempt(lambda: load(task, "dev")) or []
    held = faults.attempt(lambda: HeldOut(task))
    if held is None:
        faults.report()
    assert held is not None
    gold, learned, data = _train_data(options, loaded, task, spec, held, faults)
    assert spec is not None
    assert base is not None
    items, learned = with_thought(data.items) if spec.thinks and loaded.method != "grpo" else (data.items, learned)
    check_curriculum(items, loaded.training.curriculum)
    choice = ShotChoice(loaded.shots, loaded.training.seed, loaded.prompt.select)
    job = FinetuneJob(
        name=loaded.file.stem,
        recipe=loaded,
        items=items,
        dev=dev,
        base=base,
        spec=spec,
        examples=partial(choose_shots, choice, [*items, *dev], items),
        dev_f1=dev_f1,
        start=start,
        resume=options.resume,
        learned=learned,
        gold={item.id: item for item in gold},
        held_out=held.compared(items),
    )
    if loaded.peft:
        without_weights(job)
    return job, data


def _train_data(
    options: Finetune, loaded: FinetuneRecipe, task: str, spec: PromptSpec | None, held: HeldOut, faults: Faults
) -> tuple[list[Item], str, TrainData]:
    """The train split's items, a line about their programs, and all train items. Raises what `faults` holds in the end."""
    from adapters.sources import chosen, gather, with_thoughts
    from harness.corpora import load
    from harness.training.plan import subset

    training = loaded.training
    gold = faults.attempt(lambda: subset(load(task, "train")[: options.limit], training.train_items, training.seed)) or []
    gold = (faults.attempt(partial(with_thoughts, gold, options.thoughts, held)) or gold) if options.thoughts else gold
    programs = faults.attempt(partial(_programs, options.programs, spec, training.cells)) if spec else None
    gold = list(programs.of_split(gold, task)) if programs else gold
    train = faults.attempt(partial(_as_met, gold, spec, options.history, held)) or []
    data = faults.attempt(partial(gather, chosen(loaded.data, options.data, options.limit), task, train, held, programs))
    faults.report()
    assert data is not None
    return gold, str(programs or ""), data


def _recipe(options: Finetune) -> FinetuneRecipe:
    """The recipe with the flags' changes."""
    from adapters.recipe import load_recipe
    from harness.engines.models.bases import DEFAULT_BASE

    flags = {f"prompt.{key}": getattr(options, key) for key in Prompt.model_fields}
    flags |= {"training.max_steps": options.max_steps, "base": options.base or None}
    overrides = [*options.overrides, *(f"{key}={json.dumps(value)}" for key, value in flags.items() if value is not None)]
    return load_recipe(options.recipe, overrides, base=DEFAULT_BASE)


def _spec(task: str, prompt: Prompt, base: str | None, start: Path | None) -> PromptSpec:
    """The prompt format that the flags and the recipe ask for; if they ask for nothing, the format of the adapter to start from,
    provided that it is of the task."""
    from adapters.registry import load_adapter
    from prompts.spec import PromptSpec

    names = prompt.context, prompt.format, prompt.frame, prompt.template, prompt.think
    if start is not None and not any(names) and (spec := load_adapter(start, base).spec).task == task:
        return spec
    return PromptSpec.make(task, *names)


def _programs(paths: tuple[Path, ...], spec: PromptSpec, cells: bool) -> ProgramAnswers | None:
    """The programs that the model learns to answer, if it answers in programs. Raises UsageError for files if it does not, and as
    `given_annotations` does."""
    from harness.errors import UsageError
    from prompts.messages import read_answer
    from serialization.annotations import ProgramAnswers, given_annotations

    if not spec.format.is_program:
        if paths:
            written = f"answers are written as {spec.format_name}"
            raise UsageError(f"--programs {paths[0]}: {written}; use --format bare-program or program")
        return None
    return ProgramAnswers(lambda text, item: read_answer(text, item, spec), given_annotations(paths, spec.task), cells)


def _as_met(items: list[Item], spec: PromptSpec | None, name: str | None, held: HeldOut) -> list[Item]:
    """The items as they follow the answers of the run `name`, if there is one. Raises UsageError if prompts do not show earlier
    answers, if the run answered none of the items, and if it answered items of dev or test."""
    from eval.answers import read_answers
    from harness.corpora.rollout import as_met
    from harness.errors import UsageError
    from harness.runs.folder import find_run

    if spec is None or name is None:
        return items
    if not spec.rolls_out:
        raise UsageError(f"--history {name}: {spec.name} shows no earlier answers; use --context conversation or predicted-board")
    answers = read_answers(find_run(name))
    held.refuse(f"--history {name}", (item for item in answers.items if item.id in answers.records))
    records = [answers.records[item.id] for item in items if item.id in answers.records]
    if not records:
        raise UsageError(f"--history {name}: it answered none of the {len(items)} train items")
    return list(as_met(items, records))


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
