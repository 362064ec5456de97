"""Where something is to stand: a place and a shape to the cells from which the shape goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import Place, Thing
from harness.baselines.parser.everyday.minecraft.references import cells_found, corners, found, interior, parts, whole_of
from harness.baselines.parser.everyday.minecraft.scene import (
    GROUND,
    OPPOSITE,
    WAYS,
    Cell,
    Cells,
    Scene,
    around,
    extent,
    fits,
    moved,
    pieces,
    spans,
)
from harness.worlds.minecraft import HEIGHT, SIDE

_SIDES = ("right", "left", "front", "behind")
_AXES = {"left": 0, "right": 0, "front": 2, "behind": 2, "toward": 2, "away": 2, "up": 1, "down": 1}


class Unplaced(Exception):
    """There is no such place; its text is what to ask."""


def spots(places: list[Place], shape: Cells, scene: Scene, thing: Thing) -> list[Cell]:
    """The cells at which copies of a shape begin: one, or one for each of several landmarks.

    Raises Unplaced where nothing of the name stands, or no room is left.
    """
    on_ground = any(place.relation in {"on", "at"} and place.of is not None and place.of.noun == "area" for place in places)
    gap = next((place.distance for place in places if place.relation == "gap"), None)
    if any(place.relation == "outside" for place in places):
        raise Unplaced("Where? That is outside.")
    places = _at_part(places)
    steps = [place for place in places if place.relation in {"left", "right", "front", "behind", "up"}]
    if (
        len(steps) > 1
        and any(place.of or place.distance for place in steps)
        and len({_AXES[place.relation] for place in steps}) == len(steps)
    ):
        return [_stepped(steps, shape, scene)]
    of = next((one.of for one in steps if one.of is not None), None)
    if len(steps) == 2 and OPPOSITE[steps[0].relation] == steps[1].relation and of is not None:
        both = [replace(one, of=one.of or of) for one in steps]  # `on its left and right`
        return [origin for one in both for origin in _at(one, shape, scene, thing, on_ground, gap)]
    for place in sorted(places, key=_rank):
        if place.of is not None and place.of.noun == "area" and place.relation in {"on", "inside"}:
            continue
        if place.relation in {"gap", "anywhere", "along", "away", "toward", "sideways"} and place.of is None:
            continue
        origins = _at(place, shape, scene, thing, on_ground, gap)
        if origins:
            return origins
    if not places or on_ground or all(place.of is None for place in places):
        return [free_spot(shape, scene, apart="apart" in thing.flags)]
    raise Unplaced("Where?")


def _at_part(places: list[Place]) -> list[Place]:
    """`behind the wall, at its left end` is behind the left end of the wall."""
    by = next((one for one in places if one.relation in {*_SIDES, "on"} and one.of and not one.of_area), None)
    for place in places:
        part = place.of
        if by is None or part is None or place.relation != "at" or part.kind != "part":
            continue
        if part.noun == "end" if part.of is None else part.of.is_it:
            rest = [one for one in places if one is not place and one is not by]
            return [replace(by, of=replace(part, of=by.of)), *rest]
    return places


def _stepped(steps: list[Place], shape: Cells, scene: Scene) -> Cell:
    """`3 to the right and 2 in front of the center`: all steps from the same landmark."""
    base = next((place for place in steps if place.of is not None), steps[0])
    landmark = next(iter(landmarks(base, scene)), ()) or GROUND
    origin = _centered(landmark, shape, extent(landmark)[0][1])
    for place in steps:
        origin = moved(origin, WAYS[place.relation], place.distance or 1)
    if not _is_free(origin, shape, scene):
        raise Unplaced("Where? That is not free.")
    return origin


def _rank(place: Place) -> int:
    """Those beside or on a thing first, then those by the area alone."""
    return (
        (place.of is None)
        + 2 * (place.of is not None and place.of.noun == "area")
        + (place.relation == "at")
        + (place.of is not None and place.of.noun == "middle" and place.of.of is None)
    )


def _on_sides(place: Place, shape: Cells, scene: Scene) -> list[Cell]:
    """`on every side of the tower`, `on both sides of it`: beside it, on each side that is free."""
    if place.of is None or place.of.noun != "side" or place.of.article not in {"each", "all"} or place.of.picks:
        return []
    landmark = whole_of(place.of, scene)
    sides = ("left", "right") if place.of.article == "all" and (place.of.count or 2) == 2 and "all" not in place.word else _SIDES
    origins = [beside(landmark, shape, side, place.distance or 1) for side in sides] if landmark else []
    return [origin for origin in origins if _is_free(origin, shape, scene)]


def _at(place: Place, shape: Cells, scene: Scene, thing: Thing, on_ground: bool, gap: int | None) -> list[Cell]:
    origins = _on_sides(place, shape, scene)
    if origins:
        return origins
    marks = landmarks(place, scene)
    if place.of is not None and place.of.word in {"them", "these", "those"} and max(spans(shape)[::2]) > 1:
        marks = [tuple(cell for mark in marks for cell in mark)]  # What is broad lies on all of them.
    for landmark in marks:
        near = _first_free(place, landmark, shape, scene, on_ground, gap)
        if near is None and place.of is None and place.distance is None:
            whole = next((piece for piece in pieces(scene.blocks) if set(landmark) < set(piece)), ())
            near = _first_free(place, whole, shape, scene, on_ground, gap)
        if near is None and len(shape) == 2 * SIDE + 1:
            near = next((one for one in _near(place, landmark, shape, scene, on_ground, gap) if fits(shifted(shape, one))), None)
        if near is None and place.relation not in {"at", "inside"}:
            raise Unplaced("Where?")
        if near is not None:
            origins.append(near)
    return origins


def _first_free(place: Place, landmark: Cells, shape: Cells, scene: Scene, on_ground: bool, gap: int | None) -> Cell | None:
    return next((one for one in _near(place, landmark, shape, scene, on_ground, gap) if _is_free(one, shape, scene)), None)


def _is_free(origin: Cell, shape: Cells, scene: Scene) -> bool:
    cells = [moved(cell, origin) for cell in shape]
    return fits(cells) and scene.free(cells)


# --- what it stands at ---


def landmarks(place: Place, scene: Scene) -> list[Cells]:
    if place.of is None:
        focus = scene.standing(scene.focus)
        if place.relation in _AXES and place.distance is None and not scene.blocks:
            return [()]
        if place.relation == "here":
            return [tuple(scene.removed) or focus]
        whole = next((piece for piece in pieces(scene.blocks) if set(focus) <= set(piece)), None)
        if place.relation in {"on", "up"} and len(pieces(focus)) > 1 and whole and "across" not in place.word:
            return [whole]
        return [focus or tuple(scene.blocks)] if focus or scene.blocks else [()]
    if _is_of_area(place.of, scene, place.relation):
        return _area_parts(place.of, scene)
    if place.relation == "between" and place.second is not None:
        return [(*cells_found(place.of, scene), *cells_found(place.second, scene))]
    if place.of.kind == "part" and place.of.noun in {"inside", "hole"}:
        whole = whole_of(place.of, scene)
        return [interior(whole)] if whole else []
    groups = found(place.of, scene)
    if place.relation == "between" and place.of.is_it and len(groups) == 1 and len(pieces(groups[0])) == 1:
        built = dict.fromkeys(cells for one in scene.made if (cells := scene.standing(one.cells)))
        return [tuple(cell for cells in list(built)[-2:] for cell in cells)]
    if (place.relation in {"between", "round", "inside"} or "across" in place.word) and groups:
        return [tuple(cell for group in groups for cell in group)]
    if (place.of.kind == "it" and place.of.article in {"each", "all"}) or (
        place.of.kind == "it"
        and place.of.word in {"them", "these", "those", "they", "all of them"}
        and place.relation in {"on", "below"}
    ):
        return [(cell,) for group in groups for cell in _top_cells(group)]
    one = not place.of.plural and len(groups) > 1 and place.of.kind != "it" and place.of.article not in {"each", "all"}
    return groups[:1] if one else groups


def _top_cells(group: Cells) -> Cells:
    highest: dict[tuple[int, int], Cell] = {}
    for cell in group:
        highest[cell[0], cell[2]] = max(cell, highest.get((cell[0], cell[2]), cell), key=lambda one: one[1])
    return tuple(highest.values())


def _is_of_area(thing: Thing, scene: Scene, relation: str) -> bool:
    if thing.noun == "area":
        return True
    if thing.kind != "part" or thing.noun not in {"corner", "edge", "middle", "side"}:
        return False
    if thing.of is not None:
        return (
            _is_of_area(thing.of, scene, relation)
            if thing.of.kind == "part" and thing.of.article != "my"
            else thing.of.noun == "area"
        )
    if thing.noun == "corner" and thing.article == "other":
        return bool(set(corners(GROUND)) & set(scene.blocks))
    return not scene.blocks or (relation == "at" and thing.article not in {"my", "each"} and thing.noun != "side")


def _area_parts(thing: Thing, scene: Scene) -> list[Cells]:
    if thing.noun == "area":
        return [GROUND]
    if "free" in thing.picks:
        return _free_corners(scene)[: None if thing.plural else 1]
    if thing.of is not None and thing.of.kind == "part":
        groups = [group for whole in _area_parts(thing.of, scene) for group in parts(whole, thing)]
    elif thing.noun == "corner" and thing.article == "other" and thing.picks:
        groups = [group for group in parts(GROUND, thing) if scene.free(group)]
    elif thing.noun == "corner" and thing.article == "other" and set(scene.focus) & set(corners(GROUND)):
        corner = next(cell for cell in scene.focus if cell in corners(GROUND))
        groups = [((-corner[0], 1, -corner[2]),)] if not thing.count else _free_corners(scene)
    else:
        groups = parts(GROUND, thing)
    if thing.plural and not (thing.word == "corners" and thing.article == "" and not thing.count):
        return groups
    free = [group for group in groups if scene.free(group)]
    return (free or groups)[: (thing.count or 1) if thing.noun == "corner" else 1]


def _free_corners(scene: Scene) -> list[Cells]:
    return [(cell,) for cell in corners(GROUND) if cell not in scene.blocks]


# --- how it stands to that ---


def _near(place: Place, landmark: Cells, shape: Cells, scene: Scene, on_ground: bool, gap: int | None) -> Iterator[Cell]:
    relation = place.relation
    if not landmark:
        if relation in _AXES:
            yield _side_of_area(relation, shape)
        return
    step = place.distance or (gap + 1 if gap else 1)
    if relation in {"left", "right", "front", "behind"} and landmark == GROUND:
        yield _side_of_area(relation, shape)
    elif relation in {"left", "right", "front", "behind"}:
        yield beside(landmark, shape, relation, step, on_ground)
    elif relation == "beside":
        yield from (beside(landmark, shape, side, step, on_ground) for side in _SIDES)
    elif relation in {"on", "up"} and (place.distance or not (scene.free(landmark) and set(landmark) <= set(GROUND))):
        yield from _above(landmark, shape, scene, place.distance or 1)
    elif relation in {"below", "down"}:
        low = extent(landmark)[0]
        yield _centered(landmark, shape, low[1] - spans(shape)[1])
    elif relation in {"between", "inside"}:
        yield from _within(landmark, shape, scene, relation)
    elif relation == "here":
        yield extent(landmark)[0]
    else:
        yield from _right_there(place, landmark, shape, scene)


def beside(landmark: Cells, shape: Cells, side: str, step: int, on_ground: bool = False) -> Cell:
    """The origin of a shape on a side of a landmark; with a step of 1 they touch."""
    (low, high), (wide, _, deep) = extent(landmark), spans(shape)
    x, y, z = _centered(landmark, shape, 1 if on_ground else low[1])
    return {
        "left": (low[0] - step - wide + 1, y, z),
        "right": (high[0] + step, y, z),
        "front": (x, y, low[2] - step - deep + 1),
        "behind": (x, y, high[2] + step),
    }[side]


def _centered(landmark: Cells, shape: Cells, y: int) -> Cell:
    (low, high), (wide, _, deep) = extent(landmark), spans(shape)
    return (low[0] + high[0] + 1 - wide) // 2, y, (low[2] + high[2] + 1 - deep) // 2


def _above(landmark: Cells, shape: Cells, scene: Scene, step: int) -> Iterator[Cell]:
    """On the landmark: over its middle, else over the cell of its top that is nearest to it."""
    top = extent(landmark)[1][1]
    middle = _centered(landmark, shape, top + step)
    highest = [cell for cell in landmark if cell[1] == top]
    if spans(shape)[0] == spans(shape)[2] == 1:
        near = min(highest, key=lambda cell: (abs(cell[0] - middle[0]) + abs(cell[2] - middle[2]), cell))
        middle = near[0], top + step, near[2]
    yield from ((middle[0], y, middle[2]) for y in range(top + step, HEIGHT + 1))


def _within(landmark: Cells, shape: Cells, scene: Scene, relation: str) -> Iterator[Cell]:
    low, high = extent(landmark)
    yield _centered(landmark, shape, low[1])
    inner = interior(landmark) if relation == "inside" else ()
    yield from sorted(
        inner, key=lambda cell: (cell[1], abs(2 * cell[0] - low[0] - high[0]) + abs(2 * cell[2] - low[2] - high[2]))
    )


def _right_there(place: Place, landmark: Cells, shape: Cells, scene: Scene) -> Iterator[Cell]:
    """At a part of the area or of a thing: in its cells where these are free; at an end beyond it; else on it."""
    of = place.of
    if (
        of is not None
        and of.kind == "part"
        and of.noun in {"end", "side"}
        and not set(landmark) <= set(GROUND) - set(scene.blocks)
    ):
        whole = whole_of(of, scene)
        yield from _beyond(landmark, whole, shape)
    if of is not None and set(landmark) <= set(GROUND) and _is_of_area(of, scene, place.relation):
        flush = _flush(landmark, shape)
        yield moved(flush, _inward(landmark), place.distance or 0)
    low = extent(landmark)[0]
    yield _centered(landmark, shape, low[1])
    if of is not None and of.kind != "part" and of.noun != "area":
        yield from (beside(landmark, shape, side, 1) for side in _SIDES)
    elif of is not None and of.noun != "area":
        yield from _above(landmark, shape, scene, 1)


def _beyond(landmark: Cells, whole: Cells, shape: Cells) -> Iterator[Cell]:
    """Past an end of a row: where the row would go on."""
    if len(landmark) == 1 and sorted(spans(whole))[1] > 1:
        (inner,) = [cell for cell in around(landmark[0]) if cell in whole][:1] or [landmark[0]]
        yield moved(moved(landmark[0], landmark[0]), inner, -1)
        yield from around(landmark[0])
        return
    axis = max(range(3), key=lambda axis: spans(whole)[axis])
    low, high = extent(whole)
    at_end = landmark[0][axis] == high[axis]
    if axis == 1:
        yield _centered(landmark, shape, high[1] + 1 if at_end else low[1] - spans(shape)[1])
    else:
        yield beside(landmark, shape, {0: ("left", "right"), 2: ("front", "behind")}[axis][at_end], 1)


def _inward(landmark: Cells) -> Cell:
    """The direction from an edge of the region to its middle."""
    low, high = extent(landmark)
    return tuple_sign(-low[0] if low[0] == high[0] else 0), 0, tuple_sign(-low[2] if low[2] == high[2] else 0)


def tuple_sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _flush(landmark: Cells, shape: Cells) -> Cell:
    """Against the region's edge in a corner or along a side, else centered."""
    (low, high), (wide, _, deep) = extent(landmark), spans(shape)
    x, y, z = _centered(landmark, shape, 1)
    x = min(max(x, -SIDE), SIDE - wide + 1) if low[0] == high[0] else x
    z = min(max(z, -SIDE), SIDE - deep + 1) if low[2] == high[2] else z
    return x, y, z


