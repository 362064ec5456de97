"""The classic baselines: models that go from items straight to actions, each with a recipe and checkpoints of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from harness.corpora.item import Item
    from harness.runs.answering import Predictor
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
    """The share of the votes that an action needs to be part of the answer."""


DECODING = Decoding()
"""Of whoever asks for nothing else."""


class Baseline(Protocol):
    """A kind of model, made by its class without arguments. Nothing heavy is imported before `train` or `load`."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The first is its default."""

    @property
    def decoding(self) -> tuple[str, ...]:
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

    def load(self, folder: Path, decoding: Decoding = DECODING) -> Predictor:
        """The model in such a folder, to answer by this decoding.

        Raises DataError for one that is not whole or is another baseline's.
        """


@runtime_checkable
class Ruled(Protocol):
    """A baseline that has nothing to train, and so no recipe and no checkpoints."""

    @property
    def tasks(self) -> tuple[str, ...]: ...

    @property
    def decoding(self) -> tuple[str, ...]: ...

    def predictor(self, task: str) -> Predictor:
        """What answers the items of one of its tasks."""
