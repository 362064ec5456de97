"""Finds the blocks that a thing means: `the top block of the red tower`, `every red block`, `it`, `the other one`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import Location, Thing
from harness.baselines.parser.everyday.minecraft.scene import (
    GROUND,
    TOWARD,
    WAYS,
    BuildingScene,
    Cell,
    Cells,
    box,
    extent,
    pieces,
    spans,
    together,
)
from harness.worlds.minecraft import touching

ROOFS = frozenset({"roof", "lid", "ceiling"})
"""Words for the top layer of a thing, unless something was built by this name."""
_FLAT = frozenset({"floor", "square", "layer"})
_LONGEST = {"tallest": -1, "shortest": 1}


def found(thing: Thing, scene: BuildingScene) -> list[Cells]:
    """The groups of blocks that a thing means: `every red block` has a group for each red block."""
    groups = _all_found(thing, scene)
    if thing.place is not None:
        groups = _at_place(_all_found(replace(thing, count=None, article="all"), scene), thing.place, scene)
    if thing.but:
        spared = set(together(found(thing.but, scene)))
        groups = [kept for group in groups if (kept := tuple(cell for cell in group if cell not in spared))]
    return groups


def _at_place(groups: list[Cells], place: Location, scene: BuildingScene) -> list[Cells]:
    """The groups that are nearest to a place: `the block that is between the towers`, `the one left of it`."""
    marks = together(cells for of in (place.of, place.second) if of for cells in found(of, scene))
    groups = [group for group in groups if set(marks).isdisjoint(group)]
    if not marks or not groups:
        return []
    way = WAYS.get({"on": "up", "below": "down"}.get(place.relation, place.relation), (0, 0, 0))
    center = _center(marks)
    goal = tuple(center[axis] + way[axis] * (spans(marks)[axis] + 1) / 2 for axis in range(3))
    return _least(groups, lambda group: _distance(_center(group), goal))


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def _least(groups: list[Cells], key: Callable[[Cells], float]) -> list[Cells]:
    """The groups with the smallest key."""
    best = min(map(key, groups))
    return [group for group in groups if key(group) == best]


def cells_found(thing: Thing, scene: BuildingScene) -> Cells:
    return tuple(dict.fromkeys(together(found(thing, scene))))


def _all_found(thing: Thing, scene: BuildingScene) -> list[Cells]:
    if thing.no_color or not scene.blocks or "free" in thing.picks:
        return []
    if thing.noun == "everything" and thing.of and thing.of.noun != "area":
        return found(thing.of, scene)
    if thing.noun == "everything" and thing.colors:
        return _single(scene.of_color(*thing.colors))
    if thing.noun in {"everything", "area", "figure"} and not thing.colors and thing.kind != "part":
        return [_all(scene)]
    inner = thing.of.of if thing.of is not None and thing.of.of is not None and thing.of.of.each else thing.of
    if inner is not None and inner.plural and inner.noun != "area" and thing.kind != "everything":
        groups = found(inner, scene)
        if len(groups) > 1:
            alone = [BuildingScene({cell: scene.blocks[cell] for cell in group}, focus=group) for group in groups]
            own = None if inner is thing.of or thing.of is None else replace(thing.of, of=None)
            return [cells for one in alone for cells in _all_found(replace(thing, of=own), one)]
    there = _in_corner(thing, scene)
    if there:
        return there
    if thing.kind == "it":
        return _it(thing, scene)
    if thing.kind == "part":
        return _parts(thing, scene)
    return _blocks(thing, scene) if thing.generic else _objects(thing, scene)


def _all(scene: BuildingScene) -> Cells:
    return tuple(sorted(scene.blocks))


def _single(cells: Cells) -> list[Cells]:
    """Each cell as a group of its own."""
    return [(cell,) for cell in cells]


def around_focus(focus: Cells, scene: BuildingScene) -> list[Cells]:
    """The pieces that contain what was mentioned last."""
    return [piece for piece in pieces(scene.blocks) if set(focus) <= set(piece)]


def _in_corner(thing: Thing, scene: BuildingScene) -> list[Cells]:
    """What stands in a corner of the area: `the one in the far left corner`."""
    part = thing.whole
    if thing.kind != "thing" or part.noun != "corner" or not (part.picks or part.of) or thing.picks:
        return []
    if part.of and part.of.noun != "area":
        return []
    ground = {(cell[0], cell[2]) for cell in together(parts(GROUND, part))}
    return [piece for piece in pieces(scene.blocks) if any((cell[0], cell[2]) in ground for cell in piece)]


def _it(thing: Thing, scene: BuildingScene) -> list[Cells]:
    focus = scene.standing(scene.focus)
    if "whole" in thing.word and focus:
        return [together(piece for piece in pieces(scene.blocks) if set(piece) & set(focus))]
    if thing.colors:
        focus = tuple(cell for cell in focus if scene.blocks[cell] in thing.colors)
    if thing.word in {"it", "its"} and len(pieces(focus)) > 1:
        focus = next(iter(around_focus(focus, scene)), focus)
    return [focus or _all(scene)]


def _blocks(thing: Thing, scene: BuildingScene) -> list[Cells]:
    """Single blocks: by their color, the thing they are part of, and their position."""
    among = _all(scene)
    if thing.of and thing.of.noun not in {"area", "everything"}:
        part = replace(thing.of, count=thing.count or thing.of.count) if thing.of.noun == "middle" else thing.of
        among = cells_found(part, scene)
    elif thing.article == "my" or _within_one(thing):
        among = _picked_within(thing, scene)
    if thing.colors:
        among = tuple(cell for cell in among if scene.blocks.get(cell) in thing.colors)
    if thing.article == "other":
        rest = tuple(cell for cell in among if cell not in scene.focus)
        if not thing.colors and thing.word in {"1", ""} and rest:
            others = pieces(rest)
            return others if thing.plural or len(others) == 1 else others[-1:]
        among = rest
    if not among:
        return []
    if (thing.ordinals or "middle" in thing.picks) and thing.word == "1" and len(pieces(among)) > 1:
        return _picked(pieces(among), thing)
    if thing.picks or thing.ordinals:
        return _picked(_single(among), thing)
    if thing.plural or thing.few:
        return _single(among[: thing.count] if thing.count and thing.article not in {"each", "all", "the", "this"} else among)
    return [_one_block(thing, among, scene)]


def _within_one(thing: Thing) -> bool:
    """Whether a pick chooses among the blocks of one thing: `the top block`, `the middle one`."""
    return bool(
        set(thing.picks) & {"top", "bottom", "middle", "corner", "end", "outer", "alternate", "third", "last", "first"}
        or thing.ordinals
    )


def _picked_within(thing: Thing, scene: BuildingScene) -> Cells:
    focus = () if thing.colors else scene.standing(scene.focus)
    if len(focus) == 1:
        (focus,) = around_focus(focus, scene)
    return focus or _all(scene)


def _one_block(thing: Thing, among: Cells, scene: BuildingScene) -> Cells:
    """The block, or the connected blocks, that `the red one` means."""
    groups = pieces(among)
    single = [group for group in groups if len(group) == 1]
    if thing.noun == "" or not single:
        best = max(groups, key=scene.newest)
        if thing.noun == "block" and len(best) > 1 and thing.word != "1":
            return (max(best, key=lambda cell: (scene.newest((cell,)), cell[1])),)
        return best
    return max(single, key=scene.newest)


def _slices(thing: Thing, whole: Cells) -> list[Cells]:
    """The rows or columns of something that are picked: the leftmost, the second, every other one."""
    picks = {*thing.picks, thing.counted_from}
    upright = spans(whole)[1] > 1
    column = thing.noun == "tower" or thing.word in {"column", "columns"} or bool(picks & {"leftmost", "rightmost"})
    axis = (0 if spans(whole)[0] > 1 else 2) if column else 1 if upright and not picks & {"nearest", "farthest"} else 2
    return _picked([tuple(c for c in whole if c[axis] == value) for value in sorted({c[axis] for c in whole})], thing)


def _objects(thing: Thing, scene: BuildingScene) -> list[Cells]:
    """Things by their names: as they were called when they were built, otherwise by their shape."""
    picks = bool(thing.picks or thing.ordinals)
    if thing.of and picks and thing.noun in {"row", "tower"} and (whole := cells_found(thing.of, scene)):
        return _slices(thing, whole)
    candidates = [group for group in scene.objects() if not thing.colors or _has_colors(group, thing, scene)]
    if thing.article == "other":
        candidates = [group for group in candidates if not set(group) & set(scene.focus)]
    named = _made(thing, scene)
    if thing.word in ROOFS and thing.definite and not any(made.word == thing.word for made in scene.made):
        roof = parts(whole_of(thing, scene), Thing(noun="top"))
        return [group for group in roof if not thing.colors or _has_colors(group, thing, scene)]
    if thing.noun == "named" and not named:
        return _blocks(replace(thing, noun="block"), scene) if thing.colors else []
    fitting = named or [group for group in candidates if _is_shaped(group, thing.noun)]
    fitting = _without_parts(fitting or _part_shaped(thing, scene) or candidates)
    if picks:
        return _picked(fitting, thing)
    if thing.plural or not fitting:
        return fitting
    return [max(fitting, key=lambda group: (scene.newest(group), len(group)))]


def _has_colors(group: Cells, thing: Thing, scene: BuildingScene) -> bool:
    return {scene.blocks.get(cell) for cell in group} == set(thing.colors)


def _made(thing: Thing, scene: BuildingScene) -> list[Cells]:
    called = [made for made in scene.made if made.word == thing.word]
    for same in (called, [made for made in scene.made if made.noun == thing.noun]):
        sets = [cells for made in same if (cells := scene.standing(made.cells))]
        sets = [cells for cells in sets if not thing.colors or _has_colors(cells, thing, scene)]
        if thing.article == "other":
            sets = [cells for cells in sets if not set(cells) & set(scene.focus)]
        if sets:
            return list(dict.fromkeys(tuple(sorted(cells)) for cells in sets))
    return []


def _part_shaped(thing: Thing, scene: BuildingScene) -> list[Cells]:
    """Things within something larger: a tower is its highest column, rows lie one behind or above the other."""
    if thing.noun == "row" and (thing.picks or thing.ordinals):
        return _slices(replace(thing, picks=[], ordinals=[]), whole_of(Thing(), scene))
    among = sorted(scene.of_color(*thing.colors) if thing.colors else scene.blocks)
    if thing.noun != "tower" or not among:
        return []
    columns = [tuple(cell for cell in among if (cell[0], cell[2]) == foot) for foot in {(c[0], c[2]) for c in among}]
    return [max(columns, key=len)]


def _is_shaped(group: Cells, noun: str) -> bool:
    wide, high, deep = spans(group)
    full = len(group) == wide * high * deep
    if noun == "tower":
        return wide == deep and high > 1 and full and high >= wide
    if noun == "row":
        return high == 1 and 1 in {wide, deep} and len(group) > 1
    if noun == "wall":
        return high > 1 and 1 in {wide, deep} and wide != deep
    if noun in _FLAT:
        lies = high == 1 and wide > 1 and deep > 1 and len(group) * 2 > wide * deep
        return lies or (noun == "square" and full and high == wide > 1)
    if noun == "cube":
        return full and min(wide, high, deep) > 1
    if noun == "frame":
        return not full and len(group) > 5 and (wide > 2) + (high > 2) + (deep > 2) > 1
    return noun not in {"block", "plus", "pyramid"} and len(group) > 1


def _without_parts(groups: list[Cells]) -> list[Cells]:
    """The groups without those that are part of a larger one."""
    sets = [set(group) for group in groups]
    return [group for group, own in zip(groups, sets, strict=True) if not any(own < other for other in sets)]


# --- one or some of several ---


def _picked(groups: list[Cells], thing: Thing) -> list[Cells]:
    for pick in thing.picks:
        groups = _by_pick(groups, pick, thing)
    if thing.ordinals and groups:
        ordered = _ordered(groups)
        ordered = ordered[::-1] if thing.counted_from in {"top", "rightmost", "farthest"} else ordered
        groups = [ordered[number - 1] for number in thing.ordinals if 0 < number <= len(ordered)]
    return groups


def _ordered(groups: list[Cells]) -> list[Cells]:
    """The groups in order: from the bottom if together they are higher than wide, otherwise from the left, then the front."""
    wide, high, _ = spans(together(groups))
    axes = (1, 0, 2) if high > wide else (0, 2, 1)
    return sorted(groups, key=lambda group: [_center(group)[axis] for axis in axes])


def _by_pick(groups: list[Cells], pick: str, thing: Thing) -> list[Cells]:
    if not groups:
        return []
    count = thing.count or 1
    chosen = {
        "alternate": slice("from_first" not in thing.flags, None, 2),
        "third": slice(2, None, 3),
        "first": slice(count),
        "last": slice(-count, None),
    }.get(pick)
    if chosen:
        return _ordered(groups)[chosen]
    if pick == "middle":
        center = _center(together(groups))
        return [min(groups, key=lambda group: _distance(_center(group), center))]
    if pick in {"corner", "end", "outer"}:
        make = _PARTS["border_of" if pick == "outer" else pick]
        shown = set(together(make(together(groups), Thing())))
        return [group for group in groups if shown.issuperset(group)]
    if pick not in TOWARD and pick not in _LONGEST:
        return groups

    def key(group: Cells) -> float:
        axis, sign = TOWARD.get(pick, (0, 1))
        return _LONGEST[pick] * len(group) if pick in _LONGEST else -sign * extent(group)[sign > 0][axis]

    return sorted(groups, key=key)[:count] if count > 1 else _least(groups, key)


def _center(cells: Cells) -> tuple[float, float, float]:
    low, high = extent(cells)
    return (low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2


# --- parts ---


def whole_of(thing: Thing, scene: BuildingScene) -> Cells:
    """The cells of the thing that a part belongs to."""
    if thing.of:
        return GROUND if thing.of.noun == "area" else cells_found(thing.of, scene)
    focus = scene.standing(scene.focus)
    built = any(set(made.cells) == set(scene.focus) for made in scene.made)
    if (len(focus) > 1 and built) or len(pieces(focus)) > 1:
        return focus
    return max(around_focus(focus, scene), key=len, default=())


def _parts(thing: Thing, scene: BuildingScene) -> list[Cells]:
    if thing.definite and thing.of is None:
        named = [made.cells for made in scene.made if made.word == thing.word and scene.standing(made.cells)]
        if named:
            return [scene.standing(named[-1])]
    if thing.article == "their" and thing.of is None:
        return [group for piece in pieces(scene.blocks) for group in parts(piece, thing)]
    whole = whole_of(thing, scene)
    if thing.colors and not thing.of:
        whole = tuple(cell for cell in whole if scene.blocks.get(cell) in thing.colors)
    if not whole:
        return []
    groups = [standing for group in parts(whole, thing) if (standing := scene.standing(group))]
    one = thing.noun in {"corner", "end"} and not thing.plural and thing.article != "the"
    return groups[:1] if one else groups


def parts(whole: Cells, thing: Thing) -> list[Cells]:
    """The parts with this name that some cells have: a square has four corners of one cell each."""
    make = _PARTS.get(thing.noun)
    if thing.noun in {"corner", "edge", "side"} and spans(whole)[1] == 1:
        thing = replace(thing, picks=[{"top": "farthest", "bottom": "nearest"}.get(pick, pick) for pick in thing.picks])
    if make is None:
        return [whole]
    groups = make(whole, thing)
    return groups if thing.noun in {"layer", "half", "side", "edge"} else _picked(groups, thing)


def border(whole: Cells) -> Cells:
    """The outermost cells of something flat, lying or upright."""
    low, high = extent(whole)
    axes = [axis for axis in range(3) if high[axis] > low[axis]]
    return tuple(cell for cell in whole if any(cell[axis] in {low[axis], high[axis]} for axis in axes))


def corners(whole: Cells) -> Cells:
    low, high = extent(whole)
    return tuple(cell for cell in whole if all(cell[axis] in {low[axis], high[axis]} for axis in range(3)))


def tips(whole: Cells) -> Cells:
    """The ends of a winding row: the cells with one neighbor."""
    own = set(whole)
    return tuple(cell for cell in whole if sum(other in own for other in touching(cell)) == 1)


def _ends(whole: Cells, thing: Thing) -> list[Cells]:
    ends = tips(whole)
    if len(ends) == 2 and sorted(spans(whole))[1] > 1:
        return _single(ends)
    axis = max(range(3), key=lambda axis: spans(whole)[axis])
    low, high = extent(whole)
    return [tuple(cell for cell in whole if cell[axis] == end) for end in dict.fromkeys((low[axis], high[axis]))]


def _layers(whole: Cells, thing: Thing) -> list[Cells]:
    layers = [tuple(cell for cell in whole if cell[1] == height) for height in sorted({cell[1] for cell in whole})]
    chosen = thing.picks or thing.ordinals or thing.each
    return _picked(layers, thing) if chosen else layers[-(thing.count or 1) :]


def _middle(whole: Cells, thing: Thing) -> list[Cells]:
    low, high = extent(whole)
    near = sorted(whole, key=lambda cell: sum(abs(2 * c - a - b) for c, a, b in zip(cell, low, high, strict=True)))
    return _single(tuple(near[: thing.count or 1]))


def _sides(whole: Cells, thing: Thing) -> list[Cells]:
    """The outermost cells toward each side, or toward those that are picked."""
    ends = {-1: extent(whole)[0], 1: extent(whole)[1]}
    chosen = [TOWARD[pick] for pick in thing.picks if pick in TOWARD] or list(TOWARD.values())[:4]
    return [tuple(cell for cell in whole if cell[axis] == ends[sign][axis]) for axis, sign in chosen]


def _halves(whole: Cells, thing: Thing) -> list[Cells]:
    low, high = extent(whole)
    axis, sign = next((TOWARD[pick] for pick in thing.picks if pick in TOWARD), TOWARD["leftmost"])
    return [tuple(cell for cell in whole if (2 * cell[axis] - low[axis] - high[axis]) * sign > 0)]


def interior(whole: Cells) -> Cells:
    """The cells that some cells enclose (`_enclosed`); if there are none, the inner cells of the box around them."""
    low, high = extent(whole)
    own = set(whole)
    inner = tuple(cell for cell in box(low, high) if cell not in own and _enclosed(cell, own))
    if inner or high[0] - low[0] < 2 or high[2] - low[2] < 2:
        return inner
    bottom, top = (low[1], high[1]) if high[1] - low[1] < 2 else (low[1] + 1, high[1] - 1)
    return box((low[0] + 1, bottom, low[2] + 1), (high[0] - 1, top, high[2] - 1))


def _enclosed(cell: Cell, own: set[Cell]) -> bool:
    """Whether a cell lies between others along at least two of the axes."""
    x, y, z = cell
    across = [c[0] for c in own if c[1] == y and c[2] == z]
    upward = [c[1] for c in own if c[0] == x and c[2] == z]
    away = [c[2] for c in own if c[0] == x and c[1] == y]
    between = [bool(line) and min(line) < at < max(line) for at, line in zip(cell, (across, upward, away), strict=True)]
    return sum(between) > 1


_PARTS: dict[str, Callable[[Cells, Thing], list[Cells]]] = {
    "top": lambda whole, thing: _layers(whole, Thing(picks=["top"], count=thing.count)),
    "bottom": lambda whole, thing: _layers(whole, Thing(picks=["bottom"], count=thing.count)),
    "corner": lambda whole, thing: _single(corners(whole)),
    "end": _ends,
    "layer": _layers,
    "middle": _middle,
    "side": _sides,
    "edge": _sides,
    "half": _halves,
    "inside": lambda whole, thing: [interior(whole)],
    "hole": lambda whole, thing: [()],
    "border_of": lambda whole, thing: [border(whole)] if sorted(spans(whole))[1] > 1 else _ends(whole, thing),
}
