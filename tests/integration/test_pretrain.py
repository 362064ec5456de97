"""`harness pretrain` with a very small Llama and the shipped sample: what it writes; a killed run ends as a whole one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adapters.loop import last_checkpoint

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

SMALL = (
    *("shape.hidden_size=64", "shape.layers=2", "shape.heads=2", "shape.intermediate_size=96", "shape.vocab_size=700"),
    *("data.primer_items=200", "data.lengths=[512, 1024]", "data.tokens_per_batch=1024"),
    *("training.steps=12", "training.evaluations=6", "training.eval_batches=1", "training.warmup_steps=2"),
    *("training.dev_items=1", "training.bf16=false"),
)
WORDS = [sys.executable, "-m", "harness.cli", "pretrain", "tiny-llama", *(w for setting in SMALL for w in ("--set", setting))]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "HARNESS_DATA"}
    # With several threads the order of additions, and so the last bit of a weight, may differ from run to run.
    return {**kept, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(Path(__file__).parents[2])}


def harness(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WORDS, *more], cwd=folder, env=environment(), capture_output=True, text=True, timeout=500)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("whole")
    done = harness(folder, "--name", "whole")
    assert done.returncode == 0, done.stderr
    return folder / "runs/whole", done.stdout


def test_it_writes_a_model_that_loads_offline_and_decodes_greedily(whole: tuple[Path, str]) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(whole[0] / "model")
    tokenizer = AutoTokenizer.from_pretrained(whole[0] / "model")
    assert model.dtype == torch.float16
    assert model.get_input_embeddings().weight.shape == (700, 64)
    assert (model.generation_config.do_sample, model.generation_config.eos_token_id) == (False, tokenizer.eos_token_id)
    assert tokenizer.chat_template
    names = {path.name for path in (whole[0] / "model").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md", "generation_config.json"} <= names


def test_it_learns_and_says_what_it_took(whole: tuple[Path, str]) -> None:
    folder, printed = whole
    assert "hexagons (sample), minecraft (sample): 12 steps in runs/whole" in printed.splitlines()[0]
    result = json.loads((folder / "result.json").read_text())
    losses = [entry["eval_loss"] for entry in result["curve"] if "eval_loss" in entry]
    assert len(losses) == 6
    assert losses[-1] < losses[0]
    card = (folder / "model/README.md").read_text()
    assert all(
        word in card for word in ("harness pretrain tiny-llama --name whole", "this project's sample of HEXAGONS", "12 steps")
    )
    assert "| minecraft | minecraft/context-rich/lines/world |" in card


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(whole: tuple[Path, str], tmp_path: Path) -> None:
    words = [*WORDS, "--name", "killed"]
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    checkpoints = tmp_path / "runs/killed/checkpoints"
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline and not last_checkpoint(checkpoints):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was over before it could be killed"
    resumed = harness(tmp_path, "--name", "killed")
    assert resumed.returncode == 0, resumed.stderr
    weights = [folder / "model/model.safetensors" for folder in (whole[0], tmp_path / "runs/killed")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    again = harness(tmp_path, "--name", "killed")
    assert "finished" in again.stdout
    other = harness(tmp_path, "--name", "killed", "--max-steps", "3")
    assert other.returncode == 2
    assert "choose another --name" in other.stderr
