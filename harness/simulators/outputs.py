"""A given number of items of a simulator, in the order of its games, written as JSON Lines or Parquet.

One or several processes make them in constant memory. JSON Lines are in their place from the start, and hold whole items at any
time but within a write; what is not whole when writing fails is cut off. A Parquet file is of no use until its end is written,
so it is made beside its place and moved there at the end.
"""

from __future__ import annotations

import gzip
import itertools
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from harness.corpora.item import Item
from harness.corpora.lazy import ItemFile
from harness.corpora.records import to_full_record
from harness.errors import HarnessError, UsageError
from harness.simulators.games import LEVELS, game, level, simulator_task
from harness.tasks import SIMULATORS
from harness.util.files import cache_folder, code_hash, drop_old, made_once
from harness.util.processes import worker_count
from harness.util.registry import choose

_GAMES = 20
"""The games of a piece: enough for some hundred items, so that handing them from process to process costs little."""
_SHARE = 5_000
"""The fewest items for which `cached` starts another process."""
_CODE = ("harness/simulators", "harness/worlds", "harness/corpora", "harness/tasks")
"""What decides a simulated item, besides its seed."""
_ROWS = 5_000
"""Rows of a row group of Parquet: what the writer holds in memory."""


class GameSource(NamedTuple):
    """Which games are made, and how they are written: one of `FORMS`."""

    simulator: str
    seed: int
    split: str
    form: str
    parameters: tuple[tuple[str, int], ...] = ()
    """What the simulator is told beside its own proportions, by name; see `Simulator.parameters`."""


class GameChunk(NamedTuple):
    """Some games ready to be written. What comes after the other is written after it."""

    games: int
    items: int
    content: Any = None


# --- pieces ---


def pieces(source: GameSource, items: int, workers: int = 1) -> Iterator[GameChunk]:
    """Pieces with `items` items together, the same for any number of workers; the last game is cut where they are reached.

    Raises HarnessError if a worker is killed.
    """
    left = items
    with closing(_in_order(source, workers)) as stream:
        for first, piece in stream:
            last = piece.items >= left
            yield make_piece(source, first, left) if piece.items > left else piece
            if last:
                return
            left -= piece.items


def _in_order(source: GameSource, workers: int) -> Generator[tuple[int, GameChunk], None, None]:
    """All pieces with their first games' numbers, without end.

    Each worker makes every n-th piece and sends it through a pipe of its own, where it waits until the piece is taken. So no
    worker is ever far ahead, and one that is killed leaves nothing that others wait for.
    """
    if workers == 1:
        yield from ((first, make_piece(source, first)) for first in itertools.count(0, _GAMES))
        return
    # New processes, not copies of this one, which has threads.
    context = multiprocessing.get_context("spawn")
    readers, processes = [], []
    try:
        for number in range(workers):
            reader, writer = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(source, number, workers, writer), daemon=True)
            process.start()
            # With the other copy in the worker, the pipe ends when the worker does.
            writer.close()
            readers.append(reader)
            processes.append(process)
        for number in itertools.count():
            try:
                piece = readers[number % workers].recv()
            except (EOFError, OSError):
                raise HarnessError(
                    "a worker process was killed, perhaps because memory ran out: use fewer --workers, or set HARNESS_WORKERS"
                ) from None
            if isinstance(piece, Exception):
                raise piece
            yield number * _GAMES, piece
    finally:
        for process in processes:
            process.kill()
            process.join()


