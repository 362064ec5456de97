"""Scores by generation on a few dev items, while a model is trained."""

from collections.abc import Sequence
from typing import Any

from adapters.finetune import FinetuneJob, answer_room, answered_on_dev
from adapters.memory import fitting
from eval.predictions import Predictions
from eval.score import Chosen, score
from harness.corpora.item import Item
from harness.corpora.rollout import Rollout
from harness.engines.engine import Sampling
from harness.engines.transformers import TransformersEngine
from harness.prompting.prompted import Plan, Prompted
from harness.runs.answering import ask, batches
from harness.tasks.registry import world_of
from harness.training.processes import gathered, processes
from prompts.render import Renderer


def _share(items: Sequence[Item]) -> list[Item]:
    """The items that this process answers: whole drawing procedures or games, since answers may build on earlier ones."""
    own = processes()
    share = set([*dict.fromkeys(item.cluster for item in items)][own.process_index :: own.num_processes])
    return [item for item in items if item.cluster in share]


def dev_f1(job: FinetuneJob, tokenizer: Any, length: int, model: Any, *, in_step: bool = False) -> float:
    """The task's headline F1 on the dev items that a training asks, as a fraction: net actions, micro (Minecraft, legacy) or
    action-based (HEXAGONS).

    Answers are greedy, and follow the model's own earlier answers if the format builds on them. An item that does not fit
    `length` tokens with its answer counts as an empty prediction. Each process answers its share of the items; with `in_step`,
    as each holds only a part of the model, all compute every answer together.
    """
    training, spec, items = job.recipe.training, job.spec, answered_on_dev(job)
    room = answer_room(training, length)
    engine = TransformersEngine(model, tokenizer, context_length=length)
    # Processes that answer in step need batches of the same size.
    engine.batch_size = training.dev_batch_size or min(gathered(fitting(model, length)))
    renderer = Renderer(spec, tokenizer, length, room, min(training.thought_tokens, length // 4))
    sampling = Sampling(max_tokens=room, stop=renderer.stop, stop_token_ids=renderer.stop_token_ids)
    own = list(items) if in_step else _share(items)
    predictor, rollout = Prompted(Plan(renderer, sampling, job.pool, job.recipe.shots, len(items)), engine), Rollout(own)
    planned = batches(own, len(items), rolls_out=predictor.rolls_out)
    actions = {item.id: tuple(answer.actions) for batch in planned for item, answer in ask(batch, predictor, rollout)}
    whole = {key: value for part in gathered(actions) for key, value in part.items()}
    scores = score(spec.task, "dev", Chosen(items), Predictions(whole))
    return float(scores["action"]["f1"] if world_of(spec.task) == "hexagons" else scores["micro"]["overall"]["f1"])
