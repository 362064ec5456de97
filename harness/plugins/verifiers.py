"""The tasks as a taskset of verifiers (and of trainers that load its tasksets).

    vf-eval harness-verifiers --env.taskset.benchmark minecraft --env.taskset.split dev --env.agent.harness.id null \\
        --env.agent.runtime.type subprocess --no-push --model NAME --client.base-url URL --client.api-key-var VARIABLE
"""

from __future__ import annotations

from collections.abc import Iterable

import verifiers.v1 as vf

from harness.api import Counts
from harness.plugins.rows import rows, score_row, two_messages
from harness.tasks.registry import DEFAULT_TASK

__all__ = ["GridTaskset"]


class GridData(vf.TaskData):
    """An item."""

    spec: str
    """The prompt format, as in `harness.plugins.rows.ItemRow`."""


class GridTask(vf.Task[GridData]):
    """An item and its score."""

    @vf.reward(weight=1.0)
    async def f1(self, trace: vf.Trace) -> float:
        """The F1 of the answer, 0..1."""
        return self._counts(trace).f1

    @vf.metric
    async def exact(self, trace: vf.Trace) -> float:
        return float(self._counts(trace).exact)

    @vf.metric
    async def wanted(self, trace: vf.Trace) -> float:
        """The number of changes in gold; the micro F1 over answers is computed from it, `made` and `hits`."""
        return float(self._counts(trace).wanted)

    @vf.metric
    async def made(self, trace: vf.Trace) -> float:
        return float(self._counts(trace).made)

    @vf.metric
    async def hits(self, trace: vf.Trace) -> float:
        return float(self._counts(trace).hits)

    def _counts(self, trace: vf.Trace) -> Counts:
        return score_row(str(self.data.id), self.data.spec, trace.last_reply)


class GridConfig(vf.TasksetConfig):
    """Which items are asked, and in which prompt format."""

    benchmark: str = DEFAULT_TASK
    """One of `harness.tasks.registry.TASKS`."""
    split: str = "test"
    limit: int | None = None
    context: str | None = None
    format: str | None = None
    frame: str | None = None
    template: str | None = None


class GridTaskset(vf.Taskset[GridTask, GridConfig]):
    """The items of a split."""

    def load(self) -> Iterable[GridTask]:
        config = self.config
        names = {"context": config.context, "format": config.format, "frame": config.frame, "template": config.template}
        for row in rows(config.benchmark, config.split, config.limit, **names):
            system, question = two_messages(row)
            data = GridData(id=row["id"], prompt=question, system_prompt=system or None, spec=row["spec"])
            yield GridTask(data, config.task)
