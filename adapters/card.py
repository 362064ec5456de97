"""The model card of the built-in base model, written by the command that trains it."""

from __future__ import annotations

import os
import platform
from importlib.resources import files
from pathlib import Path

from adapters.pretrain import Pretrained
from adapters.recipe import PretrainRecipe
from harness.corpora import locate
from prompts.spec import DEFAULTS, PromptSpec


def model_card(recipe: PretrainRecipe, result: Pretrained, command: str, name: str) -> str:
    """The text of the card, in Markdown."""
    found = {task: locate(task) for task in DEFAULTS}
    titles = {"hexagons": "HEXAGONS", "minecraft": "the Minecraft Dialogue Corpus"}
    sources = [titles[t] if s.kind == "official" else f"this project's sample of {titles[t]}" for t, s in found.items()]
    losses = [entry for entry in result.curve if "eval_loss" in entry]
    return (
        files("adapters")
        .joinpath("card.txt")
        .read_text()
        .format(
            name=name,
            command=command,
            result=result,
            shape=recipe.shape,
            data=recipe.data,
            training=recipe.training,
            sources="the train items of " + " and of ".join(sources),
            precision="bfloat16 autocast" if recipe.training.bf16 else "float32",
            machine=_machine(),
            curve=_table(["step", "dev loss"], [[f"{e['step']:,}", f"{e['eval_loss']:.3f}"] for e in losses]),
            scores=_table(
                ["task", "prompt format", "0 examples", "5 examples"],
                [[t, PromptSpec.make(t).name, *(f"{100 * f:.1f}" for f in f1.values())] for t, f1 in result.dev_f1.items()],
            ),
            licenses="\n".join(f"- {title}: {source.license}" for title, source in zip(sources, found.values(), strict=True)),
        )
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def _machine() -> str:
    import torch

    if torch.cuda.is_available():
        return f"one {torch.cuda.get_device_name()}"
    try:
        names = [
            line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
        ]
    except OSError:
        names = []
    return f"{os.cpu_count()} CPU cores ({names[0] if names else platform.machine()}), no GPU"
