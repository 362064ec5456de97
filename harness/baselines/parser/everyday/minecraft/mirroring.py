"""Mirrors and turns what stands."""

from __future__ import annotations

from harness.baselines.parser.everyday.minecraft.changing import things_found
from harness.baselines.parser.everyday.minecraft.meaning import Order
from harness.baselines.parser.everyday.minecraft.places import Unplaced
from harness.baselines.parser.everyday.minecraft.scene import (
    OF_SIDE,
    OPPOSITE,
    SIDES,
    TOWARD,
    BuildingScene,
    Cell,
    Cells,
    extent,
    mirrored,
    moved,
    spans,
)


def mirror(order: Order, scene: BuildingScene) -> None:
    """Mirrors one half of the field into the other, or a thing beside itself or in its own place."""
    target = _target_half(order, scene)
    if target:
        _mirror_across(*TOWARD[target], scene)
    elif "mirrored" in order.flags or any(place.relation in SIDES or place.other for place in order.places):
        _mirror_beside(order, scene)
    else:
        mirror_in_place(order, scene)


def _target_half(order: Order, scene: BuildingScene) -> str:
    """The half to fill, or "": `mirror the left half` fills the right one, as does `mirror it to the right half`."""
    for place in order.places:
        if place.other and place.landmark.whole.noun in {"middle", "area"}:
            low, high = extent(scene.blocks)
            axis = 0 if abs(low[0] + high[0]) >= abs(low[2] + high[2]) else 2
            return next(pick for pick in _OTHER_HALF if TOWARD[pick] == (axis, -1 if low[axis] + high[axis] > 0 else 1))
    goals = [place.landmark for place in order.places if place.word in {"to", "onto", "into", "over"}]
    for thing in (*goals, *order.told, *(place.landmark for place in order.places)):
        pick = next((pick for pick in thing.picks if pick in _OTHER_HALF), "")
        if pick and (thing.noun == "half" or "field" in order.said):
            return pick if thing in goals or "mirrored" in order.flags else _OTHER_HALF[pick]
    return ""


_OTHER_HALF = {OF_SIDE[way]: OF_SIDE[OPPOSITE[way]] for way in SIDES}


def mirror_in_place(order: Order, scene: BuildingScene) -> None:
    cells = things_found(order, scene)
    colors = {cell: scene.blocks[cell] for cell in cells}
    low, high = extent(cells)
    upright = high[1] - low[1] > max(high[0] - low[0], high[2] - low[2]) and "reverse" in order.said
    axis = 1 if any(place.relation in {"up", "down"} for place in order.places) or "upside" in order.flags or upright else 0
    axis = 2 if axis == 0 and high[2] > low[2] and high[0] == low[0] else axis
    new = {mirrored(cell, axis, low[axis] + high[axis]): color for cell, color in colors.items()}
    scene.remove(cells)
    scene.place(new)


def _mirror_across(axis: int, sign: int, scene: BuildingScene) -> None:
    """Makes one half of the field the mirror image of the other; `sign` is the side of the new half."""
    image = {mirrored(cell, axis, 0): color for cell, color in scene.blocks.items() if cell[axis] * sign < 0}
    scene.remove([cell for cell in scene.blocks if cell[axis] * sign > 0])
    scene.place(image)


def _mirror_beside(order: Order, scene: BuildingScene) -> None:
    """Places the mirror image of a thing on the side that is named, or on the other one if there is no room."""
    things = [thing for thing in order.things if thing.definite and thing.kind != "part"]
    cells = things_found(Order("mirror", things), scene)
    low, high = extent(cells)
    side = next((place.relation for place in order.places if place.relation in SIDES), "right")
    axis = 0 if side in {"left", "right"} else 2
    totals = [2 * high[axis] + 1, 2 * low[axis] - 1]
    for total in totals if side in {"right", "behind"} else totals[::-1]:
        image = {mirrored(cell, axis, total): scene.blocks[cell] for cell in cells}
        if scene.has_room(image):
            scene.place(image)
            return
    raise Unplaced("Where? There is no room.")


def rotate(order: Order, scene: BuildingScene) -> None:
    cells = things_found(order, scene)
    colors = {cell: scene.blocks[cell] for cell in cells}
    low, (wide, _, deep) = extent(cells)[0], spans(cells)
    x, z = low[0] + (wide - deep) // 2, low[2] + (deep - wide) // 2
    new = {(x + cell[2] - low[2], cell[1], z + cell[0] - low[0]): color for cell, color in colors.items()}
    _exchange(cells, new, scene)


def lay_down(order: Order, scene: BuildingScene) -> None:
    """Lays an upright thing on the ground, or stands up one that lies."""
    cells = things_found(order, scene)
    colors = {cell: scene.blocks[cell] for cell in cells}
    ends, (wide, high, deep) = extent(cells), spans(cells)
    ways = [OF_SIDE[place.relation] for place in order.places if place.relation in SIDES]
    axis, sign = TOWARD[ways[0] if ways else "rightmost"]
    if "upright" in order.flags or high == 1:
        axis, sign = (2 if deep > wide else 0), 1
    foot, low = ends[sign < 0][axis], ends[0][1]
    new: dict[Cell, str] = {}
    for cell, color in colors.items():
        values = [*cell]
        values[axis], values[1] = foot + sign * (cell[1] - low), low + sign * (cell[axis] - foot)
        new[values[0], values[1], values[2]] = color
    _exchange(cells, new, scene)


def _exchange(cells: Cells, new: dict[Cell, str], scene: BuildingScene) -> None:
    """Puts the blocks elsewhere, if need be moved into the region and to free cells. Raises Unplaced if there is no room."""
    without = scene.copy()
    without.remove(cells)
    steps = sorted(((x, 0, z) for x in range(-10, 11) for z in range(-10, 11)), key=lambda step: abs(step[0]) + abs(step[2]))
    for step in steps:
        there = {moved(cell, step): color for cell, color in new.items()}
        if without.has_room(there):
            scene.remove(cells)
            scene.place(there)
            return
    raise Unplaced("Where? There is no room.")
