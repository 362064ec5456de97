"""The tasks as environments of OpenEnv: an episode is one item, or a game (`reset(single=False)`).

uvicorn --factory harness.plugins.openenv:minecraft --port 8000

Or with the actions as MCP tools, for OpenEnv's `MCPToolClient`:

uvicorn --factory harness.plugins.openenv:minecraft_tools --port 8000
"""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

from openenv.core.env_server import Action, Environment, Observation, State, create_app
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation, ListToolsAction, ListToolsObservation, Tool

from harness.plugins.environment import GridEnvironment
from harness.tasks.registry import TASKS, world_of
from serialization.formats.tools import declarations


class Reply(Action):
    """A model's answer to the messages of the observation."""

    text: str


class Question(Observation):
    """What a model is asked and, after its answer, what the answer got right."""

    messages: list[dict[str, str]] = []
    wanted: int | None = None
    """The number of changes in gold."""
    made: int | None = None
    """The number of changes in the answer."""
    hits: int | None = None
    """The number of changes in both."""
    exact: bool | None = None
    reason: str | None = None
    """Why the answer did nothing, or not everything."""


class GridEpisode(Environment):
    """`harness.plugins.environment.GridEnvironment` for OpenEnv, with the same arguments."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, task: str, **options: Any) -> None:
        super().__init__()
        self._task, self._options = task, options
        self._grid = GridEnvironment(task, **{"single": True, **options})
        self._state = State()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = "train",
        index: int | None = None,
        single: bool = True,
        **_: Any,
    ) -> Question:
        """Ask the item at `index`, or one drawn with the seed; unless `single`, begin a game. Raises IndexError for an item that
        is not there."""
        self._grid = grid = GridEnvironment(self._task, **{"single": single, **self._options})
        grid.reset(seed, split, index)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0, item=_asked(grid))
        return Question(messages=[dict(message) for message in grid.messages])

    def step(self, action: Reply, timeout_s: float | None = None, **_: Any) -> Question:
        """Answer. The reward is what the answer adds to `GridEnvironment.reward`."""
        grid, before = self._grid, self._grid.reward
        grid.step(action.text)
        self._state.step_count += 1
        self._state.item = _asked(grid)
        counts = grid.counts
        assert counts is not None
        numbers = {"wanted": counts.wanted, "made": counts.made, "hits": counts.hits, "exact": counts.exact}
        messages = [] if grid.done else [dict(message) for message in grid.messages]
        return Question(done=grid.done, reward=grid.reward - before, messages=messages, reason=grid.reason, **numbers)

    @property
    def state(self) -> State:
        return self._state


class ToolEpisode(GridEpisode):
    """An episode that is answered by calls of MCP tools: actions are collected until `done` hands them in."""

    def __init__(self, task: str, **options: Any) -> None:
        super().__init__(task, **{**options, "format": "tools"})

    def step(
        self, action: ListToolsAction | CallToolAction, timeout_s: float | None = None, **_: Any
    ) -> ListToolsObservation | CallToolObservation:
        """List the tools, or call one. The result of a call is what the player is told, and its reward what the call adds to
        `GridEnvironment.reward`."""
        if isinstance(action, ListToolsAction):
            declared = [tool["function"] for tool in declarations(world_of(self._task), looks=True)]
            return ListToolsObservation(
                tools=[Tool(name=t["name"], description=t["description"], input_schema=t["parameters"]) for t in declared]
            )
        grid, before = self._grid, self._grid.reward
        told = grid.call(action.tool_name, action.arguments)
        self._state.step_count += 1
        self._state.item = _asked(grid)
        return CallToolObservation(tool_name=action.tool_name, result=told, done=grid.done, reward=grid.reward - before)


def _asked(grid: GridEnvironment) -> str:
    """The id of the item that is asked, or was asked last."""
    return grid.item.id if grid.item else ""


def _app(task: str) -> Any:
    return create_app(partial(GridEpisode, task), Reply, Question, env_name=task, max_concurrent_envs=64)


def _tools_app(task: str) -> Any:
    kinds = {"action_cls": CallToolAction, "observation_cls": CallToolObservation, "reset_observation_cls": Question}
    return create_app(partial(ToolEpisode, task), **kinds, env_name=task, max_concurrent_envs=64)


def __getattr__(name: str) -> Any:
    """The web application of a task, by its name with `_` for `-`, with `_tools` after it for MCP tools."""
    if (task := name.removesuffix("_tools").replace("_", "-")) in TASKS:
        return partial(_tools_app if name.endswith("_tools") else _app, task)
    raise AttributeError(name)
