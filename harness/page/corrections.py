"""People's corrections as training rows: a file of items for each task, which `harness finetune --data` takes."""

import errno
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import Field

from harness.corpora.item import HexagonsItem, Item
from harness.corpora.records import ActionRecord, Digits, to_full_record
from harness.errors import UsageError
from harness.page.store import StoreError
from harness.service.schema import Body, BuildRequest, DrawRequest
from harness.util.files import json_line, make_private, read_lines
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Action, lasting


class CorrectedAnswer(Body):
    """What a model was asked, and what it should have done."""

    request: DrawRequest | BuildRequest = Field(discriminator="task")
    board: Digits | None = Field(None, description="HEXAGONS: the board as it should be after the step.")
    actions: list[ActionRecord] | None = Field(
        None, max_length=500, fail_fast=True, description="Minecraft: what should have been done."
    )
    by: str = Field("", max_length=200, description="Who answered.")

    def item(self) -> Item:
        """The training item. Raises UsageError for a correction without its board or actions, and for actions that cannot be
        carried out."""
        item, name = self.request.item, uuid4().hex
        if isinstance(item, HexagonsItem):
            if self.board is None:
                raise UsageError("board: give the board as it should be after the step")
            after = Board.from_digits(self.board)
            done: Any = {"actions": item.before.diff(after), "after": after}
        else:
            if self.actions is None:
                raise UsageError("actions: give what should have been done")
            actions = tuple(Action(*action) for action in self.actions)
            structure, ignored = item.before.apply(actions)
            if ignored:
                raise UsageError(f"{list(ignored[0])} cannot be carried out")
            done = {"actions": lasting(actions, item.before), "after": structure}
        whole = f"{item.task}-corrected/train/{name}"
        meta = {"corrected": self.by}
        return replace(item, id=f"{whole}/1", split="train", group=whole, cluster=whole, meta=meta, **done)


class Corrections:
    """The files `corrections-TASK.jsonl` in a folder. A line is written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()

    def file(self, task: str) -> Path:
        return self.folder / f"corrections-{task}.jsonl"

    def add(self, item: Item) -> int:
        """Append an item, and return how many its task has. Raises StoreError if it cannot be written."""
        file, line = self.file(item.task), json_line(to_full_record(item)).encode()
        with self._lock:
            try:
                make_private(file)
                # What a killed server left of a line is removed.
                whole = read_lines(file)
                end = sum(len(one) + 1 for one in whole)
                with file.open("r+b", buffering=0) as lines:
                    lines.truncate(end)
                    lines.seek(end)
                    try:
                        if lines.write(line) < len(line):
                            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                        os.fsync(lines.fileno())
                    except OSError:
                        lines.truncate(end)
                        raise
            except OSError as error:
                raise StoreError(f"{file}: cannot be written: {error.strerror}; nothing was changed") from None
            return len(whole) + 1
