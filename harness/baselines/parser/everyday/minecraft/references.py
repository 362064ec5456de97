"""Which blocks a thing is that stands: `the top block of the red tower`, `every red block`, `it`, `the other one`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import Place, Thing
from harness.baselines.parser.everyday.minecraft.scene import (
    GROUND,
    TOWARD,
    WAYS,
    Cell,
    Cells,
    Scene,
    around,
    box,
    extent,
    pieces,
    spans,
)

ROOFS = frozenset({"roof", "lid", "ceiling"})
"""What covers a thing is its top layer, unless it was built by this name."""
_FLAT = frozenset({"floor", "square", "layer"})
_PICKED_PARTS = {"outer": "border_of"}
_LONGEST = {"tallest": -1, "shortest": 1}


def found(thing: Thing, scene: Scene) -> list[Cells]:
    """The groups of blocks that a thing may be, each by itself if they are several: `every red block` has as many as are red."""
    groups = _all_found(thing, scene)
    if thing.place is not None:
        groups = _at_place(_all_found(replace(thing, count=None, article="all"), scene), thing.place, scene)
    if thing.but:
        spared = {cell for group in found(thing.but, scene) for cell in group}
        groups = [kept for group in groups if (kept := tuple(cell for cell in group if cell not in spared))]
    return groups


def _at_place(groups: list[Cells], place: Place, scene: Scene) -> list[Cells]:
    """Those of some groups that are nearest to a place: `the block that is between the towers`, `the one left of it`."""
    marks = [cells for of in (place.of, place.second) if of is not None for cells in found(of, scene)]
    taken = {cell for cells in marks for cell in cells}
    groups = [group for group in groups if taken.isdisjoint(group)]
    if not marks or not groups:
        return []
    way = {"on": (0, 1, 0), "below": (0, -1, 0)}.get(place.relation, WAYS.get(place.relation, (0, 0, 0)))
    x, y, z = _center(tuple(taken))
    wide, high, deep = spans(taken)
    goal = (x + way[0] * (wide + 1) / 2, y + way[1] * (high + 1) / 2, z + way[2] * (deep + 1) / 2)

    def far(group: Cells) -> float:
        return sum(abs(a - b) for a, b in zip(_center(group), goal, strict=True))

    least = min(map(far, groups))
    return [group for group in groups if far(group) == least]


def cells_found(thing: Thing, scene: Scene) -> Cells:
    return tuple(dict.fromkeys(cell for group in found(thing, scene) for cell in group))


def _all_found(thing: Thing, scene: Scene) -> list[Cells]:
    if thing.no_color or not scene.blocks or "free" in thing.picks:
        return []
    if thing.noun == "everything" and thing.of is not None and thing.of.noun != "area":
        return found(thing.of, scene)
    if thing.noun == "everything" and thing.colors:
        return [(cell,) for cell in scene.of_color(*thing.colors)]
    if thing.noun in {"everything", "area", "figure"} and not thing.colors and thing.kind != "part":
        return [tuple(sorted(scene.blocks))]
    inner = (
        thing.of.of if thing.of is not None and thing.of.of is not None and thing.of.of.article in {"each", "all"} else thing.of
    )
    if inner is not None and inner.plural and inner.noun != "area" and thing.kind != "everything":
        groups = found(inner, scene)
        if len(groups) > 1:
            alone = [Scene({cell: scene.blocks[cell] for cell in group}, focus=group) for group in groups]
            own = None if inner is thing.of or thing.of is None else replace(thing.of, of=None)
            return [cells for one in alone for cells in _all_found(replace(thing, of=own), one)]
    there = _in_corner(thing, scene)
    if there:
        return there
    if thing.kind == "it":
        return _it(thing, scene)
    if thing.kind == "part":
        return _parts(thing, scene)
    if thing.noun in {"block", ""}:
        return _blocks(thing, scene)
    return _objects(thing, scene)


def _in_corner(thing: Thing, scene: Scene) -> list[Cells]:
    """What stands in a corner or at an edge of the area: `the one in the far left corner`."""
    part = thing.of
    if thing.kind != "thing" or part is None or part.noun != "corner" or not (part.picks or part.of) or thing.picks:
        return []
    if part.of is not None and part.of.noun != "area":
        return []
    ground = {(cell[0], cell[2]) for group in parts(GROUND, part) for cell in group}
    return [piece for piece in pieces(scene.blocks) if any((cell[0], cell[2]) in ground for cell in piece)]


def _it(thing: Thing, scene: Scene) -> list[Cells]:
    focus = scene.standing(scene.focus)
    if "whole" in thing.word and focus:
        return [tuple(cell for piece in pieces(scene.blocks) if set(piece) & set(focus) for cell in piece)]
    if thing.colors:
        focus = tuple(cell for cell in focus if scene.blocks[cell] in thing.colors)
    if thing.word in {"it", "its"} and len(pieces(focus)) > 1:
        focus = next((piece for piece in pieces(scene.blocks) if set(focus) <= set(piece)), focus)
    if focus:
        return [focus]
    if thing.word in {"it", "this", "that", "this one", "that one"}:
        objects = pieces(scene.blocks)
        return [objects[-1]] if len(objects) == 1 else [tuple(sorted(scene.blocks))]
    return [tuple(sorted(scene.blocks))]


def _blocks(thing: Thing, scene: Scene) -> list[Cells]:
    """Single blocks: by color, of what they are part, and by where they are."""
    among: Cells = tuple(sorted(scene.blocks))
    if thing.of is not None and thing.of.noun not in {"area", "everything"}:
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
        return _picked([(cell,) for cell in among], thing)
    if thing.plural or thing.few or thing.article in {"each", "all"}:
        cells: list[Cells] = [(cell,) for cell in among]
        return cells[: thing.count] if thing.count and thing.article not in {"each", "all", "the", "this"} else cells
    return [_one_block(thing, among, scene)]


def _within_one(thing: Thing) -> bool:
    """Whether a pick speaks of the blocks of one thing: `the top block`, `the middle one`."""
    return bool(
        set(thing.picks) & {"top", "bottom", "middle", "corner", "end", "outer", "alternate", "third", "last", "first"}
        or thing.ordinals
    )


def _picked_within(thing: Thing, scene: Scene) -> Cells:
    if thing.colors:
        return tuple(sorted(scene.blocks))
    focus = scene.standing(scene.focus)
    if focus and len(focus) < 2:
        focus = next((piece for piece in pieces(scene.blocks) if focus[0] in piece), focus)
    return focus or tuple(sorted(scene.blocks))


def _one_block(thing: Thing, among: Cells, scene: Scene) -> Cells:
    """The block, or the blocks of one color that hang together, that `the red one` is."""
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


def _objects(thing: Thing, scene: Scene) -> list[Cells]:
    """Things by their names: as they were called when they were built, else by their shape."""
    if (
        thing.of is not None
        and thing.noun in {"row", "tower"}
        and (thing.picks or thing.ordinals)
        and (whole := cells_found(thing.of, scene))
    ):
        return _slices(thing, whole)
    candidates = [group for group in scene.objects() if not thing.colors or _has_colors(group, thing, scene)]
    if thing.article == "other":
        candidates = [group for group in candidates if not set(group) & set(scene.focus)]
    named = _made(thing, scene, candidates)
    if thing.word in ROOFS and thing.definite and not any(made.word == thing.word for made in scene.made):
        roof = parts(whole_of(thing, scene), Thing(noun="top"))
        return [group for group in roof if not thing.colors or _has_colors(group, thing, scene)]
    if thing.noun == "named" and not named:
        return _blocks(replace(thing, noun="block"), scene) if thing.colors else []
    fitting = named or [group for group in candidates if _is_shaped(group, thing.noun)]
    if not fitting:
        fitting = _part_shaped(thing, scene) or candidates
    fitting = _without_parts(fitting)
    if thing.picks or thing.ordinals:
        return _picked(fitting, thing)
    if thing.plural or not fitting:
        return fitting
    return [max(fitting, key=lambda group: (scene.newest(group), len(group)))]


def _has_colors(group: Cells, thing: Thing, scene: Scene) -> bool:
    return {scene.blocks[cell] for cell in group} == set(thing.colors)


def _made(thing: Thing, scene: Scene, candidates: Sequence[Cells]) -> list[Cells]:
    called = [made for made in scene.made if made.word == thing.word]
    for same in (called, [made for made in scene.made if made.noun == thing.noun]):
        sets = [cells for made in same if (cells := scene.standing(made.cells))]
        sets = [cells for cells in sets if not thing.colors or _has_colors(cells, thing, scene)]
        if thing.article == "other":
            sets = [cells for cells in sets if not set(cells) & set(scene.focus)]
        if sets:
            return list(dict.fromkeys(tuple(sorted(cells)) for cells in sets))
    return []


def _part_shaped(thing: Thing, scene: Scene) -> list[Cells]:
    """A tower within something larger is its highest column; rows of what is flat or upright lie one behind or over the other."""
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
        return (high == 1 and wide > 1 and deep > 1 and len(group) * 2 > wide * deep) or (
            noun == "square" and full and high == wide > 1
        )
    if noun == "cube":
        return full and min(wide, high, deep) > 1
    if noun == "frame":
        return not full and len(group) > 5 and (wide > 2) + (high > 2) + (deep > 2) > 1
    return noun not in {"block", "plus", "pyramid"} and len(group) > 1


def _without_parts(groups: list[Cells]) -> list[Cells]:
    """Without those that are part of a larger one."""
    sets = [set(group) for group in groups]
    return [group for group, own in zip(groups, sets, strict=True) if not any(own < other for other in sets)]


# --- one or some of several ---


def _picked(groups: list[Cells], thing: Thing) -> list[Cells]:
    for pick in thing.picks:
        groups = _by_pick(groups, pick, thing)
    if thing.ordinals and groups:
        ordered = sorted(groups, key=lambda group: _order(group, groups))
        ordered = ordered[::-1] if thing.counted_from in {"top", "rightmost", "farthest"} else ordered
        groups = [ordered[number - 1] for number in thing.ordinals if 0 < number <= len(ordered)]
    return groups


def _order(group: Cells, groups: Sequence[Cells]) -> tuple[float, ...]:
    """From the bottom of what is upright, else from the left, else from the front."""
    wide, high, _ = spans([cell for one in groups for cell in one])
    x, y, z = _center(group)
    return (y, x, z) if high > wide else (x, z, y)


def _by_pick(groups: list[Cells], pick: str, thing: Thing) -> list[Cells]:
    if not groups:
        return []
    if pick == "alternate":
        return sorted(groups, key=lambda group: _order(group, groups))["from_first" not in thing.flags :: 2]
    if pick == "third":
        return sorted(groups, key=lambda group: _order(group, groups))[2::3]
    if pick == "middle":
        center = _center(tuple(cell for group in groups for cell in group))
        return [min(groups, key=lambda group: sum(abs(a - b) for a, b in zip(_center(group), center, strict=True)))]
    if pick in {"corner", "end", "outer"}:
        cells = tuple(cell for group in groups for cell in group)
        chosen = {cell for group in _PARTS[_PICKED_PARTS.get(pick, pick)](cells, Thing()) for cell in group}
        return [group for group in groups if chosen.issuperset(group)]
    if pick in {"last", "first"}:
        ordered = sorted(groups, key=lambda group: _order(group, groups))
        return ordered[-(thing.count or 1) :] if pick == "last" else ordered[: thing.count or 1]
    if pick not in TOWARD and pick not in _LONGEST:
        return groups

    def key(group: Cells) -> float:
        axis, sign = TOWARD.get(pick, (0, 1))
        return _LONGEST[pick] * len(group) if pick in _LONGEST else -sign * extent(group)[sign > 0][axis]

    if thing.count and thing.count > 1:
        return sorted(groups, key=key)[: thing.count]
    best = min(map(key, groups))
    return [group for group in groups if key(group) == best]


def _center(cells: Cells) -> tuple[float, float, float]:
    low, high = extent(cells)
    return (low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2


# --- parts ---


def whole_of(thing: Thing, scene: Scene) -> Cells:
    """What a part belongs to."""
    if thing.of is not None and thing.of.noun == "area":
        return GROUND
    if thing.of is not None:
        return cells_found(thing.of, scene)
    focus = scene.standing(scene.focus)
    built = any(set(made.cells) == set(scene.focus) for made in scene.made)
    if (len(focus) > 1 and built) or (focus and len(scene.blocks) == 1):
        return focus
    if len(pieces(focus)) > 1:
        return focus
    if focus:
        return max((piece for piece in pieces(scene.blocks) if focus[0] in piece), key=len)
    return max(pieces(scene.blocks), key=len) if scene.blocks else ()


def _parts(thing: Thing, scene: Scene) -> list[Cells]:
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
    groups = [scene.standing(group) for group in parts(whole, thing)]
    groups = [group for group in groups if group]
    many = thing.plural or (thing.noun in {"corner", "end"} and thing.article in {"each", "all"})
    if not many and len(groups) > 1 and thing.noun in {"corner", "end"} and thing.article != "the":
        return groups[:1]
    return groups


def parts(whole: Cells, thing: Thing) -> list[Cells]:
    """The parts of a name that some cells have: `corner` of a square are four of one cell."""
    make = _PARTS.get(thing.noun)
    if thing.noun in {"corner", "edge", "side"} and spans(whole)[1] == 1:
        thing = replace(thing, picks=[{"top": "farthest", "bottom": "nearest"}.get(pick, pick) for pick in thing.picks])
    if make is None:
        return [whole]
    groups = make(whole, thing)
    return groups if thing.noun in {"layer", "half", "side", "edge"} else _picked(groups, thing)


def border(whole: Cells) -> Cells:
    """The outermost cells of what is flat, lying or upright."""
    low, high = extent(whole)
    axes = [axis for axis in range(3) if high[axis] > low[axis]]
    return tuple(cell for cell in whole if any(cell[axis] in {low[axis], high[axis]} for axis in axes))


def corners(whole: Cells) -> Cells:
    low, high = extent(whole)
    return tuple(cell for cell in whole if all(cell[axis] in {low[axis], high[axis]} for axis in range(3)))


def tips(whole: Cells) -> Cells:
    """The ends of what winds: the cells with one neighbor."""
    own = set(whole)
    return tuple(cell for cell in whole if sum(other in own for other in around(cell)) == 1)


def _ends(whole: Cells, thing: Thing) -> list[Cells]:
    ends = tips(whole)
    if len(ends) == 2 and sorted(spans(whole))[1] > 1:
        return [(cell,) for cell in ends]
    axis = max(range(3), key=lambda axis: spans(whole)[axis])
    low, high = extent(whole)
    return [tuple(cell for cell in whole if cell[axis] == end) for end in dict.fromkeys((low[axis], high[axis]))]


def _layers(whole: Cells, thing: Thing) -> list[Cells]:
    layers = [tuple(cell for cell in whole if cell[1] == height) for height in sorted({cell[1] for cell in whole})]
    chosen = thing.picks or thing.ordinals or thing.article in {"each", "all"}
    return _picked(layers, thing) if chosen else layers[-(thing.count or 1) :]


def _middle(whole: Cells, thing: Thing) -> list[Cells]:
    low, high = extent(whole)
    near = sorted(whole, key=lambda cell: sum(abs(2 * c - a - b) for c, a, b in zip(cell, low, high, strict=True)))
    return [(cell,) for cell in near[: thing.count or 1]]


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
    """What the cells enclose: flat ones flat, others in each layer; of a solid, the cells that no side shows."""
    low, high = extent(whole)
    own = set(whole)
    inner = tuple(cell for cell in box(low, high) if cell not in own and _enclosed(cell, own))
    if inner or high[0] - low[0] < 2 or high[2] - low[2] < 2:
        return inner
    bottom, top = (low[1], high[1]) if high[1] - low[1] < 2 else (low[1] + 1, high[1] - 1)
    return box((low[0] + 1, bottom, low[2] + 1), (high[0] - 1, top, high[2] - 1))


def _enclosed(cell: Cell, own: set[Cell]) -> bool:
    """Whether cells lie on all four sides around it, or, of what is upright, left, right, above and below."""
    x, y, z = cell
    sides = [
        [c for c in own if c[1] == y and c[2] == z],
        [c for c in own if c[0] == x and c[1] == y],
        [c for c in own if c[0] == x and c[2] == z],
    ]
    between = [
        any(c[axis] < cell[axis] for c in line) and any(c[axis] > cell[axis] for c in line)
        for axis, line in zip((0, 2, 1), sides, strict=True)
    ]
    return (between[0] and between[1]) or (between[2] and (between[0] or between[1]))


_PARTS: dict[str, Callable[[Cells, Thing], list[Cells]]] = {
    "top": lambda whole, thing: _layers(whole, Thing(picks=["top"], count=thing.count)),
    "bottom": lambda whole, thing: _layers(whole, Thing(picks=["bottom"], count=thing.count)),
    "corner": lambda whole, thing: [(cell,) for cell in corners(whole)],
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
