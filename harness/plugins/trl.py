"""The score as a reward for TRL; `harness.plugins.rows.dataset` makes the prompts.

from harness.plugins.rows import dataset
from harness.plugins.trl import reward

trainer = GRPOTrainer(model, reward_funcs=reward, train_dataset=dataset("minecraft", "train"), ...)

Or whole games, which a model plays by calls of tools:

trainer = GRPOTrainer(model, environment_factory=MinecraftGame, train_dataset=games("minecraft", 100), ...)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.plugins.environment import GridEnvironment
from harness.plugins.rows import score_row
from prompts.messages import system_message
from prompts.spec import PromptSpec


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

    def look(self) -> str:
        """See the blocks or the painted tiles.

        Returns:
            What stands.
        """
        return self._grid.call("look", {})

    def done(self) -> str:
        """Say that everything is done.

        Returns:
            The next message.
        """
        return self._grid.call("done", {})


class MinecraftGame(_Game):
    """A building game."""

    _task = "minecraft"

    def place(self, color: str, x: int, y: int, z: int) -> str:
        """Place a block in an empty cell.

        Args:
            color: red, orange, yellow, green, blue or purple
            x: -5 to 5
            y: the height, 1 to 9
            z: -5 to 5

        Returns:
            Whether it was placed.
        """
        return self._grid.call("place", {"color": color, "x": x, "y": y, "z": z})

    def remove(self, x: int, y: int, z: int) -> str:
        """Remove the block from a cell.

        Args:
            x: -5 to 5
            y: the height, 1 to 9
            z: -5 to 5

        Returns:
            Whether it was removed.
        """
        return self._grid.call("remove", {"x": x, "y": y, "z": z})


class HexagonsGame(_Game):
    """A drawing procedure."""

    _task = "hexagons"

    def paint(self, color: str, column: int, row: int) -> str:
        """Paint a tile.

        Args:
            color: white, black, yellow, green, red, blue, purple or orange
            column: 1 to 18, from the left
            row: 1 to 10, from the top

        Returns:
            Whether it was painted.
        """
        return self._grid.call("paint", {"color": color, "column": column, "row": row})
