"""Drawn answers: their log-probabilities equal those of single rows, and shared prompts change nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from adapters.attention import register
from adapters.rollouts import draw

ENDS = (0, 1)
PROMPTS = [[2, 3, 4, 5, 6]] * 3 + [[2, 3, 4, 9]] * 2 + [[7], [2, 3, 4]]


@pytest.fixture(params=["sdpa", "blocks"])
def model(request: pytest.FixtureRequest) -> Any:
    if request.param == "blocks":
        register()
    config = LlamaConfig(
        vocab_size=20,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        initializer_range=0.3,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LlamaForCausalLM._from_config(config, attn_implementation=request.param)


def test_an_answer_ends_with_its_stop_token_or_at_the_limit(model: Any) -> None:
    answers = [rollout.token_ids for rollout in draw(model, PROMPTS * 10, ENDS, 8, seed=2)]
    assert all(not set(ENDS) & set(answer[:-1]) for answer in answers)
    assert all(len(answer) == 8 or answer[-1] in ENDS for answer in answers)
    assert {len(answer) == 8 for answer in answers} == {True, False}


def test_tokens_come_as_often_as_the_model_says(model: Any) -> None:
    counts = Counter(rollout.token_ids[0] for rollout in draw(model, [PROMPTS[0]] * 4000, ENDS, 1, seed=3))
    with torch.no_grad():
        chances = torch.softmax(model(torch.tensor([PROMPTS[0]])).logits[0, -1], -1).tolist()
    assert [counts[token] / 4000 for token in range(20)] == pytest.approx(chances, abs=0.03)


def test_a_seed_gives_the_same_answers_and_leaves_no_trace(model: Any) -> None:
    model.train()
    state = torch.get_rng_state()
    first, again, other = (draw(model, PROMPTS, ENDS, 8, seed=seed) for seed in (4, 4, 5))
    assert first == again != other
    assert model.training
    assert torch.equal(state, torch.get_rng_state())
