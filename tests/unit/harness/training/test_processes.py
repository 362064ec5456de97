"""`harness finetune` says how to train on every GPU if it uses one of several; the number of GPUs is a stand-in."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cli import main
from harness.training import processes as module
from harness.training.processes import idle_gpus


@pytest.mark.parametrize(("gpus", "launched"), [(0, 1), (1, 1), (8, 8), (8, 2)])
def test_nothing_is_printed_if_no_gpu_is_idle_or_a_launcher_decided(
    gpus: int, launched: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "visible_gpus", lambda: ["0"] * gpus)
    monkeypatch.setattr(module, "processes", lambda: SimpleNamespace(num_processes=launched))
    assert idle_gpus(["finetune", "nebula"]) is None


def test_the_line_is_the_command_that_was_given(
    tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "visible_gpus", lambda: ["0"] * 8)
    words = ["finetune", "llama-lora", "--base", str(tiny_base), "--name", "a b", "--context", "no-history", "--dry-run"]
    monkeypatch.setattr(sys, "argv", ["harness", *words])
    assert main(words) == 0
    told = capsys.readouterr().out.splitlines()[1]
    assert told.startswith(
        "7 of 8 GPUs are idle; to train on all of them: torchrun --nproc-per-node 8 -m harness.cli finetune llama"
    )
    assert "--name 'a b'" in told
    assert "accelerate launch with FSDP" in told
