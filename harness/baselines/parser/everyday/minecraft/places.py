"""Where something is to stand: from a place and a shape to the cells at which the shape begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import Location, Thing
from harness.baselines.parser.everyday.minecraft.references import (
    around_focus,
    cells_found,
    corners,
    found,
    interior,
    parts,
    whole_of,
)
from harness.baselines.parser.everyday.minecraft.scene import (
    GROUND,
    OPPOSITE,
    SIDES,
    WAYS,
    BuildingScene,
    Cell,
    Cells,
    extent,
    fits,
    moved,
    pieces,
    spans,
    together,
)
from harness.worlds.minecraft import HEIGHT, SIDE, touching

_AXES = {"left": 0, "right": 0, "front": 2, "behind": 2, "toward": 2, "away": 2, "up": 1, "down": 1}


class Unplaced(Exception):
    """There is no such place; the message is the question to ask."""


def spots(places: list[Location], shape: Cells, scene: BuildingScene, apart: bool = False) -> list[Cell]:
    """The cells at which copies of a shape begin: one, or one for each of several landmarks.

    Raises Unplaced if nothing of the name stands, or if there is no room.
    """
    on_ground = any(place.relation in {"on", "at"} and place.of_area for place in places)
    gap = next((place.distance for place in places if place.relation == "gap"), None)
    if any(place.relation == "outside" for place in places):
        raise Unplaced("Where? That is outside.")
    places = _at_part(places)
    steps = [place for place in places if place.relation in {*SIDES, "up"}]
    along = {_AXES[place.relation] for place in steps}
    if len(steps) == len(along) > 1 and any(place.of or place.distance for place in steps):
        return [_stepped(steps, shape, scene)]
    of = next((one.of for one in steps if one.of), None)
    if len(steps) == 2 and OPPOSITE[steps[0].relation] == steps[1].relation and of:
        both = [replace(one, of=one.of or of) for one in steps]  # `on its left and right`
        return [origin for one in both for origin in _at(one, shape, scene, on_ground, gap)]
    for place in sorted(places, key=_rank):
        if place.of_area and place.relation in {"on", "inside"}:
            continue
        if place.of is None and place.relation in {"gap", "anywhere", "along", "away", "toward", "sideways"}:
            continue
        origins = _at(place, shape, scene, on_ground, gap)
        if origins:
            return origins
    if not places or on_ground or all(place.of is None for place in places):
        return [free_spot(shape, scene, apart)]
    raise Unplaced("Where?")


def _at_part(places: list[Location]) -> list[Location]:
    """`behind the wall, at its left end` is behind the left end of the wall."""
    by = next((one for one in places if one.relation in {*SIDES, "on"} and one.of and not one.of_area), None)
    for place in places:
        part = place.of
        if by is None or part is None or place.relation != "at" or part.kind != "part":
            continue
        if part.noun == "end" if part.of is None else part.of.is_it:
            rest = [one for one in places if one is not place and one is not by]
            return [replace(by, of=replace(part, of=by.of)), *rest]
    return places


def _stepped(steps: list[Location], shape: Cells, scene: BuildingScene) -> Cell:
    """`3 to the right and 2 in front of the center`: all steps from the same landmark."""
    base = next((place for place in steps if place.of is not None), steps[0])
    landmark = next(iter(landmarks(base, scene)), ()) or GROUND
    origin = centered(landmark, shape, extent(landmark)[0][1])
    for place in steps:
        origin = moved(origin, WAYS[place.relation], place.distance or 1)
    if not scene.has_room(_shifted(shape, origin)):
        raise Unplaced("Where? That is not free.")
    return origin


def _rank(place: Location) -> int:
    """A sort key: places beside or on a thing come first, then those that only name the area."""
    middle = place.landmark.noun == "middle" and place.landmark.of is None
    return (place.of is None) + 2 * place.of_area + (place.relation == "at") + middle


def _on_sides(place: Location, shape: Cells, scene: BuildingScene) -> list[Cell]:
    """`on every side of the tower`, `on both sides of it`: beside it, on each side that is free."""
    of = place.landmark
    if of.noun != "side" or not of.each or of.picks:
        return []
    landmark = whole_of(of, scene)
    sides = ("left", "right") if of.article == "all" and (of.count or 2) == 2 and "all" not in place.word else SIDES
    origins = [beside(landmark, shape, side, place.distance or 1) for side in sides] if landmark else []
    return [origin for origin in origins if scene.has_room(_shifted(shape, origin))]


def _at(place: Location, shape: Cells, scene: BuildingScene, on_ground: bool, gap: int | None) -> list[Cell]:
    origins = _on_sides(place, shape, scene)
    if origins:
        return origins
    marks = landmarks(place, scene)
    if place.landmark.word in {"them", "these", "those"} and max(spans(shape)[::2]) > 1:
        marks = [together(marks)]  # A broad thing lies on all of them.
    for landmark in marks:
        near = _first_free(place, landmark, shape, scene, on_ground, gap)
        if near is None and place.of is None and place.distance is None:
            whole = next((piece for piece in pieces(scene.blocks) if set(landmark) < set(piece)), ())
            near = _first_free(place, whole, shape, scene, on_ground, gap)
        if near is None and len(shape) == 2 * SIDE + 1:
            near = next((one for one in _near(place, landmark, shape, scene, on_ground, gap) if fits(_shifted(shape, one))), None)
        if near is not None:
            origins.append(near)
        elif place.relation not in {"at", "inside"}:
            raise Unplaced("Where?")
    return origins


def _first_free(
    place: Location, landmark: Cells, shape: Cells, scene: BuildingScene, on_ground: bool, gap: int | None
) -> Cell | None:
    return next(
        (one for one in _near(place, landmark, shape, scene, on_ground, gap) if scene.has_room(_shifted(shape, one))), None
    )


# --- what it stands at ---


def landmarks(place: Location, scene: BuildingScene) -> list[Cells]:
    if place.of is None:
        focus = scene.standing(scene.focus)
        if place.relation in _AXES and place.distance is None and not scene.blocks:
            return [()]
        if place.relation == "here":
            return [tuple(scene.removed) or focus]
        wholes = around_focus(focus, scene)
        if place.relation in {"on", "up"} and len(pieces(focus)) > 1 and wholes and "across" not in place.word:
            return wholes[:1]
        return [focus or tuple(scene.blocks)]
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
        return [together(list(built)[-2:])]
    if (place.relation in {"between", "round", "inside"} or "across" in place.word) and groups:
        return [together(groups)]
    many = place.of.word in {"them", "these", "those", "they", "all of them"} and place.relation in {"on", "below"}
    if place.of.is_it and (place.of.each or many):
        return [(cell,) for group in groups for cell in _top_cells(group)]
    return groups if place.of.plural or place.of.is_it else groups[:1]


def _top_cells(group: Cells) -> Cells:
    highest: dict[tuple[int, int], Cell] = {}
    for cell in group:
        highest[cell[0], cell[2]] = max(cell, highest.get((cell[0], cell[2]), cell), key=lambda one: one[1])
    return tuple(highest.values())


def _is_of_area(thing: Thing, scene: BuildingScene, relation: str) -> bool:
    if thing.noun == "area":
        return True
    if thing.kind != "part" or thing.noun not in {"corner", "edge", "middle", "side"}:
        return False
    if thing.of is not None:
        nested = thing.of.kind == "part" and thing.of.article != "my"
        return _is_of_area(thing.of, scene, relation) if nested else thing.of.noun == "area"
    if thing.noun == "corner" and thing.article == "other":
        return bool(set(corners(GROUND)) & set(scene.blocks))
    return not scene.blocks or (relation == "at" and thing.article not in {"my", "each"} and thing.noun != "side")


def _area_parts(thing: Thing, scene: BuildingScene) -> list[Cells]:
    if thing.noun == "area":
        return [GROUND]
    if "free" in thing.picks:
        return _free_corners(scene)[: None if thing.plural else 1]
    other = thing.noun == "corner" and thing.article == "other"
    if thing.of is not None and thing.of.kind == "part":
        groups = [group for whole in _area_parts(thing.of, scene) for group in parts(whole, thing)]
    elif other and thing.picks:
        groups = [group for group in parts(GROUND, thing) if scene.free(group)]
    elif other and set(scene.focus) & set(corners(GROUND)):
        corner = next(cell for cell in scene.focus if cell in corners(GROUND))
        groups = [((-corner[0], 1, -corner[2]),)] if not thing.count else _free_corners(scene)
    else:
        groups = parts(GROUND, thing)
    if thing.plural and not (thing.word == "corners" and thing.article == "" and not thing.count):
        return groups
    free = [group for group in groups if scene.free(group)]
    return (free or groups)[: (thing.count or 1) if thing.noun == "corner" else 1]


def _free_corners(scene: BuildingScene) -> list[Cells]:
    return [(cell,) for cell in corners(GROUND) if cell not in scene.blocks]


# --- how it stands relative to that ---


def _near(
    place: Location, landmark: Cells, shape: Cells, scene: BuildingScene, on_ground: bool, gap: int | None
) -> Iterator[Cell]:
    relation = place.relation
    if not landmark:
        if relation in _AXES:
            yield _side_of_area(relation, shape)
        return
    step = place.distance or (gap + 1 if gap else 1)
    if relation in SIDES:
        on_area = landmark == GROUND
        yield _side_of_area(relation, shape) if on_area else beside(landmark, shape, relation, step, on_ground)
    elif relation == "beside":
        yield from (beside(landmark, shape, side, step, on_ground) for side in SIDES)
    elif relation in {"on", "up"} and (place.distance or not (scene.free(landmark) and set(landmark) <= set(GROUND))):
        yield from _above(landmark, shape, place.distance or 1)
    elif relation in {"below", "down"}:
        low = extent(landmark)[0]
        yield centered(landmark, shape, low[1] - spans(shape)[1])
    elif relation in {"between", "inside"}:
        yield from _within(landmark, shape, relation)
    elif relation == "here":
        yield extent(landmark)[0]
    else:
        yield from _right_there(place, landmark, shape, scene)


def beside(landmark: Cells, shape: Cells, side: str, step: int, on_ground: bool = False) -> Cell:
    """The origin of a shape on a side of a landmark; with a step of 1 they touch."""
    (low, high), (wide, _, deep) = extent(landmark), spans(shape)
    x, y, z = centered(landmark, shape, 1 if on_ground else low[1])
    return {
        "left": (low[0] - step - wide + 1, y, z),
        "right": (high[0] + step, y, z),
        "front": (x, y, low[2] - step - deep + 1),
        "behind": (x, y, high[2] + step),
    }[side]


def centered(landmark: Cells, shape: Cells, y: int) -> Cell:
    (low, high), (wide, _, deep) = extent(landmark), spans(shape)
    return (low[0] + high[0] + 1 - wide) // 2, y, (low[2] + high[2] + 1 - deep) // 2


def _above(landmark: Cells, shape: Cells, step: int) -> Iterator[Cell]:
    """Yields origins on the landmark, the lowest first: over its middle, or, for a thin shape, over its nearest top cell."""
    top = extent(landmark)[1][1]
    middle = centered(landmark, shape, top + step)
    highest = [cell for cell in landmark if cell[1] == top]
    if spans(shape)[0] == spans(shape)[2] == 1:
        near = min(highest, key=lambda cell: (abs(cell[0] - middle[0]) + abs(cell[2] - middle[2]), cell))
        middle = near[0], top + step, near[2]
    yield from ((middle[0], y, middle[2]) for y in range(top + step, HEIGHT + 1))


def _within(landmark: Cells, shape: Cells, relation: str) -> Iterator[Cell]:
    low, high = extent(landmark)
    yield centered(landmark, shape, low[1])
    inner = interior(landmark) if relation == "inside" else ()
    yield from sorted(
        inner, key=lambda cell: (cell[1], abs(2 * cell[0] - low[0] - high[0]) + abs(2 * cell[2] - low[2] - high[2]))
    )


def _right_there(place: Location, landmark: Cells, shape: Cells, scene: BuildingScene) -> Iterator[Cell]:
    """Yields origins at a part of the area or of a thing: beyond an end, then in its cells, then beside or on it."""
    of = place.landmark
    if of.kind == "part" and of.noun in {"end", "side"} and not set(landmark) <= set(GROUND) - set(scene.blocks):
        yield from _beyond(landmark, whole_of(of, scene), shape)
    if place.of and set(landmark) <= set(GROUND) and _is_of_area(of, scene, place.relation):
        yield moved(_flush(landmark, shape), _inward(landmark), place.distance or 0)
    yield centered(landmark, shape, extent(landmark)[0][1])
    if place.of is None or of.noun == "area":
        return
    if of.kind != "part":
        yield from (beside(landmark, shape, side, 1) for side in SIDES)
    else:
        yield from _above(landmark, shape, 1)


def _beyond(landmark: Cells, whole: Cells, shape: Cells) -> Iterator[Cell]:
    """Yields origins past an end of a row, where the row would continue."""
    if len(landmark) == 1 and sorted(spans(whole))[1] > 1:
        (inner,) = [cell for cell in touching(landmark[0]) if cell in whole][:1] or [landmark[0]]
        yield moved(moved(landmark[0], landmark[0]), inner, -1)
        yield from touching(landmark[0])
        return
    axis = max(range(3), key=lambda axis: spans(whole)[axis])
    low, high = extent(whole)
    at_end = landmark[0][axis] == high[axis]
    if axis == 1:
        yield centered(landmark, shape, high[1] + 1 if at_end else low[1] - spans(shape)[1])
    else:
        yield beside(landmark, shape, {0: ("left", "right"), 2: ("front", "behind")}[axis][at_end], 1)


def _inward(landmark: Cells) -> Cell:
    """The direction from an edge of the region to its middle."""
    low, high = extent(landmark)
    x, z = ((low[axis] < 0) - (low[axis] > 0) if low[axis] == high[axis] else 0 for axis in (0, 2))
    return x, 0, z


def _flush(landmark: Cells, shape: Cells) -> Cell:
    """The origin against the region's edge, in a corner or along a side, otherwise centered."""
    (low, high), (wide, _, deep) = extent(landmark), spans(shape)
    x, y, z = centered(landmark, shape, 1)
    x = min(max(x, -SIDE), SIDE - wide + 1) if low[0] == high[0] else x
    z = min(max(z, -SIDE), SIDE - deep + 1) if low[2] == high[2] else z
    return x, y, z


