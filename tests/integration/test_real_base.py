"""The real default base is converted and answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engines.models.bases import load_tokenizer, resolve_base

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]


def test_it_is_complete_and_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    folder = resolve_base(None)
    tokenizer = load_tokenizer(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert (model.dtype, len(tokenizer), model.config.max_position_embeddings) == (torch.bfloat16, 49152, 8192)
    question = [{"role": "user", "content": "What is the capital of France?"}]
    ids = tokenizer.apply_chat_template(question, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    answer = model.generate(**ids, max_new_tokens=12, do_sample=False)[0, ids["input_ids"].shape[1] :]
    assert "Paris" in tokenizer.decode(answer)
