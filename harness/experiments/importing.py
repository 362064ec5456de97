"""Predictions made elsewhere, as CSV or JSON Lines, turned into a run of this harness."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.predictions import Record, decode, read_records
from eval.score_run import task_and_split
from harness.corpora import load
from harness.corpora.item import Item
from harness.errors import DataError
from harness.runs.folder import RUNS, Run
from serialization.formats import FORMATS, get_format, reader

COLUMNS = ["id", "text"]


@dataclass(frozen=True, slots=True)
class Imported:
    """The new run, and what to report about it."""

    folder: Path
    task: str
    split: str
    items: int
    """How many predictions it holds."""
    of: int
    """How many items the split has."""
    unread: int
    """How many texts have pieces that are not actions."""


def import_predictions(path: Path, name: str, *, task: str | None, split: str | None, action_format: str | None) -> Imported:
    """Write the predictions in a file to the run folder `runs/<name>/`.

    The file is CSV with the columns id and text if its name ends in .csv, otherwise JSON Lines of {"id", "text"} or
    {"id", "actions"}; `action_format` is that of texts which do not name their own as "format". Actions are in the world's
    frame. Raises DataError, with file and line, for unusable input, and UsageError if the folder holds another run.
    """
    records = read_csv(path) if path.suffix.lower() == ".csv" else read_records(path)
    if not records:
        raise DataError(f"{path}:1: the file holds no predictions")
    task, split = task_and_split(path, records, task, split)
    records = [_formatted(path, record, action_format, task) for record in records]
    items = load(task, split)
    predicted = decode(path, records, task, {item.id for item in items}, reader(items)).actions
    by_id = {item.id: item for item in items}
    answers = [_answer(record, predicted.get(record.id, ()), by_id[record.id]) for record in records]
    settings = {
        "command": "import",
        "task": task,
        "split": split,
        "items": len(answers),
        "format": action_format,
        "source": path.name,
        "source_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    with closing(Run(RUNS / name, settings)) as run:
        run.keep(answers)
    return Imported(run.folder, task, split, len(answers), len(items), sum(bool(record.get("discarded")) for record in answers))


def read_csv(path: Path) -> list[Record]:
    """The rows of a CSV file as records; a record's line is the one its row begins on. Raises DataError with file and line."""
    records: dict[str, Record] = {}
    for line, row in _rows(path):
        if len(row) != len(COLUMNS):
            raise DataError(
                f"{path}:{line}: {len(row)} columns; every row has two, {' and '.join(COLUMNS)}; quote a text with commas"
            )
        if row[0] in records:
            raise DataError(f"{path}:{line}: id {row[0]!r} again, first on line {records[row[0]].line}; keep one of them")
        records[row[0]] = Record(line, row[0], dict(zip(COLUMNS, row, strict=True)))
    return list(records.values())


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows after the header, each with the line it begins on; blank lines are skipped."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    line = 1
    try:
        for row in reader:
            if line == 1 and row != COLUMNS:
                raise DataError(f"{path}:1: the first line must be the header {','.join(COLUMNS)}")
            if line > 1 and row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}:{line}: not CSV ({error})") from error


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        # Some spreadsheets begin a file with a byte order mark.
        return data.decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error


def _formatted(path: Path, record: Record, action_format: str | None, task: str) -> Record:
    """The record with the format of its text, which its own field or the flag names."""
    if "text" not in record.fields or not {"actions", "format"}.isdisjoint(record.fields) or record.fields.get("error"):
        return record
    if action_format is None:
        raise DataError(f"{path}:{record.line}: a text whose format is not known: give --format {' or '.join(FORMATS[task])}")
    return replace(record, fields={**record.fields, "format": action_format})


def _answer(record: Record, actions: Iterable[Any], item: Item) -> dict[str, Any]:
    """A line of predictions.jsonl. Other fields are dropped: their meaning is unknown here."""
    answer: dict[str, Any] = {"id": record.id, "actions": [list(action) for action in actions]}
    if record.fields.get("error"):
        return answer | {"error": str(record.fields["error"])}
    if "actions" in record.fields:
        return answer
    text, name = record.fields["text"], record.fields["format"]
    return answer | {
        "text": text,
        "format": name,
        "discarded": [list(piece) for piece in get_format(item.task, name).read(text, item).discarded],
    }
