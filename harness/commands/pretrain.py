"""`harness pretrain`: train the small built-in base model from nothing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from adapters.recipe import PretrainRecipe


@click.command()
@click.argument("recipe")
@click.option("--name", help="Name of the run folder under runs/; the recipe's name if not given.")
@click.option("--max-steps", type=click.IntRange(min=1), help="Train for so many steps instead of the recipe's.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a key of the recipe, as in training.seed=1.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Where the model goes; runs/NAME/model if not given."
)
def pretrain(recipe: str, name: str | None, max_steps: int | None, overrides: tuple[str, ...], out: Path | None) -> None:
    """Train a small Llama from nothing, by RECIPE (tiny-llama, or a file). A run that was killed goes on where it was."""
    from adapters.recipe import PretrainRecipe, load_recipe, recipe_path
    from harness.errors import UsageError
    from harness.runs import RUNS

    given = load_recipe(recipe, [*overrides, *([f"training.steps={max_steps}"] if max_steps else [])])
    if not isinstance(given, PretrainRecipe):
        raise UsageError(f"{recipe} is a recipe for `harness finetune`")
    name = name or recipe_path(recipe).stem
    folder = RUNS / name
    out = out or folder / "model"
    options = {"--name": name, "--max-steps": max_steps, "--out": out}
    words = [
        recipe,
        *(f"{flag} {value}" for flag, value in options.items() if value),
        *(f"--set {shlex.quote(o)}" for o in overrides),
    ]
    _run(given, folder, out, "harness pretrain " + " ".join(words))


def _run(recipe: PretrainRecipe, folder: Path, out: Path, command: str) -> None:
    import json
    from dataclasses import asdict

    from adapters.card import model_card
    from adapters.pretrain import pretrain as train
    from harness.corpora import SPLITS, locate
    from harness.files import write_atomically
    from harness.runs import Run

    sources = {task: locate(task) for task in SPLITS}
    found = ", ".join(f"{task} ({source.kind})" for task, source in sources.items())
    click.echo(f"A new Llama from {found}: {recipe.training.steps:,} steps in {folder}")
    data = {task: f"{source.kind} {source.digest()}" for task, source in sources.items()}
    run = Run(folder, {"command": "pretrain", "recipe": recipe.model_dump(), "data": data})
    finished = folder / "result.json"
    if finished.is_file() and (out / "config.json").is_file():
        click.echo(f"This run is finished: the model is in {out}")
        return
    result = train(recipe, folder, out)
    write_atomically(out / "README.md", model_card(recipe, result, command, out.name))
    write_atomically(finished, json.dumps(asdict(result), indent=1) + "\n")
    run.close()
    _print(result.dev_f1, out)


def _print(dev_f1: dict[str, Any], out: Path) -> None:
    for task, scores in dev_f1.items():
        for shots, f1 in scores.items():
            click.echo(f"dev F1, {task}, {shots} examples: {100 * f1:.1f}%")
    click.echo(f"The model is in {out}")
