"""What a training begins with, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.corpora.item import Item

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
    """How many of the points an earlier process of the run made; None where no checkpoint was there to resume from."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What it was trained on: items, rows, dropped rows, tokens."""
    effect: bool = True
    """Whether training changed the model at all."""

    @property
    def best(self) -> Point:
        """The point of the model that was kept."""
        return next(point for point in self.curve if point["step"] == self.kept)


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is trained, on what."""

    name: str
    """The recipe's, or the baseline's."""
    recipe: Any
    items: Sequence[Item]
    dev: Sequence[Item]

    def settings(self) -> dict[str, Any]:
        """Everything that decides the model."""
        raise NotImplementedError

    def is_finished(self, folder: Path) -> bool:
        """Whether the run in `folder` needs no further look."""
        return False

    def train(self, folder: Path, say: Callable[[str], None]) -> Trained:
        """Train in a run's folder, resuming from its last checkpoint, and write the model there. `say` takes messages to the
        user. Raises HarnessError if training cannot continue."""
        raise NotImplementedError
