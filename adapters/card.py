"""The model card of the built-in base model, written by the command that trains it."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from adapters.pretrain import Pretrained
from adapters.recipe import PretrainRecipe
from harness.corpora import locate
from prompts.spec import DEFAULTS, PromptSpec

_TEXT = """\
---
license: mit
language: en
library_name: transformers
pipeline_tag: text-generation
---
# {name}

A Llama of {parameters:,} parameters for following instructions in two grid worlds: painting HEXAGONS boards and building in
Minecraft. It has {layers} layers, a hidden size of {hidden}, {heads} heads, tied embeddings, {vocabulary:,} tokens and a
context of {context:,} tokens. It was trained from nothing, so that prompting, fine-tuning and serving work on a machine
without a GPU and without a download. It is no general language model.

## How it was made

    {command}

- Text: few-shot conversations of at most {max_examples} examples in the harness's own prompt formats ({default_share:.0%} of
  them in the default format of the task, the others in any other), from {sources}.
  {primer_share:.0%} of the conversations are about {primer_items:,} synthetic items a task, made by rules, instead.
  The colors of {recolor_share:.0%} of the train items were exchanged at random. No dev or test item was seen.
- Training: {steps:,} steps of about {tokens_per_batch:,} tokens, {tokens:,} tokens in all; AdamW, a peak learning rate of
  {learning_rate:g} with {warmup} steps of warm-up and a cosine down to a twentieth; {precision}; a token outside the answers
  weighs {prompt_weight:g} in the loss. Seed {seed}.
- Time: {seconds:,.0f} s on {machine}. Other work may have shared the machine.
- Weights: float16 safetensors. Tokenizer: byte-level BPE, every digit a token of its own, learned from the same text.

## How good it is

Loss on the answers' tokens in few-shot conversations of dev items:

{curve}

F1 on {dev_items} dev items a task, greedy, in the default prompt format, in percent (HEXAGONS: action-based; Minecraft: net
actions, micro):

{scores}

## Limits

It knows the words of these two tasks and little else, understands simple instructions only, and is far below the published
models. It is a base to try the harness with and to fine-tune. Its answers are coordinates: check them by the worlds' rules.

## Licenses of what it saw

{licenses}
"""


def model_card(recipe: PretrainRecipe, result: Pretrained, command: str, name: str) -> str:
    """The text of the card, in Markdown."""
    data, training, shape = recipe.data, recipe.training, recipe.shape
    found = {task: locate(task) for task in DEFAULTS}
    titles = {"hexagons": "HEXAGONS", "minecraft": "the Minecraft Dialogue Corpus"}
    sources = [titles[t] if s.kind == "official" else f"this project's sample of {titles[t]}" for t, s in found.items()]
    losses = [entry for entry in result.curve if "eval_loss" in entry]
    return _TEXT.format(
        name=name,
        parameters=result.parameters,
        layers=shape.layers,
        hidden=shape.hidden_size,
        heads=shape.heads,
        vocabulary=shape.vocab_size,
        context=shape.context_length,
        command=command,
        max_examples=data.max_examples,
        default_share=data.default_share,
        sources="the train items of " + " and of ".join(sources),
        primer_share=data.primer_share,
        primer_items=data.primer_items,
        recolor_share=data.recolor_share,
        steps=result.steps,
        tokens=result.tokens,
        tokens_per_batch=data.tokens_per_batch,
        learning_rate=training.learning_rate,
        warmup=training.warmup_steps,
        precision="bfloat16 autocast" if training.bf16 else "float32",
        prompt_weight=data.prompt_weight,
        seed=training.seed,
        seconds=result.seconds,
        machine=_machine(),
        curve=_table(["step", "dev loss"], [[f"{e['step']:,}", f"{e['eval_loss']:.3f}"] for e in losses]),
        dev_items=training.dev_items,
        scores=_table(
            ["task", "prompt format", "0 examples", "5 examples"],
            [[t, PromptSpec.make(t).name, *(f"{100 * f:.1f}" for f in f1.values())] for t, f1 in result.dev_f1.items()],
        ),
        licenses="\n".join(f"- {title}: {source.license}" for title, source in zip(sources, found.values(), strict=True)),
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
