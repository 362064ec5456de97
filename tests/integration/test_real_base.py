"""The real default base: converted in a process of its own, once killed in the middle, and able to answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.engines.models.bases import load_tokenizer, resolve_base
from tests.helpers import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

CODE = "from harness.engines.models.bases import resolve_base; print(resolve_base(None))"


def test_killed_and_started_again_it_is_whole_and_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", CODE], env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("base-*/.*.partial/model.safetensors")) and time.monotonic() < deadline:
        assert process.poll() is None, "it was over before it could be killed"
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not list(tmp_path.glob("base-*/smollm2-135m"))

    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == "converting the base smollm2-135m (once, about 20 seconds)\n"
    folder = resolve_base(None)
    assert done.stdout == f"{folder}\n"
    assert not list(tmp_path.glob("base-*/.*.partial"))
    tokenizer = load_tokenizer(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert (model.dtype, len(tokenizer), model.config.max_position_embeddings) == (torch.bfloat16, 49152, 8192)
    question = [{"role": "user", "content": "What is the capital of France?"}]
    ids = tokenizer.apply_chat_template(question, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    answer = model.generate(**ids, max_new_tokens=12, do_sample=False)[0, ids["input_ids"].shape[1] :]
    assert "Paris" in tokenizer.decode(answer)
