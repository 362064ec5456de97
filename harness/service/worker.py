"""A process in which the parser and the baselines answer, one item at a time."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import multiprocessing
import os
import resource
import signal
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from harness.baselines import Baseline, Ruled
    from harness.corpora.item import Item
    from harness.runs.answering import Answer, Predictor

MOST_ANSWERS = 2_000
"""Answers after which a process is replaced: the parser remembers every procedure that it has read."""
OUT_OF_MEMORY = 77
"""The exit code of a process that reached its memory limit."""
PR_SET_PDEATHSIG = 1
log = logging.getLogger(__name__)


class Ended(Exception):
    """A process ended before it answered."""

    def __init__(self, exitcode: int | None) -> None:
        super().__init__(exitcode)
        self.exitcode = exitcode


class Worker:
    """Answers one question at a time. Where its process does not answer to the end, another one takes its place."""

    def __init__(self, starter: ThreadPoolExecutor, megabytes: int) -> None:
        """`starter` has one thread, which lives for longer than the process: a process ends with the thread that started it."""
        self._starter = starter
        self._data = megabytes * 1_000_000
        self._begin()

    def _begin(self) -> None:
        self.answers = 0
        self._ready = False
        self._started: Future[tuple[SpawnProcess, Connection]] = self._starter.submit(_start, self._data)

    def end(self) -> None:
        """End the process, in a while."""
        self._starter.submit(_end, self._started)

    def _replace(self) -> None:
        self.end()
        self._begin()

    async def ready(self) -> None:
        """Wait until the process takes questions. Raises Ended where it cannot begin."""
        if self._started.done() and (self._started.exception() or not self._started.result()[0].is_alive()):
            self._replace()
        try:
            # Shielded, as a process begins for whoever asks next, too.
            process, connection = await asyncio.shield(asyncio.wrap_future(self._started))
        except OSError as error:
            raise Ended(error.errno) from None
        if not self._ready:
            await _received(process, connection)
            self._ready = True

    async def ask(self, name: str, kind: type[Baseline | Ruled], item: Item) -> Answer:
        """The answer of a player. Raises HarnessError where it fails, and Ended where the process ends; cancelled, it ends it."""
        process, connection = self._started.result()
        try:
            connection.send((name, kind, item))
            found: Answer | HarnessError = await _received(process, connection)
        except OSError:
            self._replace()
            raise Ended(process.exitcode) from None
        except (asyncio.CancelledError, Ended):
            self._replace()
            raise
        self.answers += 1
        if self.answers == MOST_ANSWERS:
            self._replace()
        if isinstance(found, HarnessError):
            raise found
        return found


async def _received(process: SpawnProcess, connection: Connection) -> Any:
    """What a process sends next. Raises Ended if it ends before."""
    loop, sent = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection.fileno(), sent.set)
    try:
        await sent.wait()
    finally:
        loop.remove_reader(connection.fileno())
    try:
        return connection.recv()
    except (EOFError, OSError):
        process.join(1)
        raise Ended(process.exitcode) from None


def _start(data: int) -> tuple[SpawnProcess, Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with theirs:
        process = context.Process(target=_work, args=(theirs, data, os.getpid()), daemon=True)
        process.start()
    return process, ours


def _end(started: Future[tuple[SpawnProcess, Connection]]) -> None:
    process, connection = started.result()
    process.kill()
    process.join()
    connection.close()


def _work(connection: Connection, data: int, parent: int) -> None:
    """All that the process does: it says that it is ready, and answers what it is asked."""
    try:
        _bound(data, parent)
        connection.send(None)
        while True:
            connection.send(_answer(*connection.recv()))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except (EOFError, OSError):
        os._exit(0)


def _bound(data: int, parent: int) -> None:
    """Bound the memory of this process, let it end with its parent, and read the parser's rules."""
    # Ctrl-C is for the parent, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_DATA, (data, data))
    from harness.baselines.parser import Parser

    for task in Parser.tasks:
        _predictor("parser", Parser, task)


@cache
def _predictor(name: str, kind: type[Baseline | Ruled], task: str) -> Predictor:
    from harness.baselines import Ruled
    from harness.training.checkpoints import default_model

    baseline = kind()
    return baseline.predictor(task) if isinstance(baseline, Ruled) else baseline.load(default_model(name, task))


def _answer(name: str, kind: type[Baseline | Ruled], item: Item) -> Answer | HarnessError:
    from harness.baselines.typed import entries, read_bounded

    try:
        read = read_bounded(item)
        (answer,) = _predictor(name, kind, item.task).predict([read])
    except MemoryError:
        raise
    except HarnessError as error:
        return error
    except Exception:
        log.exception("%s failed", name)
        return UsageError(f"{name} cannot read this")
    return replace(answer, notes={**answer.notes, "left_out": entries(item) - entries(read)})
