"""A simulated game in progress, and words that pick out one of its blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import numpy as np

from harness.corpora.item import Turn
from harness.simulators.minecraft.relations import EYES, Cell, relation
from harness.simulators.voice import Voice
from harness.worlds.minecraft import CODES, SHAPE, SIDE, Action, Pose, Structure


@dataclass(slots=True)
class GameScene:
    """The state: blocks by cell, the builder's pose, what was said and done, and the cells of the last order in order."""

    rng: Random
    voice: Voice
    pose: Pose
    blocks: dict[Cell, str] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    last: tuple[Cell, ...] = ()

    def structure(self) -> Structure:
        cells = np.zeros(SHAPE, np.uint8)
        for (x, y, z), color in self.blocks.items():
            cells[x + SIDE, y - 1, z + SIDE] = CODES[color]
        cells.setflags(write=False)
        return Structure(cells)

    def carry_out(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            if action.kind == "place" and action.color:
                self.blocks[action.cell] = action.color
            else:
                del self.blocks[action.cell]


class Reference(NamedTuple):
    """A block, how it is picked out, and the words for it. `kind` is "last", "color", "only" or the extreme's name."""

    cell: Cell
    kind: str
    text: str


EXTREMES: dict[str, Callable[[tuple[int, int, int]], int]] = {
    "highest": lambda r: r[1],
    "lowest": lambda r: -r[1],
    "leftmost": lambda r: r[0],
    "rightmost": lambda r: -r[0],
    "nearest": lambda r: -r[2],
    "farthest": lambda r: r[2],
}
"""What an extreme block has most of, from its (left, up, away) in the builder's frame."""

_BY_SIGHT = {"nearest": -1, "farthest": 1}
"""Extremes that must be so in a straight line from the builder's eyes too: where the two differ, the words mean either."""


def references(scene: GameScene, cell: Cell) -> Iterator[Reference]:
    """The ways to pick out one block that are true of it alone, in words of the game's voice.

    Of a color: the only one, or the only most extreme one of its color in one of the builder's directions. The block placed
    last, if the last order placed just one, or as the last of several.
    """
    voice, color = scene.voice, scene.blocks[cell]
    if scene.last and scene.last[-1] == cell:
        yield Reference(cell, "last", voice.draw("last" if len(scene.last) == 1 else "last of several"))
    if len(scene.blocks) == 1:
        yield Reference(cell, "only", voice.draw("only"))
    same = [other for other, its in scene.blocks.items() if its == color]
    if len(same) == 1:
        yield Reference(cell, "color", voice.draw("of a color", color=color))
        return
    seen = {other: relation((0, 0, 0), other, scene.pose.quarter) for other in same}
    for name, amount in EXTREMES.items():
        others = [other for other in same if other != cell]
        if not all(amount(seen[other]) < amount(seen[cell]) for other in others):
            continue
        sign = _BY_SIGHT.get(name, 0)
        if not sign or all(sign * sight(scene.pose, other) < sign * sight(scene.pose, cell) for other in others):
            yield Reference(cell, name, voice.draw(name, color=color))


def sight(pose: Pose, cell: Cell) -> float:
    """The distance from the builder's eyes to the middle of a cell."""
    return math.dist((pose.x, pose.y + EYES, pose.z), [part + 0.5 for part in cell])
