"""A grid: rows of our own commands, each in a process of its own, and the table of their scores.

Rows are independent: a failure is recorded, and the other rows go on. A grid that is run again resumes, because its commands do.
"""

import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from queue import SimpleQueue

from eval.paper_table import Place
from eval.score_run import Benchmark
from harness.errors import HarnessError
from harness.util.files import hold, write_atomically
from harness.util.hashing import file_sha256, json_hash
from harness.util.processes import ending_with_parent, visible_gpus

STATE_FILE = "rows.json"
"""In the grid's folder: which rows are finished, and why others are not."""
ENDING = 30.0
"""Seconds that an interrupted command gets to end by itself."""
_TAIL = 1 << 16
"""Bytes at the end of a log in which an error is looked for."""

_PARALLEL = re.compile(r"(?:tensor|pipeline)[-_]parallel[-_]size=(\d+)")


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a row."""

    words: tuple[str, ...]
    """The words after `harness`."""
    made: Path | None = None
    """A file that is there when it has ended; None: a training, which knows by itself whether it is finished."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of a row to the items of a test, and how they are scored."""

    answers: Path
    """The folder of the run."""
    benchmark: Benchmark


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Commands that are run in order, and the runs that hold their answers."""

    name: str
    commands: tuple[Command, ...] = ()
    tests: Mapping[str, Answered] = field(default_factory=dict)
    """By name; empty: the row only makes a file that others read."""
    task: str = ""
    of: str = ""
    """The row of the file that it comes from."""
    place: Place | None = None
    """The place of its scores in a table of a paper, whatever the set."""
    choose: str | None = None
    """The test by which one of the file's rows with this place is chosen."""
    reason: str = ""
    """Why it is not run; empty if it is."""

    def keys(self) -> list[str]:
        """16 hex digits for each command, over everything that is known to decide its result."""
        training = [one.words for one in self.commands if one.made is None]
        read = [[(file, file.stat()) for file in _files(one.words) if file != one.made] for one in self.commands]
        digests = [[_digest(file, about.st_size, about.st_mtime_ns) for file, about in files] for files in read]
        return [json_hash([training, one.words, files]) for one, files in zip(self.commands, digests, strict=True)]

    def gpus(self) -> int:
        """How many GPUs the row needs at a time: the number over which vLLM splits a model."""
        return max(math.prod(map(int, _PARALLEL.findall(" ".join(one.words)))) for one in self.commands)


def _files(words: Sequence[str]) -> list[Path]:
    """The files that a command reads: its words, some of which end with a share."""
    return [file for word in words for text in {word, word.rpartition("=")[0]} if text and (file := Path(text)).is_file()]


@cache
def _digest(file: Path, size: int, changed: int) -> str:
    """The sha256 of a file, read again if its size or the time of its last change is another."""
    return file_sha256(file)


@dataclass(frozen=True, slots=True)
class State:
    """How far a row got."""

    done: tuple[str, ...] = ()
    """The keys of the commands that have ended."""
    error: str | None = None
    """Why the last one failed, in one line; None if none did."""


