"""Answers drawn from a model while it is trained, with the likelihood of every token at the moment it was drawn.

The prompts of a group begin alike, and every prompt is answered several times. Here all of it is one sequence: first the tree of
the prompts' tokens (`adapters.packing`), each read once; then, step by step, the next token of every answer, which attends to its
own prompt and its own answer. A batch with a row for each answer would keep and read a copy of its prompt in every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from transformers import DynamicCache

from adapters.layout import logits_of
from adapters.packing import Pack, Packing, collate, pack_of
from prompts.rendered import TrainingRow


class SampledAnswer(NamedTuple):
    """The tokens of an answer, including the stop token, and the natural logarithm of each token's probability."""

    token_ids: list[int]
    log_probs: list[float]


def draw(model: Any, prompts: Sequence[Sequence[int]], ends: Sequence[int], most: int, seed: int) -> list[SampledAnswer]:
    """One answer of at most `most` tokens for each prompt, drawn at temperature 1 from the whole vocabulary.

    `ends` are the tokens that end an answer. Every layer of the model must attend to all earlier tokens. The model's
    training mode and torch's random state are left as they were.
    """
    training = model.training
    model.eval()
    try:
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(seed)
            return _draw(model, prompts, frozenset(ends), most)
    finally:
        model.train(training)


def _draw(model: Any, prompts: Sequence[Sequence[int]], ends: frozenset[int], most: int) -> list[SampledAnswer]:
    # A row needs an answer: one stop token, so that the only source is the prompt's last token.
    pack = pack_of([TrainingRow("", tuple(prompt), (next(iter(ends)),)) for prompt in prompts])
    sources = torch.tensor(pack.sources)
    cache = DynamicCache()
    # The logits after each prompt; the keys and values of the prompts' tokens stay in the cache.
    logits = logits_of(model, _placed(collate(pack, Packing.TREE, pad=0), model), past_key_values=cache, use_cache=True)
    seen = _seen(pack, cache.get_seq_length())
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    rollouts = [SampledAnswer([], []) for _ in prompts]
    active, owners = torch.arange(len(prompts)), torch.empty(0, dtype=torch.long)
    for place in range(most):
        # The distributions stay on the GPU: only the drawn tokens and their log-probabilities are copied.
        likely = torch.log_softmax(logits.float(), -1)
        drawn = torch.multinomial(likely.exp(), 1)
        tokens, chances = drawn[:, 0].cpu(), likely.gather(1, drawn)[:, 0].cpu()
        for answer, token, chance in zip(active.tolist(), tokens.tolist(), chances.tolist(), strict=True):
            rollouts[answer].token_ids.append(token)
            rollouts[answer].log_probs.append(chance)
        going = torch.tensor([token not in ends for token in tokens.tolist()])
        active, tokens = active[going], tokens[going]
        if not len(active) or place == most - 1:
            break
        owners = torch.cat([owners, active])
        mask = torch.cat([seen[sources[active]], owners[None, :] == active[:, None]], 1)
        given = {"input_ids": tokens[None], "position_ids": lengths[active][None] + place, "attention_mask": mask[None, None]}
        logits = model(**_placed(given, model), past_key_values=cache, use_cache=True).logits[0]
    return rollouts


def _seen(pack: Pack, width: int) -> torch.Tensor:
    """Which tokens of a pack each token sees, including itself; shape (tokens, width), padded with False."""
    place = torch.arange(len(pack.input_ids))
    seen = torch.zeros(len(place), width, dtype=torch.bool)
    seen[:, : len(place)] = (place[None, :] <= place[:, None]) & (place[:, None] < torch.tensor(pack.ends)[None, :])
    return seen


def _placed(given: dict[str, torch.Tensor], model: Any) -> dict[str, torch.Tensor]:
    return {name: value.to(model.device) for name, value in given.items()}
