"""`harness finetune`: train a LoRA adapter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from adapters.finetune import Job, Trained
    from harness.corpora.item import Item
    from prompts.spec import PromptSpec


@click.command()
@click.argument("recipe")
@click.option("--task", default="hexagons", show_default=True, help="hexagons or minecraft.")
@click.option("--base", help="Base model: a hub name or a local folder; smollm2-135m if not given.")
@click.option("--name", help="Name of the run folder under runs/; RECIPE-TASK if not given.")
@click.option("--max-steps", type=click.IntRange(min=1), help="Train for N steps instead of the recipe's epochs.")
@click.option("--context", help="What the model sees of an item.")
@click.option("--format", help="How actions are written.")
@click.option("--frame", help="Minecraft: world, builder or pose.")
@click.option("--template", help="The prompts' wording: a shipped template or a folder.")
@click.option("--shots", type=click.IntRange(min=0), help="Examples before every training item.")
@click.option("--limit", type=click.IntRange(min=1), help="Train on the first N items only.")
@click.option("--data", multiple=True, type=click.Path(path_type=Path), help="Also train on this file from harness simulate.")
@click.option("--from", "start", metavar="ADAPTER", help="Start from the weights of this adapter: a folder or a name.")
@click.option(
    "--history", metavar="RUN", help="HEXAGONS: take earlier answers and boards from this run on the train split instead of gold."
)
@click.option(
    "--programs",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Learn to answer with the programs that harness mine wrote to FILE. Repeatable.",
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a key of the recipe, as in lora.r=8.")
def finetune(recipe: str, **options: Any) -> None:
    """Train a LoRA adapter with RECIPE (llama-lora, llama-qlora, llama-grpo, or a file).

    \b
    harness finetune llama-lora
    harness finetune llama-lora --task minecraft --base meta-llama/Meta-Llama-3-8B
    harness finetune llama-lora --task minecraft --data simulated.jsonl

    To resume a killed run, give the same command again.
    On several GPUs: torchrun --nproc-per-node 8 -m harness.cli finetune ..., or accelerate launch.
    """
    from adapters.finetune import finetune as train
    from harness.errors import UsageError
    from harness.runs.folder import RUNS, Run, log_to
    from harness.training.processes import first_says, processes

    # Whatever is refused, the first process refuses before the others do anything.
    with processes().main_process_first():
        job, kind, added = _job(recipe, options)
        if job.recipe.grpo and processes().num_processes > 1:
            raise UsageError(f"{job.recipe_name} trains in one process: start it without torchrun or accelerate launch")
        folder = RUNS / (options["name"] or f"{job.recipe_name}-{job.spec.task}")
        say = first_says(click.echo)
        say(
            f"{job.recipe_name} on {_base_name(job)}: {job.spec.name}, {len(job.train)} train and {len(job.dev)} dev items "
            f"of the {kind} corpus{''.join(f' and {name}' for name in added)}; {folder}"
        )
        first = processes().is_main_process
        run = Run(folder, _settings(job) | ({"data": added} if added else {}) | _given(options)) if first else None
        finished = (folder / "adapter" / "harness.json").is_file()
    if finished:
        say(f"This run is finished: the adapter is in {folder / 'adapter'}; choose another --name to train again")
        return
    if run:
        log_to(folder)
    if job.recipe.grpo:
        from adapters.grpo import learn

        result = learn(job, folder, say)
    else:
        result = train(job, folder, say)
    if run:
        _print(result)
        if not result.effect:
            click.echo("Warning: training changed nothing: all of the adapter's second matrices are zero", err=True)
        run.close()
    which = f"of step {result.kept}, the best on dev" if result.kept < result.steps else f"of the last step, {result.kept}"
    say(f"The adapter {which}, is in {folder / 'adapter'}")


def _job(recipe: str, options: dict[str, Any]) -> tuple[Job, str, dict[str, str]]:
    """What to train, where its items come from ("official" or "sample"), and the hashes of files whose items are added."""
    from adapters.finetune import Job
    from adapters.recipe import load_recipe, recipe_path
    from adapters.registry import find_adapter
    from harness.corpora import load, locate
    from harness.corpora.records import load_more
    from harness.engines.bases import DEFAULT_BASE, display_name, resolve_base
    from harness.runs.folder import items_hash
    from harness.training.plan import subset

    flags = {"training.max_steps": options["max_steps"], "training.shots": options["shots"]}
    overrides = [*options["overrides"], *(f"{key}={value}" for key, value in flags.items() if value is not None)]
    loaded = load_recipe(recipe, overrides, base=display_name(options["base"] or DEFAULT_BASE))
    start = find_adapter(options["start"]) if options["start"] else None
    spec = _spec(options, start)
    train = subset(load(spec.task, "train")[: options["limit"]], loaded.training.train_items, loaded.training.seed)
    dev, gold = load(spec.task, "dev"), train
    if options["history"]:
        train = _as_met(train, spec, options["history"])
    added = load_more(options["data"], spec.task, [*train, *dev])
    more = [item for items in added.values() for item in items]
    train, gold = [*train, *more], [*gold, *more]
    hashes = {name: items_hash(items) for name, items in added.items()}
    if loaded.training.lasting:
        train, dev = [_lasting(item) for item in train], [_lasting(item) for item in dev]
    base = resolve_base(options["base"])
    answers = _programs(options["programs"], spec, train)
    return Job(recipe_path(recipe).stem, loaded, base, spec, train, dev, start, answers, gold), locate(spec.task).kind, hashes


def _spec(options: dict[str, Any], start: Path | None) -> PromptSpec:
    """The prompt format that the flags ask for; without any, that of the adapter to start from."""
    from adapters.registry import load_adapter
    from prompts.spec import PromptSpec

    asked = [options[key] for key in ("context", "format", "frame", "template")]
    if start is not None and not any(asked) and (spec := load_adapter(start, options["base"]).spec).task == options["task"]:
        return spec
    return PromptSpec.make(options["task"], *asked)


def _programs(paths: tuple[Path, ...], spec: PromptSpec, train: list[Item]) -> dict[str, str]:
    """The best program of each item, which for simulated ones is their own. Raises UsageError if answers are not programs, or
    where none is for a train item."""
    from harness.errors import UsageError
    from harness.mining.miner import read

    if paths and not spec.written.is_program:
        raise UsageError(f"--programs {paths[0]}: answers are written as {spec.format}; use --format bare-program or program")
    known = {item.id for item in train}
    found = _own_programs(spec, train)
    for path in paths:
        pairs = [pair for pair in read(path) if pair.id in known]
        if not pairs:
            raise UsageError(f"--programs {path}: it holds no program for any of the {len(known)} train items")
        found |= {pair.id: pair.program for pair in reversed(pairs)}
    return found


def _as_met(items: list[Item], spec: PromptSpec, name: str) -> list[Item]:
    """The items after the run's own answers. Raises UsageError if they are not shown, or the run answered none of them."""
    from eval.score_run import read_answers
    from harness.errors import UsageError
    from harness.runs.answering import as_met
    from harness.runs.folder import find_run

    if not spec.rolls_out:
        raise UsageError(f"--history {name}: {spec.name} shows no earlier answers; use --context conversation or predicted-board")
    answers = read_answers(find_run(name))
    records = [answers.records[item.id] for item in items if item.id in answers.records]
    if not records:
        raise UsageError(f"--history {name}: it answered none of the {len(items)} train items")
    return list(as_met(items, records))


