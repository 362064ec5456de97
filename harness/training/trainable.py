"""The steps before, around and after training that all baselines with a network share."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from harness.corpora import locate
from harness.corpora.item import Item, data_set, items_hash
from harness.errors import UsageError
from harness.runs.folder import provenance
from harness.training.checkpoints import own_weights, write_model
from harness.training.job import Job, Trained
from harness.training.processes import processes
from harness.training.recipe import Recipe, load_recipe
from harness.training.steps import Data, vary_by

if TYPE_CHECKING:
    from harness.runs.answering import Predictor

R = TypeVar("R", bound=Recipe)


@dataclass(frozen=True)
class Begun:
    """What a baseline builds from its recipe before training."""

    network: Any
    data: Data
    own: Mapping[str, object] = field(default_factory=dict)
    """Baseline-specific keys of the configuration."""
    words: list[str] | None = None
    """The words of vocabulary.json."""


class Trainable(Generic[R]):
    """A baseline whose network is trained by `train_network`. Its class takes no arguments."""

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

    def begin(self, items: Sequence[Item], dev: Sequence[Item], recipe: R) -> Begun:
        """The network as training begins."""
        raise NotImplementedError

    def load(self, folder: Path, decoding: Any) -> "Predictor":
        """The model in a folder, ready to answer with this `harness.baselines.Decoding`.

        Raises DataError for an incomplete model and for another baseline's.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class BaselineJob(Job):
    """A baseline, trained on a task."""

    baseline: Trainable[Any]
    task: str
    data: Mapping[str, str] = field(default_factory=dict)
    """By name, the hashes of the files that train items come from."""

    def settings(self) -> dict[str, Any]:
        return {
            "command": "baseline train",
            "baseline": self.name,
            "task": self.task,
            "recipe": self.recipe.model_dump(),
            "train_items": len(self.items),
            "train_hash": items_hash(self.items),
            "dev_hash": items_hash(self.dev),
            **({"data": dict(self.data)} if self.data else {}),
        }

    def __str__(self) -> str:
        dev = Counter(map(data_set, self.dev))
        judged = f"; dev: {', '.join(f'{count:,} of {name}' for name, count in dev.items())}" if [*dev] != [self.task] else ""
        return (
            f"{self.name}, variant {self.recipe.variant}: {self.task}, {len(self.items)} train and {len(self.dev)} dev items "
            f"of {locate(self.task).name}{''.join(f' and {file}' for file in self.data)}{judged}"
        )

    def train(self, folder: Path, say: Callable[[str], None]) -> Trained:
        """As in `Job`; the best model so far is in `folder/model`."""
        import torch

        from harness.training.trainer import train_network

        if processes().num_processes > 1:
            raise UsageError("a baseline trains in one process: start it without a launcher")
        say(f"{self}; {folder}")
        torch.manual_seed(self.recipe.training.seed)
        begun = self.baseline.begin(self.items, self.dev, self.recipe)
        count = sum(weight.numel() for weight in begun.network.parameters() if weight.requires_grad)
        say(f"{count:,} trained parameters")

        def keep(network: Any, trained: Trained) -> None:
            config = {"baseline": self.name, "task": self.task, **self.recipe.model_dump(), "items": len(self.items)}
            config |= {"data": dict(self.data), "epoch": int(trained.best["epoch"]), "dev_loss": trained.best["dev_loss"]}
            write_model(folder / "model", {**config, **provenance(), **begun.own}, own_weights(network), begun.words)

        data = begun.data._replace(vary=vary_by(self.recipe.augment, self.recipe.training.seed))
        result = train_network(begun.network, data, self.recipe.training, folder, keep)
        epochs, best = len(result.curve), result.best
        if result.earlier == epochs:
            say("This run is finished; choose another --name to train again")
        resumed = ", resumed from a checkpoint" if result.earlier is not None else ""
        say(
            f"{epochs} epochs in {result.seconds:,.0f} s{resumed}; the model of epoch {best['epoch']:.0f}, "
            f"with a dev loss of {best['dev_loss']:.3f}, is in {folder / 'model'}"
        )
        return result
