"""Cells as the builder sees them: 6 relations along one axis, 12 along two, 8 along three; and where the builder stands.

BAP v2, section 5.1.2. In the builder's frame `left`, `up` and `away` count cells to the left, upward and away from the builder.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from random import Random
from typing import NamedTuple

from harness.worlds.minecraft import Pose, turn

Cell = tuple[int, int, int]


class Relation(NamedTuple):
    """Cells from a reference to a target in the builder's frame; negative is right, down, toward the builder."""

    left: int
    up: int
    away: int

    @property
    def axes(self) -> int:
        """Along how many axes the two differ: 1, 2 or 3 (0 for the reference itself)."""
        return sum(bool(part) for part in self)

    def from_(self, cell: Cell, quarter: int) -> Cell:
        """The target of a reference, for a builder who looks in a direction (`Pose.quarter`). It may lie outside the region."""
        x, z = turn(self.left, self.away, quarter)
        return cell[0] + int(x), cell[1] + self.up, cell[2] + int(z)

    def times(self, count: int) -> Relation:
        return Relation(self.left * count, self.up * count, self.away * count)


def relation(reference: Cell, target: Cell, quarter: int) -> Relation:
    """The relation that `Relation.from_` turns into `target`."""
    left, away = turn(target[0] - reference[0], target[2] - reference[2], -quarter)
    return Relation(int(left), target[1] - reference[1], int(away))


UNIT = {
    axes: tuple(r for r in itertools.starmap(Relation, itertools.product((-1, 0, 1), repeat=3)) if r.axes == axes)
    for axes in (1, 2, 3)
}
"""The relations of distance 1 along each axis: 6, 12 and 8."""


EYES = 1.62
"""Height of the eyes above the feet, in blocks."""
_DISTANCE = 2.5, 6.5
_SWAY = 30.0
"""How far, in degrees, the builder may look past the axis that left and right are told by: under 45, so that it is clear."""
_FARTHEST, _HIGHEST = 10.0, 8.0


def facing(rng: Random, focus: Sequence[Cell], blocks: Collection[Cell], quarter: int) -> Pose:
    """A pose from which the middle of the cells in `focus` is ahead in the direction of `quarter`.

    Feet and head are in no block, at most 10 blocks from the region's center, at a height from the ground (1) to 8.
    """
    x, y, z = (sum(cell[axis] for cell in focus) / len(focus) + 0.5 for axis in range(3))
    feet = 1.0 if y < 4 and rng.random() < 0.6 else min(_HIGHEST, max(1.0, y - EYES + rng.uniform(-1.0, 1.5)))
    yaw = 90.0 * quarter + rng.uniform(-_SWAY, _SWAY)
    ahead = -math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
    distance = rng.uniform(*_DISTANCE)
    while True:
        px, pz = x - ahead[0] * distance, z - ahead[1] * distance
        here = math.floor(px), math.floor(feet), math.floor(pz)
        if here not in blocks and (here[0], here[1] + 1, here[2]) not in blocks:
            break
        distance += 0.5
    px, pz = (min(_FARTHEST, max(-_FARTHEST, value)) for value in (px, pz))
    pitch = math.degrees(math.atan2(feet + EYES - y, distance)) + rng.uniform(-4.0, 4.0)
    # Recorded yaws are not wrapped, and some are below 0.
    yaw = yaw - 360.0 if yaw > 0 and rng.random() < 0.25 else yaw
    return Pose(round(px, 4), round(feet, 4), round(pz, 4), round(yaw, 4), round(min(90.0, max(-90.0, pitch)), 4))
