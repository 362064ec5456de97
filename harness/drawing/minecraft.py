"""Minecraft structures as SVG: blocks as cubes on the floor of the build region, the builder, and what changed."""

from __future__ import annotations

from collections.abc import Iterable

from harness.drawing.builder import DEFINITION, Builder, builder
from harness.drawing.isometric import PlacedSvg, definition, ghost, ground, painters_order, project, shadows, use
from harness.drawing.svg import CHECK, CROSS, DIAMOND, document, number, strokes
from harness.worlds.minecraft import SIDE, Action, Pose, Structure, net_actions, turn_action


def structure_svg(
    structure: Structure, *, pose: Pose | None = None, before: Structure | None = None, quarters: int = 0, scale: float = 2.0
) -> str:
    """A picture of `structure`, with the builder at `pose` and the changes since `before`.

    Placed blocks have a bright outline, removed ones are dashed ghosts. `quarters` turns the world by quarters of 90 degrees
    as `harness.worlds.minecraft.turn` does: `-pose.quarter` is the view from behind the builder. `scale`: pixels a unit.
    """
    changes = [] if before is None else [turn_action(a, quarters) for a in net_actions(before, structure)]
    parts = _cubes(structure, changes, quarters)
    return _picture(parts, "", pose, quarters, scale)


def difference_svg(
    gold: Structure,
    predicted: Structure,
    before: Structure,
    *,
    pose: Pose | None = None,
    quarters: int = 0,
    scale: float = 2.0,
) -> str:
    """The predicted structure with a sign on every cell that gold or the prediction changes; removed blocks are ghosts.

    Check: changed as in gold. Cross: a net action that gold does not have. Diamond: a net action of gold that is missing (a
    missing placement is a ghost in its color). A cell whose color is wrong has a cross.
    """
    wanted, done = net_actions(before, gold), net_actions(before, predicted)
    signs: dict[tuple[int, int, int], str] = {}
    for actions, sign in ((wanted & done, CHECK), (wanted - done, DIAMOND), (done - wanted, CROSS)):
        signs |= {turn_action(action, quarters).cell: sign for action in actions}
    ghosts = [turn_action(a, quarters) for a in (wanted | done) if predicted.color_at(*a.cell) is None]
    lines = "".join(f"M{number(x)} {number(y)}{sign}" for (x, y), sign in ((_middle(c), s) for c, s in sorted(signs.items())))
    over = strokes(lines, 2.6, "#fff") + strokes(lines, 1.2, "#111") if signs else ""
    return _picture(_cubes(predicted, [a._replace(kind="remove") for a in ghosts], quarters), over, pose, quarters, scale)


def _middle(cell: tuple[int, int, int]) -> tuple[float, float]:
    """The middle of a cube's hexagon on the picture."""
    x, y = project(*cell)
    return x, y - 8.5


def _cubes(structure: Structure, changes: Iterable[Action], quarters: int) -> list[PlacedSvg]:
    """The blocks in the turned world, with an outline or a ghost at each change."""
    view = structure.turned(quarters)
    parts = [PlacedSvg(*block[:3], use(f"mc-{block.color}", block[:3])) for block in view.blocks()]
    for action in changes:
        if action.kind == "place":
            parts.append(PlacedSvg(*action.cell, use("mc-placed", action.cell)))
        elif action.color and view.color_at(*action.cell) is None:
            parts.append(PlacedSvg(*action.cell, ghost(action.color, action.cell)))
    return parts


def _picture(parts: list[PlacedSvg], over: str, pose: Pose | None, quarters: int, scale: float) -> str:
    floor = ground(quarters) + shadows(parts)
    figure = None if pose is None else builder(pose, quarters)
    if figure:
        parts = [*parts, figure.part]
    body = "".join(part.svg for part in sorted(parts, key=painters_order))
    names = sorted({name.split('"')[0] for name in body.split('href="#mc-')[1:]})
    definitions = "".join(DEFINITION if name == "builder" else definition(name) for name in names)
    pen = 'stroke="#222" stroke-width=".4" stroke-linejoin="round"'
    under, above = (figure.under, figure.over) if figure else ("", "")
    whole = f"<defs>{definitions}</defs>{floor}{under}<g {pen}>{body}</g>{above}{over}"
    return document(whole, _box(parts, figure), scale)


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
