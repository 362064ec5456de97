"""Carries out orders that change what stands: remove, keep, recolor, swap, move, copy, fill, connect, hollow."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from harness.baselines.parser.everyday.minecraft.building import build, connect, gap_of
from harness.baselines.parser.everyday.minecraft.meaning import Order, Thing, it
from harness.baselines.parser.everyday.minecraft.places import Unplaced, spots
from harness.baselines.parser.everyday.minecraft.references import cells_found, found, interior, parts, whole_of
from harness.baselines.parser.everyday.minecraft.scene import (
    GROUND,
    OF_SIDE,
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
)
from harness.worlds.minecraft import COLORS, HEIGHT, SIDE, touching


def things_found(order: Order, scene: BuildingScene) -> Cells:
    """The blocks that an order is about. Raises Unplaced if there are none."""
    cells = tuple(
        dict.fromkeys(cell for thing in order.things or [it()] for cell in cells_found(_qualified(thing, order), scene))
    )
    if not cells:
        raise Unplaced("Which one?")
    return cells


def _qualified(thing: Thing, order: Order) -> Thing:
    """A thing narrowed down by the places of its order: `the block on the left`, `the top block in the tower`."""
    if order.act in {"move", "copy"}:
        return thing
    for place in order.places:
        of = place.landmark
        if place.word == "from" and thing.count and of.kind == "part":
            thing = replace(thing, picks=[*thing.picks, *(of.picks or [of.noun])])
        elif of.noun not in {"area", ""} and place.relation in {"at", "inside"} and thing.of is None:
            thing = replace(thing, of=of)
        elif place.relation in _BESIDE and place.of and of.noun != "area" and of.kind != "part":
            thing = replace(thing, place=place)
        elif place.relation in _PICKS and place.of is None:
            thing = replace(thing, picks=[*thing.picks, _PICKS[place.relation]])
    return thing


_BESIDE = frozenset({"left", "right", "front", "behind", "on", "below", "between", "beside"})
_PICKS = OF_SIDE | {"toward": "nearest", "away": "farthest"}


# --- remove, keep ---


def remove(order: Order, scene: BuildingScene) -> None:
    for thing in order.things or [it()]:
        thing = _qualified(thing, order)
        if "extra" in thing.flags and thing.generic and not thing.colors:
            thing = replace(it(), count=thing.count or 1)
        groups = found(thing, scene)
        if not groups:
            raise Unplaced("Which one?")
        gone = together(groups)
        if thing.article in {"a", ""} and not thing.plural and thing.generic and not thing.picks:
            each = len(groups) if thing.whole.whole.plural else 1
            gone = _loose(gone, scene)[: (thing.count or 1) * each]
        if thing.is_it and thing.count:
            gone = _loose(gone, scene)[: thing.count]
        touched = [piece for piece in pieces(scene.blocks) if not set(gone).isdisjoint(piece)]
        scene.remove(gone)
        rest = scene.standing(cell for piece in touched for cell in piece)
        scene.focus = scene.standing(scene.focus) or (rest if len(pieces(rest)) > 1 else ())


def _loose(cells: Cells, scene: BuildingScene) -> Cells:
    """Blocks in the order in which they may be taken one by one: from the top, from an end."""
    return tuple(sorted(cells, key=lambda cell: (-cell[1], sum(other in scene.blocks for other in touching(cell)), cell)))


def keep(order: Order, scene: BuildingScene) -> None:
    kept = set(things_found(order, scene))
    scene.remove([cell for cell in scene.blocks if cell not in kept])


# --- colors ---


def recolor(order: Order, scene: BuildingScene) -> None:
    become = order.become or Thing()
    if become.no_color:
        raise Unplaced("Which color?")
    thing = order.thing or it()
    if thing.noun == "area" and become.noun not in {"", "block"}:
        build(Order("build", [replace(become, by=[2 * SIDE + 1] * 2)]), scene)
        return
    cells = things_found(order, scene)
    alike = cells_found(become.like["color"], scene) if "color" in become.like else ()
    if alike:
        colors = [main_color(alike, scene)]
    elif become.colors:
        colors = become.colors
    elif "varied" in become.flags and "same" not in become.flags:
        colors = list(COLORS)
    elif "same" in become.flags | order.flags | thing.flags:
        colors = [scene.blocks[cells[0]]]
    else:
        raise Unplaced("Which color?")
    scene.recolor({cell: colors[number % len(colors)] for number, cell in enumerate(sorted(cells))})


def swap(order: Order, scene: BuildingScene) -> None:
    things = [] if "way" in order.said else order.told
    if len(things) == 1 and len(things[0].colors) == 2:
        things = [replace(things[0], colors=[color]) for color in things[0].colors]
    things = [thing for thing in things if thing.noun or thing.colors or thing.picks or thing.ordinals]
    if not things or (len(things) == 1 and things[0].kind == "it"):
        colors = list(dict.fromkeys(scene.blocks.values()))
        things = [Thing(colors=[color], noun="block", word="blocks") for color in colors]
    if len(things) != 2:
        raise Unplaced("Which ones?")
    if all(thing.colors and thing.noun in {"", "block"} for thing in things):
        one, other = things[0].colors[0], things[1].colors[0]
        scene.recolor({c: other if color == one else one for c, color in scene.blocks.items() if color in {one, other}})
        return
    a, b = (cells_found(thing, scene) for thing in things)
    if not a or not b:
        raise Unplaced("Which ones?")
    step = moved(extent(b)[0], extent(a)[0], -1)
    colors_a, colors_b = ({cell: scene.blocks[cell] for cell in cells} for cells in (a, b))
    scene.remove([*a, *b])
    scene.place({moved(cell, step): color for cell, color in colors_a.items()})
    scene.place({moved(cell, step, -1): color for cell, color in colors_b.items()})


# --- moves and copies ---


def move(order: Order, scene: BuildingScene) -> None:
    cells = things_found(order, scene)
    without = scene.copy()
    without.remove(cells)
    without.focus = scene.focus if not set(scene.focus) & set(cells) else ()
    step = _step(order, cells, without) or _step_to_place(order, cells, without)
    new = tuple(moved(cell, step) for cell in cells)
    if not without.has_room(new):
        raise Unplaced("Where? There is no room.")
    scene.shift(cells, step)
    scene.focus = new
    thing = order.thing or Thing()
    scene.made.append(Made(thing.word, thing.noun, new))


def _step_to_place(order: Order, cells: Cells, scene: BuildingScene) -> Cell:
    if not order.places:
        raise Unplaced("Where?")
    low = extent(cells)[0]
    shape = tuple(moved(cell, low, -1) for cell in cells)
    return moved(spots(order.places, shape, scene)[0], low, -1)


def _step(order: Order, cells: Cells, scene: BuildingScene) -> Cell | None:
    """The step of a move in a direction, or None if no direction is named: `2 to the left`, `to the left edge`."""
    total = (0, 0, 0)
    for place in order.places:
        if place.relation in WAYS and place.of is None:
            add = order.growth.add if order.growth else 0
            total = moved(total, WAYS[place.relation], place.distance or add or 1)
        elif place.other and place.landmark.noun in {"end", "corner", "side"}:
            total = _to_other(place.landmark, cells, scene)
        elif place.landmark.noun == "edge" and place.landmark.picks:
            total = _to_edge(place.landmark.picks[0], cells)
    return total if any(total) else None


def _to_other(part: Thing, cells: Cells, scene: BuildingScene) -> Cell:
    """The step from the end, corner or side of something that is nearest to some cells to the farthest one."""

    def distance(group: Cells) -> float:
        (low, high), (least, most) = extent(group), extent(cells)
        return sum(abs(low[axis] + high[axis] - least[axis] - most[axis]) for axis in (0, 2))

    groups = sorted(parts(whole_of(part, scene), part), key=distance)
    if len(groups) < 2:
        return 0, 0, 0
    return moved(extent(groups[-1])[0], extent(groups[0])[0], -1)


def _to_edge(pick: str, cells: Cells) -> Cell:
    axis, sign = TOWARD.get(pick, (1, -1))
    end = extent(cells)[sign > 0][axis]
    return moved((0, 0, 0), (int(axis == 0), 0, int(axis == 2)), sign * SIDE - end)


def copy(order: Order, scene: BuildingScene) -> None:
    """Copies the things once, or as many times as are named, each beside the last copy."""
    cells = (
        things_found(order, scene)
        if "do" not in order.said.split() and any(one.noun and not one.flags & {"same", "once_more"} for one in order.things)
        else scene.standing(scene.turn or scene.focus) or things_found(Order(), scene)
    )
    become = next((place.of for place in order.places if place.of and place.only_colors), order.become or Thing())
    become = next((thing for thing in order.things if thing.colors and "same" in thing.flags), become)
    colors = {cell: (become.colors[0] if become.colors else scene.blocks[cell]) for cell in cells}
    if "max_to_edge" in order.flags or "keep" in order.said:
        _repeat_to_edge(order, colors, scene)
        return
    built: list[Cell] = []
    for _ in range(_times(order)):
        new = _copy_place(order, colors, scene, cells)
        scene.place(new)
        scene.made.append(Made("", "", tuple(new)))
        built += new
        cells = tuple(new)
        colors = new
    scene.focus = tuple(built)


def _times(order: Order) -> int:
    """The number of copies to make: 2 for `two more of those`, and for `three of those`, of which one stands already."""
    counts = (
        thing.count
        for thing in order.things
        if thing.count and thing.article != "all" and (thing.kind in {"it", ""} or "extra" in thing.flags)
    )
    times = next(counts, 0) or (int(order.growth.factor) if order.growth else 0) or 1
    return times - any(thing.is_it and (thing.count or 0) > 1 and "extra" not in thing.flags for thing in order.things)


def _copy_place(order: Order, colors: dict[Cell, str], scene: BuildingScene, cells: Cells) -> dict[Cell, str]:
    directed = next((place for place in order.places if place.relation in {*WAYS, "on", "beside"}), None)
    if directed and (directed.of is None or directed.of.kind in {"it", "everything"} or directed.of.article == "this"):
        wide, high, deep = spans(cells)
        gap = gap_of(order.places)
        for way in ("right", "left", "behind", "front") if directed.relation == "beside" else (directed.relation,):
            vector = WAYS["up" if way == "on" else way]
            size = {"left": wide, "right": wide, "front": deep, "behind": deep, "away": deep, "toward": deep}.get(way, high)
            if gap:
                directed.distance = size + gap
            told = directed.distance or 0
            step = told if told >= size else size + told
            new = {moved(cell, vector, step): color for cell, color in colors.items()}
            if scene.has_room(new):
                return new
        raise Unplaced("Where? There is no room.")
    low = extent(cells)[0]
    shape = tuple(moved(cell, low, -1) for cell in cells)
    origins = spots(order.places, shape, scene, "apart" in order.flags)
    return {moved(moved(cell, low, -1), origin): color for origin in origins for cell, color in colors.items()}


def _repeat_to_edge(order: Order, colors: dict[Cell, str], scene: BuildingScene) -> None:
    way = next((WAYS[place.relation] for place in order.places if place.relation in WAYS), WAYS["right"])
    size = max(spans(tuple(colors))[axis] for axis in range(3) if way[axis])
    step = size + gap_of(order.places)
    new = {moved(c, way, n * step): color for n in range(1, 2 * SIDE + 2) for c, color in colors.items()}
    scene.place({cell: color for cell, color in new.items() if fits([cell])})


# --- filling and connecting ---


def look(order: Order, scene: BuildingScene) -> None:
    """Makes "it" mean the things named; they may be cells of the ground, such as the last row of the area."""
    cells: list[Cell] = []
    for thing in order.things:
        thing = _qualified(thing, order)
        if thing.noun in {"row", "lane"} and not scene.blocks:
            thing = replace(thing, noun="edge", kind="part", of=Thing(noun="area"))
            thing.picks = [*thing.picks, *(pick for place in order.places for pick in place.landmark.picks)]
        on_ground = thing.kind == "part" and thing.whole.noun == "area"
        cells += together(parts(GROUND, thing)) if on_ground else cells_found(thing, scene)
    if cells:
        scene.focus = tuple(dict.fromkeys(cells))


def leave_open(order: Order, scene: BuildingScene) -> None:
    """`leave a gate in the middle of the near side` removes the blocks there; `a door in it` is in the middle of its front."""
    thing = order.things[0]
    for of in [*(one.of for one in order.things), *(place.of for place in order.places)]:
        cells = cells_found(of, scene) if of else ()
        if of and cells:
            whole = of.kind != "part" and len(cells) > 1
            if len(cells) == 1:
                tall = HEIGHT if "max_to_edge" in order.flags | thing.flags else thing.sizes.get("high", 1)
                cells = tuple(moved(cells[0], WAYS["up"], n) for n in range(tall))
            scene.remove(_opening(cells, thing) if whole else cells)
            return
    focus = scene.standing(scene.focus)
    if order.places or not focus:
        raise Unplaced("Where?")
    scene.remove(_opening(focus, thing))


def _opening(whole: Cells, thing: Thing) -> Cells:
    """The cells of an opening in the front of something: a door begins at the bottom, another hole is in the middle."""
    low, high = extent(whole)
    door = thing.word.startswith(("door", "gate", "arch"))
    wide, tall = (thing.by if len(thing.by) > 1 else (thing.sizes.get("wide", 1), thing.sizes.get("high", 2 if door else 1)))[:2]
    x = (low[0] + high[0] - wide + 1) // 2
    y = low[1] if door else max(low[1], (low[1] + high[1] - tall + 1) // 2)
    flat = high[1] == low[1]
    z = (low[2] + high[2]) // 2 if flat else low[2]
    return box((x, y, z), (x + wide - 1, min(high[1], y + tall - 1), z))


def fill(order: Order, scene: BuildingScene) -> None:
    thing = order.thing or it()
    become = order.become or Thing()
    if thing.noun == "area" or (thing.noun in {"layer", "everything"} and not scene.blocks):
        build(Order("build", [replace(become, noun="floor", word="floor", by=[2 * SIDE + 1] * 2)]), scene)
        return
    whole = whole_of(thing, scene) if thing.kind == "part" else cells_found(thing, scene)
    if thing.kind == "it" and scene.focus and not scene.standing(scene.focus):
        color = become.colors[0] if become.colors else scene.color
        scene.place(dict.fromkeys([cell for cell in scene.focus if cell not in scene.blocks], color))
        return
    if not whole:
        raise Unplaced("What?")
    low, high = extent(whole)
    inner = [c for c in interior(whole) if c not in scene.blocks]
    if thing.noun == "hole" or not inner:
        inner = [c for c in box(low, high) if c not in scene.blocks]
    height = become.sizes.get("high") or thing.sizes.get("high")
    if height:
        inner = [(x, low[1] + y, z) for x, _, z in dict.fromkeys((x, 0, z) for x, _, z in inner) for y in range(height)]
    if not inner:
        raise Unplaced("What?")
    colors = become.colors or thing.colors or [main_color(whole, scene) if thing.noun == "hole" else scene.color]
    scene.place(dict.fromkeys(inner, colors[0]))
    scene.made.append(Made("inside", "inside", tuple(inner)))


def main_color(cells: Cells, scene: BuildingScene) -> str:
    colors = [scene.blocks[cell] for cell in cells if cell in scene.blocks]
    return max(colors, key=colors.count) if colors else scene.color


def join(order: Order, scene: BuildingScene) -> None:
    groups = [group for thing in order.things for group in found(thing, scene)]
    if not groups or (len(groups) == 1 and order.things[0].is_it):
        groups = pieces(groups[0] if groups and len(pieces(groups[0])) > 1 else scene.blocks)
    become = order.become or next((place.of for place in order.places if place.of and place.of.colors), Thing())
    if len(groups) < 2:
        raise Unplaced("Which ones?")
    if any(place.of.noun == "top" if place.of else place.relation in {"on", "up"} for place in order.places):
        groups = [parts(group, Thing(noun="top"))[0] for group in groups]
    groups.sort(key=extent)
    for one, other in pairwise(groups):
        connect(one, other, become, scene)


def hollow(order: Order, scene: BuildingScene) -> None:
    cells = things_found(order, scene)
    low, high = extent(cells)
    shell = int(high[1] > low[1])
    scene.remove(box((low[0] + 1, low[1] + shell, low[2] + 1), (high[0] - 1, high[1] - shell, high[2] - 1)))
