"""`harness finetune` on a tiny random Llama and the shipped sample: curve, reload in plain peft, kill and resume, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from adapters.registry import load_adapter
from harness.cli import cli
from harness.engines.models.weights import weights_fingerprint
from harness.errors import UsageError
from harness.training.checkpoints import last_checkpoint
from tests.helpers import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

QUICK = ("training.evaluations=2", "training.dev_f1_items=2", "training.dev_loss_items=4", "training.max_new_tokens=8")
SMALL = (*QUICK, "training.tokens=2048", "training.accumulation=1", "training.learning_rate=0.05", "lora.r=8")


def command(base: Path, *more: str) -> list[str]:
    settings = [word for override in SMALL for word in ("--set", override)]
    return [sys.executable, "-m", "harness.cli", "finetune", "llama-lora", "--base", str(base), *settings, *more]


def environment() -> dict[str, str]:
    """Of a fresh machine: no corpora, no hub; the code is this checkout's."""
    kept = {key: value for key, value in os.environ.items() if key != "HARNESS_DATA"}
    # With several threads the order of additions, and so the last bit of a weight, may differ from run to run.
    return {**kept, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}


def harness(folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=500)


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which a run of six steps was made, and what the command printed."""
    folder = tmp_path_factory.mktemp("work")
    done = harness(folder, command(base, "--task", "minecraft", "--max-steps", "6", "--name", "six"))
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_it_says_what_it_took_and_how_it_went(trained: tuple[Path, str]) -> None:
    folder, printed = trained
    first = printed.splitlines()[0]
    assert all(word in first for word in ("llama-lora", "tiny", "minecraft/context-rich/lines/world", "sample", "runs/six"))
    assert all(word in printed for word in ("rows", "dropped", "train loss", "dev loss", "dev F1", "runs/six/adapter"))
    curve = [json.loads(line) for line in (folder / "runs/six/curve.jsonl").read_text().splitlines()]
    assert [point["step"] for point in curve] == [0, 3, 6]
    assert curve[-1]["dev_loss"] < curve[0]["dev_loss"]
    assert all(0 <= point["dev_f1"] <= 1 for point in curve)


def test_the_adapter_says_what_it_is_and_loads(trained: tuple[Path, str], base: Path) -> None:
    run = trained[0] / "runs/six"
    adapter = load_adapter(run, str(base))
    assert (adapter.rank, adapter.spec.name) == (8, "minecraft/context-rich/lines/world")
    said = json.loads((run / "adapter/harness.json").read_text())
    assert said["base_fingerprint"] == weights_fingerprint(base)
    assert said["recipe"]["training"]["learning_rate"] == 0.05
    assert (said["steps"], said["effect"], said["rows"] + said["dropped"]) == (6, True, said["items"])
    assert {path.suffix for path in (run / "adapter").iterdir()} <= {".json", ".safetensors", ".md"}, "nothing pickled"


def test_it_is_the_same_model_in_plain_peft(trained: tuple[Path, str], base: Path) -> None:
    """The adapter's weights give the logits that training ended with: its last checkpoint's."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    run = trained[0] / "runs/six"
    ids = torch.tensor([[1, 7, 20, 33, 50]])

    def logits(folder: Path) -> Any:
        model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
        with torch.inference_mode():
            return PeftModel.from_pretrained(model, folder).eval()(ids).logits

    with torch.inference_mode():
        plain = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()(ids).logits
    assert torch.equal(logits(run / "adapter"), logits(run / "checkpoints/checkpoint-6"))
    assert not torch.allclose(logits(run / "adapter"), plain)


@pytest.mark.slow
def test_a_finished_run_is_not_trained_again_and_another_is_refused(
    trained: tuple[Path, str], base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trained[0])
    weights = Path("runs/six/adapter/adapter_model.safetensors")
    before = weights.stat().st_mtime_ns
    again = CliRunner().invoke(cli, command(base, "--task", "minecraft", "--max-steps", "6", "--name", "six")[3:])
    assert (again.exit_code, "finished" in again.output) == (0, True)
    other = CliRunner().invoke(cli, command(base, "--task", "minecraft", "--max-steps", "7", "--name", "six")[3:])
    assert isinstance(other.exception, UsageError)
    assert "choose another --name" in str(other.exception)
    assert weights.stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_as_if_it_had_not_been(base: Path, tmp_path: Path) -> None:
    words = command(base, "--max-steps", "12", "--limit", "12", "--set", "training.evaluations=6")
    process = subprocess.Popen(
        [*words, "--name", "killed"], cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    checkpoints = tmp_path / "runs/killed/checkpoints"
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline and not last_checkpoint(checkpoints):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was over before it could be killed"
    assert not (tmp_path / "runs/killed/adapter").exists()
    resumed = harness(tmp_path, [*words, "--name", "killed"])
    assert resumed.returncode == 0, resumed.stderr
    assert "resuming from" in resumed.stdout
    whole = harness(tmp_path, [*words, "--name", "whole"])
    assert whole.returncode == 0, whole.stderr
    curves = []
    for name in ("killed", "whole"):
        said = json.loads((tmp_path / f"runs/{name}/adapter/harness.json").read_text())
        assert said["steps"] == 12
        curves.append([(point["step"], point["dev_f1"]) for point in said["curve"]])
    assert curves[0] == curves[1]
    weights = [(tmp_path / f"runs/{name}/adapter/adapter_model.safetensors").read_bytes() for name in ("killed", "whole")]
    assert weights[0] == weights[1]


@pytest.mark.slow
def test_training_goes_on_from_another_adapter(trained: tuple[Path, str], base: Path) -> None:
    folder = trained[0]
    words = command(base, "--task", "minecraft", "--max-steps", "2", "--name", "more", "--from", "six")
    done = harness(folder, words)
    assert done.returncode == 0, done.stderr
    texts = [(folder / f"runs/{name}/curve.jsonl").read_text() for name in ("six", "more")]
    curves = [[json.loads(line) for line in text.splitlines()] for text in texts]
    assert curves[1][0]["dev_loss"] == pytest.approx(curves[0][-1]["dev_loss"], rel=1e-3), "it begins where the other ended"
    refused = harness(folder, [*words[:-4], "--name", "other", "--from", "six", "--set", "lora.r=16"])
    assert refused.returncode == 2
    assert "--from" in refused.stderr
    assert "--set lora.r=8" in refused.stderr


@pytest.mark.slow
def test_mined_programs_are_learned(base: Path, tmp_path: Path) -> None:
    mined = harness(tmp_path, [*command(base)[:3], "mine", "--limit", "4", "--out", "mined.jsonl"])
    assert mined.returncode == 0, mined.stderr
    words = command(base, "--max-steps", "1", "--limit", "4", "--programs", "mined.jsonl")
    done = harness(tmp_path, [*words, "--format", "bare-program", "--name", "programs"])
    assert done.returncode == 0, done.stderr
    refused = harness(tmp_path, [*words, "--name", "grouped"])
    assert refused.returncode == 2
    assert "answers are written as grouped" in refused.stderr
    other = harness(tmp_path, [*words, "--format", "bare-program", "--task", "minecraft", "--name", "other"])
    assert other.returncode == 2
    assert "no program for any of the 4 train items" in other.stderr
    moves = harness(tmp_path, [*words, "--format", "moves", "--task", "minecraft", "--name", "moves"])
    assert moves.returncode == 2
    assert "answers are written as moves" in moves.stderr
