"""Where items come from: the published corpora if HARNESS_DATA has them, otherwise the small samples shipped here."""

import os
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal

from harness.corpora.corpus import Corpus
from harness.corpora.item import Item
from harness.corpora.minecraft import MinecraftCorpus
from harness.corpora.minecraft_logs import Game
from harness.errors import DataError, UsageError
from harness.tasks import OUR_LICENSE, SAMPLE
from harness.tasks.registry import TASKS, world_of
from harness.util.files import cache_folder
from harness.util.registry import choose
from harness.worlds.minecraft import Structure

SPLITS = {name: task.splits for name, task in TASKS.items()}
"""The splits of each task."""


def corpus_of(task: str) -> Corpus:
    """How the task's items are read. Raises UsageError for an unknown task."""
    its = TASKS[task]
    corpus: Corpus = resolve_name(its.corpus)(its)
    return corpus


@dataclass(frozen=True, slots=True)
class Source:
    """Where a task's items are read from."""

    task: str
    kind: Literal["official", "sample", "shipped"]
    path: Path
    """A folder, or an archive."""

    @property
    def license(self) -> str:
        return OUR_LICENSE if self.kind == "sample" and self.path.parent == SAMPLE else TASKS[self.task].license

    @property
    def name(self) -> str:
        """As a sentence names it, with the way to the published corpus if this is the sample."""
        get = f" (`harness data get {self.task}` downloads the published one)" if self.kind == "sample" else ""
        return f"the {self.kind} corpus{get}"

    def digest(self) -> str:
        """The sha256 of the source's content, in hexadecimal. Raises DataError if it cannot be read."""
        return corpus_of(self.task).digest(self.path)


def data_folder() -> Path:
    """The folder of the published corpora: $HARNESS_DATA or, if it is not set, the folder `data` of the user's cache.

    Raises UsageError if HARNESS_DATA is not a folder.
    """
    if not (folder := os.environ.get("HARNESS_DATA")):
        return cache_folder() / "data"
    if not Path(folder).is_dir():
        raise UsageError(f"HARNESS_DATA is {folder}, which is not a folder: set it to the folder of the corpora, or unset it")
    return Path(folder).absolute()


def locate(task: str) -> Source:
    """The source of a task: below `data_folder` or, if that holds nothing for the task, the shipped sample.

    `$HARNESS_DATA/hexagons/{train,dev,test}.jsonl`; `$HARNESS_DATA/minecraft/mdc.tar.xz`, or the same unpacked in
    `$HARNESS_DATA/minecraft/`; `$HARNESS_DATA/iglu/singleturn.tar.xz`, or the same unpacked in `$HARNESS_DATA/iglu/`. A corpus
    that ships whole is never looked for there. Raises UsageError for an unknown task, and if HARNESS_DATA is not a folder.
    """
    its = TASKS[task]
    if its.shipped:
        return Source(task, "shipped", its.sample)
    path = corpus_of(task).find(data_folder() / task)
    return Source(task, "official", path) if path else Source(task, "sample", its.sample)


def split_name(task: str, split: str) -> str:
    """The task's own name of a split: `dev` is Minecraft's `val`. Raises UsageError for an unknown task or split."""
    its = TASKS[task]
    return choose(f"split of {task}", its.split_names.get(split, split), its.splits)


def load(task: str, split: str | None = None) -> list[Item]:
    """The items of a split, or of all splits one after the other.

    HEXAGONS and IGLU are in file order; Minecraft is ordered by (day folder, game folder), then by time. Raises UsageError for an
    unknown task or split and DataError for a file that is not as published, and for a split without items.
    """
    splits, path = TASKS[task].splits if split is None else (split_name(task, split),), locate(task).path
    items = list(corpus_of(task).items(path, splits))
    if split and not items:
        raise DataError(f"{path}: the split {splits[0]} of {task} holds no items")
    return items


def load_examples(task: str) -> list[Item]:
    """The items from which examples are taken: the train split of the task or, if it has none, of its world's first task."""
    return load(task if "train" in TASKS[task].splits else world_of(task), "train")


def load_targets(task: str, split: str) -> dict[str, Structure]:
    """Minecraft's world: the target structures of a task's games, by name. Raises as `load` does."""
    return corpus_of(task).targets(locate(task).path, split_name(task, split))


def load_games() -> list[Game]:
    """The games of the Minecraft corpus, whether they are in a split or not, in order. Raises DataError as `load` does."""
    return MinecraftCorpus(TASKS["minecraft"]).games(locate("minecraft").path)
