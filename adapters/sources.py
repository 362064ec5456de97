"""The train items of a recipe: the corpus's split, simulated items, files, and augmented copies of any of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adapters.recipe import DataSource
from adapters.rows import WeightedSource
from harness.augmentation.paraphrase import lexicon
from harness.augmentation.variants import augment
from harness.corpora import load
from harness.corpora.held_out import HeldOut
from harness.corpora.item import Item
from harness.corpora.records import load_items
from harness.errors import DataError, Faults, UsageError
from harness.runs.folder import items_hash
from harness.simulators.games import simulated, simulator_task
from harness.tasks import world_of


@dataclass(frozen=True)
class TrainData:
    """The items of all sources, in their order."""

    items: list[Item]
    weighted: tuple[WeightedSource, ...]
    """Sources of which an epoch takes more or less than all items."""
    added: dict[str, str]
    """The hashes of the sources besides the split, by their names."""
    left_out: int
    """Simulated and augmented items that happen to be of dev or test, and are not among the items."""


def with_files(sources: Sequence[DataSource], files: Sequence[Path]) -> list[DataSource]:
    """The sources with the files of --data, if there are any, in place of all but the split."""
    if not files:
        return list(sources)
    return [source for source in sources if source.split] + [DataSource(file=str(path)) for path in files]


def limited(sources: Sequence[DataSource], limit: int | None) -> list[DataSource]:
    """The sources with at most `limit` items in each that is simulated: others are not even made."""
    return [
        source.model_copy(update={"items": min(source.items, limit)}) if limit and source.items else source for source in sources
    ]


def gather(sources: Sequence[DataSource], task: str, split: Sequence[Item], held: HeldOut) -> TrainData:
    """The items of the sources; `split` holds those that are taken of the train split, `held` what dev and test hold.

    Raises, for all sources at once, UsageError for items of another world, for an item that is in two sources and for a file with
    items of dev or test, and DataError for a file that cannot be read.
    """
    faults, seen = Faults(), set[str]()
    items: list[Item] = []
    left_out = 0
    weighted: list[WeightedSource] = []
    parts: dict[str, list[Item]] = {}
    for number, source in enumerate(sources):
        made = faults.attempt(partial(_items, source, task, split, held, f"data.{number}"))
        if made is None or faults.attempt(partial(_check_new, source, made, seen)) is None:
            continue
        own = [item for item in made if not held.match(item)] if source.simulate or source.augment > 1 else made
        left_out += len(made) - len(own)
        items += own
        if source.weight != 1:
            weighted.append(WeightedSource(frozenset(item.id for item in own), source.weight))
        if not source.split or source.task not in (None, task):
            parts.setdefault(source.name, []).extend(own)
    faults.report()
    return TrainData(items, tuple(weighted), {name: items_hash(own) for name, own in parts.items()}, left_out)


def _check_new(source: DataSource, items: Sequence[Item], seen: set[str]) -> bool:
    """Adds the items' ids to those that were seen. Raises UsageError if one of them is there already."""
    if twice := seen & {item.id for item in items}:
        raise UsageError(f"{source.name}: {min(twice)} is among the train items already; give every item once")
    seen.update(item.id for item in items)
    return True


def _items(source: DataSource, task: str, split: Sequence[Item], held: HeldOut, where: str) -> list[Item]:
    if source.simulate:
        if world_of(simulator_task(source.simulate)) != world_of(task):
            raise UsageError(f"{where}.simulate: {source.simulate} makes items of {simulator_task(source.simulate)}, not {task}")
        items: Sequence[Item] = simulated(source.simulate, source.seed, source.items or 0)
    elif source.file:
        if not Path(source.file).exists():
            raise DataError(f"{source.file}: no such file; `harness simulate` and `harness augment` make such files")
        items = load_items(Path(source.file), task)
        held.refuse(source.name, items)
    elif source.task in (None, task):
        items = split
    else:
        if world_of(source.task) != world_of(task):
            raise UsageError(f"{where}.task: {source.task} is of another world than {task}")
        items = load(source.task, "train")
    if source.augment == 1:
        return list(items)
    words = lexicon() if world_of(task) == "minecraft" else None
    return list(augment(items, source.seed, source.augment, lexicon=words, whole=True))