def _side_of_area(relation: str, shape: Cells) -> Cell:
    x, y, z = _centered(GROUND, shape, 1)
    way = WAYS[relation]
    return moved((x, y, z), (way[0], 0, way[2]), 3)


# --- free places ---


def free_spot(shape: Cells, scene: Scene, apart: bool = False) -> Cell:
    """The place on the ground nearest to the middle where a shape touches nothing that stands; then any free one.

    Raises Unplaced if there is none.
    """
    wide, _, deep = spans(shape)
    origins = [(x, 1, z) for x in range(-SIDE, SIDE - wide + 2) for z in range(-SIDE, SIDE - deep + 2)]
    middle = _centered(GROUND, shape, 1)
    origins.sort(
        key=lambda origin: (max(abs(origin[0] - middle[0]), abs(origin[2] - middle[2])), abs(origin[2] - middle[2]), -origin[0])
    )
    near = {moved(cell, (x, y, z)) for cell in scene.blocks for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)}
    for taken in (near, set(scene.blocks)):
        for origin in origins:
            cells = [moved(cell, origin) for cell in shape]
            if not taken.intersection(cells) and fits(cells):
                return origin
        if apart:
            break
    raise Unplaced("Where? There is no room.")


def shifted(shape: Iterable[Cell], origin: Cell) -> Cells:
    return tuple(moved(cell, origin) for cell in shape)
