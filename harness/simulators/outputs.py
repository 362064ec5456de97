"""Where simulated items are written: JSON Lines, Parquet, or a folder of logs.

JSON Lines are in their place from the start, and hold whole items at any time but within a write; what is not whole when
writing fails is cut off. A Parquet file or a folder of logs is of no use until its end is written, so these are made beside
their place and moved there at the end.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from harness.corpora import SPLITS
from harness.errors import HarnessError, UsageError
from harness.simulators.games import ARCHITECTS, LEVELS, level, simulator_task
from harness.simulators.stream import FORMS, GameChunk, GameSource, pieces

_ROWS = 5_000
"""Rows of a row group of Parquet: what the writer holds in memory."""


class WrittenCounts(NamedTuple):
    games: int
    items: int


class Output(Protocol):
    """A destination for the contents of pieces. Methods raise OSError."""

    def write(self, content: Any) -> None: ...

    def finish(self) -> None:
        """Call when everything is written."""

    def give_up(self) -> None:
        """Keep what is complete, or nothing."""


def output_form(out: Path, form: str | None) -> str:
    """The form that was asked for, or else that of the file's name. Raises UsageError if that says none, or another one."""
    suffix = next((known for known in FORMS if out.name.endswith(f".{known}")), None)
    if form is None and suffix is None:
        raise UsageError(f"--out {out}: a name that ends in .jsonl, .jsonl.gz or .parquet, or --as logs for a folder")
    if None not in (form, suffix) and form != suffix:
        raise UsageError(f"--as {form}: {out.name} is the name of a {suffix} file")
    return form or str(suffix)


def simulate(
    source: GameSource, items: int, out: Path, *, workers: int = 1, overwrite: bool = False, report: Callable[[GameChunk], None]
) -> WrittenCounts:
    """Write `items` items to `out`; `report` hears of each piece after it is written.

    Raises UsageError if something is there already or the form does not fit, and HarnessError if writing fails, which says
    what is left.
    """
    if source.form == "logs" and source.simulator not in ARCHITECTS:
        raise UsageError(f"--as logs is for whole building games: {', '.join(ARCHITECTS)}; {source.simulator} makes none")
    if source.simulator in LEVELS and items > (available := len(level(source.simulator, source.seed))):
        raise UsageError(f"--items {items:,}: {source.simulator} has {available:,}")
    check_free(out, source.form, overwrite)
    return write(pieces(source, items, workers), items, out, source, report)


def write(
    made_pieces: Iterable[GameChunk],
    items: int,
    out: Path,
    source: GameSource,
    report: Callable[[GameChunk], None] = lambda piece: None,
) -> WrittenCounts:
    """Write pieces, of `items` items together, in the form of `source`. Raises HarnessError as `simulate` does."""
    written = WrittenCounts(0, 0)
    try:
        output = OUTPUTS[source.form](out, source)
        try:
            for piece in made_pieces:
                output.write(piece.content)
                written = WrittenCounts(written.games + piece.games, written.items + piece.items)
                report(piece)
            output.finish()
        except BaseException:
            output.give_up()
            raise
    except OSError as error:
        whole = (
            f"it holds the first {written.items:,} of {items:,} items" if source.form.startswith("jsonl") else "nothing is left"
        )
        raise HarnessError(
            f"{out}: cannot be written: {error.strerror or error}{f'; {whole}' if written.items else ''}"
        ) from error
    return written


def check_free(out: Path, form: str, overwrite: bool) -> None:
    """Raises UsageError if there is something at `out` that may not be replaced."""
    if form == "logs":
        if out.is_dir() and not any(out.iterdir()):
            return
        ours = {path.name for path in out.iterdir()} <= {"data", "README.md"} if out.is_dir() else False
        if overwrite and out.exists() and not ours:
            raise UsageError(f"{out} was not made by --as logs and is not replaced: choose another --out")
    elif out.is_dir():
        raise UsageError(f"--out {out} is a folder: give the name of a file in it")
    if out.exists() and not overwrite:
        raise UsageError(f"{out} exists: choose another --out, or --overwrite it")


def _beside(out: Path) -> Path:
    out.parent.mkdir(parents=True, exist_ok=True)
    return out.with_name(f".{out.name}.{os.getpid()}")


class LinesFile:
    def __init__(self, out: Path, source: GameSource) -> None:
        out.parent.mkdir(parents=True, exist_ok=True)
        self.file = out.open("wb", buffering=0)
        self.whole = 0

    def write(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[self.file.write(rest) :]
        self.whole += len(content)

    def finish(self) -> None:
        self.file.close()

    def give_up(self) -> None:
        self.file.truncate(self.whole)
        self.file.close()
        if not self.whole:
            Path(self.file.name).unlink()


class ParquetFile:
    def __init__(self, out: Path, source: GameSource) -> None:
        import pyarrow.parquet as pq

        from harness.corpora.tables import schema

        self.out, self.beside = out, _beside(out)
        self.waiting: list[Any] = []
        self.writer = pq.ParquetWriter(self.beside, schema(simulator_task(source.simulator)), compression="zstd")

    def write(self, content: Any) -> None:
        self.waiting.append(content)
        if sum(len(batch) for batch in self.waiting) >= _ROWS:
            self._group()

    def _group(self) -> None:
        import pyarrow as pa

        if self.waiting:
            self.writer.write_table(pa.Table.from_batches(self.waiting), row_group_size=2 * _ROWS)
        self.waiting = []

    def finish(self) -> None:
        self._group()
        self.writer.close()
        os.replace(self.beside, self.out)

    def give_up(self) -> None:
        try:
            self.writer.close()
        except OSError:
            pass
        finally:
            self.beside.unlink(missing_ok=True)


class LogFolder:
    def __init__(self, out: Path, source: GameSource) -> None:
        self.out, self.beside, self.split = out, _beside(out), source.split
        self.targets: dict[str, None] = {}
        self.logs = self.beside / "data" / "logs"

    def write(self, content: Iterable[tuple[str, str, bytes]]) -> None:
        for target, name, data in content:
            self.targets[target] = None
            (self.logs / name).parent.mkdir(parents=True, exist_ok=True)
            (self.logs / name).write_bytes(data)

    def finish(self) -> None:
        targets = {split: list(self.targets) if split == self.split else [] for split in SPLITS["minecraft"]}
        (self.logs / "splits.json").write_text(json.dumps(targets))
        shutil.rmtree(self.out, ignore_errors=True)
        os.replace(self.beside, self.out)

    def give_up(self) -> None:
        shutil.rmtree(self.beside, ignore_errors=True)


OUTPUTS: dict[str, Callable[[Path, GameSource], Output]] = {
    "jsonl": LinesFile,
    "jsonl.gz": LinesFile,
    "parquet": ParquetFile,
    "logs": LogFolder,
}
