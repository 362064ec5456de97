"""`harness baseline`: train the models that are no language models, and let them answer the items of a split."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence
    from logging import Logger

    from harness.baselines import Baseline, Decoding, Predictor
    from harness.baselines.training import Trained
    from harness.corpora.item import Item
    from harness.runs import Run


@click.group()
def baseline() -> None:
    """Train the models that are no language models, and let them answer: cnn-gru."""


@baseline.command()
@click.argument("name")
@click.option("--task", help="hexagons or minecraft. [default: the model's own]")
@click.option("--name", "run_name", help="Name of the run folder under runs/; NAME-TASK if not given.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a key of the recipe, as in variant=B.")
@click.option("--limit", type=click.IntRange(min=1), help="Train on the first items only, and judge by as many of dev.")
@click.option("--max-epochs", type=click.IntRange(min=1), help="Train for at most so many epochs instead of the recipe's.")
@click.option("--data", multiple=True, type=click.Path(path_type=Path), help="Also train on this file of simulate or augment.")
@click.option("--only-data", is_flag=True, help="Leave the corpus's train split out: augmented files hold it already.")
def train(name: str, **options: Any) -> None:
    """Train the model NAME.

    \b
    harness baseline train cnn-gru
    harness baseline train cnn-gru --set glove=glove.42B.300d.txt --set training.batch_size=8

    A run that was killed goes on where it was when the same command is given again.
    """
    from accelerate import Accelerator

    from harness.corpora import locate
    from harness.engines.shared import keep_memory
    from harness.runs import RUNS, Run, items_hash, log_to

    chosen, task = _choose(name, options["task"])
    limit = [f"training.epochs={options['max_epochs']}"] if options["max_epochs"] else []
    recipe = chosen.recipe([*options["overrides"], *limit])
    items, dev, added = _items(task, options)
    folder = RUNS / (options["run_name"] or f"{name}-{task}")
    keep_memory()
    settings = {
        "command": "baseline train",
        "baseline": name,
        "task": task,
        "recipe": recipe.model_dump(),
        "train_items": len(items),
        "train_hash": items_hash(items),
        "dev_hash": items_hash(dev),
        **({"data": added} if added else {}),
    }
    # Of several processes (accelerate launch) one keeps the run.
    main = Accelerator().is_main_process
    run = Run(folder, settings) if main else None
    if main:
        click.echo(
            f"{name}, variant {recipe.variant}: {task}, {len(items)} train and {len(dev)} dev items "
            f"of the {locate(task).kind} corpus{''.join(f' and {file}' for file in added)}; {folder}"
        )
        log_to(folder)
    result = chosen.train(items, dev, recipe, folder, click.echo if main else _silent)
    if run:
        _report(result, folder)
        run.close()


def _silent(text: str) -> None: ...


def _choose(name: str, task: str | None) -> tuple[Baseline, str]:
    from harness.baselines import BASELINES
    from harness.registry import choose, resolve

    chosen: Baseline = resolve("baseline", name, BASELINES)()
    return chosen, choose(f"task of {name}", task or chosen.tasks[0], chosen.tasks)


def _items(task: str, options: dict[str, Any]) -> tuple[list[Item], list[Item], dict[str, str]]:
    """What to train on, what to judge by, and the hashes of the files whose items are among the former."""
    from harness.corpora import load
    from harness.corpora.records import load_more
    from harness.errors import UsageError
    from harness.runs import items_hash

    if options["only_data"] and not options["data"]:
        raise UsageError("--only-data: there is nothing to train on without --data")
    own = [] if options["only_data"] else load(task, "train")
    dev = load(task, "dev")
    added = load_more(options["data"], task, [*own, *dev])
    train_items = [*own, *(item for items in added.values() for item in items)]
    return train_items[: options["limit"]], dev[: options["limit"]], {file: items_hash(items) for file, items in added.items()}


def _report(result: Trained, folder: Path) -> None:
    if result.before == result.epochs:
        click.echo("This run is finished; choose another --name to train again")
    went_on = ", going on from a checkpoint" if result.resumed else ""
    click.echo(
        f"{result.epochs} epochs in {result.seconds:,.0f} s{went_on}; the lowest dev loss, {result.dev_loss:.3f}, "
        f"was after epoch {result.best_epoch}: that model is in {folder / 'model'}"
    )


@baseline.command()
@click.argument("name")
@click.option("--task", help="hexagons or minecraft. [default: the model's own]")
@click.option("--split", default="dev", show_default=True, help="train, dev or test.")
@click.option("--name", "run_name", help="The run's folder below runs/. [default: made of the settings]")
@click.option("--checkpoint", help="A trained model's folder, or the run that made it. [default: the run NAME-TASK]")
@click.option("--constrained", is_flag=True, help="Choose among feasible actions only.")
@click.option("--steps", default=10, show_default=True, type=click.IntRange(1, 100), help="At most, the one that stops included.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N items.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def predict(name: str, as_json: bool, **options: Any) -> None:
    """Let a trained model NAME answer the items of a split, then score it.

    \b
    harness baseline predict cnn-gru
    harness baseline predict cnn-gru --split test --constrained --steps 20
    """
    from harness.baselines import Decoding
    from harness.baselines.checkpoints import digest, find_model
    from harness.corpora import load, locate
    from harness.runs import RUNS, Run, items_hash, log_to

    chosen, task = _choose(name, options["task"])
    folder = find_model(options["checkpoint"] or f"{name}-{task}")
    predictor = chosen.load(folder)
    items = load(task, options["split"])[: options["limit"]]
    decoding = Decoding(options["steps"], options["constrained"])
    run_name = options["run_name"] or _default_name(task, folder, options)
    click.echo(
        f"{task} {options['split']}: {len(items)} items of the {locate(task).kind} corpus; {name} from {folder}; "
        f"{RUNS / run_name}",
        err=as_json,
    )
    settings = {
        "command": "baseline predict",
        "model": name,
        "task": task,
        "checkpoint": str(folder),
        "checkpoint_hash": digest(folder),
        **{key: options[key] for key in ("split", "limit", "constrained", "steps")},
        "batch_size": predictor.batch_size,
        "items": len(items),
        "data_hash": items_hash(items),
    }
    run = Run(RUNS / run_name, settings)
    _answer(run, items, predictor, decoding, log_to(run.folder))
    run.close()
    _score(run, items, as_json)


def _default_name(task: str, folder: Path, options: dict[str, Any]) -> str:
    model = folder.resolve().parent.name if folder.name == "model" else folder.name
    parts = [task, options["split"], model, f"{options['steps']}-steps"]
    parts += [f"first-{options['limit']}"] if options["limit"] else []
    parts += ["constrained"] if options["constrained"] else []
    return "_".join(parts)


def _answer(run: Run, items: Sequence[Item], predictor: Predictor, decoding: Decoding, logger: Logger) -> None:
    """The answers that are not there yet, in fixed batches; one that was interrupted is done again as a whole."""
    import time

    from harness.baselines.progress import bar

    size = predictor.batch_size
    done = len(run.records) if len(run.records) == len(items) else len(run.records) // size * size
    run.keep(run.records[:done])
    if done:
        click.echo(f"{done} items are answered already; going on with the rest", err=True)
    with bar("items", len(items) - done) as update:
        for start in range(done, len(items), size):
            batch, began = items[start : start + size], time.monotonic()
            for item, answer in zip(batch, predictor.predict(batch, decoding), strict=True):
                end = "stop" if answer.stopped else "length"
                run.append({"id": item.id, "actions": [list(action) for action in answer.actions], "finish_reason": end})
            update(start + len(batch) - done)
            logger.info("%d items, 0 errors, 0 + 0 tokens in %.1f s", len(batch), time.monotonic() - began)


def _score(run: Run, items: Sequence[Item], as_json: bool) -> None:
    """Score the run, keep the scores beside it, and show them."""
    import json

    from eval.tables import print_scores
    from harness.files import write_atomically
    from harness.scoring import read_answers, score_answers

    scores = score_answers(read_answers(run.folder, ids=[item.id for item in items]))
    write_atomically(run.folder / "scores.json", json.dumps(scores, indent=1) + "\n")
    if as_json:
        click.echo(json.dumps(scores))
        return
    print_scores(scores)
    cut = sum(record["finish_reason"] == "length" for record in run.records)
    click.echo(f"{cut} answers were cut at the longest length allowed (--steps)")
    click.echo(f"{run.predictions}, {run.folder / 'scores.json'}")
