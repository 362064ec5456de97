"""One benchmark item, in one form for all tasks: what was said and done so far, the state, and what was done next."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, NamedTuple

from harness.tasks.registry import task_of
from harness.util.hashing import short_hash
from harness.worlds import World, hexagons, minecraft


class Utterance(NamedTuple):
    """Something said: by "Instructor" (HEXAGONS), "Architect" or "Builder" (Minecraft)."""

    speaker: str
    text: str


class Executed(NamedTuple):
    """A run of actions carried out with nothing said in between."""

    actions: tuple[hexagons.Paint, ...] | tuple[minecraft.Action, ...]
    pose: minecraft.Pose | None = None
    """The builder's pose (cells, degrees) when the run began; None in HEXAGONS, and if it is unknown."""
    text: str = ""
    """The program that these actions come from, which a conversation in programs shows; empty if there is none."""


Turn = Utterance | Executed


@dataclass(frozen=True, slots=True)
class HexagonsItem:
    """A drawing step. `history` holds the earlier steps: an instruction, then its gold actions, and so on."""

    id: str
    split: str
    instruction: str
    history: tuple[Turn, ...]
    before: hexagons.Board
    actions: tuple[hexagons.Paint, ...]
    after: hexagons.Board
    group: str
    """The image, which a prompt's examples must not share with its item."""
    cluster: str
    """The unit of resampling in the statistics: the drawing procedure."""
    meta: Mapping[str, Any] = field(default_factory=dict)

    world: ClassVar[World] = "hexagons"

    @property
    def task(self) -> str:
        """The task that its corpus, or the simulated set, belongs to."""
        return task_of(self.id, "hexagons")


@dataclass(frozen=True, slots=True)
class MinecraftItem:
    """A builder's turn: a BAP item, or an instruction of IGLU.

    `history` ends with what was said since the builder's last action.
    """

    id: str
    split: str
    history: tuple[Turn, ...]
    before: minecraft.Structure
    pose: minecraft.Pose
    actions: tuple[minecraft.Action, ...]
    after: minecraft.Structure
    """The recorded structure, which the recorded order of actions does not always reach."""
    group: str
    """The target structure, in IGLU the starting one, which a prompt's examples must not share with its item."""
    cluster: str
    """The unit of resampling in the statistics: the game."""
    meta: Mapping[str, Any] = field(default_factory=dict)

    world: ClassVar[World] = "minecraft"

    @property
    def task(self) -> str:
        """The task that its corpus, or the simulated set, belongs to."""
        return task_of(self.id, "minecraft")


Item = HexagonsItem | MinecraftItem


def data_set(item: Item) -> str:
    """The corpus or the simulated set that an item belongs to, by its id; augmented copies belong to their original's."""
    return item.id.partition("/")[0].replace("-augmented", "")


def own_program(item: Item) -> str | None:
    """The program whose result are the item's actions, as its author or its simulator wrote it; None if there is none."""
    program = item.meta.get("program")
    return program if isinstance(program, str) and program else None


def own_thought(item: Item) -> str:
    """What is thought before the item's actions are answered; empty if there is nothing."""
    return str(item.meta.get("thought") or "")


def drawing_steps(items: Iterable[Item]) -> list[HexagonsItem]:
    """The HEXAGONS items, in order."""
    return [item for item in items if isinstance(item, HexagonsItem)]


def builder_turns(items: Iterable[Item]) -> list[MinecraftItem]:
    """The Minecraft items, in order."""
    return [item for item in items if isinstance(item, MinecraftItem)]


def new_turns(item: Item) -> list[Utterance]:
    """What was said since the last actions, in order: what an item asks for."""
    return [Utterance("Instructor", item.instruction)] if isinstance(item, HexagonsItem) else since_actions(item.history)


def since_actions(history: Sequence[Turn]) -> list[Utterance]:
    """What was said since the last actions, in order."""
    said: list[Utterance] = []
    for turn in reversed(history):
        if isinstance(turn, Executed):
            break
        said.append(turn)
    return said[::-1]


def turn_minecraft(item: MinecraftItem, quarters: int) -> MinecraftItem:
    """The item with its structures, pose, actions and history turned by `quarters` times 90 degrees, in the sense of rising yaw.

    All turn about the middle of cell (0, 0), so the blocks stay in the region, which is square, and the builder sees everything
    where it was. (The published augmented data turns the builder about a corner of that cell.)
    """

    def turned(turn: Turn) -> Turn:
        if isinstance(turn, Utterance):
            return turn
        actions: tuple[Any, ...] = turn.actions
        moved = tuple(minecraft.turn_action(action, quarters) for action in actions)
        return Executed(moved, turn.pose and turn.pose.turned(quarters))

    before, after = item.before.turned(quarters), item.after.turned(quarters)
    actions = tuple(minecraft.turn_action(action, quarters) for action in item.actions)
    history, pose = tuple(map(turned, item.history)), item.pose.turned(quarters)
    return replace(item, history=history, before=before, pose=pose, actions=actions, after=after)


def items_hash(items: Iterable[Item]) -> str:
    """16 hex digits over what is said, seen and done: the same items give the same digits wherever they come from."""
    return short_hash(chain.from_iterable(map(item_parts, items)))


def item_parts(item: Item) -> tuple[bytes, bytes]:
    """What is said, seen and done in an item."""
    history = [_run_parts(turn) if isinstance(turn, Executed) else turn for turn in item.history]
    asked = item.instruction if isinstance(item, HexagonsItem) else item.pose
    spoken = json.dumps([item.id, asked, history, item.actions]).encode()
    return item.before.cells.tobytes() + item.after.cells.tobytes(), spoken


def _run_parts(run: Executed) -> tuple[Any, ...]:
    """The fields of a run of actions up to the last that is known."""
    return run if run.text else run[:2] if run.pose else run[:1]
