"""The tasks, each a corpus in one of the two worlds: what depends on actions and states asks for the world, not for the task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from harness.util.registry import choose

World = Literal["hexagons", "minecraft"]

WORLDS: dict[str, World] = {
    "hexagons": "hexagons",
    "minecraft": "minecraft",
    "iglu": "minecraft",
    "everyday-hexagons": "hexagons",
    "everyday-minecraft": "minecraft",
}
"""The world of each task, in the order in which tasks are listed. The task of the corpus that a world began with has its name."""

if TYPE_CHECKING:
    TaskName = str
else:
    # A type checker takes no computed Literal. In pydantic's models it is checked, and an enum of JSON Schemas.
    TaskName = Literal[tuple(WORLDS)]

TASKS = f"{', '.join(list(WORLDS)[:-1])} or {list(WORLDS)[-1]}"
"""The tasks as help texts list them."""

COMPASS = frozenset({"iglu"})
"""Tasks whose instructions name compass directions, which a prompt then explains."""

JUDGED = frozenset({"everyday-hexagons", "everyday-minecraft"})
"""Tasks whose turns are answered on the player's own earlier answers, and judged: there are many right ones."""

TYPED: dict[str, str] = {"hexagons": "everyday-hexagons", "minecraft": "everyday-minecraft"}
"""As which task the parser reads what people type, by the task of the request: in a conversation it does the likeliest thing."""


def world_of(task: str) -> World:
    """Raises UsageError for an unknown task."""
    return WORLDS.get(task) or WORLDS[choose("task", task, WORLDS)]


def tasks_in(world: World) -> tuple[str, ...]:
    """The tasks of a world, the one with its name first."""
    return tuple(task for task, its in WORLDS.items() if its == world)


def task_of(item_id: str, world: World) -> str:
    """The task of an item of a world by its id: `minecraft-blocks/...` is of minecraft. Without one, the world's own."""
    name = item_id.partition("/")[0]
    return next((task for task in WORLDS if f"{name}-".startswith(f"{task}-")), world)
