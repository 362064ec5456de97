"""What a model was trained from, and its configuration and card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from harness.runs.folder import provenance
from harness.training.checkpoints import digest, model_source, read_config
from harness.training.job import Trained

if TYPE_CHECKING:
    from harness.training.recipe import Recipe

    R = TypeVar("R", bound=Recipe)


@dataclass(frozen=True)
class Origin:
    """What training uses besides a recipe and the corpus's train split."""

    start: Path | None = None
    """The folder of the model whose words and weights training begins with."""
    data: Mapping[str, str] = field(default_factory=dict)
    """By name, the hashes of the files that training takes items from."""

    def settings(self) -> dict[str, Any]:
        """The origin as run settings."""
        begun = {"from": model_source(self.start), "from_hash": digest(self.start)} if self.start else {}
        return ({"data": dict(self.data)} if self.data else {}) | begun

    def history(self, baseline: str) -> dict[str, Any]:
        """The origin as a part of a model's configuration, including the origin of the model that training begins with."""
        own: dict[str, Any] = {"data": dict(self.data)}
        if self.start:
            before = read_config(self.start, baseline)
            facts = {key: before[key] for key in ("items", "epoch", "augment", "data", "from") if key in before}
            seed = (before.get("training") or {}).get("seed")
            own["from"] = {"model": _name(self.start), "hash": digest(self.start), "seed": seed, **facts}
        return own

    def reseeded(self, recipe: R, baseline: str) -> R:
        """The recipe with the next seed that no earlier training used: a used seed would repeat the order of the items and their
        augmentation."""
        used = {before.get("seed") for before in _earlier(self.history(baseline))}
        seed = recipe.training.seed
        while seed in used:
            seed += 1
        return recipe.model_copy(update={"training": recipe.training.model_copy(update={"seed": seed})})


def configuration(
    baseline: str, task: str, recipe: Recipe, trained: Trained, items: int, origin: Origin, **own: object
) -> dict[str, Any]:
    """The content of a model's config.json; `items` is the number of train items, `own` are keys of this baseline alone."""
    versions = provenance()
    return {
        "baseline": baseline,
        "task": task,
        **recipe.model_dump(),
        "items": items,
        **origin.history(baseline),
        "epoch": int(trained.best["epoch"]),
        "dev_loss": trained.best["dev_loss"],
        "versions": versions["versions"],
        "git": versions["git"],
        **own,
    }


def card(config: Mapping[str, Any], trained: Trained, **words: object) -> str:
    """The model card, in Markdown: the baseline's text, filled in with the configuration and other `words`."""
    parts = {part: ", ".join(f"{key} {value}" for key, value in config[part].items()) for part in ("network", "training")}
    curve = "\n".join(f"| {p['epoch']:.0f} | {p['train_loss']:.3f} | {p['dev_loss']:.3f} |" for p in trained.curve)
    text = files(f"harness.baselines.{str(config['baseline']).replace('-', '_')}").joinpath("card.txt").read_text()
    return text.format(**{**config, **parts, **words}, curve=curve, history="".join(map("- {}\n".format, _history(config))))


def _name(folder: Path) -> str:
    return folder.parent.name if folder.name == "model" else folder.name


def _earlier(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The earlier models, the last one first."""
    while isinstance(before := config.get("from"), dict):
        yield before
        config = before


def _history(config: Mapping[str, Any]) -> Iterator[str]:
    if config.get("data"):
        yield f"Among the items are those of {', '.join(config['data'])}, beside the corpus's train split or in its place."
    for before in _earlier(config):
        count = f" of {before['items']:,} items" if before.get("items") else ""
        others = f", {', '.join(before['data'])} among them" if before.get("data") else ""
        epoch, changed = before.get("epoch"), before.get("augment")
        yield f"Began with {before['model']} after its epoch {epoch}{count}{others}; augmentation: {changed}."
