"""Parsed corpora as Parquet files in the user's cache.

A file's name holds the version of the loader and the sha256 of the source, so a changed source or loader never meets an old
file. An unreadable file is rebuilt.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harness.errors import HarnessError
from harness.util.files import cache_folder, write_atomically
from harness.worlds.minecraft import SHAPE, Structure

log = logging.getLogger(__name__)

CELLS = SHAPE[0] * SHAPE[1] * SHAPE[2]
"""The bytes of a structure."""

T = TypeVar("T")


def through_cache(name: str, parse: Callable[[], T], to_table: Callable[[T], Any], from_table: Callable[[Any], T]) -> T:
    """What `parse` returns, from the file of this name where there is one. Raises whatever `parse` raises."""
    path = cache_folder() / f"{name}.parquet"
    if path.is_file():
        try:
            return from_table(_read(path))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with this file, the source is still there
            log.info("%s is broken and is rebuilt: %s", path, error)
    parsed = parse()
    try:
        _write(to_table(parsed), path)
    except HarnessError as error:
        log.info("%s; the next load parses again", error)
    return parsed


def _read(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(path, page_checksum_verification=True)


def _write(table: Any, path: Path) -> None:
    import pyarrow.parquet as pq

    content = io.BytesIO()
    pq.write_table(table, content, compression="zstd", write_page_checksum=True)
    write_atomically(path, content.getvalue())


def as_cells(structure: Structure | None) -> bytes | None:
    """A structure as a value of a column of `CELLS` bytes."""
    return None if structure is None else structure.cells.tobytes()


def structures(column: Any) -> Iterator[Structure | None]:
    """The structures of such a column, in one piece: views of one array. None for null."""
    cells = np.frombuffer(column.buffers()[1], np.uint8)[: len(column) * column.type.byte_width].reshape(-1, *SHAPE)
    return (Structure(cell) if valid else None for cell, valid in zip(cells, column.is_valid().to_pylist(), strict=True))
