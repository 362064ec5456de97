"""`harness finetune` with two processes: the same curve as with one, resumption after a kill, and refusals by one of them."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from harness.training.checkpoints import last_checkpoint
from tests.helpers.finetuning import begin, torchrun, train

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

# Of three packs in a step, two processes have two and one.
KEYS = (
    "training.evaluations=2", "training.dev_f1_items=5", "training.dev_loss_items=5", "training.max_new_tokens=8",
    "training.tokens=2048", "training.accumulation=3", "training.learning_rate=0.01", "lora.r=8", "lora.dropout=0.0",
)  # fmt: skip


def words(base: Path, *more: str) -> tuple[str, ...]:
    """What `harness finetune` is given."""
    return ("llama-lora", "--base", str(base), "--task", "minecraft", *(word for key in KEYS for word in ("--set", key)), *more)


def said(run: Path) -> dict[str, Any]:
    return dict(json.loads((run / "adapter/harness.json").read_text()))


def test_two_processes_learn_as_one_does(base: Path, tmp_path: Path) -> None:
    printed = train(tmp_path, torchrun(2), *words(base, "--max-steps", "4", "--name", "two"))
    assert printed.count("is in runs/two/adapter") == printed.count("llama-lora on tiny") == 1
    assert "--set training.accumulation=4 keeps them busy" in printed
    train(tmp_path, (), *words(base, "--max-steps", "4", "--name", "one"))
    both, alone = (said(tmp_path / f"runs/{name}")["curve"] for name in ("two", "one"))
    keys = ("step", "train_loss", "dev_loss", "dev_f1")
    assert [point["step"] for point in both] == [0, 2, 4]
    for here, there in zip(both, alone, strict=True):
        assert [here.get(key, 0) for key in keys] == pytest.approx([there.get(key, 0) for key in keys], rel=1e-3)
    assert len(list((tmp_path / "runs/two/tensorboard").iterdir())) == 1


def test_a_run_whose_second_process_is_killed_goes_on(base: Path, tmp_path: Path) -> None:
    more = ("--max-steps", "6", "--set", "training.evaluations=6")
    launcher = begin(tmp_path, torchrun(2), *words(base, *more, "--name", "killed"))
    deadline = time.monotonic() + 200
    while launcher.poll() is None and time.monotonic() < deadline and not last_checkpoint(tmp_path / "runs/killed/checkpoints"):
        time.sleep(0.02)
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()
    (second,) = (child for child in children if b"\0RANK=1\0" in Path(f"/proc/{child}/environ").read_bytes())
    os.kill(int(second), signal.SIGKILL)
    launcher.communicate(timeout=120)
    assert launcher.returncode != 0
    assert not (tmp_path / "runs/killed/adapter").exists()
    assert "resuming from" in train(tmp_path, torchrun(2), *words(base, *more, "--name", "killed"))
    train(tmp_path, torchrun(2), *words(base, *more, "--name", "whole"))
    weights = [(tmp_path / f"runs/{name}/adapter/adapter_model.safetensors").read_bytes() for name in ("killed", "whole")]
    assert weights[0] == weights[1]
    assert "This run is finished" in train(tmp_path, torchrun(2), *words(base, *more, "--name", "whole"))
