"""Simulated items for tests, and checks that each of them must pass."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import count, islice
from random import Random

from harness.corpora.item import Executed, Item, MinecraftItem, Utterance
from harness.simulators import games
from harness.simulators.games import ARCHITECTS
from harness.simulators.minecraft.game import play
from harness.simulators.voice import Voice
from harness.util.registry import resolve
from harness.worlds.minecraft import Action, Pose

Cell = tuple[int, int, int]
Blocks = dict[Cell, str]

SEEDS = (0, 1, 2, 3)
"""Seeds of 250 items each."""


def simulated(simulator: str, seed: int, items: int) -> list[MinecraftItem]:
    """The first items of a simulator's games, whatever their split."""

    def games() -> Iterator[MinecraftItem]:
        for number in count():
            rng = Random(f"test/{simulator}/{seed}/{number}")
            architect = resolve("simulator", simulator, ARCHITECTS)(rng)
            yield from play(rng, architect, Voice(rng, architect.frames), f"minecraft-{simulator}/train/{number}", "train")

    return list(islice(games(), items))


def simple(task: str, items: int, seed: int) -> list[Item]:
    """The first items of a simulator of the task."""
    return games.simulated({"minecraft": "random", "hexagons": "hexagons"}[task], seed, items)


def said(item: MinecraftItem) -> list[Utterance]:
    """What was said since the builder's last action."""
    turns = list(item.history)
    done = max((n for n, turn in enumerate(turns) if isinstance(turn, Executed)), default=-1)
    return [turn for turn in turns[done + 1 :] if isinstance(turn, Utterance)]


def blocks_of(item: MinecraftItem) -> Blocks:
    return {(x, y, z): color for x, y, z, color in item.before.blocks()}


def carry_out(blocks: Blocks, actions: Sequence[Action]) -> Blocks | None:
    """The blocks after the actions, None if one of them cannot be carried out."""
    now = dict(blocks)
    for kind, color, x, y, z in actions:
        cell = x, y, z
        inside = -5 <= x <= 5 and 1 <= y <= 9 and -5 <= z <= 5
        if kind == "remove" and now.get(cell) == color:
            del now[cell]
        elif kind == "place" and color and inside and cell not in now and rests(now, cell):
            now[cell] = color
        else:
            return None
    return now


def rests(blocks: Blocks, cell: Cell) -> bool:
    """Whether a cell is on the ground or beside, above or below a block."""
    return cell[1] == 1 or any(sum(abs(a - b) for a, b in zip(cell, other, strict=True)) == 1 for other in blocks)


def heading(pose: Pose) -> tuple[int, int]:
    """The builder's direction as (x, z), to the nearest of the four. Yaw 0 is +z and 90 is -x."""
    radians = math.radians(pose.yaw)
    x, z = -math.sin(radians), math.cos(radians)
    return (0, round(z / abs(z))) if abs(z) > abs(x) else (round(x / abs(x)), 0)


def seen(cell: Cell, pose: Pose) -> tuple[int, int, int]:
    """(left, up, away) of a cell from the middle of the region."""
    ahead = heading(pose)
    return cell[0] * ahead[1] - cell[2] * ahead[0], cell[1], cell[0] * ahead[0] + cell[2] * ahead[1]


def net(before: Blocks, after: Blocks) -> frozenset[Action]:
    removed = {Action("remove", color, *cell) for cell, color in before.items() if after.get(cell) != color}
    return frozenset(removed | {Action("place", color, *cell) for cell, color in after.items() if before.get(cell) != color})


def check_world(item: MinecraftItem) -> frozenset[Action]:
    """Carries out the actions of an item, checks states, feasibility and inventory, and returns the net actions."""
    before = blocks_of(item)
    after = carry_out(before, item.actions)
    assert after is not None, "an action cannot be carried out"
    assert sorted((*cell, color) for cell, color in after.items()) == sorted(map(tuple, item.after.blocks()))
    colors = list(after.values())
    assert all(colors.count(color) <= 20 for color in colors)
    return net(before, after)


def hangs(item: MinecraftItem, done: frozenset[Action]) -> bool:
    """Whether some of the new blocks are not joined by faces, through each other, to the ground or a block that was there."""
    before = blocks_of(item)
    loose = {action.cell for action in done if action.kind == "place"}
    held = [cell for cell in loose if rests(before, cell)]
    while held:
        loose -= set(held)
        held = [cell for cell in loose if any(math.dist(cell, other) == 1 for other in held)]
    return bool(loose)


def left_alone(item: MinecraftItem) -> bool:
    """Whether a block that was placed, or one that had something to rest on before, touches nothing when all is done."""
    before, after = blocks_of(item), carry_out(blocks_of(item), item.actions) or {}
    return any(not rests(after, cell) and (cell not in before or rests(before, cell)) for cell in after)


def check_pose(item: MinecraftItem, done: frozenset[Action]) -> None:
    """The builder stands in no block, old or new, and looks toward the middle of what it does, within 45 degrees of an axis."""
    pose, before = item.pose, blocks_of(item)
    feet = math.floor(pose.x), math.floor(pose.y), math.floor(pose.z)
    taken = {*before, *(action.cell for action in item.actions)}
    assert pose.y >= 1
    assert not {feet, (feet[0], feet[1] + 1, feet[2])} & taken
    look = -math.sin(math.radians(pose.yaw)), math.cos(math.radians(pose.yaw))
    ahead = heading(pose)
    assert look[0] * ahead[0] + look[1] * ahead[1] > math.cos(math.radians(45))
    x = sum(action.x + 0.5 for action in done) / len(done) - pose.x
    z = sum(action.z + 0.5 for action in done) / len(done) - pose.z
    assert x * look[0] + z * look[1] > math.cos(math.radians(60)) * math.hypot(x, z)


_EXTREMES = {
    "highest": ("highest|topmost|top", 1, 1),
    "lowest": ("lowest|bottom", 1, -1),
    "leftmost": ("left ?most|farthest to the left", 0, 1),
    "rightmost": ("right ?most|farthest to the right", 0, -1),
    "nearest": ("closest|nearest", 2, -1),
    "farthest": ("farthest|furthest", 2, 1),
}


def check_words(item: MinecraftItem, done: frozenset[Action]) -> None:
    """The message names the colors of new blocks, says whether they float, and picks out its reference by words true of it."""
    meta, text = item.meta, " ".join(turn.text for turn in said(item)).lower()
    if not re.search(r"\b(same|another|those|that|more)\b", text):
        assert all(str(action.color) in text for action in done if action.kind == "place"), text
    if "floats" in meta:
        assert meta["floats"] == hangs(item, done), text
        assert meta["floats"] == bool(re.search(r"float|in the air|nothing under|support", text)), text
    if meta.get("by") in _EXTREMES:
        words, axis, sign = _EXTREMES[meta["by"]]
        before, reference = blocks_of(item), tuple(meta["reference"])
        color = before[reference]
        alike = [seen(cell, item.pose)[axis] * sign for cell, its in before.items() if its == color]
        assert color in text, text
        assert re.search(rf"\b(?:{words})\b", text), text
        assert sorted(alike)[-1] == seen(reference, item.pose)[axis] * sign
        assert alike.count(max(alike)) == 1, text
