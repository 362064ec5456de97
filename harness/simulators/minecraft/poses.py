"""Where the builder stands: some blocks away from what is to be built, looking at it, not inside a block (section 5.1.2)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from random import Random

from harness.simulators.minecraft.relations import Cell
from harness.worlds.minecraft import Pose

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
