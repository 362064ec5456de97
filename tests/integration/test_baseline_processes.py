"""Training with two processes has the same losses as training with one process and batches of twice the size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.finetuning import environment, torchrun

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(300)]

TINY = ("words=8", "hidden=8", "filters=4", "head_layers=2", "stop_layers=2")
# With 17 items, the last step of an epoch has one item, so the second process has none left.
TRAINING = ("learning_rate=0.001", "precision=float32", "schedule=linear", "warmup=2", "epochs=2")


def train(folder: Path, launcher: tuple[str, ...], name: str, batch_size: int) -> list[tuple[float, float]]:
    """Train a model. Returns the train and dev losses by epoch."""
    keys = [*(f"network.{key}" for key in TINY), *(f"training.{key}" for key in (*TRAINING, f"batch_size={batch_size}"))]
    words = ["baseline", "train", "cnn-gru", "--limit", "17", "--name", name, *(word for key in keys for word in ("--set", key))]
    command = [sys.executable, *launcher, "-m", "harness.cli", *words]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert done.stdout.count("the model of epoch") == 1
    points = [json.loads(line) for line in (folder / f"runs/{name}/curve.jsonl").read_text().splitlines()]
    return [(point["train_loss"], point["dev_loss"]) for point in points]


def test_two_processes_learn_as_one_with_twice_the_batch(tmp_path: Path) -> None:
    both = train(tmp_path, torchrun(2), "two", 2)
    alone = train(tmp_path, (), "one", 4)
    assert len(alone) == 2
    assert [loss for point in both for loss in point] == pytest.approx([loss for point in alone for loss in point], rel=1e-4)
    logs = [list((tmp_path / f"runs/{name}/tensorboard").iterdir()) for name in ("one", "two")]
    assert [len(log) for log in logs] == [1, 1]
