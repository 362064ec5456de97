"""The tasks as a taskset of verifiers (and of trainers that load its tasksets).

    vf-eval harness-verifiers --env.taskset.benchmark minecraft --env.taskset.split dev --env.agent.harness.id null \\
        --env.agent.runtime.type subprocess --no-push --model NAME --client.base-url URL --client.api-key-var VARIABLE

With `--env.taskset.games 10`, the model plays ten live games, each a chat of many turns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import verifiers.v1 as vf

from harness.api import Counts
from harness.plugins.environment import GridEnvironment
from harness.plugins.rows import rows, score_row, two_messages
from harness.tasks.registry import DEFAULT_TASK

__all__ = ["GridEnv", "GridTaskset"]


class GridData(vf.TaskData):
    """An item."""

    spec: str
    """The prompt format, as in `harness.plugins.rows.ItemRow`."""
    split: str = ""
    seed: int | None = None
    """The game; None for a single item."""


class GridTask(vf.Task[GridData]):
    """An item and its score."""

    def game(self) -> GridEnvironment:
        """The game, at its first message."""
        grid = GridEnvironment(**json.loads(self.data.spec))
        grid.reset(self.data.seed, self.data.split)
        return grid

    @vf.reward(weight=1.0)
    async def f1(self, trace: vf.Trace) -> float:
        """The F1 of the answer, or of what stands at the end of the game, 0..1."""
        return self._counts(trace).f1 if self.data.seed is None else self._played(trace).reward

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

    def _played(self, trace: vf.Trace) -> GridEnvironment:
        """The game after the answers in the trace."""
        grid = self.game()
        for message in trace.assistant_messages:
            if not grid.done:
                grid.step(str(message.content or ""))
        return grid

    def _counts(self, trace: vf.Trace) -> Counts:
        """Of the answer, or of a game's last answer."""
        if self.data.seed is not None:
            return self._played(trace).counts or Counts(json.loads(self.data.spec)["task"], 1, 0, 0)
        return score_row(str(self.data.id), self.data.spec, trace.last_reply)


class GridConfig(vf.TasksetConfig):
    """Which items are asked, and in which prompt format."""

    benchmark: str = DEFAULT_TASK
    """One of `harness.tasks.registry.TASKS`."""
    split: str = "test"
    limit: int | None = None
    games: int = 0
    """How many games are played, in place of single items."""
    context: str | None = None
    format: str | None = None
    frame: str | None = None
    template: str | None = None


class GridTaskset(vf.Taskset[GridTask, GridConfig]):
    """The items of a split."""

    def load(self) -> Iterable[GridTask]:
        config = self.config
        names = {"context": config.context, "format": config.format, "frame": config.frame, "template": config.template}
        for seed in range(config.games):
            grid = GridEnvironment(config.benchmark, **names)
            question = grid.reset(seed, config.split)
            system = grid.messages[0]["content"]
            said = {"prompt": question, "system_prompt": system, "spec": json.dumps(grid.spec.fields)}
            yield GridTask(GridData(id=f"game/{seed}", split=config.split, seed=seed, **said), config.task)
        if config.games:
            return
        for row in rows(config.benchmark, config.split, config.limit, **names):
            system, question = two_messages(row)
            data = GridData(id=row["id"], prompt=question, system_prompt=system or None, spec=row["spec"])
            yield GridTask(data, config.task)


class GridEnv(vf.SingleAgentEnv):
    """One agent, which answers an item or plays a game."""

    async def run(self, task: GridTask, agents: vf.Agents) -> None:
        if task.data.seed is None:
            await agents.agent.run(task)
            return
        grid = task.game()
        async with agents.agent.interaction(task) as chat:
            answer = await chat.turn()
            while not answer.terminated:
                message = grid.step(answer.last_reply)
                if grid.done:
                    break
                answer = await chat.turn(message)
