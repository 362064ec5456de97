"""Parts of a training: checkpoints, whether an adapter has an effect, and scores during training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.dev import dev_f1
from harness.corpora import load
from harness.engines.engine import Completion, Sampling
from prompts.messages import gold_answer
from prompts.rendered import Rendered
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from tests.helpers.chat_templates import family_tokenizer
from tests.helpers.tiny import build_tiny_adapter, build_tiny_model


def test_a_fresh_adapter_has_no_effect_and_a_trained_one_has(tmp_path: Path) -> None:
    from peft import LoraConfig, PeftModel, get_peft_model
    from transformers import AutoModelForCausalLM

    from adapters.finetune import has_effect

    base = build_tiny_model(tmp_path / "base")
    adapter = build_tiny_adapter(base, tmp_path / "adapter")
    assert has_effect(PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), adapter))
    fresh = LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
    assert not has_effect(get_peft_model(AutoModelForCausalLM.from_pretrained(base), fresh))


@pytest.mark.parametrize(
    "spec", [PromptSpec.make("hexagons"), PromptSpec.make("minecraft", frame="builder")], ids=lambda s: s.name
)
@pytest.mark.parametrize(("perfect", "f1"), [(True, 1.0), (False, 0.0)])
def test_dev_f1_of_perfect_and_of_garbage_answers(
    spec: PromptSpec, perfect: bool, f1: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    items = [item for item in load(spec.task, "dev") if item.actions]
    answers = {item.id: gold_answer(item, spec) if perfect else "no idea" for item in items}

    class Scripted:
        context_length = 100_000
        independent = True

        def __init__(self, model: Any, tokenizer: Any, context_length: int | None = None) -> None: ...

        def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
            assert sampling.stop_token_ids == (end,)
            return [Completion(answers[prompt.id]) for prompt in prompts]

    tokenizer = family_tokenizer(tmp_path / "base", "smollm2, qwen 2.5")
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert end != tokenizer.eos_token_id
    monkeypatch.setattr("adapters.dev.TransformersEngine", Scripted)
    assert dev_f1(None, tokenizer, spec, items, ShotPool(load(spec.task, "train"), 0), shots=1) == f1
