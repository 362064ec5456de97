"""Data parallelism: a copy of vLLM's engine on every GPU, each in a process of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pkgutil import resolve_name
from typing import Any

from harness.engines.engine import Completion, Report, Sampling, silent
from harness.engines.vllm.engine import by_prefix
from harness.errors import EngineError, HarnessError, UsageError
from harness.util.processes import gpu_groups, visible_gpus
from prompts.rendered import Rendered

ENGINE = "harness.engines.vllm.engine:VllmEngine"
"""The engine that each process loads."""
SIZE = "data_parallel_size"
"""vLLM's option for the number of copies."""

_ENDING = 30.0
"""Seconds that a copy gets to end by itself."""


def replica_gpus(options: Mapping[str, Any]) -> list[str]:
    """The GPUs of each copy of the engine, as CUDA_VISIBLE_DEVICES names them; empty if there is one copy, in this process.

    `options` are vLLM's own: without `data_parallel_size`, there are as many copies as fit. Raises UsageError if it asks for
    more.
    """
    wanted = options.get(SIZE)
    if wanted == 1 or options.get("distributed_executor_backend") == "ray":
        return []
    gpus = visible_gpus()
    each = options.get("tensor_parallel_size", 1) * options.get("pipeline_parallel_size", 1)
    possible = len(gpus) // each
    if wanted and wanted > possible:
        raise UsageError(
            f"--data-parallel-size {wanted} needs {wanted * each} GPUs, and {len(gpus)} are visible: give {possible}"
        )
    count = wanted or possible
    return gpu_groups(gpus[: count * each], count) if count > 1 else []


class ReplicatedEngine:
    """An engine whose prompts are divided among copies, one for each of `gpus`; `settings` go to `VllmEngine`.

    Answers come in the prompts' order, and depend on the number of copies as they depend on a batch. Raises what a copy raises.
    """

    def __init__(self, model: str, gpus: Sequence[str], **settings: Any) -> None:
        from harness.engines.models.bases import load_tokenizer

        context = get_context("spawn")
        self._replicas: dict[Connection, Any] = {}
        for group in gpus:
            ours, theirs = context.Pipe()
            process = context.Process(target=_replica, args=(theirs, group, ENGINE, model, settings), name=f"GPU {group}")
            process.start()
            theirs.close()
            self._replicas[ours] = process
        try:
            sizes = [self._receive(connection) for connection in self._replicas]
            self.tokenizer: Any = load_tokenizer(model)
        except BaseException:
            self.close()
            raise
        self.context_length: int = min(length for length, _, _ in sizes)
        self.batch_size: int = sum(size for _, size, _ in sizes)
        self.independent: bool = all(independent for _, _, independent in sizes)
        self.report: Report = silent

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Generator[Completion, None, None]:
        """See `Engine.generate`. Prompts with equal beginnings go to the same copy, for its prefix cache."""
        busy: dict[Connection, Iterator[int]] = {}
        for connection, share in zip(self._replicas, _shares(prompts, len(self._replicas)), strict=True):
            if share:
                connection.send(([prompts[index] for index in share], sampling))
                busy[connection] = iter(share)
        answers: dict[int, Completion] = {}
        try:
            for index in range(len(prompts)):
                while index not in answers:
                    ready = wait(list(busy))
                    for connection in [one for one in busy if one in ready]:
                        answer = self._receive(connection)
                        if answer is None:
                            del busy[connection]
                        else:
                            answers[next(busy[connection])] = answer
                    self.report(len(answers))
                yield answers[index]
        finally:
            self._stop(busy)

    def _stop(self, busy: Mapping[Connection, Iterator[int]]) -> None:
        """Tell copies to end their calls, and read what they have sent."""
        with suppress(OSError, HarnessError):
            for connection in busy:
                connection.send(None)
            for connection in busy:
                while self._receive(connection) is not None:
                    pass

    def _receive(self, connection: Connection) -> Any:
        """The next answer that a copy sends. Raises what the copy raised, and EngineError if its process ended."""
        try:
            sent = connection.recv()
        except (EOFError, OSError):
            raise EngineError(f"the vLLM on {self._replicas[connection].name} ended; its output says why") from None
        if isinstance(sent, HarnessError):
            raise sent
        return sent

    def close(self) -> None:
        """End the copies."""
        for connection in self._replicas:
            connection.close()
        for process in self._replicas.values():
            process.join(_ENDING)
            if process.is_alive():
                process.kill()
                process.join()
        self._replicas.clear()


def _shares(prompts: Sequence[Rendered], count: int) -> list[list[int]]:
    """The prompts' indices in `count` shares: prompts with equal beginnings are together, each share is in ascending order."""
    order = by_prefix([prompt.token_ids for prompt in prompts])
    ends = [number * len(order) // count for number in range(count + 1)]
    return [sorted(order[start:end]) for start, end in pairwise(ends)]


def _replica(connection: Connection, gpus: str, engine: str, model: str, settings: Mapping[str, Any]) -> None:
    """The process of a copy: it answers calls until the other end is closed, and sends None after the answers to each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the first process, which ends the others.
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus
    with suppress(EOFError, OSError):
        try:
            loaded = resolve_name(engine)(model, **settings)
        except HarnessError as error:
            connection.send(error)
            return
        with closing(loaded):
            connection.send((loaded.context_length, loaded.batch_size, loaded.independent))
            while True:
                # None asks to stop a call that has already ended.
                if (call := connection.recv()) is not None:
                    _answer(connection, loaded, *call)


def _answer(connection: Connection, engine: Any, prompts: Sequence[Rendered], sampling: Sampling) -> None:
    try:
        with closing(engine.generate(prompts, sampling)) as answers:
            for answer in answers:
                connection.send(answer)
                if connection.poll():
                    break
    except HarnessError as error:
        connection.send(error)
    connection.send(None)
