"""The score as a reward for TRL; `harness.plugins.rows.dataset` makes the prompts.

from harness.plugins.rows import dataset
from harness.plugins.trl import reward

trainer = GRPOTrainer(model, reward_funcs=reward, train_dataset=dataset("minecraft", "train"), ...)

Or whole games, which a model plays by calls of tools:

trainer = GRPOTrainer(model, environment_factory=MinecraftGame, train_dataset=games("minecraft", 100), ...)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from harness.plugins.environment import GridEnvironment
from harness.plugins.rows import score_row
from harness.worlds import World
from prompts.messages import system_message
from prompts.spec import PromptSpec
from serialization.formats.tools import declarations


def reward(completions: Sequence[Any], id: Sequence[str], spec: Sequence[str], **_: Any) -> list[float]:
    """The F1 of each answer, 0..1, plus 0.5 if it is exact. `completions` are texts or lists of messages."""
    texts = [one if isinstance(one, str) else one[-1]["content"] for one in completions]
    counts = [score_row(*row) for row in zip(id, spec, texts, strict=True)]
    return [row.f1 + 0.5 * row.exact for row in counts]


def games(task: str, count: int) -> Any:
    """A `datasets.Dataset` of games, with the seeds 0 to `count` - 1; `reset` gives each its first message."""
    from datasets import Dataset

    system = system_message(PromptSpec.make(task, "conversation", "tools"))
    return Dataset.from_list([{"prompt": [system, {"role": "user", "content": ""}], "seed": seed} for seed in range(count)])


class _Game:
    """What TRL's `environment_factory` calls; every other method without an underscore is a tool."""

    _task: str

    def __init__(self) -> None:
        self._grid = GridEnvironment(self._task, format="tools")

    def reset(self, seed: int | None = None, **_: Any) -> str:
        """Begin the game of a seed."""
        return self._grid.reset(seed)

    def get_reward(self) -> float:
        """The F1 of what stands, 0..1."""
        return self._grid.reward


def _tool(name: str, about: str, of: Mapping[str, Any]) -> Any:
    """A method that calls a tool, with the signature and the docstring from which TRL declares it."""

    def call(self: _Game, *values: Any, **named: Any) -> str:
        return self._grid.call(name, dict(zip(of, values, strict=False)) | named)

    call.__name__ = name
    types = {key: str if "enum" in one else int for key, one in of.items()}
    call.__annotations__ = {**types, "return": str}
    parameters = [Parameter(key, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind) for key, kind in types.items()]
    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    call.__signature__ = Signature([own, *parameters], return_annotation=str)  # type: ignore[attr-defined]
    allowed = {key: one.get("enum") or f"{one['minimum']} to {one['maximum']}" for key, one in of.items()}
    arguments = "\n".join(f"    {key}: {text if isinstance(text, str) else ', '.join(text)}" for key, text in allowed.items())
    call.__doc__ = f"{about}\n\n" + (f"Args:\n{arguments}\n\n" if of else "") + "Returns:\n    What comes of it."
    return call


def _game(task: World) -> Any:
    """The class of a task's games."""
    tools = [tool["function"] for tool in declarations(task, looks=True)]
    methods = {tool["name"]: _tool(tool["name"], tool["description"], tool["parameters"]["properties"]) for tool in tools}
    return type(f"{task.title()}Game", (_Game,), {"_task": task, **methods})


MinecraftGame, HexagonsGame = _game("minecraft"), _game("hexagons")
