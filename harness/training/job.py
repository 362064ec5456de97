"""The inputs of a training, its run in a folder of its own, and its result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.corpora.item import Item
from harness.engines.shared import keep_memory
from harness.runs.folder import Run, log_to
from harness.training.processes import first_says, processes

Point = Mapping[str, float]
"""An evaluation: its step, the seconds of training so far, and what was measured."""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """The result of a training."""

    steps: int
    kept: int
    """The step whose model was kept."""
    seconds: float
    curve: Sequence[Point]
    """A point for each evaluation, in order."""
    earlier: int | None = None
    """How many of the points an earlier process of the run made; None if there was no checkpoint to resume from."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Sizes of the train and dev data: items, rows, dropped rows, tokens, dev items answered."""
    effect: bool = True
    """Whether training changed the model at all."""

    @property
    def best(self) -> Point:
        """The point of the model that was kept."""
        return next(point for point in self.curve if point["step"] == self.kept)


@dataclass(frozen=True, kw_only=True)
class Job:
    """A training to carry out: what is trained, and on which items."""

    name: str
    """The name of the recipe or of the baseline."""
    recipe: Any
    items: Sequence[Item]
    dev: Sequence[Item]

    def settings(self) -> dict[str, Any]:
        """Everything that decides the model."""
        raise NotImplementedError

    def is_finished(self, folder: Path) -> bool:
        """Whether the run in `folder` is finished, so that nothing needs to be loaded."""
        return False

    def train(self, folder: Path, say: Callable[[str], None]) -> Trained:
        """Train in a run's folder, resuming from its last checkpoint, and write the model there. `say` takes messages to the
        user. Raises HarnessError if training cannot continue."""
        raise NotImplementedError


def train(job: Job, folder: Path, say: Callable[[str], None], more: Mapping[str, Any] | None = None) -> Trained | None:
    """Train in a run's folder, resuming a killed run; None if the run is finished. `more` are further settings of the run.

    Of several processes, the first writes and reports. Raises UsageError for a folder with a run of other settings, before any
    process begins, and otherwise as `Job.train` does.
    """
    keep_memory()
    own = processes()
    with own.main_process_first():
        run = Run(folder, job.settings() | dict(more or {})) if own.is_main_process else None
        finished = job.is_finished(folder)
    try:
        if finished:
            return None
        if run:
            log_to(folder)
        result = job.train(folder, first_says(say))
    finally:
        if run:
            run.close()
    return result
