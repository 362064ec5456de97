"""What `harness finetune` would train, without training."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.finetune import Job, Trained
from harness.cli import cli


def job_of(monkeypatch: pytest.MonkeyPatch, *words: str) -> Job:
    """The job of `harness finetune WORDS`, whose run folder is made in runs/. Raises what the command raises."""
    jobs: list[Job] = []

    def train(job: Job, folder: Path, say: object) -> Trained:
        jobs.append(job)
        return Trained(steps=0, kept=0, seconds=0.0, items=0, rows=0, dropped=0, curve=[], effect=True)

    with monkeypatch.context() as patch:
        patch.setattr("adapters.finetune.finetune", train)
        cli.main(["finetune", *words], standalone_mode=False)
    return jobs[0]
