"""The training of a baseline as a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.corpora import locate
from harness.runs.folder import items_hash
from harness.training.checkpoints import model_source
from harness.training.job import Job, Trained
from harness.training.origin import Origin
from harness.training.processes import processes
from harness.training.trainable import Trainable


@dataclass(frozen=True, kw_only=True)
class BaselineJob(Job):
    """A baseline, trained on a task."""

    baseline: Trainable[Any]
    task: str
    origin: Origin = field(default_factory=Origin)

    def settings(self) -> dict[str, Any]:
        # Steps and batches are counted over all processes, so a run resumes with the same number of them.
        count = processes().num_processes
        return {
            "command": "baseline train",
            "baseline": self.name,
            "task": self.task,
            "recipe": self.recipe.model_dump(),
            "train_items": len(self.items),
            "train_hash": items_hash(self.items),
            "dev_hash": items_hash(self.dev),
            **self.origin.settings(),
            **({"processes": count} if count > 1 else {}),
        }

    def __str__(self) -> str:
        start = f"; begins with {model_source(self.origin.start)}" if self.origin.start else ""
        return (
            f"{self.name}, variant {self.recipe.variant}: {self.task}, {len(self.items)} train and {len(self.dev)} dev items "
            f"of the {locate(self.task).kind} corpus{''.join(f' and {file}' for file in self.origin.data)}{start}"
        )

    def train(self, folder: Path, say: Callable[[str], None]) -> Trained:
        say(f"{self}; {folder}")
        result = self.baseline.train(self.items, self.dev, self.recipe, folder, say, self.origin)
        epochs, best = len(result.curve), result.best
        if result.earlier == epochs:
            say("This run is finished; choose another --name to train again")
        resumed = ", resumed from a checkpoint" if result.earlier is not None else ""
        say(
            f"{epochs} epochs in {result.seconds:,.0f} s{resumed}; the model of epoch {best['epoch']:.0f}, "
            f"with a dev loss of {best['dev_loss']:.3f}, is in {folder / 'model'}"
        )
        return result
