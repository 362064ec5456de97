"""Scores by generation while a model is trained."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.corpora import load
from harness.engines.engine import Completion, Sampling
from harness.prompting.dev import dev_f1
from prompts.messages import gold_answer
from prompts.rendered import Rendered
from prompts.shots import ShotPool
from prompts.spec import PromptSpec
from tests.helpers.chat_templates import family_tokenizer


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
        independent = True

        def __init__(self, model: Any, tokenizer: Any, context_length: int) -> None: ...

        def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
            assert sampling.stop_token_ids == (end,)
            return [Completion(answers[prompt.id]) for prompt in prompts]

    tokenizer = family_tokenizer(tmp_path / "base", "smollm2, qwen 2.5")
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert end != tokenizer.eos_token_id
    monkeypatch.setattr("harness.prompting.dev.TransformersEngine", Scripted)
    training = SimpleNamespace(dev_f1_items=len(items), dev_batch_size=4, max_new_tokens=256, thought_tokens=8)
    pool = ShotPool(load(spec.task, "train"), 0)
    job: Any = SimpleNamespace(recipe=SimpleNamespace(training=training, shots=1), spec=spec, dev=items, pool=pool)
    assert dev_f1(job, tokenizer, 100_000, None) == f1
