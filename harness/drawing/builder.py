"""The Minecraft builder as a small figure with a shadow and a gaze, in the units of `harness.drawing.isometric`."""

from __future__ import annotations

import math
from typing import NamedTuple

from harness.drawing.isometric import PlacedSvg, path, project, use
from harness.drawing.svg import number, strokes
from harness.worlds.minecraft import HEIGHT, SIDE, Pose

DEFINITION = (
    '<g id="mc-builder" fill="#223" stroke="#fff" stroke-width=".7">'
    '<path d="M-2.7 0v-7q0-3.2 2.7-3.2t2.7 3.2v7z"/><circle cy="-12.8" r="2.9"/></g>'
)
REACH = 3.5
"""Farthest that the builder is drawn outside the build region, in blocks."""
_EYES = 1.42
_GAZE = "#e6007e"


class Builder(NamedTuple):
    """The figure in three layers: on the ground, among the blocks, above everything (its outline shines through blocks)."""

    under: str
    part: PlacedSvg
    over: str
    points: tuple[tuple[float, float], ...]
    """The figure's extent on the picture."""


def builder(pose: Pose, quarters: int) -> Builder:
    """The builder in the world turned by `quarters`. The wedge at its feet shows the yaw, the arrow at its eyes the gaze."""
    x, y, z = feet = _feet(pose, quarters)
    yaw, pitch = math.radians(pose.yaw + 90 * quarters), math.radians(pose.pitch)
    ahead = -math.sin(yaw), math.cos(yaw)
    px, py = project(x, 1, z)
    wedge = [
        project(x + a * ahead[0] - b * ahead[1], y, z + a * ahead[1] + b * ahead[0])
        for a, b in ((1.25, 0), (0.55, 0.45), (0.55, -0.45))
    ]
    under = f'<ellipse cx="{number(px)}" cy="{number(py)}" rx="5" ry="2.5" fill-opacity=".25"/>'
    if y > 1.5:
        under += f'<path d="{path([(px, py), project(*feet)])}" stroke="#223" stroke-width=".6" stroke-dasharray="1 2"/>'
    eyes = x, y + _EYES, z
    level = math.cos(pitch)
    target = tuple(p + 2.2 * d for p, d in zip(eyes, (ahead[0] * level, -math.sin(pitch), ahead[1] * level), strict=True))
    gaze = _arrow(project(*eyes), project(*target))
    figure = use("mc-builder", feet)
    wedge_svg = f'<path d="{path(wedge)}z" fill="{_GAZE}"/>'
    over = use("mc-builder", feet, ' opacity=".3"') + strokes(gaze, 2.4, "#fff") + strokes(gaze, 1.2, _GAZE)
    cell = math.floor(x), math.floor(y), math.floor(z)
    fx, fy = project(*feet)
    points = (*wedge, project(*target), (px, py + 3), (fx - 4, fy), (fx + 4, fy - 16))
    return Builder(under, PlacedSvg(*cell, wedge_svg + figure), over, points)


def _feet(pose: Pose, quarters: int) -> tuple[float, float, float]:
    """The position in the turned world, moved to within `REACH` of the region."""
    turned = pose.turned(quarters)
    x, z = (min(max(p, -SIDE - REACH), SIDE + 1 + REACH) for p in (turned.x, turned.z))
    return x, min(pose.y, HEIGHT + REACH), z


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = 3 * dx / length, 3 * dy / length
    barbs = [(end[0] - ux - s * uy * 0.7, end[1] - uy + s * ux * 0.7) for s in (1, -1)]
    return path([start, end]) + path([barbs[0], end, barbs[1]])