def _work(source: GameSource, number: int, workers: int, writer: Connection) -> None:
    """A worker's pieces, sent until the parent takes no more: it leaves an interrupt to the parent and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for n in itertools.count(number, workers):
        try:
            result: GameChunk | Exception = make_piece(source, n * _GAMES)
        except Exception as error:  # noqa: BLE001 - the parent raises it
            result = error
        try:
            writer.send(result)
        except OSError:
            return


def make_piece(source: GameSource, first: int, limit: int | None = None) -> GameChunk:
    """The games of a piece, from number `first` on; with at most `limit` items."""
    games, made = 0, list[Item]()
    for n in range(first, first + _GAMES):
        items = game(source.simulator, source.seed, source.split, n, source.parameters)[: limit and limit - len(made)]
        made += items
        games += bool(items)
    return GameChunk(games, len(made), FORMS[source.form](made, simulator_task(source.simulator)))


# --- forms ---


def _lines(items: Iterable[Item], task: str) -> bytes:
    return "".join(f"{json.dumps(to_full_record(item), ensure_ascii=False)}\n" for item in items).encode()


def _compressed(items: Iterable[Item], task: str) -> bytes:
    # Members of a gzip file may follow each other. Without the time, the same items are the same bytes.
    return gzip.compress(_lines(items, task), 6, mtime=0)


def _rows(items: Iterable[Item], task: str) -> Any:
    from harness.corpora.tables import to_batch

    return to_batch(map(to_full_record, items), task)


FORMS: dict[str, Callable[[Sequence[Item], str], Any]] = {"jsonl": _lines, "jsonl.gz": _compressed, "parquet": _rows}
"""What the content of a piece is in each form."""


def output_form(out: Path) -> str:
    """The form of the file by its name. Raises UsageError if that says none."""
    if form := next((known for known in FORMS if out.name.endswith(f".{known}")), None):
        return form
    raise UsageError(f"--out {out}: give a name that ends in .jsonl, .jsonl.gz or .parquet")


def check_free(out: Path, overwrite: bool) -> None:
    """Raises UsageError if there is something at `out` that may not be replaced."""
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder: give the name of a file in it")
    if out.exists() and not overwrite:
        raise UsageError(f"{out} exists: choose another --out, or --overwrite it")


def simulate(
    source: GameSource, items: int, out: Path, *, workers: int = 1, overwrite: bool = False, report: Callable[[GameChunk], None]
) -> GameChunk:
    """Write `items` items to `out`; `report` hears after each piece how much is written.

    Raises UsageError if something is there already, and HarnessError if writing fails, which says what is left.
    """
    if source.simulator in LEVELS and items > (available := len(level(source.simulator, source.seed))):
        raise UsageError(f"--items {items:,}: {source.simulator} has {available:,}")
    check_free(out, overwrite)
    return write(pieces(source, items, workers), items, out, source.form, simulator_task(source.simulator), report)


def cached(simulator: str, seed: int, count: int) -> ItemFile:
    """The first `count` train items of a simulator's games, in a file of the user's cache: only the first call makes them, with a
    process for each core where they are many. Other processes wait for it.

    Raises UsageError for an unknown simulator and HarnessError if the file cannot be written.
    """
    choose("simulator", simulator, SIMULATORS)
    folder = cache_folder() / "simulated"
    path = folder / f"{simulator}-{seed}-{count}-{code_hash(*_CODE)}.jsonl"

    def make(partial: Path) -> None:
        workers = max(1, min(worker_count(os.cpu_count() or 1), count // _SHARE))
        with partial.open("wb") as file:
            file.writelines(chunk.content for chunk in pieces(GameSource(simulator, seed, "train", "jsonl"), count, workers))

    try:
        made_once(path, make)
    except OSError as error:
        reason = error.strerror or error
        raise HarnessError(f"{folder}: simulated items cannot be written: {reason}; make room, or set HARNESS_CACHE") from error
    drop_old(path)
    return ItemFile(path)


def write(
    chunks: Iterable[GameChunk],
    items: int,
    out: Path,
    form: str,
    task: str,
    report: Callable[[GameChunk], None] = lambda written: None,
) -> GameChunk:
    """Write pieces of a form, of `items` items together; returns how much it wrote. Raises HarnessError as `simulate` does."""
    written = GameChunk(0, 0)
    try:
        with _parquet_file(out, task) if form == "parquet" else _growing_file(out) as append:
            for piece in chunks:
                append(piece.content)
                written = GameChunk(written.games + piece.games, written.items + piece.items)
                report(written)
    except OSError as error:
        whole = "nothing is left" if form == "parquet" else f"it holds the first {written.items:,} of {items:,} items"
        left = f"; {whole}" if written.items else ""
        raise HarnessError(f"{out}: cannot be written: {error.strerror or error}{left}") from error
    return written


@contextmanager
def _growing_file(out: Path) -> Iterator[Callable[[Any], None]]:
    """A file that is appended to; when the block fails, it ends after the last whole content, or is gone if there is none."""
    whole = 0

    def append(content: bytes) -> None:
        nonlocal whole
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]
        whole += len(content)

    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("wb", buffering=0) as file:
        try:
            yield append
        except BaseException:
            file.truncate(whole)
            if not whole:
                out.unlink()
            raise


@contextmanager
def _parquet_file(out: Path, task: str) -> Iterator[Callable[[Any], None]]:
    """A file of record batches, in its place when the block ends without an error."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from harness.corpora.tables import schema

    waiting: list[Any] = []

    def write_group() -> None:
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting), row_group_size=2 * _ROWS)
            waiting.clear()

    def append(batch: Any) -> None:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS:
            write_group()

    out.parent.mkdir(parents=True, exist_ok=True)
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with pq.ParquetWriter(beside, schema(task), compression="zstd") as writer:
            yield append
            write_group()
        os.replace(beside, out)
    finally:
        beside.unlink(missing_ok=True)
