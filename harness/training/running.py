"""Training as a run in its own folder: shared by the commands that train baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.corpora import locate
from harness.corpora.item import Item
from harness.engines.shared import keep_memory
from harness.runs.folder import Run, items_hash, log_to
from harness.training.checkpoints import model_source
from harness.training.origin import Origin
from harness.training.processes import first_says, processes

if TYPE_CHECKING:
    from harness.baselines import Baseline
    from harness.training.recipe import Recipe
    from harness.training.trainer import Trained


@dataclass(frozen=True)
class Job:
    """What is trained, on what."""

    name: str
    """The baseline's name."""
    baseline: Baseline
    task: str
    recipe: Recipe
    items: Sequence[Item]
    dev: Sequence[Item]
    origin: Origin = field(default_factory=Origin)

    def settings(self) -> dict[str, Any]:
        """Everything that decides the model."""
        return {
            "command": "baseline train",
            "baseline": self.name,
            "task": self.task,
            "recipe": self.recipe.model_dump(),
            "train_items": len(self.items),
            "train_hash": items_hash(self.items),
            "dev_hash": items_hash(self.dev),
            **self.origin.settings(),
        }

    def __str__(self) -> str:
        begun = f"; begins with {model_source(self.origin.start)}" if self.origin.start else ""
        return (
            f"{self.name}, variant {self.recipe.variant}: {self.task}, {len(self.items)} train and {len(self.dev)} dev items "
            f"of the {locate(self.task).kind} corpus{''.join(f' and {file}' for file in self.origin.data)}{begun}"
        )


def train(job: Job, folder: Path, say: Callable[[str], None]) -> Trained:
    """Train in a run's folder, resuming a killed run; of several processes, one writes and reports.

    Raises UsageError for a folder with a run of other settings, and else as `Baseline.train` does.
    """
    keep_memory()
    own = processes()
    # Steps and batches are counted over all processes, so a run resumes with the same number of them.
    several = {"processes": own.num_processes} if own.num_processes > 1 else {}
    run = Run(folder, job.settings() | several) if own.is_main_process else None
    report = first_says(say)
    try:
        report(f"{job}; {folder}")
        if run:
            log_to(folder)
        result = job.baseline.train(job.items, job.dev, job.recipe, folder, report, job.origin)
    finally:
        if run:
            run.close()
    report(_report(result, folder))
    return result


def _report(result: Trained, folder: Path) -> str:
    finished = "This run is finished; choose another --name to train again\n" if result.before == result.epochs else ""
    went_on = ", resumed from a checkpoint" if result.resumed else ""
    return (
        f"{finished}{result.epochs} epochs in {result.seconds:,.0f} s{went_on}; the model of epoch {result.best.epoch}, "
        f"with a dev loss of {result.best.dev_loss:.3f}, is in {folder / 'model'}"
    )
