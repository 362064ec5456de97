"""A grid: rows of our own commands, each in a process of its own, and the table of their scores.

Rows are independent: a failure is recorded, and the other rows go on. A grid that is run again resumes, because its commands do.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from harness.errors import HarnessError
from harness.util.files import hold, write_atomically
from harness.util.hashing import json_hash, short_hash
from harness.util.processes import ending_with_parent, gpu_groups, visible_gpus

STATE_FILE = "rows.json"
"""In the grid's folder: which rows are finished, and why others are not."""
ENDING = 30.0
"""Seconds that an interrupted command gets to end by itself."""

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PARALLEL = re.compile(r"(?:tensor|pipeline)[-_]parallel[-_]size=(\d+)")


@dataclass(frozen=True, slots=True)
class Row:
    """Commands that are run in order, and the run that holds their answers."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    """The words after `harness`."""
    answers: Path
    """The folder of the run whose answers are scored."""
    files: tuple[Path, ...] = ()
    """The files that the commands read; if their content changes, the row is run again."""

    def key(self) -> str:
        """16 hex digits over everything that is known to decide the row's answers."""
        return json_hash([self.commands, [short_hash([file.read_bytes()]) for file in self.files if file.is_file()]])

    def gpus(self) -> int:
        """How many GPUs the row needs at a time: the number over which vLLM splits a model."""
        return max(math.prod(map(int, _PARALLEL.findall(" ".join(words)))) for words in self.commands)


@dataclass(frozen=True, slots=True)
class State:
    """How a row ended."""

    key: str
    error: str | None = None
    """Why it failed, in one line; None if it is finished."""


class Grid:
    """The rows of a grid and their states, in a folder.

    Raises HarnessError if another process is running the grid or its states cannot be read.
    """

    def __init__(self, folder: Path, rows: Sequence[Row]) -> None:
        self.folder, self.rows = folder, rows
        self._lock = hold(folder / ".lock", f"{folder} is being run by another process; wait for it, or choose another --name")
        self.states = self._on_disk()

    def _on_disk(self) -> dict[str, State]:
        path = self.folder / STATE_FILE
        if not path.exists():
            return {}
        try:
            return {name: State(**fields) for name, fields in json.loads(path.read_bytes()).items()}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise HarnessError(f"{path} does not tell which rows are finished ({error}); remove it to run all again") from None

    def close(self) -> None:
        self._lock.release()

    def finished(self, row: Row) -> bool:
        return self.states.get(row.name) == State(row.key()) and (row.answers / "predictions.jsonl").is_file()

    def run(self, say: Callable[[str], None]) -> None:
        """Run the rows that are not finished: in order or, if there are enough GPUs, side by side, each row on its own GPUs."""
        heads = {row.name: f"row {number} of {len(self.rows)}, {row.name}" for number, row in enumerate(self.rows, start=1)}
        todo = [row for row in self.rows if not self.finished(row)]
        shares = row_gpus(todo, visible_gpus()) if todo else []
        if shares:
            say(f"{len(shares)} rows side by side, on GPUs {' and '.join(shares)}; what they print is in {self.folder}/ROW.log")
        for row in self.rows:
            if row not in todo:
                say(f"{heads[row.name]}: finished before")
            elif not shares:
                key = row.key()
                self._record(row, key, self._run(row, heads[row.name], say), heads[row.name], say)
        if shares:
            self._side_by_side(todo, heads, shares, say)

    def _side_by_side(
        self, todo: Sequence[Row], heads: Mapping[str, str], shares: Sequence[str], say: Callable[[str], None]
    ) -> None:
        free: SimpleQueue[str] = SimpleQueue()
        for share in shares:
            free.put(share)
        stop = threading.Event()

        def run(row: Row) -> tuple[str, str | None]:
            key, gpus = row.key(), free.get()
            try:
                return key, self._run(row, heads[row.name], say, Alone(gpus, stop))
            finally:
                free.put(gpus)

        pool = ThreadPoolExecutor(len(shares))
        try:
            begun = {pool.submit(run, row): row for row in todo}
            for ended in as_completed(begun):
                row = begun[ended]
                self._record(row, *ended.result(), heads[row.name], say)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    def _record(self, row: Row, key: str, error: str | None, head: str, say: Callable[[str], None]) -> None:
        self.states[row.name] = State(key, error)
        states = {name: asdict(state) for name, state in self.states.items()}
        write_atomically(self.folder / STATE_FILE, json.dumps(states, indent=1) + "\n")
        say(f"{head}: {'finished' if error is None else f'failed: {error}'}")

    def _run(self, row: Row, head: str, say: Callable[[str], None], alone: Alone | None = None) -> str | None:
        """Why the row failed; None if it finished."""
        log = self.folder / f"{row.name}.log"
        log.unlink(missing_ok=True)
        for words in row.commands:
            say(f"{head}: {shlex.join(('harness', *words))}")
            code, error = run_command(words, log, alone)
            if code:
                return error or f"harness {words[0]} ended with code {code} and no message; its output is in {log}"
        return None


