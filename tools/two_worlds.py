"""Train one adapter for several tasks of different worlds, or for one of them, until it has read so many tokens.

python tools/two_worlds.py both --tokens 60000 --task hexagons --task minecraft
python tools/two_worlds.py one --tokens 60000 --task hexagons

Every step has as many packs of each task, and every task has the same share of the tokens. The adapter is written to
runs/NAME-TASK/adapter for each task, since a folder says in which prompt format it answers. It begins from the base's weights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import accumulate, chain
from pathlib import Path

from adapters.finetune import FinetuneJob, load_base, prepare, save_trained, set_up, trainable
from adapters.packing import Pack
from adapters.recipe import FinetuneRecipe, load_recipe
from adapters.trainer import AnswerTrainer, trainer_arguments
from harness.corpora import load
from harness.corpora.held_out import HeldOut
from harness.engines.models.bases import DEFAULT_BASE, load_config, load_tokenizer, resolve_base
from harness.errors import HarnessError
from harness.runs.folder import RUNS
from harness.training.job import Trained
from harness.training.plan import subset
from prompts.spec import PromptSpec

FORMATS = {"hexagons": "bare-program", "minecraft": "moves"}
RECIPE = "llama-lora"
SHORTEST = 500
"""Tokens that a pack has at least on average: by it, enough packs are made, and those beyond the tokens are left out."""


def job_of(task: str, recipe: FinetuneRecipe, base: str) -> FinetuneJob:
    """The train split of a task, or the part of it that the recipe says, as conversations."""
    items = subset(load(task, "train"), recipe.training.train_items, recipe.training.seed)
    spec = PromptSpec.make(task, "conversation", FORMATS[task])
    held_out = HeldOut(task).compared(items)
    return FinetuneJob(name=RECIPE, recipe=recipe, items=items, dev=load(task, "dev"), base=base, spec=spec, held_out=held_out)


def in_turn(packs: Sequence[Sequence[Pack]], tokens: int) -> list[Pack]:
    """Packs of each list in turn, from each as many as have its share of the tokens."""
    share = tokens / len(packs)
    taken = [sum(total <= share for total in accumulate(len(pack.input_ids) for pack in own)) for own in packs]
    return list(chain.from_iterable(zip(*(own[: min(taken)] for own in packs), strict=True)))


def train(name: str, tasks: Sequence[str], tokens: int, recipe: FinetuneRecipe, base: str) -> list[Path]:
    """Train, and return the folders of the adapter, one for each task."""
    jobs = [job_of(task, recipe, base) for task in tasks]
    adapters = [job.result(RUNS / f"{name}-{job.spec.task}") for job in jobs]
    folder, training = RUNS / f"{name}-{'+'.join(tasks)}", recipe.training
    set_up(training)
    tokenizer, config = load_tokenizer(base), load_config(base)
    prepared = [prepare(job, tokenizer, config) for job in jobs]
    packs = in_turn([part.packs for part in prepared], tokens)
    packs = packs[: len(packs) - len(packs) % training.accumulation]
    print(f"{sum(len(pack.input_ids) for pack in packs):,} tokens in {len(packs)} packs", flush=True)
    model = trainable(recipe, load_base(jobs[0]))
    trainer = AnswerTrainer(
        model,
        trainer_arguments(training, len(packs), folder),
        folder,
        packs,
        list(chain.from_iterable(part.dev_packs for part in prepared)),
        tokenizer.pad_token_id or 0,
        lambda model, in_step: 0.0,
        training,
        prepared[0].layout.packing,
    )
    trainer.go_on()
    for job, adapter in zip(jobs, adapters, strict=True):
        counts = {"items": len(job.items), "tokens": sum(len(pack.input_ids) for pack in packs)}
        steps, seconds = trainer.state.global_step, max(entry.get("seconds", 0.0) for entry in trainer.state.log_history)
        result = Trained(steps=steps, kept=steps, seconds=seconds, curve=trainer.points, counts=counts)
        save_trained(job, model, tokenizer, result, adapter)
    return adapters


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--task", action="append", required=True, choices=list(FORMATS))
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--base", default=DEFAULT_BASE)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the recipe llama-lora")
    options = parser.parse_args(words)
    steps = f"training.max_steps={options.tokens // SHORTEST}"
    recipe = load_recipe(RECIPE, [steps, "training.evaluations=1", "training.keep=last", *options.set], base=options.base)
    base = resolve_base(options.base)
    for folder in train(options.name, options.task, options.tokens, recipe, base):
        print(folder)


if __name__ == "__main__":
    try:
        main()
    except HarnessError as error:
        sys.exit(f"Error: {error}")
