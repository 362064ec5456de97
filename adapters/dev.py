"""Scores by generation on a few dev items, while a model is in memory: what training curves and model cards are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.predictions import Predictions
from eval.score import score
from harness.corpora.item import Item
from harness.engines.base import Sampling
from harness.engines.transformers import TransformersEngine
from prompts.messages import read_answer
from prompts.render import PromptTooLongError, Renderer
from prompts.shots import ShotPool
from prompts.spec import PromptSpec


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """At most `count` items, evenly spread over the sequence and in its order; always the same ones."""
    count = min(count, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def dev_f1(
    model: Any,
    tokenizer: Any,
    spec: PromptSpec,
    items: Sequence[Item],
    pool: ShotPool,
    shots: int,
    max_new_tokens: int = 256,
    context_length: int | None = None,
) -> float:
    """The task's headline F1 as a fraction: net actions, micro (Minecraft, legacy) or action-based (HEXAGONS).

    Greedy. An item that does not fit the context counts as an empty prediction.
    """
    engine = TransformersEngine(model, tokenizer, context_length=context_length)
    renderer = Renderer(spec, tokenizer, engine.context_length, max_new_tokens)
    sampling = Sampling(max_tokens=max_new_tokens, stop=renderer.stop)
    fitting = [item for item in items if _fits(renderer, item)]
    prompts = [renderer.render(item, pool.choose(item, shots)) for item in fitting]
    answers = engine.generate(prompts, sampling)
    actions = {item.id: read_answer(answer.text, item, spec).actions for item, answer in zip(fitting, answers, strict=True)}
    scores = score(spec.task, "dev", items, Predictions(actions))
    return float(scores["action"]["f1"] if spec.task == "hexagons" else scores["micro"]["overall"]["f1"])


def _fits(renderer: Renderer, item: Item) -> bool:
    try:
        renderer.render(item)
    except PromptTooLongError:
        return False
    return True
