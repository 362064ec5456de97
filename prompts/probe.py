"""The hash that tells prompt formats apart. It is made from fixed items: changing an item changes the hash of every format."""

from collections.abc import Iterable
from dataclasses import replace

from harness.corpora.item import Executed, HexagonsItem, Item, MinecraftItem, Utterance
from harness.tasks import Task
from harness.tasks.registry import TASKS
from harness.util.hashing import json_hash
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Pose, Structure
from prompts.messages import conversation, gold_answer
from prompts.spec import PromptSpec


def _hexagons(n: int) -> HexagonsItem:
    earlier = tuple(Paint(row, 4, "black") for row in range(3))
    actions = (Paint(0, 1, "red"), Paint(n, 7, "blue"), Paint(n, 8, "blue"))
    before = Board().apply(earlier).board
    return HexagonsItem(
        id=f"hexagons/probe/{n}/3",
        split="probe",
        instruction=f'Paint the "first" tile red & {n} others <blue>.',
        history=(
            Utterance("Instructor", "Begin."),
            Executed(()),
            Utterance("Instructor", "Black it."),
            Executed(earlier, text="black top(5,3)"),
        ),
        before=before,
        actions=actions,
        after=before.apply(actions).board,
        group=str(n),
        cluster=str(n),
    )


def _minecraft(n: int, yaw: float) -> MinecraftItem:
    placed = (Action("place", "red", 0, 1, 2), Action("place", "green", 0, 2, 2))
    actions = (Action("place", "blue", -1, 1, 2), Action("remove", "green", 0, 2, 2))
    before = Structure().apply(placed).structure
    opening = ("Builder", "Mission has started."), ("Architect", f"Build {n} <tower>."), ("Builder", "ok")
    return MinecraftItem(
        id=f"minecraft/probe/{n}/4",
        split="probe",
        history=(
            *(Utterance(*u) for u in opening),
            Executed(placed, Pose(-1.5, 1.0, -2.5, yaw - 90, 45.0)),
            Utterance("Architect", "now a blue one, left"),
        ),
        before=before,
        pose=Pose(0.6, 1.0, -3.2, yaw, 20.0),
        actions=actions,
        after=before.apply(actions).structure,
        group=str(n),
        cluster=str(n),
    )


def _of_task(task: Task, item: Item) -> Item:
    """The item as an item of a task of its world, without earlier turns if the task's items begin with a state of their own."""
    if task.begun:
        item = replace(item, history=item.history[-1:] if isinstance(item, MinecraftItem) else ())
    return replace(item, id=task.name + item.id.removeprefix(task.world))


_OF_WORLD: dict[str, tuple[Item, ...]] = {
    "hexagons": (_hexagons(2), _hexagons(5)),
    "minecraft": (_minecraft(2, 95.0), _minecraft(5, -350.0)),
}
PROBES = {name: tuple(_of_task(task, item) for item in _OF_WORLD[task.world]) for name, task in TASKS.items()}
"""The fixed items by task."""


def format_hash(spec: PromptSpec) -> str:
    """16 hex digits over everything that a format makes of the fixed items, and over the files of a template other than the
    default: any change of its text changes the digits. The path of a template's folder does not."""
    *shots, item = PROBES[spec.task]
    wording = spec.template
    names = {key: value for key, value in spec.fields.items() if key != "template"}
    own = [wording.hash] if wording.hash else []
    return json_hash([names, conversation(item, spec, shots), gold_answer(item, spec), wording.plain, *own])


def described(spec: PromptSpec) -> dict[str, str]:
    """The format as adapters and trainings record it: its names and its hash."""
    return {**spec.fields, "prompt_hash": format_hash(spec)}


def other_hashes(spec: PromptSpec, tasks: Iterable[str]) -> dict[str, str]:
    """The hashes of a format for the tasks of its world that are not its own, by their names."""
    return {task: format_hash(replace(spec, task=task)) for task in sorted(set(tasks) - {spec.task})}