def _side_of_area(relation: str, shape: Cells) -> Cell:
    x, _, z = WAYS[relation]
    return moved(centered(GROUND, shape, 1), (x, 0, z), 3)


# --- free places ---


def free_spot(shape: Cells, scene: BuildingScene, apart: bool = False) -> Cell:
    """The origin on the ground, nearest to the middle, at which a shape touches no block; unless `apart`, otherwise one at which
    the shape is free. Raises Unplaced if there is none.
    """
    wide, _, deep = spans(shape)
    origins = [(x, 1, z) for x in range(-SIDE, SIDE - wide + 2) for z in range(-SIDE, SIDE - deep + 2)]
    middle = centered(GROUND, shape, 1)
    origins.sort(
        key=lambda origin: (max(abs(origin[0] - middle[0]), abs(origin[2] - middle[2])), abs(origin[2] - middle[2]), -origin[0])
    )
    near = {moved(cell, (x, y, z)) for cell in scene.blocks for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)}
    for taken in (near, set(scene.blocks)):
        for origin in origins:
            cells = _shifted(shape, origin)
            if not taken.intersection(cells) and fits(cells):
                return origin
        if apart:
            break
    raise Unplaced("Where? There is no room.")


def _shifted(shape: Cells, origin: Cell) -> Cells:
    return tuple(moved(cell, origin) for cell in shape)
