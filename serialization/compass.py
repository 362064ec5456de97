"""Compass directions in a prompt, for tasks whose instructions name them: north is -z of the world, east +x."""

from __future__ import annotations

from harness.worlds.minecraft import Pose, turn

LOOKS = ("south", "southwest", "west", "northwest", "north", "northeast", "east", "southeast")
"""Where a builder looks, by eighths of a turn of yaw from 0."""

_AXES: dict[tuple[float, float], str] = {(1, 0): "+x", (-1, 0): "-x", (0, 1): "+z", (0, -1): "-z"}


def compass(pose: Pose, frame: str) -> dict[str, str]:
    """What a prompt says of the world's pose: the axes of `north` and `east` in the frame, and where the builder `looks`."""
    quarters = -pose.quarter if frame == "builder" else 0
    north, east = (_AXES[turn(x, z, quarters)] for x, z in ((0, -1), (1, 0)))
    return {"north": north, "east": east, "looks": LOOKS[round(pose.yaw / 45) % 8]}
