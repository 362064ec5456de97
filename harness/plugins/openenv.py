"""The tasks as environments of OpenEnv: an episode is one item, answered in one step, whose reward is the answer's score.

uvicorn --factory harness.plugins.openenv:minecraft --port 8000
"""

from __future__ import annotations

import random
from functools import lru_cache, partial
from typing import Any
from uuid import uuid4

from openenv.core.env_server import Action, Environment, Observation, State, create_app

from harness.errors import HarnessError
from harness.plugins.rows import ItemRow, rows, score_row
from harness.tasks.registry import TASKS


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


class GridEnvironment(Environment):
    """The items of a task. `names` are keyword arguments of `harness.PromptSpec.make`."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, task: str, **names: str) -> None:
        super().__init__()
        self._task, self._names = task, tuple(sorted(names.items()))
        self._row: ItemRow | None = None
        self._state = State()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = "train",
        index: int | None = None,
        **_: Any,
    ) -> Question:
        """Ask the item at `index`, or one drawn with the seed. Raises IndexError if there is no item at `index`."""
        questions = _rows(self._task, split, self._names)
        number = random.Random(seed).randrange(len(questions)) if index is None else index
        if not 0 <= number < len(questions):
            raise IndexError(f"{split} has the items 0 to {len(questions) - 1}, not {number}")
        self._row = questions[number]
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0, item=self._row["id"])
        return Question(messages=[dict(message) for message in self._row["messages"]])

    def step(self, action: Reply, timeout_s: float | None = None, **_: Any) -> Question:
        """Score the answer, which ends the episode. The reward is its F1, plus 0.5 if it is exact."""
        if self._row is None:
            raise HarnessError("there is no item to answer: reset the environment first")
        counts = score_row(self._row["id"], self._row["spec"], action.text)
        self._state.step_count += 1
        reward = counts.f1 + 0.5 * counts.exact
        numbers = {"wanted": counts.wanted, "made": counts.made, "hits": counts.hits, "exact": counts.exact}
        return Question(done=True, reward=reward, **numbers)

    @property
    def state(self) -> State:
        return self._state


@lru_cache
def _rows(task: str, split: str, names: tuple[tuple[str, Any], ...]) -> list[ItemRow]:
    return rows(task, split, **dict(names))


def _app(task: str) -> Any:
    return create_app(partial(GridEnvironment, task), Reply, Question, env_name=task, max_concurrent_envs=64)


def __getattr__(name: str) -> Any:
    """The web application of a task, by its name with `_` for `-`."""
    if (task := name.replace("_", "-")) in TASKS:
        return partial(_app, task)
    raise AttributeError(name)
