"""Models that are no language models: from items straight to actions. Each is a name, a recipe and checkpoints of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from harness.corpora.item import Item
    from harness.training.origin import Origin
    from harness.training.recipe import Recipe
    from harness.training.trainer import Trained

BASELINES = {
    "rules": "harness.baselines.rules.baseline:Rules",
    "parser": "harness.baselines.parser:Parser",
    "bert-transformer": "harness.baselines.bert_transformer.baseline:BertTransformer",
    "cnn-gru": "harness.baselines.cnn_gru.baseline:CnnGru",
    "deberta": "harness.baselines.deberta.baseline:Deberta",
    "t5": "harness.baselines.t5.baseline:T5",
}


@dataclass(frozen=True, slots=True)
class Decoding:
    """How actions are chosen; the same is chosen each time. No baseline knows all of it: see `Baseline.decoding`."""

    steps: int = 10
    """Of the decoder for an item at most, the one that stops included. The papers: 10, and 20 in BAP v2, section 6."""
    constrained: bool = False
    """Choose among feasible actions only."""
    beams: int = 3
    """Of beam search over text; 1 is greedy."""
    samples: int | None = None
    """Draw so many answers and let them vote, in place of the greedy one: see `harness.runs.voting`."""
    share: float = 0.15
    """Of the votes, from which on an action is part of the answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was predicted for an item."""

    actions: Sequence[Any]
    stopped: bool
    """Whether the model came to an end by itself."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What else is to be kept with the answer, as JSON: how it came about."""


class Predictor(Protocol):
    """A model in memory, ready to answer."""

    batch_size: int
    """Items to hand over at once; an answer's arithmetic may depend on its batch."""
    rolls_out: bool
    """Whether it sees the board that its own earlier answers drew, in place of an item's `before`: all first steps are asked
    for before all second ones, and so on (HEXAGONS)."""

    def predict(self, items: Sequence[Item], decoding: Decoding) -> list[Answer]:
        """One answer an item, in order."""


class Baseline(Protocol):
    """A kind of model, made by its class without arguments. Nothing heavy is imported before `train` or `load`."""

    tasks: tuple[str, ...]
    """The first is its default."""
    decoding: tuple[str, ...]
    """The fields of `Decoding` that it knows."""

    def recipe(self, overrides: Sequence[str]) -> Recipe:
        """Its recipe with `key=value` laid over. Raises UsageError, with the key, for what does not fit."""

    def train(
        self,
        items: Sequence[Item],
        dev: Sequence[Item],
        recipe: Recipe,
        folder: Path,
        say: Callable[[str], None],
        origin: Origin | None = None,
    ) -> Trained:
        """Train in a run's folder, going on where a killed run was, and write the best model so far to `folder/model`.

        `origin` names the trained model whose words and weights it begins with, if any (`checkpoints.begin_with`). `say` is told
        what a user should know. Raises DataError for the model of another network, and HarnessError where training cannot go on.
        """

    def load(self, folder: Path) -> Predictor:
        """The model in such a folder. Raises DataError for one that is not whole or is another baseline's."""


@runtime_checkable
class Ruled(Protocol):
    """A baseline that has nothing to train, and so no recipe and no checkpoints."""

    tasks: tuple[str, ...]
    decoding: tuple[str, ...]

    def predictor(self, task: str) -> Predictor:
        """What answers the items of one of its tasks."""
