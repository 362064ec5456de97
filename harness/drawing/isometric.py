"""The projection of the Minecraft pictures: from above the corner of lowest x and z, with cubes in three shades.

Units: a step along z is (8, -4) on the picture, a step along x (-8, -4), a step up (0, -9). So +z is up and to the right and +x
up and to the left, as for a builder who looks along +z.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.drawing.svg import label, number, strokes
from harness.worlds.minecraft import SIDE

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


def painters_order(part: PlacedSvg) -> tuple[int, int, int]:
    """Sort key from back to front: a part that hides another one comes after it."""
    return -part.x, -part.z, part.y


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


def ghost(color: str, cell: tuple[int, int, int]) -> str:
    dark = shade(PALETTE[color], _SHADES[-1])
    return use("mc-removed", cell, f' fill="{PALETTE[color]}" stroke="{dark}"')


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