class Grid:
    """The rows of a grid and their states, in a folder.

    Raises HarnessError if another process is running the grid or its states cannot be read.
    """

    def __init__(self, folder: Path, rows: Sequence[Row]) -> None:
        self.folder, self.rows = folder, rows
        self._lock = hold(folder / ".lock", f"{folder} is being run by another process; wait for it, or choose another --name")
        self._states = threading.Lock()
        self.states = self._on_disk()

    def _on_disk(self) -> dict[str, State]:
        path = self.folder / STATE_FILE
        if not path.exists():
            return {}
        try:
            return {name: State(tuple(f["done"]), f["error"]) for name, f in json.loads(path.read_bytes()).items()}
        except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
            raise HarnessError(f"{path} does not tell which rows are finished ({error}); remove it to run all again") from None

    def close(self) -> None:
        self._lock.release()

    def finished(self, row: Row) -> bool:
        return bool(row.commands) and not self._left(row)

    def error(self, row: Row) -> str | None:
        """Why a row has no scores; None if it is finished."""
        return None if self.finished(row) else self.states.get(row.name, State()).error or row.reason or "not run"

    def _left(self, row: Row) -> list[tuple[str, Command]]:
        """The commands of a row that are to be run, with their keys."""
        done = self.states.get(row.name, State()).done
        pairs = zip(row.keys(), row.commands, strict=True)
        return [(key, one) for key, one in pairs if key not in done or (one.made and not one.made.is_file())]

    def run(self, say: Callable[[str], None]) -> None:
        """Run the rows that are not finished: in order or, if there are enough GPUs, side by side, each row on its own GPUs.
        Files that rows read are made first."""
        rows = [row for row in self.rows if row.commands and not row.reason]
        heads = {row.name: f"row {number} of {len(rows)}, {row.name}" for number, row in enumerate(rows, start=1)}
        for answering in (False, True):
            part = [row for row in rows if bool(row.tests) == answering]
            todo = [row for row in part if not self.finished(row)]
            for row in part:
                if row not in todo:
                    say(f"{heads[row.name]}: finished before")
            shares = row_gpus(todo, visible_gpus()) if answering and todo else []
            if shares:
                say(f"{len(shares)} rows side by side, on GPUs {' and '.join(shares)}")
            self._run(todo, heads, shares or [""], say)

    def _run(self, todo: Sequence[Row], heads: Mapping[str, str], shares: Sequence[str], say: Callable[[str], None]) -> None:
        """Run rows, as many at a time as there are shares of the GPUs."""
        free: SimpleQueue[str] = SimpleQueue()
        for share in shares:
            free.put(share)
        stop = threading.Event()

        def run(row: Row) -> None:
            gpus = free.get()
            try:
                self._run_row(row, heads[row.name], say, gpus, stop)
            finally:
                free.put(gpus)

        pool = ThreadPoolExecutor(len(shares))
        try:
            for ended in as_completed([pool.submit(run, row) for row in todo]):
                ended.result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    def _run_row(self, row: Row, head: str, say: Callable[[str], None], gpus: str, stop: threading.Event) -> None:
        log = self.folder / f"{row.name}.log"
        log.unlink(missing_ok=True)
        for key, command in self._left(row):
            say(f"{head}: {shlex.join(('harness', *command.words))} >> {log}")
            code, error = run_command(command.words, log, gpus, stop)
            if code:
                self._record(row, None, error or f"harness {command.words[0]} ended with code {code} and no message; see {log}")
                break
            self._record(row, key)
        why = self.states[row.name].error
        say(f"{head}: {'finished' if why is None else f'failed: {why}'}")

    def _record(self, row: Row, key: str | None, error: str | None = None) -> None:
        with self._states:
            done = self.states.get(row.name, State()).done
            self.states[row.name] = State((*done, key) if key and key not in done else done, error)
            states = {name: asdict(state) for name, state in self.states.items()}
            write_atomically(self.folder / STATE_FILE, json.dumps(states, indent=1) + "\n")


def row_gpus(rows: Sequence[Row], gpus: Sequence[str]) -> list[str]:
    """The GPUs of each row that runs at a time, as values of CUDA_VISIBLE_DEVICES; empty if rows run one after another. As many
    rows run at a time as would have enough GPUs if each needed as many as the largest; all GPUs are divided among them."""
    count = min(len(rows), len(gpus) // max(row.gpus() for row in rows))
    if count < 2:
        return []
    each = len(gpus) // count
    return [",".join(gpus[start : start + each]) for start in range(0, count * each, each)]


def run_command(words: Sequence[str], log: Path, gpus: str, stop: threading.Event) -> tuple[int, str]:
    """Run one of our commands in a process that ends with this one, and is interrupted by `stop`. Its output goes to `log`.

    `gpus` is its CUDA_VISIBLE_DEVICES; empty: as here. Returns its exit code and its last error line.
    """
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"} | ({"CUDA_VISIBLE_DEVICES": gpus} if gpus else {})
    bind = ending_with_parent()

    def begin() -> None:
        # Where `nohup` or a shell's `&` lets this process ignore interrupts, its commands heed them all the same.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if bind:
            bind()

    with log.open("a+b") as file:
        process = subprocess.Popen(
            # -P: nothing in the current folder shadows a package.
            [sys.executable, "-P", "-m", "harness.cli", *words],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment,
            preexec_fn=begin,
        )
        try:
            while process.poll() is None and not stop.wait(0.2):
                pass
            process.send_signal(signal.SIGINT)
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
            process.wait()
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        return process.returncode, _error(process.returncode, file.read().decode(errors="replace"))


def _error(code: int, printed: str) -> str:
    """What a command said about its failure; empty if it said nothing."""
    if code < 0:
        hint = ": perhaps memory ran out" if code == -signal.SIGKILL else ""
        return f"it was ended by signal {-code}{hint}"
    lines = [line.strip() for line in re.split(r"[\r\n]", printed)]
    return next((line.removeprefix("Error: ") for line in reversed(lines) if line.startswith("Error: ")), "")
