"""asked.jsonl, beside a run's predictions: the prompt of each answer, and the seconds it took.

The settings of a run decide its predictions.jsonl to the byte, but not the seconds, which are therefore kept here. Prompts are
kept here because they are long and mostly alike: each is written as the number of leading characters that it shares with the
prompt before, and the rest.
"""

import json
from bisect import bisect_left
from collections.abc import Iterator, Set
from pathlib import Path
from typing import IO, Any, NamedTuple

from harness.errors import DataError
from harness.util.files import json_line, read_lines, write_atomically

NAME = "asked.jsonl"


class Asked(NamedTuple):
    """What is recorded about the asking for one answer."""

    seconds: float
    """Seconds since the previous answer, so that they add up; if many items are answered at once, the first gets all the time."""
    prompt: str | None = None
    """The text that a language model was shown; None for other models, and if the item's prompt did not fit."""


def read_asked(file: Path) -> Iterator[tuple[str, Asked]]:
    """The records with their item ids, in the order asked; none if there is no file. An incomplete last line is left out.

    Raises DataError, with the line, for other content.
    """
    if not file.exists():
        return
    before = ""
    for number, line in enumerate(read_lines(file), start=1):
        try:
            entry = _read(json.loads(line), before)
        except ValueError as error:
            raise DataError(f"{file}:{number}: not a line of a run's {NAME}; remove the file to leave its facts out") from error
        before = entry[1].prompt or before
        yield entry


def _read(fields: Any, before: str) -> tuple[str, Asked]:
    match fields:
        case {"id": str(item_id), "seconds": int() | float() as seconds, "same": int(same), "prompt": str(rest)}:
            return item_id, Asked(float(seconds), before[:same] + rest)
        case {"id": str(item_id), "seconds": int() | float() as seconds} if "prompt" not in fields:
            return item_id, Asked(float(seconds))
    raise ValueError("other fields")


class AskedFile:
    """asked.jsonl of a run in progress."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None
        self._before = ""

    def keep(self, ids: Set[str]) -> None:
        """Cut the file back to these items; appended lines follow."""
        self.close()
        kept = [(item_id, asked) for item_id, asked in read_asked(self.path) if item_id in ids]
        self._before = ""
        lines = [self._line(item_id, asked) for item_id, asked in kept]
        if lines:
            write_atomically(self.path, "".join(lines))
        else:
            self.path.unlink(missing_ok=True)

    def append(self, item_id: str, asked: Asked) -> None:
        """Appends and flushes."""
        self._file = self._file or self.path.open("a", encoding="ascii")
        self._file.write(self._line(item_id, asked))
        self._file.flush()

    def close(self) -> None:
        if self._file:
            self._file.close()
            self._file = None

    def _line(self, item_id: str, asked: Asked) -> str:
        fields: dict[str, Any] = {"id": item_id, "seconds": round(asked.seconds, 6)}
        if asked.prompt is not None:
            same = _shared(self._before, asked.prompt)
            fields |= {"same": same, "prompt": asked.prompt[same:]}
            self._before = asked.prompt
        return json_line(fields)


def _shared(one: str, other: str) -> int:
    """The length of the common prefix."""
    return bisect_left(range(1, min(len(one), len(other)) + 1), True, key=lambda n: one[:n] != other[:n])
