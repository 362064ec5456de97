"""`harness baseline`: train the classic baselines, and let them answer the items of a split."""

from __future__ import annotations

import functools
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.baselines import BASELINES, Ruled, choose_decoding
from harness.errors import UsageError
from harness.tasks.registry import TASK_NAMES
from harness.util.options import ModelCommand, argument, option
from harness.util.registry import choose, resolve
from harness.util.settings import Strict

if TYPE_CHECKING:
    from harness.baselines import Baseline, Decoding
    from harness.corpora.item import Item
    from harness.training.recipe import Recipe
    from harness.training.trainable import BaselineJob


TASK = option(None, f"{TASK_NAMES}. [default: the baseline's first]")


@click.group(help="Train and run the classic baselines.\n\n\b\n" + ", ".join(BASELINES))
def baseline() -> None: ...


class Train(Strict):
    baseline: str = argument(metavar="NAME")
    task: str | None = TASK
    name: str | None = option(None, "Name of the run folder under runs/. [default: NAME-TASK]")
    overrides: tuple[str, ...] = option((), "Change a key of the recipe, as in variant=B.", names=("--set",), metavar="KEY=VALUE")
    train_items: int | None = option(None, "Train on N items: whole procedures or games, drawn at random.", ge=1)
    max_epochs: int | None = option(None, "Train for at most N epochs instead of the recipe's.", ge=1)
    data: tuple[Path, ...] = option((), "Also train on this file from harness simulate or augment. Repeatable.", metavar="FILE")
    dev_data: tuple[Path, ...] = option((), metavar="FILE")
    """The validation split of a data set that --data adds, which is otherwise simulated. Each data set has the same share of dev
    as of train."""
    only_data: bool = option(False, "Leave out the corpus's train split: augmented files already contain it.")


@baseline.command(cls=ModelCommand, model=Train)
def train(options: Train) -> None:
    """Train the baseline NAME.

    \b
    harness baseline train cnn-gru
    harness baseline train cnn-gru --set glove=glove.42B.300d.txt --set training.batch_size=8

    To resume a killed run, give the same command again. To see its curves: tensorboard --logdir runs.
    """
    from harness.runs.folder import RUNS
    from harness.training.job import train as train_job

    job = check_training(options)
    train_job(job, RUNS / (options.name or f"{job.name}-{job.task}"), click.echo)


def recipe_schema(name: str) -> type[Recipe]:
    """The schema of a baseline's recipe. Raises UsageError for an unknown baseline and for one without a recipe."""
    chosen, _ = _choose(name, None)
    if isinstance(chosen, Ruled):
        raise UsageError(f"{name} has nothing to train: `harness baseline predict {name}` answers by its rules")
    schema: type[Recipe] = chosen.schema
    return schema


def check_predict(options: Predict, untrained: bool) -> str:
    """The task that `harness baseline predict` answers. Raises the errors that the command would raise before loading a model."""
    from harness.training.checkpoints import default_model, find_model

    chosen, task, _ = _asked(options)
    if not untrained and not isinstance(chosen, Ruled):
        find_model(options.checkpoint) if options.checkpoint else default_model(options.baseline, task)
    return task


def check_training(options: Train, untrained: bool = False) -> BaselineJob:
    """The training of `harness baseline train`. Raises the errors that the command would raise before it."""
    from harness.corpora.item import data_set
    from harness.training.curriculum import check_curriculum
    from harness.training.trainable import BaselineJob

    name = options.baseline
    chosen, task = _choose(name, options.task)
    recipe_schema(name)
    assert not isinstance(chosen, Ruled)
    limit = [f"training.epochs={options.max_epochs}"] if options.max_epochs else []
    overrides = [*options.overrides, *limit]
    recipe = chosen.recipe(overrides)
    items, dev, data = _items(task, recipe.training.seed, options)
    if len({*map(data_set, items)}) > 1:
        recipe = chosen.recipe(overrides, mixed=True)
    check_curriculum(items, recipe.training.curriculum)
    return BaselineJob(name=name, baseline=chosen, task=task, recipe=recipe, items=items, dev=dev, data=data)


def _choose(name: str, task: str | None) -> tuple[Baseline | Ruled, str]:
    chosen: Baseline | Ruled = resolve("baseline", name, BASELINES)()
    return chosen, choose(f"task of {name}", task or chosen.tasks[0], chosen.tasks)


def _asked(options: Predict) -> tuple[Baseline | Ruled, str, Decoding]:
    """The baseline, its task and its decoding."""
    if options.items_file and options.split:
        raise UsageError(f"--split {options.split}: the items come from {options.items_file}; leave the flag out")
    chosen, task = _choose(options.baseline, options.task)
    given = options.model_dump(include={"constrained", "steps", "beams", "samples", "share"})
    return chosen, task, choose_decoding(options.baseline, chosen, given)


