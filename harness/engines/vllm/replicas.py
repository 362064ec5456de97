"""Data parallelism: a copy of vLLM's engine on every GPU, each in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from multiprocessing import get_context
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from harness.engines.engine import Completion, Report, Sampling, silent
from harness.engines.vllm.engine import by_prefix
from harness.errors import EngineError, UsageError
from harness.util.processes import ending_with_parent, gpu_groups, visible_gpus
from prompts.rendered import Rendered

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pebble import ProcessPool

ENGINE = "harness.engines.vllm.engine:VllmEngine"
"""The engine that each process loads."""
SIZE = "data_parallel_size"
"""vLLM's option for the number of copies."""


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
        from pebble import ProcessPool

        from harness.engines.models.bases import load_tokenizer

        # A pool of one process each: its copy gets its own prompts, and one call after the other.
        context = get_context("spawn")
        self._pools: dict[str, ProcessPool] = {group: ProcessPool(1, 0, _begin, (group,), context) for group in gpus}
        try:
            loading = {group: pool.schedule(_load, args=(ENGINE, model, settings)) for group, pool in self._pools.items()}
            sizes = [_result(group, future) for group, future in loading.items()]
            self.tokenizer: Any = load_tokenizer(model)
        except BaseException:
            self.close()
            raise
        self.context_length: int = min(length for length, _, _ in sizes)
        self.batch_size: int = sum(size for _, size, _ in sizes)
        self.independent: bool = all(independent for _, _, independent in sizes)
        self.report: Report = silent

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
        """See `Engine.generate`. Prompts with equal beginnings go to the same copy, for its prefix cache. Answers are known when
        all are: a killed run repeats its segment of prompts anyway."""
        shares = {group: share for group, share in zip(self._pools, _shares(prompts, len(self._pools)), strict=True) if share}
        working = {
            group: self._pools[group].schedule(_answer, args=([prompts[index] for index in share], sampling))
            for group, share in shares.items()
        }
        answers: dict[int, Completion] = {}
        for group, future in working.items():
            answers |= zip(shares[group], _result(group, future), strict=True)
            self.report(len(answers))
        return [answers[index] for index in range(len(prompts))]

    def close(self) -> None:
        """End the copies."""
        for pool in self._pools.values():
            pool.stop()  # type: ignore[no-untyped-call]
        for pool in self._pools.values():
            pool.join()


def _shares(prompts: Sequence[Rendered], count: int) -> list[list[int]]:
    """The prompts' indices in `count` shares: prompts with equal beginnings are together, each share is in ascending order."""
    order = by_prefix([prompt.token_ids for prompt in prompts])
    ends = [number * len(order) // count for number in range(count + 1)]
    return [sorted(order[start:end]) for start, end in pairwise(ends)]


def _result(group: str, future: Future[Any]) -> Any:
    """What a copy returns. Raises what the copy raised, and EngineError if its process ended."""
    from pebble import ProcessExpired

    try:
        return future.result()
    except ProcessExpired:
        raise EngineError(f"the vLLM on GPU {group} ended; its output says why") from None


_engine: Any = None
"""In the process of a copy, its engine."""


def _begin(gpus: str) -> None:
    """The first thing that the process of a copy does."""
    if bind := ending_with_parent():
        bind()
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus


def _load(engine: str, model: str, settings: Mapping[str, Any]) -> tuple[int, int, bool]:
    global _engine
    _engine = resolve_name(engine)(model, **settings)
    return _engine.context_length, _engine.batch_size, _engine.independent


def _answer(prompts: Sequence[Rendered], sampling: Sampling) -> list[Completion]:
    return list(_engine.generate(prompts, sampling))
