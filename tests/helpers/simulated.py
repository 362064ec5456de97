"""Simulated items for tests, and checks that each of them must pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count, islice
from random import Random

from harness.corpora.item import Item, MinecraftItem
from harness.simulators.framework import play
from harness.simulators.games import ARCHITECTS
from harness.simulators.strokes import procedure
from harness.simulators.voice import Voice
from harness.util.registry import resolve
from harness.worlds.minecraft import Action
from tests.helpers.relations_reader import Blocks, blocks_of, carry_out, heading, rests

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
    """Of either task, from its simplest simulator."""
    if task == "minecraft":
        return list(simulated("random", seed, items))
    rng = Random(f"{seed}/hexagons")
    return list(islice((item for number in count() for item in procedure(rng, number)), items))


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