def _items(task: str, seed: int, options: Train) -> tuple[list[Item], list[Item], dict[str, str]]:
    """The train items, the dev items, and the hashes of the files that contributed train items.

    Dev is the corpus's dev split or, if other data sets are trained on, `dev_set`.
    """
    from harness.corpora import load
    from harness.corpora.item import data_set, items_hash
    from harness.corpora.records import load_more
    from harness.training.plan import dev_set, subset

    if options.only_data and not options.data:
        raise UsageError("--only-data: there is nothing to train on without --data")
    if options.only_data and options.train_items:
        raise UsageError("--train-items: --only-data leaves the train split out")
    own = [] if options.only_data else subset(load(task, "train"), options.train_items, seed, "--train-items ")
    dev = load(task, "dev")
    judged = [item for part in load_more(options.dev_data, task, [*own, *dev]).values() for item in part]
    added = load_more(options.data, task, [*own, *dev])
    train_items = [*own, *(item for items in added.values() for item in items)]
    sources = {*map(data_set, train_items)}
    if judged or sources != {task}:
        dev = dev_set(train_items, [*(dev if task in sources else []), *judged], seed)
    return train_items, dev, {file: items_hash(items) for file, items in added.items()}


class Predict(Strict):
    baseline: str = argument(metavar="NAME")
    task: str | None = TASK
    split: str | None = option(None, "train, dev or test. [default: dev]")
    items_file: str | None = option(None, "A file from harness simulate to answer instead of a split.", names=("--items",))
    name: str | None = option(None, "The run's folder under runs/. [default: built from the settings]")
    checkpoint: str | None = option()
    """A model: a folder, a run or a shipped name. [default: the run NAME-TASK, otherwise the shipped model]"""
    constrained: bool = option(False, "Choose among feasible actions only.")
    steps: int | None = option(None, "At most N actions per item, including the stop. [default: 10]", ge=1, le=100)
    beams: int | None = option(None, "Beams in the search over text. [default: 3]", ge=1, le=32)
    samples: int | None = option(None, "Builder models: draw N answers and let them vote.", ge=1, le=1000)
    share: float | None = option(None, "Share of the votes that an action needs. [default: 0.15]", ge=0, le=1)
    limit: int | None = option(None, "Only the first N items.", ge=1)
    batch_size: int | None = option(None, "Items per batch. [default: the model's own]", ge=1, le=4096)
    as_json: bool = option(False, "Print the scores as JSON.", names=("--json",))

    @property
    def part(self) -> str:
        """The split, or the name of the file of items."""
        return Path(self.items_file).name if self.items_file else self.split or "dev"


@baseline.command(cls=ModelCommand, model=Predict)
def predict(options: Predict) -> int:
    """Run the baseline NAME on a split and score its answers.

    \b
    harness baseline predict rules
    harness baseline predict cnn-gru --split test --constrained --steps 20
    """
    from eval.finishing import finish
    from harness.baselines import load_predictor
    from harness.corpora import load, locate
    from harness.corpora.item import items_hash
    from harness.corpora.records import load_items
    from harness.engines.shared import memory_for
    from harness.runs.answering import answer_items
    from harness.runs.folder import RUNS, Run, log_to

    name, file = options.baseline, options.items_file
    chosen, task, decoding = _asked(options)
    predictor, model, taken = load_predictor(chosen, name, task, options.checkpoint, decoding)
    predictor.batch_size = options.batch_size or predictor.batch_size
    items = (load_items(Path(file), task) if file else load(task, options.part))[: options.limit]
    own = {key: getattr(decoding, key) for key in chosen.decoding}
    source = f" from {taken['checkpoint']}" if taken else ""
    run_name = options.name or _default_name(task, model, own, options)
    origin = "" if file else f" of {locate(task).name}"
    click.echo(f"{task} {options.part}: {len(items)} items{origin}; {name}{source}; {RUNS / run_name}", err=options.as_json)
    settings = {"command": "baseline predict", "model": name, "task": task, **taken, "split": options.part}
    settings |= {"limit": options.limit, **({"items_file": file} if file else {}), **own}
    settings |= {"batch_size": predictor.batch_size, "items": len(items), "data_hash": items_hash(items)}
    with (
        closing(Run(RUNS / run_name, settings)) as run,
        memory_for(predictor.batch_size, "--batch-size ", " and another --name"),
    ):
        log_to(run.folder)
        answer_items(run, items, predictor, functools.partial(click.echo, err=True))
    longest = "--steps" if "steps" in own else "the model's own limit"
    return finish(run, items, as_json=options.as_json, longest=longest)


def _default_name(task: str, model: str, decoding: dict[str, Any], options: Predict) -> str:
    parts = [task, options.part, model]
    parts += [f"{decoding[key]}-{key}" for key in ("steps", "beams", "samples") if decoding.get(key)]
    parts += [f"share-{decoding['share']}"] if decoding.get("samples") else []
    parts += [f"first-{options.limit}"] if options.limit else []
    parts += ["constrained"] if decoding.get("constrained") else []
    return "_".join(parts)
