"""Simulated items for tests, and checks for every building item."""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain, count, islice
from typing import Any

from harness.corpora.item import MinecraftItem, new_turns
from harness.simulators.games import game
from harness.simulators.minecraft.scene import ENDS, Cell
from harness.worlds.minecraft import INVENTORY, Action, Pose, net_actions


def first_items(simulator: str, seed: int, items: int, split: str = "train") -> list[Any]:
    """The first items of a simulator, taken directly from its games."""
    return list(islice(chain.from_iterable(game(simulator, seed, split, n) for n in count()), items))


def heading(pose: Pose) -> tuple[int, int]:
    """The builder's direction as (x, z), to the nearest of the four. Yaw 0 is +z and 90 is -x."""
    radians = math.radians(pose.yaw)
    x, z = -math.sin(radians), math.cos(radians)
    return (0, round(z / abs(z))) if abs(z) > abs(x) else (round(x / abs(x)), 0)


def seen(cell: Cell, pose: Pose) -> tuple[int, int, int]:
    """(left, up, away) of a cell relative to the middle of the region."""
    ahead = heading(pose)
    return cell[0] * ahead[1] - cell[2] * ahead[0], cell[1], cell[0] * ahead[0] + cell[2] * ahead[1]


def check_world(item: MinecraftItem) -> frozenset[Action]:
    """Checks that the actions are feasible with the inventory and lead to `item.after`. Returns the net actions."""
    assert item.before.apply(item.actions) == (item.after, ())
    assert max(Counter(block.color for block in item.after.blocks()).values(), default=0) <= INVENTORY
    return net_actions(item.before, item.after)


def hangs(item: MinecraftItem, done: frozenset[Action]) -> bool:
    """Whether some new blocks are not connected, by faces, to the ground or an existing block."""
    before = [block[:3] for block in item.before.blocks()]
    loose = {action.cell for action in done if action.kind == "place"}
    held = [cell for cell in loose if cell[1] == 1 or any(math.dist(cell, other) == 1 for other in before)]
    while held:
        loose -= set(held)
        held = [cell for cell in loose if any(math.dist(cell, other) == 1 for other in held)]
    return bool(loose)


def check_pose(item: MinecraftItem, done: frozenset[Action]) -> None:
    """The builder stands outside all blocks, old and new, and looks toward its actions, within 45 degrees of an axis."""
    pose = item.pose
    feet = math.floor(pose.x), math.floor(pose.y), math.floor(pose.z)
    taken = {*(block[:3] for block in item.before.blocks()), *(action.cell for action in item.actions)}
    assert pose.y >= 1
    assert not {feet, (feet[0], feet[1] + 1, feet[2])} & taken
    look = -math.sin(math.radians(pose.yaw)), math.cos(math.radians(pose.yaw))
    ahead = heading(pose)
    assert look[0] * ahead[0] + look[1] * ahead[1] > math.cos(math.radians(45))
    x = sum(action.x + 0.5 for action in done) / len(done) - pose.x
    z = sum(action.z + 0.5 for action in done) / len(done) - pose.z
    assert x * look[0] + z * look[1] > math.cos(math.radians(60)) * math.hypot(x, z)


def check_words(item: MinecraftItem, done: frozenset[Action]) -> None:
    """The message names the colors of the blocks, says whether they float, and identifies its reference correctly."""
    meta, text = item.meta, " ".join(turn.text for turn in new_turns(item)).lower()
    assert meta["frame"] == "remove last" or all(str(action.color) in text for action in done), text
    if "floats" in meta:
        assert meta["floats"] == hangs(item, done) == ("floating" in text), text
    if "by" in meta and (end := meta["by"].split()[-1]) in ENDS:
        axis, sign = ENDS[end]
        color = item.before.color_at(*meta["reference"])
        assert f"{color}" in text, text
        alike = [block[:3] for block in item.before.blocks() if block.color == color]
        layer = {"top": max, "bottom": min}.get(meta["by"].split()[-2] if " " in meta["by"] else "")
        alike = [cell for cell in alike if not layer or cell[1] == layer(y for _, y, _ in alike)]
        places = sorted((seen(cell, item.pose)[axis] * sign for cell in alike), reverse=True)
        rank = {"second": 1, "third": 2}.get(meta["by"].split()[0], 0)
        own = seen(tuple(meta["reference"]), item.pose)[axis] * sign
        assert places[: rank + 2].count(own) == 1, text
        assert places[rank] == own
        assert len(set(places[: rank + 1])) == rank + 1
