"""The steps before, around and after training that all baselines with a network share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from harness.corpora import locate
from harness.corpora.item import Item, data_set
from harness.errors import UsageError
from harness.runs.folder import items_hash
from harness.training.checkpoints import model_source, own_weights, read_weights, write_model
from harness.training.job import Job, Trained
from harness.training.origin import Origin, card, configuration
from harness.training.processes import processes
from harness.training.recipe import Recipe, load_recipe
from harness.training.steps import Data, vary_by

if TYPE_CHECKING:
    from harness.runs.answering import Predictor

R = TypeVar("R", bound=Recipe)


@dataclass(frozen=True)
class Begun:
    """What a baseline builds from its recipe before training."""

    recipe: Recipe
    """The recipe with the network's actual shape, as in the configuration."""
    network: Any
    data: Data
    notes: Mapping[str, object]
    """Lines of the card that are not in the configuration."""
    own: Mapping[str, object] = field(default_factory=dict)
    """Baseline-specific keys of the configuration."""
    words: list[str] | None = None
    """The words of vocabulary.json."""


class Trainable(Generic[R]):
    """A baseline whose network is trained by `train_network`. Its class takes no arguments; nothing heavy is imported before
    `train` or `load`."""

    name: str
    tasks: tuple[str, ...]
    """The first is the default."""
    decoding: tuple[str, ...]
    """The fields of `Decoding` that it supports."""
    schema: type[R]
    """The schema of its recipe's file."""

    def recipe(self, overrides: Sequence[str], *, mixed: bool = False) -> R:
        """Its recipe with `key=value` overrides; `mixed`: for items of several data sets. Raises UsageError that names an invalid
        key."""
        return load_recipe(self.name, self.schema, overrides, mixed=mixed)

    def begin(
        self, items: Sequence[Item], dev: Sequence[Item], recipe: R, start: Path | None, say: Callable[[str], None]
    ) -> Begun:
        """The network as training begins, with the words and weights of the model in the folder `start` if there is one."""
        raise NotImplementedError

    def finish(self, folder: Path, data: Data, say: Callable[[str], None]) -> Mapping[str, object]:
        """Further keys of the configuration, computed from the final model in `folder`."""
        return {}

    def train(
        self,
        items: Sequence[Item],
        dev: Sequence[Item],
        recipe: Recipe,
        folder: Path,
        say: Callable[[str], None],
        origin: Origin | None = None,
    ) -> Trained:
        """Train in a run's folder, resuming a killed run, and write the best model so far to `folder/model`.

        `origin` names the trained model whose words and weights training begins with, if any (`checkpoints.begin_with`). `say`
        takes messages to the user. Raises DataError for the model of another network, and HarnessError if training cannot
        continue.
        """
        import torch

        from harness.training.trainer import train_network

        assert isinstance(recipe, self.schema)
        origin, model = origin or Origin(), folder / "model"
        torch.manual_seed(recipe.training.seed)
        begun = self.begin(items, dev, recipe, origin.start, say)
        data = begun.data._replace(vary=vary_by(recipe.augment, recipe.training.seed))

        def write(weights: Mapping[str, Any], trained: Trained, finished: Mapping[str, object]) -> None:
            own = {**begun.own, **finished}
            config = configuration(self.name, (*dev, *items)[0].task, begun.recipe, trained, len(items), origin, **own)
            write_model(model, config, weights, begun.words, card(config, trained, **begun.notes))

        def keep(network: Any, trained: Trained) -> None:
            write(own_weights(network), trained, {})

        trained = train_network(begun.network, data, recipe.training, folder, keep)
        if finished := self.finish(model, data, say):
            write(read_weights(model), trained, finished)
        return trained

    def load(self, folder: Path, decoding: Any) -> Predictor:
        """The model in a folder, ready to answer with this `harness.baselines.Decoding`.

        Raises DataError for an incomplete model and for another baseline's.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class BaselineJob(Job):
    """A baseline, trained on a task."""

    baseline: Trainable[Any]
    task: str
    origin: Origin = field(default_factory=Origin)

    def settings(self) -> dict[str, Any]:
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
        dev = Counter(map(data_set, self.dev))
        judged = f"; dev: {', '.join(f'{count:,} of {name}' for name, count in dev.items())}" if [*dev] != [self.task] else ""
        start = f"; begins with {model_source(self.origin.start)}" if self.origin.start else ""
        return (
            f"{self.name}, variant {self.recipe.variant}: {self.task}, {len(self.items)} train and {len(self.dev)} dev items "
            f"of the {locate(self.task).kind} corpus{''.join(f' and {file}' for file in self.origin.data)}{judged}{start}"
        )

    def train(self, folder: Path, say: Callable[[str], None]) -> Trained:
        if processes().num_processes > 1:
            raise UsageError("a baseline trains in one process: start it without a launcher")
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
