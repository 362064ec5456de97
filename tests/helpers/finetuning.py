"""`harness finetune` in separate processes, its job without the training, and rows."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.finetune import FinetuneJob
from adapters.rows import TrainingRows
from harness.cli import cli
from harness.training.job import Trained
from prompts.rendered import TrainingRow
from tests.helpers import ROOT


def torchrun(processes: int) -> tuple[str, ...]:
    """The arguments with which Python launches processes."""
    return ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes))


def environment() -> dict[str, str]:
    """An environment with the shipped sample, one thread for each process, and no downloads."""
    kept = {key: value for key, value in os.environ.items() if key != "HARNESS_DATA"}
    return {**kept, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}


def begin(folder: Path, launcher: tuple[str, ...], *words: str) -> subprocess.Popen[str]:
    """Starts `harness finetune WORDS` on the shipped sample, in the folder `folder`, with one thread for each process."""
    return subprocess.Popen(
        [sys.executable, *launcher, "-m", "harness.cli", "finetune", *words],
        cwd=folder,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def train(folder: Path, launcher: tuple[str, ...], *words: str) -> str:
    """The output of `harness finetune WORDS`, which must succeed."""
    process = begin(folder, launcher, *words)
    printed, errors = process.communicate(timeout=280)
    assert process.returncode == 0, errors
    return printed


def job_of(monkeypatch: pytest.MonkeyPatch, *words: str) -> FinetuneJob:
    """The job of `harness finetune WORDS`, whose run folder is created in runs/. Raises the command's errors."""
    jobs: list[FinetuneJob] = []

    def train(job: FinetuneJob, folder: Path, say: object) -> Trained:
        jobs.append(job)
        return Trained(steps=0, kept=0, seconds=0.0, curve=[])

    with monkeypatch.context() as patch:
        patch.setattr("adapters.finetune.finetune", train)
        # Nothing is trained, so the base need not be a model.
        patch.setattr("adapters.base_check.require", lambda base, say: None)
        cli.main(["finetune", *words], standalone_mode=False)
    return jobs[0]


def rows_of(groups: Sequence[Sequence[TrainingRow]]) -> TrainingRows:
    """The rows of some procedures or games, made without a renderer."""
    return TrainingRows(((row, str(number)) for number, group in enumerate(groups) for row in group), 10**6)


_QUICK = ("evaluations=1", "dev_f1_items=1", "dev_loss_items=2", "max_new_tokens=4", "tokens=2048", "accumulation=1")


def quick_words(base: Path, recipe: str, *more: str) -> list[str]:
    """`harness finetune` with two quick steps, in a run called mine; `more` are other words of the command."""
    settings = (word for setting in _QUICK for word in ("--set", f"training.{setting}"))
    return ["finetune", recipe, "--base", str(base), "--max-steps", "2", "--name", "mine", *settings, *more]


def set_words(*settings: str) -> list[str]:
    """The words that change these keys of a recipe."""
    return [word for setting in settings for word in ("--set", setting)]
