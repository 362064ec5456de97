"""A corpus as a task names it: how its items are found, read and counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.corpora.item import Item, MinecraftItem
from harness.corpora.records import read_items
from harness.errors import DataError
from harness.tasks import Task
from harness.worlds.minecraft import Structure, net_actions


class Corpus:
    """Files `<split>.jsonl` in a folder, with lines as `harness simulate` writes them.

    A corpus with files of its own extends the class. All methods that read raise DataError for invalid files.
    """

    def __init__(self, task: Task) -> None:
        self.task = task

    def find(self, folder: Path) -> Path | None:
        """The source, a folder or an archive, in the task's folder below HARNESS_DATA; None if it is not there."""
        return folder if any(self._file(folder, split).is_file() for split in self.task.splits) else None

    def digest(self, source: Path) -> str:
        """The sha256 of the source's content, in hexadecimal."""
        total = hashlib.sha256()
        for split in self.task.splits:
            file = self._file(source, split)
            try:
                total.update(hashlib.sha256(file.read_bytes()).digest())
            except OSError as error:
                names = ", ".join(self._file(source, one).name for one in self.task.splits)
                raise DataError(f"cannot read {file}: {error.strerror}; the corpus has {names}") from None
        return total.hexdigest()

    def items(self, source: Path, splits: Sequence[str]) -> Iterator[Item]:
        """The items of some splits, one split after the other.

        Raises DataError for an id of another task or split, and if `after` is not `before` with the actions carried out:
        training learns the actions, and HEXAGONS is scored by the boards.
        """
        for split in splits:
            file, begins = self._file(source, split), f"{self.task.name}/{split}/"
            for item in read_items(file):
                if not item.id.startswith(begins):
                    raise DataError(f"{file}: the id {item.id} must begin with {begins}")
                before: Any = item.before
                if before.apply(item.actions)[0] != item.after:
                    raise DataError(f"{file}: {item.id}: after is not before with the actions carried out")
                yield item

    def unclear(self, source: Path, split: str) -> Iterator[Item] | None:
        """The instructions of a split that are not items because they are unclear; None if the corpus has no list of them."""
        return None

    def targets(self, source: Path, split: str) -> dict[str, Structure]:
        """Minecraft's world: the target structures of a split's games, by name."""
        ends = {item.group: item.after for item in self.items(source, (split,))}
        return {name: end for name, end in ends.items() if isinstance(end, Structure) and len(end)}

    def stats(self, source: Path) -> dict[str, Any]:
        """What `harness data stats` prints: named counts, by split; a corpus may add more."""
        return {"splits": {split: _counts(list(self.items(source, (split,)))) for split in self.task.splits}}

    def _file(self, folder: Path, split: str) -> Path:
        return folder / f"{split}.jsonl"


def _counts(items: Sequence[Item]) -> dict[str, int]:
    clusters, groups = ({getattr(item, key) for item in items} for key in ("cluster", "group"))
    return {
        "items": len(items),
        "games or procedures": len(clusters),
        "targets": len(groups),
        "actions": sum(len(item.actions) for item in items),
    }


def building_counts(items: Sequence[MinecraftItem]) -> dict[str, int]:
    """Counts of items in Minecraft's world, of their actions and of their net changes."""
    placements = sum(action.kind == "place" for item in items for action in item.actions)
    actions = sum(len(item.actions) for item in items)
    net = [len(net_actions(item.before, item.after)) for item in items]
    return {
        "items": len(items),
        "actions": actions,
        "placements": placements,
        "removals": actions - placements,
        "net_actions": sum(net),
        "empty_board_items": sum(len(item.before) == 0 for item in items),
        "zero_net_items": net.count(0),
    }
