"""`harness finetune llama-grpo` on a tiny random Llama and the shipped sample: a run, and one that resumes in the middle."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.registry import WEIGHTS_FILE
from tests.helpers import ROOT
from tests.helpers.tiny import build_tiny_model

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

QUICK = (
    "training.learning_rate=0.01",
    "training.evaluations=2",
    "training.dev_f1_items=2",
    "training.max_new_tokens=8",
    "training.max_length=2048",
    "lora.r=8",
    "grpo.answers=2",
    "grpo.prompts=2",
    "grpo.together=2",
)


def learn(base: Path, folder: Path) -> str:
    settings = [word for override in QUICK for word in ("--set", override)]
    command = [
        sys.executable,
        "-m",
        "harness.cli",
        "finetune",
        "llama-grpo",
        "--base",
        str(base),
        "--max-steps",
        "4",
        "--name",
        "g",
    ]
    kept = {key: value for key, value in os.environ.items() if key != "HARNESS_DATA"}
    environment = {**kept, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, *settings], cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_run_and_one_that_resumes_end_alike(tmp_path: Path) -> None:
    base = build_tiny_model(tmp_path / "tiny")
    shown = learn(base, tmp_path)
    assert "4 steps of 2 prompts with 2 answers each" in shown
    run = tmp_path / "runs/g"
    points = [json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines()]
    assert [point["step"] for point in points] == [0, 2, 4]
    assert {"reward", "entropy", "apart", "dev_f1"} <= points[-1].keys()
    weights = (run / "adapter" / WEIGHTS_FILE).read_bytes()
    shutil.rmtree(run / "checkpoints/checkpoint-4")
    shutil.rmtree(run / "adapter")
    assert "resuming from" in learn(base, tmp_path)
    assert (run / "adapter" / WEIGHTS_FILE).read_bytes() == weights
