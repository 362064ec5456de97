"""Processes in which the parser and the baselines answer, each within a time and a memory limit, and threads that wait for
language models. No holder of a key can take all of either."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from harness.errors import HarnessError, UsageError
from harness.service.worker import OUT_OF_MEMORY, Ended, Worker

if TYPE_CHECKING:
    from harness.baselines import Baseline, Ruled
    from harness.corpora.item import Item
    from harness.runs.answering import Answer

WAIT = 30.0
"""Seconds for which a request waits for a worker."""
THREADS = 16
"""Requests to language models that one holder has at a time."""
T = TypeVar("T")
log = logging.getLogger(__name__)


class Unavailable(HarnessError):
    """Who is asked is not there now, and may be again."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What an answer of the parser or a baseline may take."""

    seconds: float = 10.0
    megabytes: int = 2_000
    """Of data: a baseline with PyTorch needs about 1,000."""
    workers: int = max(2, os.cpu_count() or 1)
    """Answers that are worked out at a time."""


class Workers:
    """A pool of processes. Use it in a `with`, which starts them; they end with the block, or with this process."""

    def __init__(self, budget: Budget | None = None, holders: int = 1) -> None:
        """Where there are several `holders`, one of them leaves a worker to the others."""
        self._budget = budget or Budget()
        each = self._budget.workers if holders <= 1 else max(1, self._budget.workers - 1)
        self._rooms: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(each))
        self._free = asyncio.Semaphore(self._budget.workers)
        self._threads: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._starter = ThreadPoolExecutor(1)
        self._all = [Worker(self._starter, self._budget.megabytes) for _ in range(self._budget.workers)]
        self._idle = list(self._all)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for worker in self._all:
            worker.end()
        self._starter.shutdown()

    async def answer(self, holder: str, name: str, kind: type[Baseline | Ruled], item: Item) -> Answer:
        """The answer of the parser or a baseline. Cancelled, it frees its worker.

        Raises UsageError where the budget does not suffice or the player fails, Unavailable where no worker was free in time.
        """
        budget = self._budget
        try:
            async with self._worker(holder, name) as worker, asyncio.timeout(budget.seconds):
                return await worker.ask(name, kind, item)
        except TimeoutError:
            raise UsageError(f"{name} did not answer within {budget.seconds:g} s: say less at a time") from None
        except Ended as ended:
            if ended.exitcode == OUT_OF_MEMORY:
                raise UsageError(f"the answer takes more than {budget.megabytes:,} MB: say less at a time") from None
            log.error("a worker ended with exit code %s", ended.exitcode)
            raise UsageError("the answer could not be worked out") from None

    @asynccontextmanager
    async def _worker(self, holder: str, name: str) -> AsyncIterator[Worker]:
        """A worker that is ready, for one answer."""
        async with AsyncExitStack() as places:
            try:
                async with asyncio.timeout(WAIT):
                    await places.enter_async_context(self._rooms[holder])
                    await places.enter_async_context(self._free)
                    # The one that has answered most has loaded what it needs.
                    worker = max(self._idle, key=lambda one: one.answers)
                    self._idle.remove(worker)
                    places.callback(self._idle.append, worker)
                    await worker.ready()
            except TimeoutError:
                raise Unavailable(f"{name} has had other requests to answer for {WAIT:g} s: ask again later") from None
            yield worker

    async def in_thread(self, holder: str, work: Callable[[], T]) -> T:
        """What waits for a language model. A thread cannot be stopped: cancelled, it is left to its end."""
        from anyio import CapacityLimiter
        from anyio.to_thread import run_sync

        limiter = self._threads.setdefault(holder, None) or CapacityLimiter(THREADS)
        self._threads[holder] = limiter
        return await run_sync(work, limiter=limiter, abandon_on_cancel=True)
