"""Processes in which the parser and the baselines answer, each within a time and a memory limit, and threads that wait for
language models. No key can take all of either."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import resource
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Self, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from harness.errors import HarnessError, UsageError
from harness.tasks import get_task
from harness.util.processes import ending_with_parent

if TYPE_CHECKING:
    from concurrent.futures import Future

    from harness.baselines import Baseline, Ruled
    from harness.corpora.item import Item
    from harness.runs.answering import Answer, Predictor

MOST_ANSWERS = 2_000
"""Answers after which a worker is replaced, because the parser keeps every procedure that it has read in memory."""
WAIT = 30.0
"""Seconds for which a request waits for a worker."""
THREADS = 16
"""Requests to language models that one key may have at a time."""
OUT_OF_MEMORY = 77
"""The exit code of a worker that reached its memory limit."""
T = TypeVar("T")
log = logging.getLogger(__name__)


class Unavailable(HarnessError):
    """The player cannot answer now, but may be able to later."""


@dataclass(frozen=True, slots=True)
class AnswerBudget:
    """What an answer of the parser or a baseline may take."""

    seconds: float = 10.0
    megabytes: int = 2_000
    """The size of a worker's data in memory; a baseline with PyTorch needs about 1,000."""
    workers: int = max(2, os.cpu_count() or 1)
    """Processes, each of which works out one answer at a time."""


class Workers:
    """A pool of processes. Use it in a `with`, which starts them; they end with the block, or with this process."""

    def __init__(self, budget: AnswerBudget | None = None, principals: int = 1) -> None:
        """If there are several `principals`, each of them leaves a worker to the others."""
        self._budget = budget or AnswerBudget()
        each = self._budget.workers if principals <= 1 else max(1, self._budget.workers - 1)
        self._semaphores: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(each))
        self._limiters: dict[str, CapacityLimiter] = defaultdict(lambda: CapacityLimiter(THREADS))

    def __enter__(self) -> Self:
        from pebble import ProcessPool

        self._pool = ProcessPool(
            self._budget.workers,
            max_tasks=MOST_ANSWERS,
            initializer=_begin,
            initargs=(self._budget.megabytes * 1_000_000, os.getpid()),
            context=multiprocessing.get_context("spawn"),
        )
        # The pool starts with its first task, and its workers then read the parser's rules before a request comes.
        self._pool.schedule(os.getpid)
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()

    async def answer(self, principal: str, name: str, kind: type[Baseline | Ruled], item: Item) -> Answer:
        """The answer of the parser or a baseline. If it is cancelled, its worker becomes free.

        Raises UsageError if the answer exceeds its budget or the player fails, Unavailable if no worker is free in time.
        """
        from pebble import ProcessExpired

        semaphore, budget = self._semaphores[principal], self._budget
        try:
            async with asyncio.timeout(WAIT):
                await semaphore.acquire()
        except TimeoutError:
            raise Unavailable(f"{name} has had other requests to answer for {WAIT:g} s: ask again later") from None
        try:
            answer: Future[Answer] = self._pool.schedule(_answer, args=(name, kind, item), timeout=budget.seconds)
            return await asyncio.wrap_future(answer)
        except TimeoutError:
            raise UsageError(f"{name} did not answer within {budget.seconds:g} s: say less at a time") from None
        except ProcessExpired as error:
            if error.exitcode == OUT_OF_MEMORY:
                raise UsageError(f"the answer takes more than {budget.megabytes:,} MB: say less at a time") from None
            log.error("a worker ended with exit code %s", error.exitcode)
            raise UsageError("the answer could not be worked out") from None
        finally:
            semaphore.release()

    async def in_thread(self, principal: str, work: Callable[[], T]) -> T:
        """The result of `work`, which waits for a language model, from a thread. If this is cancelled, the thread runs on."""
        return await run_sync(work, limiter=self._limiters[principal], abandon_on_cancel=True)


def _begin(data: int, parent: int) -> None:
    """The first thing that a worker does: bound its memory, end with its parent, and read the parser's rules."""
    if bind := ending_with_parent():
        bind()
    if os.getppid() != parent:
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_DATA, (data, data))
    from harness.baselines.parser import Parser

    for task in Parser.tasks:
        _predictor("parser", Parser, task)


@cache
def _predictor(name: str, kind: Callable[[], Baseline | Ruled], task: str) -> Predictor:
    from harness.baselines import DECODING, Ruled
    from harness.training.checkpoints import default_model

    baseline = kind()
    if isinstance(baseline, Ruled):
        return baseline.predictor(get_task(task).typed or task)
    return baseline.load(default_model(name, task), DECODING)


def _answer(name: str, kind: Callable[[], Baseline | Ruled], item: Item) -> Answer:
    """Runs in a worker. Raises nothing but HarnessError."""
    from harness.baselines.typed import entries, read_bounded

    try:
        read = read_bounded(item)
        (answer,) = _predictor(name, kind, item.task).predict([read])
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except HarnessError:
        raise
    except Exception:
        log.exception("%s failed", name)
        raise UsageError(f"{name} cannot read this") from None
    return replace(answer, notes={**answer.notes, "left_out": entries(item) - entries(read)})
