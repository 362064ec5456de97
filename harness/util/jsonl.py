"""JSON Lines as a killed process may leave them: complete lines, and perhaps an incomplete last one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import DataError


class Lines(NamedTuple):
    """The lines of a file, without their newlines, and what follows the last newline: nothing unless writing was cut short."""

    whole: list[bytes]
    torn: bytes

    @property
    def all(self) -> list[bytes]:
        """All lines, for files written by others: the last line needs no newline."""
        return [*self.whole, self.torn] if self.torn else self.whole


def read_lines(path: Path) -> Lines:
    """Raises DataError for a file that cannot be read."""
    try:
        # Not splitlines(): text may hold other line separators than the newline.
        *whole, torn = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    return Lines(whole, torn)


def json_line(record: Any) -> str:
    """A line, in ASCII: a model may answer with half a surrogate pair, which no file encoding takes."""
    return json.dumps(record) + "\n"
