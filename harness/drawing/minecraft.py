"""Minecraft structures as SVG: blocks as cubes on the floor of the build region, their changes, and the builder.

Seen from above the corner of lowest x and z. Units: a step along z is (8, -4) on the picture, a step along x (-8, -4), a step up
(0, -9). So +z is up and to the right and +x up and to the left, as for a builder who looks along +z. The builder is a small
figure with a shadow and a gaze.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from harness.drawing.svg import CHECK, CROSS, DIAMOND, document, label, number, strokes
from harness.worlds.minecraft import HEIGHT, SIDE, Action, Pose, Structure, net_actions

PALETTE = {
    "red": "#d83a2e", "orange": "#f58a1f", "yellow": "#f7d62e", "green": "#3fa845", "blue": "#2f6fd6", "purple": "#8e4cc0",
}  # fmt: skip
"""The color of a cube's top; the other two faces are darker."""
_SHADES = (1.0, 0.84, 0.66)
_FACES = ("M0-9l-8-4 8-4 8 4z", "M0 0l-8-4v-9l8 4z", "M0 0l8-4v-9l-8 4z")
_CUBE, _EDGES = "M0 0l-8-4v-9l8-4 8 4v9z", "M0 0v-9l-8-4m8 4l8-4"


class PlacedSvg(NamedTuple):
    """Something drawn at a cell."""

    x: int
    y: int
    z: int
    svg: str


def project(x: float, y: float, z: float) -> tuple[float, float]:
    """The place of a point of the world on the picture. The ground is at y = 1."""
    return 8 * (z - x), -4 * (x + z) - 9 * (y - 1)


def use(name: str, cell: tuple[float, float, float], attributes: str = "") -> str:
    """A reference to a defined element, with its near lower corner at `cell`."""
    x, y = project(*cell)
    return f'<use href="#{name}" x="{number(x)}" y="{number(y)}"{attributes}/>'


def shade(color: str, factor: float) -> str:
    """An RGB color `#rrggbb`, darkened."""
    return "#" + "".join(f"{round(int(color[i : i + 2], 16) * factor):02x}" for i in (1, 3, 5))


def definition(name: str) -> str:
    """The element `mc-<name>`: a cube of the color `name`; for "placed", a bright outline; for "removed", a dashed ghost."""
    if name == "placed":
        pens = (f'<path d="{_CUBE}{_EDGES}" stroke="{pen}"/>' for pen in ('#223" stroke-width="2', '#fff" stroke-width="1'))
        return f'<g id="mc-placed" fill="none">{"".join(pens)}</g>'
    if name == "removed":
        dashes = f'<path d="{_CUBE}"/><path d="{_EDGES}" fill="none"/>'
        return f'<g id="mc-removed" fill-opacity=".15" stroke-width=".8" stroke-dasharray="2 1.5">{dashes}</g>'
    faces = (f'<path d="{face}" fill="{shade(PALETTE[name], by)}"/>' for face, by in zip(_FACES, _SHADES, strict=True))
    return f'<g id="mc-{name}">{"".join(faces)}</g>'


def ground() -> str:
    """The floor of the build region as a grid of 11 x 11 cells, with its axes."""
    low, high = -SIDE, SIDE + 1
    corners = [(low, low), (high, low), (high, high), (low, high)]
    edges = [((low, i), (high, i)) for i in range(low, high + 1)] + [((i, low), (i, high)) for i in range(low, high + 1)]
    lines = "".join(path([project(x, 1, z) for x, z in edge]) for edge in edges)
    floor = f'<path d="{path([project(x, 1, z) for x, z in corners])}z" fill="#f3f1ea"/>{strokes(lines, 0.4, "#bbb6a8")}'
    words = ""
    for axis in "xz":
        for i, word in ((-SIDE, str(-SIDE)), (0, "0"), (SIDE, str(SIDE)), (2.5, axis)):
            x, y = project(*((i + 0.5, 1, low) if axis == "x" else (low, 1, i + 0.5)))
            words += label(word, x + (-7 if axis == "x" else 7), y + 6)
    return floor + strokes(words)


def shadows(parts: Iterable[PlacedSvg]) -> str:
    """A shadow on the floor below every column of parts that does not stand on it, to show where a floating block is."""
    cells = {(part.x, part.z): part.y == 1 for part in sorted(parts, key=lambda part: -part.y)}
    corners = (project(x, 1, z) for (x, z), grounded in cells.items() if not grounded)
    lines = "".join(f"M{number(x)} {number(y)}l-8-4 8-4 8 4z" for x, y in corners)
    return f'<path d="{lines}" fill-opacity=".13"/>' if lines else ""


def path(points: Iterable[tuple[float, float]]) -> str:
    """Path commands for the open line through some points of the picture."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


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
    # In the middle of each cube's hexagon on the picture.
    places = ((*project(*cell), sign) for cell, sign in sorted(signs.items()))
    lines = "".join(f"M{number(x)} {number(y - 8.5)}{sign}" for x, y, sign in places)
    over = strokes(lines, 2.6, "#fff") + strokes(lines, 1.2, "#111") if signs else ""
    return _picture(_cubes(predicted, ghosts), over, pose)


def _cubes(structure: Structure, changes: Iterable[Action]) -> list[PlacedSvg]:
    """The blocks, with an outline or a ghost at each change."""
    parts = [PlacedSvg(*block[:3], use(f"mc-{block.color}", block[:3])) for block in structure.blocks()]
    # Changes may be a set, whose order differs between processes; equal pictures must be equal bytes.
    for action in sorted(changes, key=lambda action: (action.cell, action.kind, action.color or "")):
        if action.kind == "place":
            parts.append(PlacedSvg(*action.cell, use("mc-placed", action.cell)))
        elif action.color and structure.color_at(*action.cell) is None:
            pens = f' fill="{PALETTE[action.color]}" stroke="{shade(PALETTE[action.color], _SHADES[-1])}"'
            parts.append(PlacedSvg(*action.cell, use("mc-removed", action.cell, pens)))
    return parts


def _picture(parts: list[PlacedSvg], over: str, pose: Pose | None) -> str:
    floor = ground() + shadows(parts)
    figure = None if pose is None else builder(pose)
    if figure:
        parts = [*parts, figure.part]
    # From back to front: a part that hides another one comes after it.
    body = "".join(part.svg for part in sorted(parts, key=lambda part: (-part.x, -part.z, part.y)))
    names = sorted({name.split('"')[0] for name in body.split('href="#mc-')[1:]})
    definitions = "".join(DEFINITION if name == "builder" else definition(name) for name in names)
    pen = 'stroke="#222" stroke-width=".4" stroke-linejoin="round"'
    under, above = (figure.under, figure.over) if figure else ("", "")
    whole = f"<defs>{definitions}</defs>{floor}{under}<g {pen}>{body}</g>{above}{over}"
    return document(whole, _box(parts, figure))


def _box(parts: Iterable[PlacedSvg], figure: "Builder | None") -> tuple[float, float, float, float]:
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
