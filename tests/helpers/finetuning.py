"""`harness finetune` in processes of its own, and what it would train, without training."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.finetune import FinetuneJob
from harness.cli import cli
from harness.training.job import Trained
from tests.helpers import ROOT


def torchrun(processes: int) -> tuple[str, ...]:
    """Python's arguments that launch processes."""
    return ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes))


def environment() -> dict[str, str]:
    """One in which the shipped sample is read, with a thread for each process and nothing fetched."""
    kept = {key: value for key, value in os.environ.items() if key != "HARNESS_DATA"}
    return {**kept, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}


def begin(folder: Path, launcher: tuple[str, ...], *words: str) -> subprocess.Popen[str]:
    """`harness finetune WORDS` on the shipped sample, with `folder` as the current one and a thread for each process."""
    return subprocess.Popen(
        [sys.executable, *launcher, "-m", "harness.cli", "finetune", *words],
        cwd=folder,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def train(folder: Path, launcher: tuple[str, ...], *words: str) -> str:
    """What `harness finetune WORDS` prints; it must succeed."""
    process = begin(folder, launcher, *words)
    printed, errors = process.communicate(timeout=280)
    assert process.returncode == 0, errors
    return printed


def job_of(monkeypatch: pytest.MonkeyPatch, *words: str) -> FinetuneJob:
    """The job of `harness finetune WORDS`, whose run folder is made in runs/. Raises what the command raises."""
    jobs: list[FinetuneJob] = []

    def train(job: FinetuneJob, folder: Path, say: object) -> Trained:
        jobs.append(job)
        return Trained(steps=0, kept=0, seconds=0.0, curve=[])

    with monkeypatch.context() as patch:
        patch.setattr("adapters.finetune.finetune", train)
        # Nothing is trained, and the base may be none.
        patch.setattr("adapters.base_check.require", lambda base, say: None)
        cli.main(["finetune", *words], standalone_mode=False)
    return jobs[0]
