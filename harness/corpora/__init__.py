"""Where items come from: the authors' corpora where HARNESS_DATA has them, otherwise the small samples shipped here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from harness.corpora import cache, hexagons, iglu, iglu_cache, minecraft
from harness.corpora.item import Item
from harness.corpora.minecraft_logs import Game
from harness.errors import UsageError
from harness.util.registry import choose, resolve_path
from harness.worlds.tasks import JUDGED, world_of

SAMPLE = Path(__file__).parent / "sample"
EVERYDAY = Path(__file__).parent.parent / "everyday" / "requests"
SAMPLE_LICENSE = "MIT, written for this project"


class Corpus(NamedTuple):
    """What is known of a task's corpus. Its functions raise DataError for what is not as published."""

    title: str
    """As a sentence names it."""
    benchmark: str
    """What it measures, as tables name it."""
    hub_name: str
    """As a model card's list of data sets names it."""
    splits: tuple[str, ...]
    """In the order in which items are listed."""
    license: str
    how_to_get: str
    """Where the authors' corpus comes from, and where it is looked for."""
    find: Callable[[Path], Path | None]
    """The source in its folder below HARNESS_DATA, if it is there."""
    digest: Callable[[Path], str]
    items: Callable[[Path, Sequence[str]], Iterator[Item]]
    """The items of some splits of a source."""
    stats: str
    """What counts it, as `module:function`; the function takes the task."""
    shipped: bool = False
    """Whether it ships with the project, as a whole."""


def _hexagons(source: Path, splits: Sequence[str]) -> Iterator[Item]:
    return chain.from_iterable(hexagons.load(source, split) for split in splits)


def _minecraft(source: Path, splits: Sequence[str]) -> Iterator[Item]:
    games = cache.read_games(source)
    return chain.from_iterable(minecraft.items(game for game in games if game.split == split) for split in splits)


def _iglu(source: Path, splits: Sequence[str]) -> Iterator[Item]:
    instructions = iglu_cache.read_instructions(source)
    return chain.from_iterable(iglu.items(instructions, split) for split in splits)


def _everyday(task: str) -> Corpus:
    """Its requests are programs, which are run by what lies above corpora: it is imported when it is used."""
    requests = "harness.everyday.requests:{}".format
    return Corpus(
        "everyday requests",
        f"everyday requests, {world_of(task)}",
        task,
        ("dev", "test"),
        SAMPLE_LICENSE,
        "it ships with the project",
        lambda _: None,
        lambda source: str(resolve_path(requests("digest"))(task, source)),
        lambda source, splits: resolve_path(requests("items"))(task, splits, source),
        requests("stats"),
        shipped=True,
    )


CORPORA = {
    "hexagons": Corpus(
        "HEXAGONS",
        "HEXAGONS",
        "hexagons",
        hexagons.SPLITS,
        "CC BY 4.0, Lachmy et al. 2022",
        "github.com/OnlpLab/Hexagons; put its train.jsonl, dev.jsonl and test.jsonl into $HARNESS_DATA/hexagons/",
        hexagons.find,
        hexagons.digest,
        _hexagons,
        "harness.corpora.stats:count_hexagons",
    ),
    "minecraft": Corpus(
        "the Minecraft Dialogue Corpus",
        "Minecraft Builder Action Prediction",
        "minecraft-dialogue-corpus",
        minecraft.SPLITS,
        "NCSA, University of Illinois 2020",
        "github.com/prashant-jayan21/minecraft-bap-models; put its data folder at $HARNESS_DATA/minecraft/",
        minecraft.find,
        minecraft.digest,
        _minecraft,
        "harness.corpora.stats:count_minecraft",
    ),
    "iglu": Corpus(
        "IGLU",
        "IGLU single-turn",
        "iglu-datasets",
        iglu.SPLITS,
        "MIT, Microsoft 2022",
        "github.com/microsoft/iglu-datasets; put its folder datasets/singleturn at $HARNESS_DATA/iglu/",
        iglu.find,
        iglu.digest,
        _iglu,
        "harness.corpora.stats:count_iglu",
    ),
    **{task: _everyday(task) for task in sorted(JUDGED)},
}
"""The corpus of each task."""

SPLITS = {task: corpus.splits for task, corpus in CORPORA.items()}
"""The splits of each task."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a task's items are read from."""

    task: str
    kind: Literal["official", "sample", "shipped"]
    path: Path
    """A folder, or an archive."""

    @property
    def license(self) -> str:
        return SAMPLE_LICENSE if self.kind == "sample" else CORPORA[self.task].license

    def digest(self) -> str:
        """The sha256 of the source's content, in hexadecimal. Raises DataError if it cannot be read."""
        return CORPORA[self.task].digest(self.path)


def locate(task: str) -> Source:
    """The source of a task: below HARNESS_DATA, or the shipped sample where that holds nothing for the task.

    `$HARNESS_DATA/hexagons/{train,dev,test}.jsonl`; `$HARNESS_DATA/minecraft/mdc.tar.xz` or `$HARNESS_DATA/minecraft/`
    unpacked; `$HARNESS_DATA/iglu/singleturn.tar.xz` or `$HARNESS_DATA/iglu/` likewise. Raises UsageError for an unknown task
    and for a HARNESS_DATA that is no folder. A corpus that ships is never looked for there.
    """
    choose("task", task, SPLITS)
    if CORPORA[task].shipped:
        return Source(task, "shipped", EVERYDAY)
    if folder := os.environ.get("HARNESS_DATA"):
        if not Path(folder).is_dir():
            raise UsageError(f"HARNESS_DATA is {folder}, which is not a folder: set it to the folder of the corpora, or unset it")
        path = CORPORA[task].find(Path(folder).absolute() / task)
        if path is not None:
            return Source(task, "official", path)
    return Source(task, "sample", SAMPLE / task)


def split_name(task: str, split: str) -> str:
    """The task's own name of a split: `dev` is Minecraft's `val`. Raises UsageError for an unknown task or split."""
    choose("task", task, SPLITS)
    return choose(f"split of {task}", "val" if (task, split) == ("minecraft", "dev") else split, SPLITS[task])


def load(task: str, split: str | None = None) -> list[Item]:
    """The items of a split, or of all splits one after the other.

    Hexagons and IGLU in file order; Minecraft by (day folder, game folder), then time. Raises UsageError for an unknown task or
    split and DataError for a file that is not as published.
    """
    choose("task", task, SPLITS)
    splits = SPLITS[task] if split is None else (split_name(task, split),)
    return list(CORPORA[task].items(locate(task).path, splits))


def load_examples(task: str) -> list[Item]:
    """The train split, or that of its world's first task where it has none: what prompts' examples are taken from."""
    return load(task if "train" in SPLITS[choose("task", task, SPLITS)] else world_of(task), "train")


def load_games() -> list[Game]:
    """The games of the Minecraft corpus, whether they are in a split or not, in order. Raises DataError as `load` does."""
    return cache.read_games(locate("minecraft").path)


def load_instructions() -> list[iglu.Instruction]:
    """Every instruction of IGLU, also those that are no items, in order. Raises DataError as `load` does."""
    return iglu_cache.read_instructions(locate("iglu").path)
