"""Scores by generation on a few dev items, for training curves and model cards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice, zip_longest
from typing import Any, TypeVar

from adapters.memory import fitting
from eval.predictions import Predictions
from eval.score import score
from harness.corpora.item import Item
from harness.corpora.rollout import Rollout
from harness.engines.engine import Sampling
from harness.engines.transformers import TransformersEngine
from harness.prompting.prompted import Plan, Prompted
from harness.runs.answering import ask, batches
from harness.tasks.registry import world_of
from harness.training.processes import gathered, processes
from prompts.render import Renderer
from prompts.shots import Shots
from prompts.spec import PromptSpec

T = TypeVar("T")


def spread(items: Sequence[T], count: int) -> list[T]:
    """At most `count` items, evenly spread over the sequence, in its order; deterministic."""
    count = min(count, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def first_steps(items: Sequence[Item], count: int) -> list[Item]:
    """At most `count` items for formats in which an answer builds on earlier ones: the first steps of some drawing procedures.

    The procedures are spread over the sequence and give equally many steps.
    """
    procedures: dict[str, list[Item]] = {}
    for item in items:
        procedures.setdefault(item.cluster, []).append(item)
    taken = spread(list(procedures.values()), max(1, count // 4))
    waves = chain.from_iterable(zip_longest(*taken))
    chosen = {item.id for item in islice((item for item in waves if item), count)}
    return [item for item in items if item.id in chosen]


def _share(items: Sequence[Item]) -> list[Item]:
    """The items that this process answers: whole drawing procedures or games, since answers may build on earlier ones."""
    own = processes()
    share = set([*dict.fromkeys(item.cluster for item in items)][own.process_index :: own.num_processes])
    return [item for item in items if item.cluster in share]


def dev_f1(
    model: Any,
    tokenizer: Any,
    spec: PromptSpec,
    items: Sequence[Item],
    pool: Shots,
    shots: int,
    max_new_tokens: int = 256,
    context_length: int | None = None,
    batch_size: int | None = None,
    *,
    in_step: bool = False,
) -> float:
    """The task's headline F1 as a fraction: net actions, micro (Minecraft, legacy) or action-based (HEXAGONS).

    Answers are greedy, and follow the model's own earlier answers if the format builds on them. An item that does not fit the
    context counts as an empty prediction. Each process answers its share of the items; with `in_step`, as each holds only a
    part of the model, all compute every answer together. `batch_size` items are answered at a time; None: `fitting`.
    """
    engine = TransformersEngine(model, tokenizer, context_length=context_length)
    # Processes that answer in step need batches of the same size.
    engine.batch_size = batch_size or min(gathered(fitting(model, engine.context_length)))
    renderer = Renderer(spec, tokenizer, engine.context_length, max_new_tokens)
    sampling = Sampling(max_tokens=max_new_tokens, stop=renderer.stop, stop_token_ids=renderer.stop_token_ids)
    plan = Plan(renderer, sampling, pool, shots, len(items))
    own = list(items) if in_step else _share(items)
    predictor, rollout = Prompted(plan, engine), Rollout(own)
    planned = batches(own, len(items), rolls_out=predictor.rolls_out)
    answered = (pair for batch in planned for pair in ask(batch, predictor, rollout))
    actions = {item.id: tuple(answer.actions) for item, answer in answered}
    actions = {key: value for part in gathered(actions) for key, value in part.items()}
    scores = score(spec.task, "dev", items, Predictions(actions))
    return float(scores["action"]["f1"] if world_of(spec.task) == "hexagons" else scores["micro"]["overall"]["f1"])