def _lasting(item: Item) -> Item:
    from dataclasses import replace

    from harness.corpora.item import MinecraftItem
    from harness.worlds.minecraft import lasting

    return replace(item, actions=lasting(item.actions, item.before)) if isinstance(item, MinecraftItem) else item


def _own_programs(spec: PromptSpec, train: list[Item]) -> dict[str, str]:
    """The programs that simulated items bring with them, where answers are programs."""
    if not spec.written.is_program:
        return {}
    told = {item.id: (item, item.meta["program"]) for item in train if isinstance(item.meta.get("program"), str)}
    return {name: text for name, (item, text) in told.items() if text and spec.written.read(text, item).actions == item.actions}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The names of what else training began with, for the adapter's card; what they stand for is in the settings by its hash."""
    named = {"from": options["start"], "history": options["history"]}
    given = {flag: [name] for flag, name in named.items() if name}
    if options["programs"]:
        given["programs"] = [path.name for path in options["programs"]]
    return {"given": given} if given else {}


def _base_name(job: Job) -> str:
    from harness.engines.bases import display_name

    return display_name(job.base)


def _settings(job: Job) -> dict[str, Any]:
    """Everything that decides the adapter."""
    from harness.engines.bases import base_origin, fingerprint
    from harness.runs.folder import items_hash
    from harness.util.hashing import json_hash
    from prompts.probe import described

    return {
        "command": "finetune",
        "recipe": {"name": job.recipe_name, **job.recipe.model_dump()},
        **described(job.spec),
        "base": _base_name(job),
        "base_fingerprint": fingerprint(job.base),
        **base_origin(job.base),
        **({"from": fingerprint(job.start)} if job.start else {}),
        "train_items": len(job.train),
        "train_hash": items_hash(job.train),
        **({"answers": json_hash(job.answers)} if job.answers else {}),
        "dev_hash": items_hash(job.dev),
    }


def _print(result: Trained) -> None:
    """The curve as a table."""
    from rich.console import Console
    from rich.table import Table

    written = {"step": "{:.0f}", "seconds": "{:.0f}", "dev_f1": "{:.1%}"}
    names = list(dict.fromkeys(name for point in reversed(result.curve) for name in point))
    table = Table(*(name.replace("_", " ").replace("f1", "F1") for name in names))
    for point in result.curve:
        table.add_row(*(written.get(name, "{:.3f}").format(point[name]) if name in point else "" for name in names))
    Console().print(table)
