"""Where items come from: the authors' corpora where HARNESS_DATA has them, otherwise the small samples shipped here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.corpora import cache, hexagons, minecraft
from harness.corpora.item import Item
from harness.corpora.minecraft_logs import Game
from harness.errors import UsageError
from harness.util.registry import choose

#: The splits of each task, in the order in which items are listed.
SPLITS = {"hexagons": hexagons.SPLITS, "minecraft": minecraft.SPLITS}

LICENSES = {
    ("hexagons", "official"): "CC BY 4.0, Lachmy et al. 2022",
    ("minecraft", "official"): "NCSA, University of Illinois 2020",
    ("hexagons", "sample"): "MIT, written for this project",
    ("minecraft", "sample"): "MIT, written for this project",
}

HOW_TO_GET = {
    "hexagons": "github.com/OnlpLab/Hexagons; put its train.jsonl, dev.jsonl and test.jsonl into $HARNESS_DATA/hexagons/",
    "minecraft": "github.com/prashant-jayan21/minecraft-bap-models; put its data folder at $HARNESS_DATA/minecraft/",
}
"""Where the authors' corpora come from, and where they are looked for."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a task's items are read from."""

    task: str
    kind: Literal["official", "sample"]
    path: Path
    """A folder, or the archive of the Minecraft Dialogue Corpus."""

    @property
    def license(self) -> str:
        return LICENSES[self.task, self.kind]

    def digest(self) -> str:
        """The sha256 of the source's content, in hexadecimal. Raises DataError if it cannot be read."""
        return hexagons.digest(self.path) if self.task == "hexagons" else minecraft.digest(self.path)


def locate(task: str) -> Source:
    """The source of a task: below HARNESS_DATA, or the shipped sample where that holds nothing for the task.

    `$HARNESS_DATA/hexagons/{train,dev,test}.jsonl`; `$HARNESS_DATA/minecraft/mdc.tar.xz` or `$HARNESS_DATA/minecraft/`
    unpacked. Raises UsageError for an unknown task and for a HARNESS_DATA that is no folder.
    """
    choose("task", task, SPLITS)
    if folder := os.environ.get("HARNESS_DATA"):
        if not Path(folder).is_dir():
            raise UsageError(f"HARNESS_DATA is {folder}, which is not a folder: set it to the folder of the corpora, or unset it")
        path = _official(task, Path(folder).absolute() / task)
        if path is not None:
            return Source(task, "official", path)
    return Source(task, "sample", Path(__file__).parent / "sample" / task)


def _official(task: str, folder: Path) -> Path | None:
    if task == "hexagons":
        return folder if any((folder / f"{split}.jsonl").is_file() for split in hexagons.SPLITS) else None
    archive = folder / "mdc.tar.xz"
    if archive.is_file():
        return archive
    return folder if minecraft.find_logs(folder) else None


def split_name(task: str, split: str) -> str:
    """The task's own name of a split: `dev` is Minecraft's `val`. Raises UsageError for an unknown task or split."""
    choose("task", task, SPLITS)
    return choose(f"split of {task}", "val" if (task, split) == ("minecraft", "dev") else split, SPLITS[task])


def load(task: str, split: str | None = None) -> list[Item]:
    """The items of a split, or of all splits one after the other.

    Hexagons in file order; Minecraft by (day folder, game folder), then time. Raises UsageError for an unknown task or
    split and DataError for a file that is not as published.
    """
    choose("task", task, SPLITS)
    splits = SPLITS[task] if split is None else (split_name(task, split),)
    if task == "hexagons":
        folder = locate(task).path
        return [item for name in splits for item in hexagons.load(folder, name)]
    games = load_games()
    return [item for name in splits for item in minecraft.items(game for game in games if game.split == name)]


def load_games() -> list[Game]:
    """The games of the Minecraft corpus, whether they are in a split or not, in order. Raises DataError as `load` does."""
    return cache.read_games(locate("minecraft").path)
