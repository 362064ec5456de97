"""The registry of tasks. Whatever differs from task to task is a field of its `Task`.

Another package adds a task with an entry point of the group `harness.tasks`, whose value is `module:object`.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, get_args

from harness.errors import UsageError
from harness.tasks import Task, benchmarks
from harness.util.registry import Table, plugged
from harness.worlds import World

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def _tasks() -> Table[Task]:
    """Our own tasks, then the tasks of other packages. Raises UsageError for an entry point that cannot be used."""
    ours = (benchmarks.HEXAGONS, benchmarks.MINECRAFT, benchmarks.IGLU, benchmarks.DRAWING, benchmarks.BUILDING)
    known = Table("task", {task.name: task for task in ours})
    for where, task in plugged("harness.tasks", Task):
        if not NAME.fullmatch(task.name):
            raise UsageError(f"{where} is not a Task named in lowercase letters, digits and hyphens: repair its package")
        if task.world not in get_args(World):
            raise UsageError(f"{where}: there is no world {task.world!r}; there are {' and '.join(get_args(World))}")
        if alike := [name for name in known if f"{task.name}-".startswith(f"{name}-") or name.startswith(f"{task.name}-")]:
            raise UsageError(f"{where}: the name {task.name} begins like {alike[0]}, so item ids would be ambiguous: rename it")
        known[task.name] = task
    return known


TASKS = _tasks()
"""The tasks by name, in the order in which they are listed. The first task of each world has the world's name."""
DEFAULT_TASK = next(iter(TASKS))
"""The task if none is named."""
PLAYED = [name for name, task in TASKS.items() if task.targets]
"""The tasks that have live games."""

if TYPE_CHECKING:
    TaskName = str
    DrawingTask = str
    BuildingTask = str
else:
    # Type checkers reject a computed Literal. pydantic checks values against it, and lists it as an enum in JSON Schemas.
    TaskName = Literal[tuple(TASKS)]
    DrawingTask, BuildingTask = (
        Literal[tuple(name for name, task in TASKS.items() if task.world == world)] for world in ("hexagons", "minecraft")
    )


def listed(names: Iterable[str]) -> str:
    """Names as help texts list them."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


TASK_NAMES = listed(TASKS)
"""The tasks as help texts list them."""


def world_of(task: str) -> World:
    """Raises UsageError for an unknown task."""
    return TASKS[task].world


def tasks_in(world: World) -> tuple[str, ...]:
    """The tasks of a world, the one with the world's name first."""
    return tuple(name for name, task in TASKS.items() if task.world == world)


def task_of(item_id: str, world: World) -> str:
    """The task that an item's id begins with: `minecraft-blocks/...` belongs to minecraft. If there is none, the world's task."""
    name = item_id.partition("/")[0]
    return next((task for task in TASKS if f"{name}-".startswith(f"{task}-")), world)
