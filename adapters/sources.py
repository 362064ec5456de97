"""The train items of a recipe: the corpus's split, simulated items, files, and augmented copies of any of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

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
from harness.simulators.games import simulated
from harness.tasks.registry import world_of
from serialization.annotations import ProgramAnswers


@dataclass(frozen=True)
class TrainData:
    """The items of all sources, in their order."""

    items: Sequence[Item]
    weighted: tuple[WeightedSource, ...]
    """Sources of which an epoch takes more or less than all items."""
    added: dict[str, str]
    """The hashes of the sources besides the split, by their names."""
    left_out: int
    """The number of simulated and augmented items that were left out because they match items of dev or test."""


def with_files(sources: Sequence[DataSource], files: Sequence[Path]) -> list[DataSource]:
    """The sources; the files of --data, if there are any, replace all sources but the split."""
    if not files:
        return list(sources)
    return [source for source in sources if source.split] + [DataSource(file=str(path)) for path in files]


def limited(sources: Sequence[DataSource], limit: int | None) -> list[DataSource]:
    """The sources, with at most `limit` items in each simulated one: further items are not even made."""
    return [
        source.model_copy(update={"items": min(source.items, limit)}) if limit and source.items else source for source in sources
    ]


def gather(
    sources: Sequence[DataSource], task: str, split: Sequence[Item], held: HeldOut, programs: ProgramAnswers | None = None
) -> TrainData:
    """The items of the sources; `split` holds the items taken from the train split, `held` those of dev and test. `programs`, if
    answers are programs, says from which items a model learns.

    Raises, for all sources at once, UsageError for items of another world, for an item that occurs twice and for a file with
    items of dev or test, and DataError for a file that cannot be read.
    """
    faults = Faults()
    parts: list[_Part] = []
    weighted: list[WeightedSource] = []
    added: dict[str, str] = {}
    for number, source in enumerate(sources):
        part = faults.attempt(partial(_part, source, task, split, held, programs, f"data.{number}"))
        if part is None or faults.attempt(partial(_check_new, source, part, parts)) is None:
            continue
        if source.weight != 1:
            before = sum(len(other.items) for other in parts)
            weighted.append(WeightedSource(range(before, before + len(part.items)), source.weight))
        if not source.split or source.task not in (None, task):
            added[source.name] = part.hash
        parts.append(part)
    faults.report()
    items = [item for part in parts for item in part.items]
    return TrainData(items, tuple(weighted), added, left_out=sum(part.left_out for part in parts))


class _Part(NamedTuple):
    """The items of a source that are trained on."""

    items: Sequence[Item]
    hash: str
    ids: Sequence[str]
    left_out: int


def _part(
    source: DataSource, task: str, split: Sequence[Item], held: HeldOut, programs: ProgramAnswers | None, where: str
) -> _Part:
    items = _items(source, task, split, held, programs, where)
    made, whole = source.simulate is not None or source.augment > 1, source.split is not None and source.augment == 1
    left_out = 0
    kept: list[Item] = []
    for item in items:
        if item.world != world_of(task):
            raise UsageError(f"{source.name}: {item.id} is an item of {item.task}, but --task is {task}")
        if made and held.match(item):
            left_out += 1
        elif programs is None or programs.takes(item, checked=whole):
            kept.append(item)
    return _Part(kept, items_hash(kept), [item.id for item in kept], left_out)


def _check_new(source: DataSource, part: _Part, others: Sequence[_Part]) -> bool:
    """Raises UsageError if an item is in the part twice, or also in another one."""
    counts = Counter(part.ids)
    for other in others:
        counts.update(counts.keys() & other.ids)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise UsageError(f"{source.name}: {min(twice)} is among the train items twice; give every item once")
    return True


def _items(
    source: DataSource, task: str, split: Sequence[Item], held: HeldOut, programs: ProgramAnswers | None, where: str
) -> Sequence[Item]:
    if source.simulate:
        if world_of(task) != "minecraft":
            raise UsageError(f"{where}.simulate: {source.simulate} makes items of minecraft, not {task}")
        items: Sequence[Item] = list(islice(simulated(source.simulate, source.seed, "train"), source.items or 0))
    elif source.file:
        items = _file_items(Path(source.file), task)
    elif source.task in (None, task):
        items = split
    else:
        if world_of(source.task) != world_of(task):
            raise UsageError(f"{where}.task: {source.task} is of another world than {task}")
        items = load(source.task, "train")
        items = programs.of_split(items, source.task) if programs else items
    if source.file:
        held.refuse(source.name, items)
    if source.augment == 1:
        return items
    words = lexicon() if world_of(task) == "minecraft" else None
    return list(augment(items, source.seed, source.augment, lexicon=words, whole=True))


def _file_items(path: Path, task: str) -> Sequence[Item]:
    if not path.exists():
        raise DataError(f"{path}: no such file; `harness simulate` and `harness augment` make such files")
    return load_items(path, task)
