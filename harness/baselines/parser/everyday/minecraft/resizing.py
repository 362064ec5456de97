"""Makes what stands larger or smaller: higher, longer, wider, or less so."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.building import sizes_like
from harness.baselines.parser.everyday.minecraft.changing import main_color, things_found
from harness.baselines.parser.everyday.minecraft.figures import cells_of, colored
from harness.baselines.parser.everyday.minecraft.meaning import Growth, Order, Thing
from harness.baselines.parser.everyday.minecraft.places import Unplaced, centered
from harness.baselines.parser.everyday.minecraft.scene import (
    TOWARD,
    WAYS,
    BuildingScene,
    Cell,
    Cells,
    Made,
    box,
    extent,
    fits,
    moved,
    pieces,
    spans,
    together,
    with_value,
)
from harness.worlds.minecraft import HEIGHT, SIDE


def resize(order: Order, scene: BuildingScene) -> None:
    """Makes a thing higher, longer, wider or larger, or smaller, in the colors that it has."""
    cells = things_found(order, scene)
    become, growth = order.become or Thing(), order.growth
    if become.like:
        become = replace(become, sizes=become.sizes | sizes_like(become, scene), like={})
    if "deep" in become.sizes and spans(cells)[0] == spans(cells)[2] and spans(cells)[1] > 1:
        become = replace(become, by=[become.sizes["deep"]] * 2)
    if _rebuilt(cells, become, growth, scene):
        return
    if (growth and growth.axis == "all") or len(become.by) > 1:
        around = "around" in order.flags or any(
            place.landmark.noun in {"side", "edge"} and place.landmark.plural for place in order.places
        )
        _rescale(cells, growth, become, scene, around)
        return
    for name in [*become.sizes][:-1]:
        axis, new_size = _axis_and_size(cells, Thing(sizes={name: become.sizes.pop(name)}), None)
        _stretch(cells, axis, new_size, scene, _end(order, axis))
        cells = scene.standing((*cells, *scene.focus))
    axis, new_size = _axis_and_size(cells, become, growth)
    _stretch(cells, axis, new_size, scene, _end(order, axis))


_REBUILT = frozenset(
    {"pyramid", "stairs", "arch", "table", "house", "tree", "plus", "xshape", "bridge", "lshape", "tshape", "ushape"}
)
"""Figures that grow in all their parts."""


def _rebuilt(cells: Cells, become: Thing, growth: Growth | None, scene: BuildingScene, nouns: Collection[str] = _REBUILT) -> bool:
    """Builds a figure anew in its new size, on the same spot; returns whether it did."""
    made = next((one for one in reversed(scene.made) if one.thing and set(one.cells) == set(cells)), None)
    if made is None or made.noun not in nouns:
        return False
    sizes = spans(cells)
    thing = replace(made.thing, by=become.by, vague="", sizes=dict(become.sizes), count=None)
    if growth:
        level = "high" if sizes[1] > 1 else "wide"
        name = level if growth.axis in {"all", ""} else growth.axis
        old = sizes[1] if name == "high" else max(sizes[0], sizes[2])
        step = 2 if made.noun in {"plus", "xshape"} else 1
        new = round(old * growth.factor) if growth.factor else old + step * growth.add
        thing = replace(thing, sizes={name: max(1, new)})
    shape = cells_of(thing)
    origin = moved(made.cells[0], shape[0], -1) if made.noun == "stairs" else centered(cells, shape, extent(cells)[0][1])
    new_cells = tuple(moved(cell, origin) for cell in shape)
    if not fits(new_cells):
        raise Unplaced("There is no room.")
    colors = colored(new_cells, thing, main_color(cells, scene))
    scene.remove(cells)
    scene.place({cell: color for cell, color in colors.items() if cell not in scene.blocks})
    scene.made.append(Made(made.word, made.noun, new_cells, thing))
    return True


def _axis_and_size(cells: Cells, become: Thing, growth: Growth | None) -> tuple[int, int]:
    sizes = wide, high, deep = spans(cells)
    level = 0 if wide >= deep else 2
    tall = high > max(wide, deep)
    name = growth.axis if growth else next(iter(become.sizes), "")
    rises = tall and name in {"", "count", "long"}
    flat_deeper = name == "deep" and high == 1 < min(wide, deep)
    if name == "high" or rises or flat_deeper or (name == "count" and wide == deep == 1):
        axis = 1
    elif name == "deep" or (name == "wide" and high == 1 and wide != deep):
        axis = 2 - level
    else:
        axis = level
    if become.count:
        return axis, become.count
    if growth:
        return axis, max(0, round(sizes[axis] * growth.factor) if growth.factor else sizes[axis] + growth.add)
    return axis, become.sizes.get(name, sizes[axis])


def _end(order: Order, axis: int) -> int:
    """The end at which to stretch: 1 for right, up and away, -1 for the opposite end, 0 for either."""
    for place in order.places:
        way = WAYS.get(place.relation)
        if way and way[axis]:
            return way[axis]
        for pick in place.of.picks if place.of else ():
            if TOWARD.get(pick, (-1, 0))[0] == axis:
                return TOWARD[pick][1]
    return 0


def _stretch(cells: Cells, axis: int, size: int, scene: BuildingScene, sign: int) -> None:
    low, high = extent(cells)
    count = size - (high[axis] - low[axis] + 1)
    if count < 0:
        kept = range(low[axis], low[axis] + size) if sign >= 0 else range(high[axis] - size + 1, high[axis] + 1)
        scene.remove([cell for cell in cells if cell[axis] not in kept])
        return
    way = with_value((0, 0, 0), axis, 1)
    new: dict[Cell, str] = {}
    period = _period(cells, axis, scene)
    for step in (sign,) if sign else (1, -1) if axis != 1 else (1,):
        edge = high[axis] if step > 0 else low[axis]
        layer = [cell for cell in cells if cell[axis] == edge]
        for n in range(1, count + 1):
            one = {moved(cell, way, n * step): period(cell, n, step) for cell in layer}
            if not fits(one) or any(c in scene.blocks and axis != 1 for c in one):
                break
            new |= one
            count -= 1
        if count <= 0:
            break
    if count > 0 and axis != 1 and not new:
        raise Unplaced("There is no room.")
    _push_up(cells, new, scene)
    scene.place(new)
    scene.focus = tuple(dict.fromkeys((*cells, *new)))
    scene.made.append(Made("", "", scene.focus))


def _push_up(cells: Cells, new: dict[Cell, str], scene: BuildingScene) -> None:
    """Lifts the blocks that are in the way of new ones, with all that hang together with them."""
    taken = [cell for cell in new if cell in scene.blocks]
    if not taken:
        return
    height = spans(tuple(new))[1]
    others = pieces([cell for cell in scene.blocks if cell not in cells])
    above = together(piece for piece in others if set(piece) & set(taken))
    if not fits(moved(cell, WAYS["up"], height) for cell in above):
        raise Unplaced("There is no room.")
    scene.shift(above, (0, height, 0))


def _period(cells: Cells, axis: int, scene: BuildingScene) -> Callable[[Cell, int, int], str]:
    """A function for the color that continues a pattern: that of the block one period before."""
    low, high = extent(cells)
    length = high[axis] - low[axis] + 1

    def color(cell: Cell, n: int, step: int) -> str:
        line = [scene.blocks.get(with_value(cell, axis, cell[axis] - step * k)) for k in range(length)][::-1]
        known = [c for c in line if c]
        for period in range(1, len(known) + 1):
            if all(known[k] == known[k - period] for k in range(period, len(known))):
                return known[len(known) - period + (n - 1) % period]
        return scene.blocks[cell]

    return color


def _rescale(cells: Cells, growth: Growth | None, become: Thing, scene: BuildingScene, around: bool) -> None:
    """Makes a whole thing larger or smaller in the directions in which it extends; on both sides of each if `around`."""
    sizes = spans(cells)
    if len(become.by) > 1:
        by = become.by
        wanted = tuple(by[:3]) if sizes[1] > 1 and len(by) > 2 else (by[0], sizes[1], by[1])
    elif growth and growth.factor:
        wanted = tuple(max(1, round(size * growth.factor)) if size > 1 else size for size in sizes)
    else:
        add = (growth.add if growth else 1) * (2 if around else 1)
        wanted = tuple(max(1, size + add) if size > 1 or max(sizes) == 1 else size for size in sizes)
    low = extent(cells)[0]
    shift = [(size - new) // 2 if around and axis != 1 else 0 for axis, size, new in zip(range(3), sizes, wanted, strict=True)]
    starts = [
        max(-SIDE if axis != 1 else 1, min(low[axis] + shift[axis], (SIDE if axis != 1 else HEIGHT) - wanted[axis] + 1))
        for axis in range(3)
    ]
    ends = [start + wanted[axis] - 1 for axis, start in enumerate(starts)]
    new = box((starts[0], starts[1], starts[2]), (ends[0], ends[1], ends[2]))
    if not fits(new):
        raise Unplaced("There is no room.")
    color = main_color(cells, scene)
    scene.remove([cell for cell in cells if cell not in set(new)])
    scene.place({cell: color for cell in new if cell not in scene.blocks})
    scene.focus = scene.standing(new)


def extend(order: Order, scene: BuildingScene) -> None:
    """`add 2 more`, `continue it to the edge`, `raise it by one`."""
    cells = things_found(replace(order, things=[t for t in order.things if t.definite][:1]), scene)
    add = order.growth.add if order.growth and order.growth.add else 1
    if _rebuilt(cells, Thing(), Growth("high", add=add), scene, {"stairs", "pyramid"}):
        return
    count = next((t.count for t in order.things if t.count and not t.definite), None)
    sizes = spans(cells)
    if "max_to_edge" in order.flags:
        count = 2 * SIDE + 1
    total = order.become.sizes.get("count") if order.become else None
    upright = sizes[1] > max(sizes[0], sizes[2]) or (order.growth is not None and order.growth.axis == "high")
    axis = 1 if upright else 0 if sizes[0] >= sizes[2] else 2
    for place in order.places:
        way = WAYS.get(place.relation)
        if way:
            axis = next(n for n in range(3) if way[n])
    size = total or sizes[axis] + (count or add)
    _stretch(cells, axis, size, scene, _end(order, axis))