@dataclass(frozen=True)
class Alone:
    """How a command runs beside others: it prints only to its log."""

    gpus: str
    """Its CUDA_VISIBLE_DEVICES."""
    stop: threading.Event
    """Set when all commands are to end."""


def row_gpus(rows: Sequence[Row], gpus: Sequence[str]) -> list[str]:
    """The GPUs of each row that runs at a time, as values of CUDA_VISIBLE_DEVICES; empty if rows run one after another. As many
    rows run at a time as would have enough GPUs if each needed as many as the largest; all GPUs are divided among them."""
    count = min(len(rows), len(gpus) // max(row.gpus() for row in rows))
    return gpu_groups(gpus, count) if count > 1 else []


def run_command(words: Sequence[str], log: Path, alone: Alone | None = None) -> tuple[int, str]:
    """Run one of our commands in a process that ends with this one. Returns its exit code and its last error line.

    Its output is appended to `log` and, unless it runs beside others, goes to stderr as it comes.
    """
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    if alone:
        environment["CUDA_VISIBLE_DEVICES"] = alone.gpus
    elif sys.stderr.isatty():  # So that its progress bars move here.
        environment |= {"TTY_COMPATIBLE": "1", "COLUMNS": str(shutil.get_terminal_size().columns)}
    process = subprocess.Popen(
        # -P: nothing in the current folder shadows a package.
        [sys.executable, "-P", "-m", "harness.cli", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        preexec_fn=ending_with_parent(),
    )
    assert process.stdout is not None
    printed, decoder = "", codecs.getincrementaldecoder("utf-8")("replace")
    try:
        with log.open("ab") as file:
            while chunk := _read(process, alone.stop if alone else None):
                file.write(chunk)
                file.flush()
                text = decoder.decode(chunk)
                if not alone:
                    sys.stderr.write(text)
                    sys.stderr.flush()
                printed = (printed + text)[-(1 << 16) :]
        return process.wait(), _error(process.returncode, printed)
    finally:
        _end(process)
        process.stdout.close()


def _read(process: subprocess.Popen[bytes], stop: threading.Event | None) -> bytes:
    """What the process prints next; empty when it has ended, by itself or by `stop`."""
    assert process.stdout is not None
    while stop and not select.select([process.stdout], [], [], 0.5)[0]:
        if stop.is_set():
            process.send_signal(signal.SIGINT)
            _end(process)
            return b""
    return os.read(process.stdout.fileno(), 1 << 16)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that has ended or was interrupted; kill it after `ENDING` seconds."""
    try:
        process.wait(ENDING)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


def _error(code: int, printed: str) -> str:
    """What a command said about its failure; empty if it said nothing."""
    if code < 0:
        hint = ": perhaps memory ran out" if code == -signal.SIGKILL else ""
        return f"it was ended by signal {-code}{hint}"
    lines = [line.strip() for line in re.split(r"[\r\n]", _CODES.sub("", printed))]
    return next((line.removeprefix("Error: ") for line in reversed(lines) if line.startswith("Error: ")), "")


def costs(row: Row) -> dict[str, list[float]]:
    """The costs of a finished row, by their names in the table: the seconds and tokens of its prompts and answers, preceded by
    those of its training if it is a row of `harness finetune`."""
    from adapters.registry import read_record
    from eval.score_run import read_answers
    from harness.runs.asked import NAME, read_asked

    records = read_answers(row.answers).records.values()
    tokens = sum(record.get(key) or 0 for record in records for key in ("prompt_tokens", "completion_tokens"))
    facts: dict[str, list[float]] = {
        "seconds": [sum(asked.seconds for _, asked in read_asked(row.answers / NAME))],
        "tokens": [tokens],
    }
    if row.commands[0][0] == "finetune":
        run = row.answers.parent
        about = read_record(next(folder for folder in (run / "adapter", run / "model") if folder.is_dir()))
        facts = {"seconds": [about.seconds, *facts["seconds"]], "tokens": [about.tokens, *facts["tokens"]]}
    return facts


def table(grid: Grid, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A line for each of some rows of the grid: "row", "error" (None if finished) and, if finished, "scores" (as
    `harness score --json` prints them), "facts", and "difference" from the first row: a pair of `eval.compare.compare_runs`,
    with p corrected over the rows.

    "difference" is None for the first row, and if the first row is not finished or has other items.
    """
    from eval.score_run import read_answers, score_answers, score_items
    from eval.statistics import holm

    lines: list[dict[str, Any]] = []
    items: dict[str, Any] = {}
    for row in rows:
        state = grid.states.get(row.name)
        line: dict[str, Any] = {"row": row.name, "error": (state.error if state else None) or "not run"}
        if grid.finished(row):
            answers = read_answers(row.answers)
            items[row.name] = score_items(answers)
            line |= {
                "error": None,
                "scores": score_answers(answers),
                "facts": costs(row),
            }
            line["difference"] = _difference(answers.task, row.name, rows[0].name, items)
        lines.append(line)
    pairs = [line["difference"] for line in lines if line.get("difference")]
    for pair, corrected in zip(pairs, holm([pair["p"] for pair in pairs]) if pairs else (), strict=True):
        pair["p_holm"] = corrected
    return lines


def _difference(task: str, row: str, first: str, items: Mapping[str, Any]) -> dict[str, Any] | None:
    from eval.compare import compare_runs

    if row == first or first not in items or [one.id for one in items[row]] != [one.id for one in items[first]]:
        return None
    pair: dict[str, Any] = compare_runs(task, {row: items[row], first: items[first]}, changed=0)["pairs"][0]
    return pair


def cells(lines: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The head of the table and its rows, in percent, as text."""
    from eval.export import headline

    finished = [line for line in lines if line["error"] is None]
    labels = [number.label for number in headline(finished[0]["scores"])[:2]] if finished else []
    names = list(dict.fromkeys(name for line in finished for name in line["facts"]))
    head = ["row", *labels, *(["difference", "p (Holm)"] if labels else []), *names, "failed"]
    rows = []
    for line in lines:
        if line["error"] is not None:
            rows.append([line["row"], *[""] * (len(head) - 2), line["error"]])
            continue
        leading, other = headline(line["scores"])[:2]
        told = (" / ".join(f"{value:,.0f}" for value in line["facts"].get(name, ())) for name in names)
        numbers = leading.short, f"{100 * other.value:.2f}"
        rows.append([line["row"], *numbers, *_spoken(line["difference"]), *told, ""])
    if len(finished) == len(lines):  # Then the last column is empty.
        head, rows = head[:-1], [row[:-1] for row in rows]
    return head, rows


def _spoken(pair: Mapping[str, Any] | None) -> list[str]:
    from eval.tables import Percentage

    return [f"{Percentage(pair['difference'], pair['interval']):+}", f"{pair['p_holm']:.4f}"] if pair else ["", ""]


def as_markdown(lines: Sequence[Mapping[str, Any]], caption: str) -> str:
    """The table in Markdown."""
    from eval.tables import markdown_table, markdown_text

    return f"{markdown_table(*cells(lines), texts=(0,))}\n\n{markdown_text(caption)}\n"
