"""Models that are no language models: from items straight to actions. Each is a name, a recipe and checkpoints of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from harness.baselines.recipe import Recipe
    from harness.baselines.training import Trained
    from harness.corpora.item import Item

BASELINES = {"cnn-gru": "harness.baselines.cnn_gru:CnnGru"}


@dataclass(frozen=True, slots=True)
class Decoding:
    """How actions are chosen, always greedily."""

    steps: int = 10
    """Of the decoder for an item at most, the one that stops included. The papers: 10, and 20 in BAP v2, section 6."""
    constrained: bool = False
    """Choose among feasible actions only."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was predicted for an item."""

    actions: Sequence[Any]
    stopped: bool
    """Whether the model came to an end by itself."""


class Predictor(Protocol):
    """A trained model in memory."""

    batch_size: int
    """Items to hand over at once; an answer's arithmetic may depend on its batch."""

    def predict(self, items: Sequence[Item], decoding: Decoding) -> list[Answer]:
        """One answer an item, in order."""


class Baseline(Protocol):
    """A kind of model, made by its class without arguments. Nothing heavy is imported before `train` or `load`."""

    tasks: tuple[str, ...]
    """The first is its default."""

    def recipe(self, overrides: Sequence[str]) -> Recipe:
        """Its recipe with `key=value` laid over. Raises UsageError, with the key, for what does not fit."""

    def train(
        self, items: Sequence[Item], dev: Sequence[Item], recipe: Recipe, folder: Path, say: Callable[[str], None]
    ) -> Trained:
        """Train in a run's folder, going on where a killed run was, and write the best model so far to `folder/model`.

        `say` is told what a user should know. Raises HarnessError where training cannot go on.
        """

    def load(self, folder: Path) -> Predictor:
        """The model in such a folder. Raises DataError for one that is not whole or is another baseline's."""
