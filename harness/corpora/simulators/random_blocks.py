"""Random blocks (D_r of BAP v2, section 11.1): no shape, one block after another, each near one that is there.

The first four actions place, then one in ten removes. A new block is in one of the 18 cells that share a face or an edge with
a block, so the structure stays connected in this sense.
"""

from __future__ import annotations

from random import Random
from typing import Any

from harness.corpora.simulators.carpentry import touching
from harness.corpora.simulators.framework import Goal, Order
from harness.corpora.simulators.relations import UNIT, Cell, Relation, relation
from harness.corpora.simulators.scene import Reference, Scene, references
from harness.worlds.minecraft import COLORS, SIDE, in_region

_PLACEMENTS_FIRST = 4
_REMOVALS = 0.1
_LENGTH = 8, 20
_NEAR = (*UNIT[1], *UNIT[2])
_REACH = 3
"""How many cells away, along one axis, a reference block may be."""


class RandomBlocks:
    """The Architect of one game."""

    frames = "random"

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.left = rng.randint(*_LENGTH)
        self.done = 0

    def plan(self, scene: Scene) -> Goal | None:
        if self.done >= self.left:
            return None
        if not scene.blocks:
            return Goal(((self._start(), self.rng.choice(COLORS)),))
        if self.done >= _PLACEMENTS_FIRST and self.rng.random() < _REMOVALS:
            cell = self.rng.choice(list(scene.blocks))
            return Goal(removed=(cell,)) if len(scene.blocks) > 1 and not _needed(scene, cell) else self._more(scene)
        return self._more(scene)

    def _start(self) -> Cell:
        kind = self.rng.random()
        if kind < 0.5:
            return 0, 1, 0
        x, z = self.rng.choice([(x, z) for x in (-SIDE, 0, SIDE) for z in (-SIDE, 0, SIDE) if x or z])
        return x, 1, z

    def _more(self, scene: Scene) -> Goal:
        rng, cells = self.rng, list(scene.blocks)
        while True:
            base = scene.last[-1] if scene.last and scene.last[-1] in scene.blocks and rng.random() < 0.6 else rng.choice(cells)
            dx, dy, dz = rng.choice(_NEAR)
            cell = base[0] + dx, base[1] + dy, base[2] + dz
            if in_region(*cell) and cell not in scene.blocks:
                return Goal(((cell, rng.choice(COLORS)),))

    def say(self, scene: Scene, goal: Goal) -> Order | None:
        order = (
            self._first(scene, goal)
            if not scene.blocks
            else self._remove(scene, goal)
            if goal.removed
            else self._place(scene, goal)
        )
        self.done += order is not None
        return order

    def _first(self, scene: Scene, goal: Goal) -> Order:
        voice, ((cell, color),) = scene.voice, goal.placed
        seen = relation((0, 1, 0), cell, scene.pose.quarter)
        side = "left" if seen.left > 0 else "right"
        depth = "depth far" if seen.away > 0 else "depth near"
        if not seen.axes:
            where = voice.draw("center")
        elif seen.axes == 2:
            where = voice.draw("corner", side=side, depth=voice.draw(depth))
        else:
            where = voice.draw("edge", side=side) if seen.left else f"in the middle of the edge {voice.draw(depth)}"
        text = voice.draw("first", what=voice.blocks(1, color), where=where)
        return Order(text, None, None, {"frame": "first", "location": list(seen)})

    def _remove(self, scene: Scene, goal: Goal) -> Order | None:
        found = list(references(scene, goal.removed[0]))
        if not found:
            return None
        it = self.rng.choice(found)
        return Order(scene.voice.draw("remove", it=it.text), None, None, _about("remove", it))

    def _place(self, scene: Scene, goal: Goal) -> Order | None:
        rng, voice, ((cell, color),) = self.rng, scene.voice, goal.placed
        choice = self._reference(scene, cell)
        if choice is None:
            return None
        it, seen = choice
        alone = it.kind == "last" and rng.random() < 0.5
        where = voice.where(seen, "" if alone else it.text)
        asks = rng.random() < 0.06
        what = f"a {voice.block}" if asks else voice.blocks(1, color)
        text = voice.draw("place ellipsis" if alone else "place", what=what, where=where)
        if floats := not _rests(scene, cell):
            text += voice.draw("floating")
        meta = _about("ellipsis" if alone else "place", it) | {"relation": list(seen), "floats": floats}
        if not asks:
            return Order(text, None, None, meta)
        return Order(text, voice.draw("what color"), voice.draw("answer color", color=color), meta | {"omitted": "color"})

    def _reference(self, scene: Scene, cell: Cell) -> tuple[Reference, Relation] | None:
        """A block near the new cell that can be picked out, the last one before all others."""
        rng, quarter = self.rng, scene.pose.quarter
        near = [(other, seen) for other in scene.blocks if _is_near(seen := relation(other, cell, quarter))]
        rng.shuffle(near)
        near.sort(key=lambda pair: pair[0] not in scene.last[-1:] or rng.random() < 0.25)
        for other, seen in near:
            if found := list(references(scene, other)):
                return rng.choice(found), seen
        return None


def _is_near(seen: Relation) -> bool:
    """Neighbors along one to three axes, or a few cells away along one."""
    return max(map(abs, seen)) <= (_REACH if seen.axes == 1 else 1)


def _rests(scene: Scene, cell: Cell) -> bool:
    return cell[1] == 1 or any(neighbor in scene.blocks for neighbor in touching(cell))


def _needed(scene: Scene, cell: Cell) -> bool:
    """Whether a neighbor of the block would have nothing to touch without it."""
    return any(
        other in scene.blocks and other[1] > 1 and not any(n in scene.blocks for n in touching(other) if n != cell)
        for other in touching(cell)
    )


def _about(frame: str, it: Reference) -> dict[str, Any]:
    return {"frame": frame, "reference": list(it.cell), "by": it.kind}
