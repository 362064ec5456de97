"""Processes in which the parser and the baselines answer, each within a time and a memory limit. No key can take all of
them."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import re
import resource
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Self, TypeVar

from anyio import Semaphore

from harness.corpora.item import HexagonsItem, Item, MinecraftItem, Turn, Utterance
from harness.errors import HarnessError, UsageError
from harness.util.processes import ending_with_parent

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pebble import ProcessPool

    from harness.baselines import Baseline, Ruled
    from harness.runs.answering import Answer, Predictor

MOST_ANSWERS = 2_000
"""Answers after which a worker is replaced, because the parser keeps every procedure that it has read in memory."""
WAIT = 30.0
"""Seconds for which a request waits for a worker."""
OUT_OF_MEMORY = 77
"""The exit code of a worker that reached its memory limit."""
log = logging.getLogger(__name__)


class Unavailable(HarnessError):
    """The player cannot answer now, but may be able to later."""


@dataclass(frozen=True, slots=True)
class AnswerBudget:
    """What an answer of the parser or a baseline may take."""

    seconds: float = 10.0
    megabytes: int = 2_000
    """The size of a worker's data in memory; a baseline with PyTorch needs about 1,000."""
    workers: int = min(8, max(2, os.cpu_count() or 1))
    """Processes, each of which works out one answer at a time."""


class Workers:
    """A pool of processes. Use it in a `with`, which starts them; they end with the block, or with this process."""

    def __init__(self, budget: AnswerBudget | None = None, principals: int = 1) -> None:
        """If there are several `principals`, each of them leaves a worker to the others."""
        self._budget = budget or AnswerBudget()
        count = self._budget.workers
        each = count if principals <= 1 else max(1, count - 1)
        self._all, self._own = Semaphore(count), defaultdict[str, Semaphore](lambda: Semaphore(each))
        self._free: list[tuple[ProcessPool, Future[int]]] = []
        """Workers, with a future that is done when their process has started."""
        self._replacing: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._free = [self._started() for _ in range(self._budget.workers)]
        self._pools = [pool for pool, _ in self._free]
        return self

    def __exit__(self, *_: object) -> None:
        for pool in self._pools:
            pool.stop()  # type: ignore[no-untyped-call]
        for pool in self._pools:
            pool.join()

    def _started(self) -> tuple[ProcessPool, Future[int]]:
        """A pool of one process, so that a request is given to a free process and never waits behind another one."""
        from pebble import ProcessPool

        limits = self._budget.megabytes * 1_000_000, os.getpid()
        pool = ProcessPool(1, MOST_ANSWERS, _begin, limits, multiprocessing.get_context("spawn"))
        # The pool starts with its first task, and its process then reads the parser's rules before a request comes.
        return pool, pool.schedule(os.getpid)

    async def answer(self, principal: str, name: str, kind: type[Baseline | Ruled], item: Item) -> Answer:
        """The answer of the parser or a baseline. If it is cancelled, its worker is replaced.

        Raises UsageError if the answer exceeds its budget or the player fails, Unavailable if no worker is free in time.
        """
        from pebble import ProcessExpired

        budget = self._budget
        try:
            async with self._free_worker(principal, name) as pool:
                return await asyncio.wrap_future(pool.schedule(_answer, args=(name, kind, item), timeout=budget.seconds))
        except TimeoutError:
            raise UsageError(f"{name} did not answer within {budget.seconds:g} s: say less at a time") from None
        except (ProcessExpired, RuntimeError) as error:
            if getattr(error, "exitcode", None) == OUT_OF_MEMORY:
                raise UsageError(f"the answer takes more than {budget.megabytes:,} MB: say less at a time") from None
            log.error("a worker ended: %s", error)
            raise UsageError("the answer could not be worked out") from None

    @asynccontextmanager
    async def _free_worker(self, principal: str, name: str) -> AsyncIterator[ProcessPool]:
        """A worker. If it has to be replaced, it is free again when the new process has started. Raises Unavailable."""
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(WAIT):
                    await held.enter_async_context(self._own[principal])
                    await held.enter_async_context(self._all)
                    pool, ready = self._free.pop()
                    if not pool.active:
                        # Its process ended while it had nothing to do.
                        pool, ready = self._started()
                        self._pools.append(pool)
                    held.callback(self._free.append, (pool, ready))
                    await asyncio.shield(asyncio.wrap_future(ready))
            except TimeoutError:
                raise Unavailable(f"{name} has had other requests to answer for {WAIT:g} s: ask again later") from None
            try:
                yield pool
            except BaseException:
                task = asyncio.create_task(_when_ready(pool, held.pop_all()))
                self._replacing.add(task)
                task.add_done_callback(self._replacing.discard)
                raise


async def _when_ready(pool: ProcessPool, held: AsyncExitStack) -> None:
    """Release what is held when the pool has a process that is free."""
    async with held:
        with suppress(RuntimeError, OSError):
            await asyncio.shield(asyncio.wrap_future(pool.schedule(os.getpid)))


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
        return baseline.predictor(task)
    return baseline.load(default_model(name, task), DECODING)


def _answer(name: str, kind: Callable[[], Baseline | Ruled], item: Item) -> Answer:
    """Runs in a worker. Raises nothing but HarnessError."""
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


# Limits on how much of people's text is read; every dialogue of the corpora stays below them.

LONGEST_TEXT = 2_000
"""Only the first characters of an instruction or a turn are read, up to this many; the corpora's longest has 1,238."""
LONGEST_TALK = 4_000
"""Only the last turns of a history are read, up to this many characters; the corpora's longest history has 3,250."""
MOST_TURNS = 300
"""Only this many last turns of a history are read; the corpora's longest history has 160."""
Kind = TypeVar("Kind", bound=HexagonsItem | MinecraftItem)
_BLANKS = re.compile(r"\s{3,}")


def read_bounded(item: Kind) -> Kind:
    """The item within the limits, which bound the reading time: it grows faster than a text's length, and with each turn."""
    history = tuple(_last_turns(item.history))
    if isinstance(item, HexagonsItem):
        return replace(item, instruction=_text(item.instruction), history=history)
    return replace(item, history=history)


def entries(item: HexagonsItem | MinecraftItem) -> int:
    """The length of a history as requests count it: in steps of a drawing, or in turns of a game."""
    return sum(isinstance(turn, Utterance) or isinstance(item, MinecraftItem) for turn in item.history)


def _last_turns(history: Sequence[Turn]) -> list[Turn]:
    turns: list[Turn] = []
    left = LONGEST_TALK
    for turn in reversed(history[-MOST_TURNS:]):
        if isinstance(turn, Utterance):
            turn = turn._replace(text=_text(turn.text))
            left -= len(turn.text)
        if left < 0:
            break
        turns.append(turn)
    return turns[::-1]


def _text(text: str) -> str:
    """The text without long runs of blanks, cut to the limit."""
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text[: 2 * LONGEST_TEXT])[:LONGEST_TEXT]
