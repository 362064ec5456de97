"""Minecraft structures as SVG: blocks as cubes on the floor of the build region, their changes, and the builder.

The builder is a small figure with a shadow and a gaze, in the units of `harness.drawing.isometric`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from harness.drawing.isometric import PlacedSvg, definition, ghost, ground, painters_order, path, project, shadows, use
from harness.drawing.svg import CHECK, CROSS, DIAMOND, document, number, strokes
from harness.worlds.minecraft import HEIGHT, SIDE, Action, Pose, Structure, net_actions


def structure_svg(structure: Structure, *, pose: Pose | None = None, before: Structure | None = None) -> str:
    """A picture of `structure`, with the builder at `pose` and the changes since `before`.

    Placed blocks have a bright outline, removed ones are dashed ghosts.
    """
    changes = () if before is None else net_actions(before, structure)
    return _picture(_cubes(structure, changes), "", pose)


def difference_svg(gold: Structure, predicted: Structure, before: Structure, *, pose: Pose | None = None) -> str:
    """The predicted structure with a sign on every cell that gold or the prediction changes; removed blocks are ghosts.

    Check: changed as in gold. Cross: a net action that gold does not have. Diamond: a net action of gold that is missing (a
    missing placement is a ghost in its color). A cell whose color is wrong has a cross.
    """
    wanted, done = net_actions(before, gold), net_actions(before, predicted)
    signs: dict[tuple[int, int, int], str] = {}
    for actions, sign in ((wanted & done, CHECK), (wanted - done, DIAMOND), (done - wanted, CROSS)):
        signs |= {action.cell: sign for action in actions}
    ghosts = [action._replace(kind="remove") for action in (wanted | done) if predicted.color_at(*action.cell) is None]
    lines = "".join(f"M{number(x)} {number(y)}{sign}" for (x, y), sign in ((_middle(c), s) for c, s in sorted(signs.items())))
    over = strokes(lines, 2.6, "#fff") + strokes(lines, 1.2, "#111") if signs else ""
    return _picture(_cubes(predicted, ghosts), over, pose)


def _middle(cell: tuple[int, int, int]) -> tuple[float, float]:
    """The middle of a cube's hexagon on the picture."""
    x, y = project(*cell)
    return x, y - 8.5


def _cubes(structure: Structure, changes: Iterable[Action]) -> list[PlacedSvg]:
    """The blocks, with an outline or a ghost at each change."""
    parts = [PlacedSvg(*block[:3], use(f"mc-{block.color}", block[:3])) for block in structure.blocks()]
    # Changes may be a set, whose order differs between processes; equal pictures must be equal bytes.
    for action in sorted(changes, key=lambda action: (action.cell, action.kind, action.color or "")):
        if action.kind == "place":
            parts.append(PlacedSvg(*action.cell, use("mc-placed", action.cell)))
        elif action.color and structure.color_at(*action.cell) is None:
            parts.append(PlacedSvg(*action.cell, ghost(action.color, action.cell)))
    return parts


def _picture(parts: list[PlacedSvg], over: str, pose: Pose | None) -> str:
    floor = ground() + shadows(parts)
    figure = None if pose is None else builder(pose)
    if figure:
        parts = [*parts, figure.part]
    body = "".join(part.svg for part in sorted(parts, key=painters_order))
    names = sorted({name.split('"')[0] for name in body.split('href="#mc-')[1:]})
    definitions = "".join(DEFINITION if name == "builder" else definition(name) for name in names)
    pen = 'stroke="#222" stroke-width=".4" stroke-linejoin="round"'
    under, above = (figure.under, figure.over) if figure else ("", "")
    whole = f"<defs>{definitions}</defs>{floor}{under}<g {pen}>{body}</g>{above}{over}"
    return document(whole, _box(parts, figure))


def _box(parts: Iterable[PlacedSvg], figure: Builder | None) -> tuple[float, float, float, float]:
    """The part of the plane that shows the ground with its labels, all cubes and the builder."""
    low, high = -SIDE, SIDE + 1
    points = [project(x, 1, z) for x in (low, high) for z in (low, high)] + [(-100.0, 0.0), (100.0, 52.0)]
    for part in parts:
        x, y = project(*part[:3])
        points += [(x - 8, y - 17), (x + 8, y)]
    points += figure.points if figure else ()
    left, top = (min(p[i] for p in points) - 3 for i in (0, 1))
    right, bottom = (max(p[i] for p in points) + 3 for i in (0, 1))
    return round(left), round(top), round(right - left), round(bottom - top)


# --- the builder ---

DEFINITION = (
    '<g id="mc-builder" fill="#223" stroke="#fff" stroke-width=".7">'
    '<path d="M-2.7 0v-7q0-3.2 2.7-3.2t2.7 3.2v7z"/><circle cy="-12.8" r="2.9"/></g>'
)
REACH = 3.5
"""The largest distance outside the build region at which the builder is drawn, in blocks."""
_EYES = 1.42
_GAZE = "#e6007e"


class Builder(NamedTuple):
    """The figure in three layers: on the ground, among the blocks, above everything (its outline shines through blocks)."""

    under: str
    part: PlacedSvg
    over: str
    points: tuple[tuple[float, float], ...]
    """The figure's extent on the picture."""


def builder(pose: Pose) -> Builder:
    """The builder, moved to within `REACH` of the region. The wedge at its feet shows the yaw, the arrow at its eyes the gaze."""
    x, z = (min(max(p, -SIDE - REACH), SIDE + 1 + REACH) for p in (pose.x, pose.z))
    y = min(pose.y, HEIGHT + REACH)
    feet = x, y, z
    yaw, pitch = math.radians(pose.yaw), math.radians(pose.pitch)
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


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    ux, uy = 3 * dx / length, 3 * dy / length
    barbs = [(end[0] - ux - s * uy * 0.7, end[1] - uy + s * ux * 0.7) for s in (1, -1)]
    return path([start, end]) + path([barbs[0], end, barbs[1]])
