"""Items as rows of a Parquet file that `datasets.load_dataset("parquet", data_files=...)` reads, and back.

The columns are the keys of `records.to_full_record`. Actions and blocks are structs, because a column has one type; `meta`, whose
keys differ from item to item, is JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.tasks import world_of
from harness.worlds.minecraft import Pose

_BLOCK = ("x", "y", "z", "color")
_ACTION = ("kind", "color", "x", "y", "z")
_PAINT = ("row", "column", "color")


def schema(task: str) -> Any:
    """The columns of a task."""
    import pyarrow as pa

    def structs(keys: Iterable[str]) -> Any:
        return pa.list_(pa.struct([(key, pa.string() if key in ("kind", "color") else pa.int8()) for key in keys]))

    names = pa.string()
    if world_of(task) == "minecraft":
        pose = pa.struct([(key, pa.float64()) for key in Pose._fields])
        turn = pa.struct([("speaker", names), ("text", names), ("actions", structs(_ACTION)), ("pose", pose)])
        own = {
            "history": pa.list_(turn),
            "before": structs(_BLOCK),
            "pose": pose,
            "actions": structs(_ACTION),
            "after": structs(_BLOCK),
        }
    else:
        own = {
            "history": pa.list_(names),
            "instruction": names,
            "before": names,
            "actions": structs(_PAINT),
            "after": names,
            "executed": pa.list_(structs(_PAINT)),
        }
    return pa.schema([("id", names), *own.items(), ("group", names), ("cluster", names), ("meta", names)])


def to_batch(records: Iterable[dict[str, Any]], task: str) -> Any:
    """Items of a task, given as `records.to_full_record` returns them, as a pyarrow RecordBatch."""
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([_row(record, task) for record in records], schema(task))


def _row(record: dict[str, Any], task: str) -> dict[str, Any]:
    row = record | {"meta": json.dumps(record["meta"], ensure_ascii=False)}
    if world_of(task) == "hexagons":
        return row | {"actions": _structs(_PAINT, row["actions"]), "executed": [_structs(_PAINT, s) for s in row["executed"]]}
    history = [turn | {"actions": _structs(_ACTION, turn["actions"])} if "actions" in turn else turn for turn in row["history"]]
    blocks = {key: _structs(_BLOCK, row[key]) for key in ("before", "after")}
    return row | blocks | {"history": history, "actions": _structs(_ACTION, row["actions"])}


def _structs(keys: tuple[str, ...], values: Iterable[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(keys, value, strict=True)) for value in values]


def read_records(path: Path) -> Iterator[str]:
    """The rows of a file as `to_full_record` returns them, in JSON. Raises DataError if it is not a Parquet file of items."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(1_000):
                for row in batch.to_pylist():
                    yield json.dumps(_record(row))
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: not a Parquet file of items: {' '.join(str(error).split())[:200]}") from None


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    """The record that `_row` was made from."""
    return {key: json.loads(value) if key == "meta" else _plain(value, key) for key, value in row.items()}


def _plain(value: Any, key: str) -> Any:
    """Structs of blocks and actions as lists of values; turns of the history without the keys that are null."""
    if isinstance(value, list):
        return [_plain(one, key) for one in value]
    if not isinstance(value, dict) or key == "pose":
        return value
    if key == "history":
        return {name: _plain(inner, name) for name, inner in value.items() if inner is not None}
    return list(value.values())
