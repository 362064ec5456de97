"""A corpus as a task names it: how its items are found, read and counted."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.corpora.item import HexagonsItem, Item, MinecraftItem, new_turns
from harness.corpora.records import from_record
from harness.errors import DataError
from harness.tasks import Task
from harness.util.files import json_lines
from harness.worlds.minecraft import HEIGHT, SIDE, Action, Structure, in_region, net_actions


class Corpus:
    """Files `<split>.jsonl` in a folder, with lines as docs/data.md ("An item") describes them.

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

        Raises DataError for an id of another form, task or split, for one that occurs twice, for an item that asks for nothing,
        and if `after` is not `before` with the actions carried out: training learns the actions, and HEXAGONS is scored by the
        boards.
        """
        for split in splits:
            file, begins, lines = self._file(source, split), f"{self.task.name}/{split}/", dict[str, int]()
            for number, line in json_lines(file):
                where = f"{file}:{number}"
                item = from_record(line, where)
                if not re.fullmatch(rf"{begins}.+/\d+", item.id):
                    raise DataError(f"{where}: the id {item.id} must begin with {begins} and end with the game and a number")
                if (first := lines.setdefault(item.id, number)) != number:
                    raise DataError(f"{where}: the id {item.id} is in line {first}, too; give every item its own")
                if not any(turn.text.strip() for turn in new_turns(item)):
                    raise DataError(f"{where}: {item.id}: nothing is asked for: its history must end with what was said")
                if fault := _fault(item):
                    raise DataError(f"{where}: {item.id}: after is not before with the actions carried out: {fault}")
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


def _fault(item: Item) -> str | None:
    """If the actions do not lead to `after`: the first one that cannot be carried out, otherwise the first cell that differs."""
    now: Any = item.before
    if now.apply(item.actions)[0] == item.after:
        return None
    for number, action in enumerate(item.actions):
        then, ignored = now.apply([action])
        if ignored and isinstance(action, Action):
            return f"actions[{number}], {list(action)}, {_why_not(now, action)}"
        now = then
    place = np.argwhere(now.cells != item.after.cells)[0].tolist()
    if isinstance(item, HexagonsItem):
        return f"the tile {place} is {now[tuple(place)]} then, but {item.after[place[0], place[1]]} in after"
    cell = place[0] - SIDE, place[1] + 1, place[2] - SIDE
    there, wanted = now.color_at(*cell) or "empty", item.after.color_at(*cell) or "empty"
    return f"the cell {list(cell)} is {there} then, but {wanted} in after"


def _why_not(structure: Structure, action: Action) -> str:
    if not in_region(*action.cell):
        return f"lies outside the region: x and z are from {-SIDE} to {SIDE}, y from 1 to {HEIGHT}"
    if action.kind == "remove":
        return "removes a block where there is none"
    if there := structure.color_at(*action.cell):
        return f"places a block where there is a {there} one"
    return "places a block that touches neither the ground nor another block"


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
