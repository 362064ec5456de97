"""The frame `pose`: cells relative to the builder's exact position and yaw (Jayannavar et al. 2020; CRAFTS).

A cell is x y z, in blocks: x to the left and z ahead from the builder to the middle of the cell, y from the builder's feet to
the cell's bottom. One decimal suffices to recover every cell at every pose: each number is then at most 0.05 off, a point on
the ground at most 0.05 * sqrt(2) = 0.07, and a cell reaches 0.5 around its middle. With whole numbers a point may be 0.7 off,
and two cells may read the same.

For tasks whose instructions name compass directions, `compass` gives them: north is -z of the world, east +x.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import cos, floor, radians, sin

from harness.corpora.item import Item, MinecraftItem
from harness.worlds.minecraft import Pose, turn
from serialization.contexts import View, from_frame, in_frame
from serialization.formats import Format
from serialization.formats.answer import BLANK, Parsed
from serialization.formats.lines import BETWEEN, constraint

_NUMBER = r"(-?\d{1,4}(?:\.\d{1,6})?)"
_NAMES = [rf"(?:{name}{BLANK}[=:]{BLANK})?" for name in "xyz"]
_CELL = re.compile(
    rf"(?<![\d.]){_NAMES[0]}{_NUMBER}{BETWEEN}{_NAMES[1]}{_NUMBER}{BETWEEN}{_NAMES[2]}{_NUMBER}(?!\.?\d)", re.IGNORECASE
)
"""Three numbers, as the format `lines` reads them."""
_SEEN = r"-?[0-9]{1,3}(\.[1-9])?"
CONSTRAINT = constraint(_SEEN, _SEEN)
"""The grammar of the format `lines` with cells as seen from any pose."""


def from_pose(x: int, y: int, z: int, pose: Pose) -> tuple[float, float, float]:
    """A cell as seen from a pose, to one decimal."""
    east, north = x + 0.5 - pose.x, z + 0.5 - pose.z
    c, s = cos(radians(pose.yaw)), sin(radians(pose.yaw))
    left, ahead = c * east + s * north, c * north - s * east
    # Adding 0 turns -0 into 0.
    return round(left, 1) + 0.0, round(y - pose.y, 1) + 0.0, round(ahead, 1) + 0.0


def to_cell(left: float, up: float, ahead: float, pose: Pose) -> tuple[int, int, int]:
    """The cell that contains a point given relative to a pose: the inverse of `from_pose`."""
    c, s = cos(radians(pose.yaw)), sin(radians(pose.yaw))
    return floor(c * left - s * ahead + pose.x), floor(up + pose.y + 0.5), floor(s * left + c * ahead + pose.z)


def as_seen(text: str, pose: Pose) -> str:
    """A text with its cells as seen from a pose: `place red 0 1 0` may become `place red -1.3 0 4.2`."""
    return _rewritten(text, lambda x, y, z: from_pose(int(x), int(y), int(z), pose))


def as_cells(text: str, pose: Pose) -> str:
    """The inverse of `as_seen`. Total: the rest of the text stays as it is."""
    return _rewritten(text, partial(to_cell, pose=pose))


def _rewritten(text: str, change: Callable[[float, float, float], tuple[float, float, float]]) -> str:
    def changed(match: re.Match[str]) -> str:
        x, y, z = change(float(match[1]), float(match[2]), float(match[3]))
        return f"{x:g} {y:g} {z:g}"

    return _CELL.sub(changed, text)


def view_from(shown: View, pose: Pose) -> View:
    """A view with its cells as seen from the pose; the field `builder` gives the gaze and where the region's middle lies."""
    pieces = tuple(piece._replace(text=as_seen(piece.text, pose)) if piece.done else piece for piece in shown.pieces)
    yaw = (round(pose.yaw) + 180) % 360 - 180
    builder = f"yaw {yaw}, pitch {round(pose.pitch)}, middle {as_seen('0 1 0', pose)}"
    return replace(
        shown, pieces=pieces, fields={**shown.fields, "blocks": as_seen(shown.fields["blocks"], pose), "builder": builder}
    )


LOOKS = ("south", "southwest", "west", "northwest", "north", "northeast", "east", "southeast")
"""The direction in which a builder looks, by eighths of a turn of yaw from 0."""

_AXES: dict[tuple[float, float], str] = {(1, 0): "+x", (-1, 0): "-x", (0, 1): "+z", (0, -1): "-z"}


def compass(pose: Pose, frame: str) -> dict[str, str]:
    """The compass of a prompt: the axes of `north` and `east` in the frame, and the direction in which the builder `looks`."""
    quarters = -pose.quarter if frame == "builder" else 0
    north, east = (_AXES[turn(x, z, quarters)] for x, z in ((0, -1), (1, 0)))
    return {"north": north, "east": east, "looks": LOOKS[round(pose.yaw / 45) % 8]}


def read_in_frame(text: str, item: Item, fmt: Format, frame: str) -> Parsed:
    """The actions of an answer that was written in a frame, in the world's. Total: any text is an answer."""
    if frame == "pose" and isinstance(item, MinecraftItem):
        text = as_cells(text, item.pose)
    parsed = fmt.read(text, in_frame(item, frame))
    return parsed._replace(actions=from_frame(parsed.actions, item, frame))
