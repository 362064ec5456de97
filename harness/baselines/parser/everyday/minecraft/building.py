"""Carries out orders that build: what is placed, how often, in which colors and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.figures import SINGLE, Shape, cells_of, colored, palette
from harness.baselines.parser.everyday.minecraft.meaning import Location, Order, Thing, it
from harness.baselines.parser.everyday.minecraft.places import Unplaced, free_spot, landmarks, spots
from harness.baselines.parser.everyday.minecraft.references import ROOFS, border, cells_found, found, interior, whole_of
from harness.baselines.parser.everyday.minecraft.scene import (
    GROUND,
    SIDE_OF,
    WAYS,
    BuildingScene,
    Cell,
    Cells,
    Made,
    box,
    extent,
    fits,
    moved,
    spans,
    together,
)
from harness.baselines.parser.everyday.minecraft.words import word_set
from harness.worlds.minecraft import HEIGHT, SIDE

_AREA = Thing(kind="thing", noun="area", word="area", article="the")
_LINES = word_set("row tower diagonal block wall square frame lshape plus tshape ushape cube checkerboard floor") | {""}
_WAYS = frozenset({"left", "right", "front", "behind", "away", "toward", "sideways"})


def build(order: Order, scene: BuildingScene) -> None:
    """Builds the things of an order. Raises Unplaced if there is no room, no such place or no such color."""
    if _lines_up(order):
        colors = [color for thing in order.things for color in thing.colors * (thing.count or 1)]
        order.things = [
            Thing(noun="block", word="blocks", kind="thing", count=len(colors), colors=colors, flags=order.things[-1].flags)
        ]
    things = [_settled(thing, order) for thing in _one_by_one(order.things)]
    if not things:
        raise Unplaced("What?")
    places, flags = order.places, order.flags
    touching = "touching" in flags
    if len(things) > 1 and (touching or any(place.relation == "gap" for place in places)):
        shapes = [colored_thing(thing, scene, places) for thing in things]
        _place(_spread(shapes, 0 if touching else gap_of(places, 1), "row"), things[0], places, scene)
        return
    if len(things) == 2 and things[0].noun == "tower" and things[0].count == 2 and things[1].noun == "row" and not places:
        _build(things[0], [Location("gap", distance=max(1, things[1].sizes.get("long", 3) - 2))], scene)
        _build(things[1], [Location("on", of=it(), word="across the top")], scene)
        return
    for number, thing in enumerate(things):
        own = places if number == len(things) - 1 else [place for place in places if not _is_own(place)]
        _build(replace(thing, flags=thing.flags | flags), own, scene)


def _lines_up(order: Order) -> bool:
    """Whether blocks of several colors are one line: `a red, a blue and a green block in a row`."""
    line = any(flags & {"stacked", "touching"} for flags in [order.flags, *(thing.flags for thing in order.things)])
    line |= any(
        place.relation == "at" and place.landmark.noun in {"row", "tower", "diagonal"} and not place.landmark.definite
        for place in order.places
    )
    return line and len(order.things) > 1 and all(thing.generic and thing.colors for thing in order.things)


def _one_by_one(things: list[Thing]) -> list[Thing]:
    """`three towers: 1 block, 2 blocks, 3 blocks`: each of several things separately."""
    first, rest = things[0] if things else Thing(), things[1:]
    if not (rest and first.count == len(things) and first.sizes and all(one.generic and one.count for one in rest)):
        return things
    sizes = [first.sizes, *({"count": one.count or 1} for one in rest)]
    return [replace(first, count=None, colors=first.colors or things[-1].colors, sizes=one) for one in sizes]


def _is_own(place: Location) -> bool:
    """Whether only the last of several things stands there: `a tower and a red block on it`."""
    return place.of is None or place.of.is_it or (place.of.kind == "part" and place.of.of is None)


def _relative(places: list[Location]) -> bool:
    return any(place.of and not place.of_area for place in places)


def gap_of(places: list[Location], default: int = 0) -> int:
    """The number of cells to leave free between things."""
    return next((place.distance or 0 for place in places if place.relation == "gap"), default)


def _settled(thing: Thing, order: Order) -> Thing:
    """A thing with what the places of its order say about it: `3 blocks in a row` is a row of 3, `in orange` is a color."""
    thing = replace(thing, colors=list(thing.colors), sizes=dict(thing.sizes), flags=set(thing.flags))
    if not (thing.noun or thing.count) and any(place.of_area and place.landmark.article == "all" for place in order.places):
        return replace(thing, noun="floor", word="floor", by=[2 * SIDE + 1] * 2)
    thing.noun = thing.noun or "block"
    if thing.noun == "block" and len(thing.by) > 2:
        thing.noun = "cube"
    if "each_color" in thing.flags:
        thing.count, thing.few = 6 * (thing.count or 1), False
        thing.flags.add("varied")
    for place in list(order.places):
        of = place.landmark
        lies = place.of and place.relation in {"at", "inside", "along"}
        shaped = _shaped(thing, of) if lies and of.noun in _LINES and of.article in {"", "a"} and not of.picks else None
        if shaped is not None:
            thing = shaped
            order.places = [one for one in order.places if one is not place]
    return thing


def _shaped(thing: Thing, of: Thing) -> Thing | None:
    """A thing in the shape that its place names: `3 blocks in a row`; None if that is a place, not a shape."""
    if of.noun == "row" and thing.noun in SINGLE and (thing.count or 0) > 1:
        return replace(thing, flags=thing.flags | {"parallel"})
    if of.generic and (of.colors or of.flags):
        return replace(thing, colors=thing.colors or of.colors, flags=thing.flags | of.flags)
    if of.noun == "row" and (of.count or 1) > 1 and of.sizes.get("count"):
        return replace(thing, noun="square", word=of.word, count=None, by=[of.sizes["count"], of.count or 1])
    if of.generic or (of.article != "a" and of.count != 1 and of.colors):
        return None
    count = max(thing.count or 0, thing.sizes.get("count") or 0)
    return replace(
        thing,
        noun=of.noun,
        word=thing.word if thing.noun == "named" else of.word,
        count=None,
        by=of.by or thing.by,
        colors=thing.colors or of.colors,
        flags=thing.flags | of.flags,
        sizes=thing.sizes | of.sizes | ({"count": count} if count else {}),
    )


# --- one thing ---


def _build(thing: Thing, places: list[Location], scene: BuildingScene) -> None:
    if thing.no_color:
        raise Unplaced("Which color?")
    if thing.noun in {"named", "sign"} and not (thing.sizes or thing.by or thing.count or thing.colors or places):
        raise Unplaced(f"What is a {thing.word}?")
    places = _standing_first([_sided(place, thing) for place in places], scene)
    if thing.noun in {"area", "everything"} or (thing.noun in {"floor", "checkerboard"} and _everywhere(thing, places)):
        _place_cells(GROUND, thing, scene, noun="floor")
        return
    if thing.noun in {"frame", "row", "wall", "block"}:
        if thing.plural or thing.noun != "block":
            places = [replace(one, relation="round", of=_AREA) if _is_all_edges(one) else one for one in places]
        if not thing.count and _on_edge(thing, places, scene):
            return
    ends = [place for place in places if place.word in {"from", "to"} and place.of is not None]
    if ends and any(place.relation == "on" and not place.of_area for place in places):
        places, ends = [place for place in places if place not in ends], []
    if len(ends) == 2 and thing.noun in {"row", "diagonal"} and not _spans_area(places):
        found = [cell for place in ends for cell in landmarks(place, scene)[:1]]
        if len(found) < len(ends):
            raise Unplaced("Where?")
        connect(found[0], found[1], thing, scene)
        return
    for place in places:
        rule = _SPECIAL.get(place.relation)
        if rule and rule(thing, place, places, scene):
            return
    if any(_on_each(place, thing, scene) for place in places):
        thing = replace(thing, count=1)
    shape = colored_thing(thing, scene, places)
    thing = replace(thing, way=_way(thing, places))
    if thing.noun == "stairs":
        places = [place for place in places if place.of is not None or place.relation not in WAYS]
    count = _copies(thing)
    if count > 1 and (thing.noun != "block" or "apart" in thing.flags):
        if any(place.relation == "gap" for place in places) or "parallel" in thing.flags or (thing.noun == "row" and not places):
            shapes = [_in_color(shape, thing, number) for number in range(count)]
            shape = _spread(shapes, 0 if "touching" in thing.flags else gap_of(places, 1), thing.noun)
        else:
            _each_free(shape, count, thing, places, scene)
            return
    _place(shape, thing, places, scene)


def _is_all_edges(place: Location) -> bool:
    of = place.landmark
    return of.noun in {"edge", "side"} and of.plural and not of.picks and of.whole.noun == "area"


def _on_edge(thing: Thing, places: list[Location], scene: BuildingScene) -> bool:
    """Builds something on top of a flat thing, all along its edge; returns whether it did."""
    edge = next((place.of for place in places if place.landmark.noun == "edge" and not place.landmark.picks), None)
    flat = next((place.of for place in places if place.relation == "on" and place.of and not place.of_area), None)
    if edge is None or edge.whole.noun == "area" or not scene.blocks:
        return False
    base = edge.of or flat
    whole = cells_found(base, scene) if base is not None else whole_of(Thing(), scene)
    if not whole or min(spans(whole)[::2]) < 2:
        return False
    top = extent(whole)[1][1]
    rim = border(tuple(cell for cell in whole if cell[1] == top))
    cells = [moved(cell, WAYS["up"], n) for n in range(1, thing.sizes.get("high", 1) + 1) for cell in rim]
    _place_cells(cells, thing, scene, noun="frame")
    return True


def _on_each(place: Location, thing: Thing, scene: BuildingScene) -> bool:
    """Whether the count is that of the things or corners meant, one for each: `2 blocks on them`, `4 towers in the corners`."""
    if place.of is None or place.of_area or (thing.count or 0) < 2:
        return False
    corners = place.relation == "at" and place.of.noun == "corner" and place.of.plural
    return (corners or (place.relation == "on" and thing.generic)) and len(landmarks(place, scene)) == thing.count


def _sided(place: Location, thing: Thing) -> Location:
    """`the left wing, beside the body` is left of the body."""
    side = SIDE_OF.get(next(iter(thing.picks), ""))
    return replace(place, relation=side) if side and place.relation == "beside" else place


def _standing_first(places: list[Location], scene: BuildingScene) -> list[Location]:
    """Builds what something is to stand on, if that does not stand yet: `a yellow block on a red block`. Returns the places with
    "it" for what was built."""
    for place in places:
        of = place.of
        base = of.of if of is not None and of.kind == "part" else of
        if of is None or base is None or base.article != "a" or base.kind != "thing" or found(base, scene):
            continue
        if of is not base and base.colors:
            _build(base, [], scene)
            return [replace(one, of=replace(of, of=it())) if one is place else one for one in places]
        if of is base and place.relation in {"on", "left", "right", "behind", "front", "beside"}:
            _build(base, [one for one in places if one is not place], scene)
            return [replace(place, of=it())]
    return places


def _copies(thing: Thing) -> int:
    return min(thing.count or (3 if thing.few else 1), 20)


def _everywhere(thing: Thing, places: list[Location]) -> bool:
    sized = thing.by or thing.sizes
    return not sized and (
        (thing.noun == "floor" and thing.word == "floor" and not places) or "max_to_edge" in thing.flags or thing.article == "all"
    )


def colored_thing(thing: Thing, scene: BuildingScene, places: list[Location]) -> Shape:
    alike = cells_found(thing.like["color"], scene) if "color" in thing.like else ()
    return colored(_cells(thing, places, scene), thing, scene.blocks[alike[0]] if alike else scene.color)


def _cells(thing: Thing, places: list[Location], scene: BuildingScene) -> Cells:
    if thing.like:
        thing = replace(thing, sizes=thing.sizes | sizes_like(thing, scene), like={})
    if thing.noun == "tower" and "max_to_edge" in thing.flags:
        thing = replace(thing, sizes=thing.sizes | {"high": HEIGHT})
    thing = _edged(replace(thing, way=_way(thing, places)), places)
    if "stairs_up" in thing.flags:
        count = thing.count or thing.sizes.get("count") or 3
        thing = replace(thing, noun="diagonal", count=None, sizes={"count": count}, flags=thing.flags | {"upright"})
    if (
        "diagonal" in thing.flags
        and "apart" not in thing.flags
        and thing.noun in {"row", "block"}
        and (_copies(thing) > 1 or thing.sizes)
    ):
        thing = replace(thing, noun="diagonal", sizes={"count": thing.count or 0} | thing.sizes)
    if thing.noun in {"block", ""} and "apart" not in thing.flags and (_copies(thing) > 1 or thing.sizes.get("count")):
        stacked = "stacked" in thing.flags or any(_is_over(place) for place in places)
        noun = "tower" if stacked else "square" if _copies(thing) > 2 * SIDE + 1 else "row"
        thing = replace(thing, noun=noun, count=None, sizes={"count": _copies(thing)} | thing.sizes)
    if thing.noun == "row" and not thing.sizes and not thing.by and not thing.vague:
        below = _covered(thing, places, scene)
        if len(below) > 1 and max(spans(below)[::2]) > 1 and 1 in (spans(below)[0], spans(below)[2]):
            wide, _, deep = spans(below)
            thing = replace(thing, sizes={"long": max(wide, deep)}, way="away" if deep > wide else thing.way)
    if thing.noun in {"floor", "square", "layer", "top"} and not thing.by and not thing.sizes:
        covered = _covered(thing, places, scene)
        if len(covered) > 1:
            return tuple((x, 0, z) for x in range(spans(covered)[0]) for z in range(spans(covered)[2]))
    step = 1 + gap_of(places, 1) if thing.noun in {"row", "diagonal"} and any(place.relation == "gap" for place in places) else 1
    apart = step if thing.sizes.get("count") and _copies(thing) == 1 else 1
    return tuple((x * apart, y, z * apart) for x, y, z in cells_of(thing))


def _covered(thing: Thing, places: list[Location], scene: BuildingScene) -> Cells:
    """The cells that something flat lies on: `a roof on the tower`, `another layer on top`."""
    for place in places:
        if place.relation == "on" and place.of and not place.of_area:
            return cells_found(place.of, scene)
        if place.relation == "on" and place.of is None and (thing.noun in {"layer", "row"} or thing.word in ROOFS):
            return whole_of(Thing(), scene)
    return ()


def sizes_like(thing: Thing, scene: BuildingScene) -> dict[str, int]:
    """The sizes of a thing that is as long or high as another one."""
    sizes = {}
    for name, other in ((name, other) for name, other in thing.like.items() if name != "color"):
        wide, high, deep = spans(cells_found(other, scene) or ((0, 0, 0),))
        sizes[name] = high if name == "high" else max(wide, deep) if max(wide, deep) > 1 else high
    return sizes


def _is_over(place: Location) -> bool:
    """Whether several blocks at this place are stacked; false if they lie across something."""
    lies = "across" in place.word or "spanning" in place.word
    return place.relation in {"on", "up", "below"} and not place.of_area and not lies


def _way(thing: Thing, places: list[Location]) -> str:
    """The direction in which a row or stairs run: one that is named, or away from the thing that blocks are put beside."""
    long = thing.noun in {"row", "wall"}
    ways = [place.relation for place in places if place.relation in _WAYS and (place.of is None or not long)]
    return ways[0] if ways else thing.way


def _edged(thing: Thing, places: list[Location]) -> Thing:
    """The thing; rows and walls along an edge, or from one edge to the other, get their length and direction."""
    side = next((place.of for place in places if place.landmark.noun in {"edge", "side"}), None)
    if (side is None and "max_to_edge" not in thing.flags) or thing.noun not in {"row", "wall"}:
        return thing
    if side is not None and set(side.picks) & {"leftmost", "rightmost"} and not _spans_area(places):
        thing = replace(thing, way="away")
    if _spans_area(places) and any(set(place.landmark.picks) & {"nearest", "farthest"} for place in places):
        thing = replace(thing, way="away")
    whole = thing.noun == "row" or "max_to_edge" in thing.flags or any(place.relation == "along" for place in places)
    if whole and not thing.by and not thing.sizes.keys() & {"wide", "long", "count"}:
        thing = replace(thing, sizes=thing.sizes | {"wide" if thing.noun == "wall" else "long": 2 * SIDE + 1})
    return thing


def _spans_area(places: list[Location]) -> bool:
    return sum(place.landmark.noun in {"edge", "side"} for place in places) > 1


def _spread(shapes: list[Shape], gap: int, noun: str) -> Shape:
    """Shapes side by side with a gap; rows one behind the other."""
    united: Shape = {}
    start = 0
    for shape in shapes:
        wide, _, deep = spans(tuple(shape))
        lined = wide > deep and noun == "row"
        united |= {moved(cell, (0, 0, 1) if lined else (1, 0, 0), start): color for cell, color in shape.items()}
        start += (deep if lined else wide) + gap
    return united


def _in_color(shape: Shape, thing: Thing, number: int) -> Shape:
    """A copy in its own color, if several colors are named."""
    colors = palette(thing, "")
    return dict.fromkeys(shape, colors[number % len(colors)]) if len(colors) > 1 else shape


def _each_free(shape: Shape, count: int, thing: Thing, places: list[Location], scene: BuildingScene) -> None:
    built: list[Cell] = []
    for number in range(count):
        one = _in_color(shape, thing, number)
        if _relative(places) and number == 0:
            _place(one, thing, places, scene)
        else:
            _place_at(one, free_spot(tuple(one), scene), thing, scene)
        built += scene.focus
    scene.focus = tuple(built)


def _place(shape: Shape, thing: Thing, places: list[Location], scene: BuildingScene) -> None:
    cells = tuple(shape)
    exact = next((place.distance for place in places if place.relation == "height"), None)
    if exact is not None:
        origin = free_spot(cells, BuildingScene())
        _place_at(shape, (origin[0], exact, origin[2]), thing, scene)
        return
    if "float" in thing.flags and "stairs_up" not in thing.flags and not _relative(places):
        origin = free_spot(cells, scene)
        _place_at(shape, moved(origin, WAYS["up"], 3), thing, scene)
        return
    built: list[Cell] = []
    origins = spots(places, cells, scene, "apart" in thing.flags)
    for number, origin in enumerate(origins):
        one = _in_color(shape, thing, number) if len(origins) > 1 and "varied" in thing.flags else shape
        _place_at(one, origin, thing, scene)
        built += scene.focus
    scene.focus = tuple(built)


def _place_cells(cells: Sequence[Cell], thing: Thing, scene: BuildingScene, noun: str) -> None:
    """Places a thing in cells of the region, colored like a figure of the noun."""
    _place_at(colored(cells, replace(thing, noun=noun), scene.color), (0, 0, 0), thing, scene)


def _place_at(shape: Shape, origin: Cell, thing: Thing, scene: BuildingScene) -> None:
    painted = {moved(cell, origin): color for cell, color in shape.items()}
    if not fits(painted):
        raise Unplaced("Where? It does not fit there.")
    scene.place(painted)
    scene.made.append(Made(thing.word, thing.noun, tuple(painted), thing))


# --- places that shape what is built ---


def _around(thing: Thing, place: Location, places: list[Location], scene: BuildingScene) -> bool:
    """Builds a frame around something, at the distance that is named; returns whether it did."""
    if place.of is None and "around" not in thing.flags:
        return False
    area = "area" in {place.landmark.noun, place.landmark.whole.noun}
    inner = () if area or place.of is None else together(landmarks(place, scene))
    if not area and not inner:
        raise Unplaced("Around what?")
    gap = place.distance or gap_of(places)
    low, high = ((-SIDE + 1, 1, -SIDE + 1), (SIDE - 1, 1, SIDE - 1)) if area else extent(inner)
    out = gap + thing.sizes.get("wide", 1)
    top = low[1] + thing.sizes.get("high", 1) - 1
    cells = box((low[0] - out, low[1], low[2] - out), (high[0] + out, top, high[2] + out))
    ring = [c for c in cells if not (low[0] - gap <= c[0] <= high[0] + gap and low[2] - gap <= c[2] <= high[2] + gap)]
    _place_cells(ring, thing, scene, noun="frame")
    return True


def _filling(thing: Thing, place: Location, places: list[Location], scene: BuildingScene) -> bool:
    """Builds a row between two things from one to the other; returns whether it did."""
    if thing.noun != "row" or thing.sizes or place.of is None:
        return False
    groups = found(place.of, scene) + (found(place.second, scene) if place.second else [])
    if len(groups) < 2:
        return False
    connect(groups[0], groups[1], thing, scene)
    return True


def connect(one: Cells, other: Cells, thing: Thing, scene: BuildingScene) -> None:
    """Builds a straight line in the free cells between two groups of blocks."""
    if not (one and other):
        raise Unplaced("Where?")
    (a, b) = min(((a, b) for a in one for b in other), key=lambda pair: sum(abs(p - q) for p, q in zip(*pair, strict=True)))
    steps = max(abs(p - q) for p, q in zip(a, b, strict=True))
    line = [tuple(p + round((q - p) * n / steps) for p, q in zip(a, b, strict=True)) for n in range(steps + 1)] if steps else []
    cells = [(x, y, z) for x, y, z in line if (x, y, z) not in scene.blocks]
    if not cells:
        raise Unplaced("Where?")
    _place_cells(cells, thing, scene, noun="row")


def _inside(thing: Thing, place: Location, places: list[Location], scene: BuildingScene) -> bool:
    """Builds a floor that fills the inside of something; returns whether it did."""
    if thing.noun != "floor" or thing.sizes or place.of is None or place.of_area:
        return False
    cells = interior(cells_found(place.of, scene)) if found(place.of, scene) else ()
    if not cells:
        return False
    _place_cells(cells, thing, scene, noun=thing.noun)
    return True


_SPECIAL = {"round": _around, "between": _filling, "inside": _inside}
