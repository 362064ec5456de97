"""Random blocks (D_r of BAP v2, section 11.1): no shape, one block after another, each near one that is there.

The first four actions place, then one in ten removes. A new block is in one of the 18 cells that share a face or an edge with
a block, so the structure stays connected in this sense.
"""

from __future__ import annotations

from random import Random

from harness.simulators.minecraft.carpentry import touching
from harness.simulators.minecraft.game import Goal, SpokenOrder
from harness.simulators.minecraft.orders import about, builder_order, first_cell, first_order, near_reference, place_order
from harness.simulators.minecraft.relations import UNIT, Cell
from harness.simulators.minecraft.scene import GameScene, references
from harness.worlds.minecraft import COLORS, in_region

_PLACEMENTS_FIRST = 4
_REMOVALS = 0.1
_LENGTH = 8, 20
_NEAR = (*UNIT[1], *UNIT[2])


class RandomBlocks:
    """The Architect of one game."""

    frames = "random"

    def __init__(self, rng: Random, turns: int | None = None) -> None:
        self.rng = rng
        self.left = turns or rng.randint(*_LENGTH)
        self.done = 0

    def plan(self, scene: GameScene) -> Goal | None:
        if self.done >= self.left:
            return None
        if not scene.blocks:
            return Goal(((first_cell(self.rng), self.rng.choice(COLORS)),))
        if self.done >= _PLACEMENTS_FIRST and self.rng.random() < _REMOVALS:
            cell = self.rng.choice(list(scene.blocks))
            return Goal(removed=(cell,)) if len(scene.blocks) > 1 and not _needed(scene, cell) else self._more(scene)
        return self._more(scene)

    def _more(self, scene: GameScene) -> Goal:
        rng, cells = self.rng, list(scene.blocks)
        while True:
            base = scene.last[-1] if scene.last and scene.last[-1] in scene.blocks and rng.random() < 0.6 else rng.choice(cells)
            dx, dy, dz = rng.choice(_NEAR)
            cell = base[0] + dx, base[1] + dy, base[2] + dz
            if in_region(*cell) and cell not in scene.blocks:
                return Goal(((cell, rng.choice(COLORS)),))

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        order = (
            first_order(scene, *goal.placed[0])
            if not scene.blocks
            else self._remove(scene, goal)
            if goal.removed
            else self._place(scene, goal)
        )
        self.done += order is not None
        return order

    def _remove(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        candidates = list(references(scene, goal.removed[0]))
        if not candidates:
            return None
        it = self.rng.choice(candidates)
        return SpokenOrder(scene.voice.draw("remove", it=it.text), None, None, about("remove", it))

    def _place(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        if order := builder_order(scene, *goal.placed[0]):
            return order
        choice = near_reference(scene, goal.placed[0][0])
        return place_order(scene, *goal.placed[0], *choice) if choice else None


def _needed(scene: GameScene, cell: Cell) -> bool:
    """Whether a neighbor of the block would have nothing to touch without it."""
    return any(
        other in scene.blocks and other[1] > 1 and not any(n in scene.blocks for n in touching(other) if n != cell)
        for other in touching(cell)
    )
