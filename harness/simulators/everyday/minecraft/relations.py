"""Requests about existing things: building on, beside or around them, repeating, mirroring, moving and resizing them."""

from __future__ import annotations

from harness.simulators import impossible_if, needed
from harness.simulators.everyday.minecraft.building import BuildingTalk, span, standing
from harness.simulators.everyday.talk import Maker, NamedObject, Request, Revision, copy_of, moved_by
from harness.worlds.minecraft import HEIGHT, SIDE, in_region

_WAYS = {"left": (1, 0, 0), "right": (-1, 0, 0), "behind": (0, 0, 1), "front": (0, 0, -1), "up": (0, 1, 0)}
_TOWARD = {"far": "behind", "near": "front"}
_BACK = {"left": "right", "right": "left", "behind": "front", "front": "behind"}
_BIG = ("carpet", "floor", "square", "rectangle", "platform", "cube", "house", "pyramid", "table", "well")
_COPIED = (
    "block", "tower", "row", "wall", "cube", "staircase", "arch", "gate", "bridge", "doorway", "table", "chair", "bench",
    "house", "tree",
    "flower", "flag", "letter", "L shape", "T shape", "U shape", "plus", "square", "carpet", "traffic light", "pyramid", "well",
    "pool",
    "fountain", "candle", "lamp post",
)  # fmt: skip
Bounds = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]


def _bounds(thing: NamedObject) -> Bounds:
    """The smallest and the largest x, y and z."""
    xs, ys, zs = zip(*thing.cells, strict=True)
    return (min(xs), max(xs)), (min(ys), max(ys)), (min(zs), max(zs))


def _room(bounds: Bounds, way: str, k: int) -> bool:
    """Whether something with these bounds stays in the region when it moves `k` cells in a direction."""
    dx, dy, dz = _WAYS[way]
    (x1, x2), (_, y2), (z1, z2) = bounds
    return all(in_region(x + k * dx, y2 + k * dy, z + k * dz) for x in (x1, x2) for z in (z1, z2))


def _s(n: int) -> str:
    return "s" if n > 1 else ""


def _more(n: int) -> str:
    """A function's last argument, which is left out for its default of 1."""
    return f",{n}" if n > 1 else ""


def on_top(b: BuildingTalk) -> Request:
    """One or two blocks on top of a block or tower, one on every block of a row, or one on the middle of something wider."""
    thing = b.pick("block", "tower", "row", "wall", "cube", "table", "pyramid", "house", "carpet", "square", "staircase")
    (x1, x2), (_, top), (z1, z2) = _bounds(thing)
    impossible_if(top == HEIGHT)
    color, cells, it = b.color(), b.where(thing), b.ref(thing)
    if (x1, z1) == (x2, z2):
        n = b.some(1, 1, 2)
        text = b.say("on top" if n == 1 else "on top some", color=color, it=it, n=b.number(n), what=b.say("block", color=color))
        return Request("relation", text, f"{color} on({cells}{_more(n)})", noun="block", fresh=True)
    if thing.noun in ("row", "wall", "staircase") and b.rng.random() < 0.7:
        return Request("relation", b.say("on every", color=color, it=it), f"{color} on({cells})", noun="layer", fresh=True)
    impossible_if((x2 - x1) % 2 or (z2 - z1) % 2)
    place = f"{(x1 + x2) // 2},{top + 1},{(z1 + z2) // 2}"
    text = b.say("on the middle", it=it, what=b.say("block", color=color))
    return Request("relation", text, f"{color} {place}", noun="block", fresh=True)


def beside(b: BuildingTalk) -> Request:
    """One or more blocks on the ground at a side of something, next to it or some cells away."""
    thing = b.pick("block", "tower", "cube", "table", "house", "chair", "pyramid", "tree", "flag", "flower")
    (x1, x2), _, (z1, z2) = bounds = _bounds(thing)
    way = b.some("left", "right", "front", "behind")
    k = b.some(1, 1, 1, 2, 3)
    named = b.some(way, way, way, "next to") if k == 1 else way
    impossible_if(not _room(bounds, way, k) or (x2 - x1) % 2 or (z2 - z1) % 2)
    n, color = b.some(1, 1, 1, 2, 3), b.color()
    what = b.block_or_tower(n, color)
    side = b.say(f"side {named}") if k == 1 else b.say(f"far {way}", n=b.number(k))
    variants = []
    if _room(bounds, _BACK[way], k):
        other = standing(*_next_to(bounds, _BACK[way], k), n)
        variants.append(Revision("other side of", f"{color} {other}", {"side": b.say(f"side {_BACK[way]}")}))
    if n == 1 and (x1, z1) == (x2, z2):
        variants.append(Revision("on top instead", f"{color} on(is({','.join(thing.colors)}))"))
    text = b.say("beside", what=what, side=side, it=b.ref(thing))
    program, noun = f"{color} {standing(*_next_to(bounds, way, k), n)}", "block" if n == 1 else "tower"
    return Request("relation", text, program, noun=noun, fresh=True, variants=variants)


def _next_to(bounds: Bounds, way: str, k: int) -> tuple[int, int]:
    """x and z of the cell `k` cells away from the middle of a side."""
    (x1, x2), _, (z1, z2) = bounds
    x = {"left": x2 + k, "right": x1 - k}.get(way, (x1 + x2) // 2)
    return x, {"behind": z2 + k, "front": z1 - k}.get(way, (z1 + z2) // 2)


def ends(b: BuildingTalk) -> Request:
    thing = b.pick("row")
    bounds = (x1, x2), _, (z1, z2) = _bounds(thing)
    ways = ("left", "right") if x2 > x1 else ("front", "behind")
    impossible_if((z2 > z1 and x2 > x1) or not all(_room(bounds, way, 1) for way in ways))
    color, cells = b.color(), b.where(thing)
    if b.rng.random() < 0.35:
        places = f"{x1},1,{z1}", f"{x2},1,{z2}"
        n = b.some(1, 2, 3)
        text = b.say("on the ends", color=color, it=b.ref(thing), n=b.number(n), s=_s(n))
        return Request("relation", text, f"{color} {'+'.join(f'on({place},{n})' for place in places)}", noun="ends", fresh=True)
    text = b.say("ends", color=color, it=b.ref(thing))
    return Request("relation", text, f"{color} {ways[0]}({cells})+{ways[1]}({cells})", noun="ends", fresh=True)


def around(b: BuildingTalk) -> Request:
    thing = b.pick("block", "tower", *_BIG)
    bounds = (x1, x2), _, (z1, z2) = _bounds(thing)
    impossible_if(not all(_room(bounds, way, 1) for way in ("left", "right", "behind", "front")))
    color = b.color()
    frame = f"frame({x2 + 1},1,{z1 - 1},right,{x2 - x1 + 3},behind,{z2 - z1 + 3})"
    kind = b.some("border", "relation")
    return Request(kind, b.say("around", color=color, it=b.ref(thing)), f"{color} {frame}", noun="fence", fresh=True)


def inside(b: BuildingTalk) -> Request:
    """The empty inside of a frame that lies flat, or its middle."""
    thing = b.pick("square", "fence", "frame", "ring", "rectangle", "border")
    (x1, x2), (y1, y2), (z1, z2) = _bounds(thing)
    impossible_if(y1 != y2 or x2 - x1 < 2 or z2 - z1 < 2 or len(thing.cells) != 2 * (x2 - x1 + z2 - z1))
    color, cells = b.color(), b.where(thing)
    if b.rng.random() < 0.35 and not (x2 - x1) % 2 and not (z2 - z1) % 2:
        text = b.say("inside one", what=b.say("block", color=color), it=b.ref(thing))
        return Request("relation", text, f"{color} middle({cells})", noun="block", fresh=True)
    text = b.say("inside", color=color, it=b.ref(thing))
    return Request("relation", text, f"{color} box({cells}) - {cells}", noun="filling", fresh=True)


def between(b: BuildingTalk) -> Request:
    things = [thing for thing in b.things if thing.noun in ("block", "tower") and b.is_distinct(thing)]
    impossible_if(len(things) < 2)
    one, two = b.rng.sample(things, 2)
    (x1, _), _, (z1, _) = _bounds(one)
    (u1, _), _, (v1, _) = _bounds(two)
    impossible_if((x1 != u1) == (z1 != v1) or abs(x1 - u1) + abs(z1 - v1) < 2)
    color = b.color()
    text = b.say("between", color=color, it=b.named(one), that=b.named(two), noun=one.noun)
    across, away = sorted((x1, u1)), sorted((z1, v1))
    xs = str(x1) if x1 == u1 else span(across[0] + 1, across[1] - 1)
    zs = str(z1) if z1 == v1 else span(away[0] + 1, away[1] - 1)
    return Request("relation", text, f"{color} {xs},1,{zs}", noun="row", fresh=True)


def parts(b: BuildingTalk) -> Request:
    """Removes or recolors a part: the top of a tower, the corners or the middle of something flat, an end of a row."""
    thing = b.pick("tower", "row", "wall", "square", "carpet", "cube", "floor")
    impossible_if(len(thing.cells) < 3 or len(thing.colors) != 1)
    (x1, x2), (y1, y2), (z1, z2) = _bounds(thing)
    cells, name = b.where(thing), ""
    if thing.noun == "tower":
        name, part = b.some(("topmost block", f"end({cells},up)"), ("lowest block", f"end({cells},down)"))
    elif thing.noun == "row":
        way = b.some("left", "right") if x2 > x1 else b.some("far", "near")
        name, part = f"{way} end", f"end({cells},{_TOWARD.get(way, way)})"
    elif thing.noun == "wall":
        name, part = "top row", f"end({cells},up)"
    elif y1 == y2 and x2 - x1 > 1 and z2 - z1 > 1 and len(thing.cells) == (x2 - x1 + 1) * (z2 - z1 + 1):
        name, part = b.some(("corners", f"corners({cells})"), ("middle", f"middle({cells})"))
        impossible_if(name == "middle" and ((x2 - x1) % 2 or (z2 - z1) % 2))
    elif thing.noun == "cube":
        name, part = b.some(("top layer", f"end({cells},up)"), ("corners", f"corners({cells})"))
    impossible_if(not name)
    words, it = b.say(f"part {name}"), b.ref(thing)
    if b.rng.random() < 0.5:
        kind = "corner" if name == "corners" else "remove"
        return Request(kind, b.say("remove part", part=words, it=it), f"remove {part}", subject=thing)
    color = b.color()
    kind = "corner" if name == "corners" else "recolor"
    return Request(kind, b.say("recolor part of", part=words, it=it, color=color), b.recolored(part, color), subject=thing)


def every_second_of(b: BuildingTalk) -> Request:
    """Every second block of a row of odd length, without its ends."""
    thing = b.pick("row", "line")
    impossible_if(len(thing.cells) < 5 or len(thing.cells) % 2 == 0 or len(thing.colors) != 1)
    (x1, x2), (y1, y2), (z1, z2) = _bounds(thing)
    impossible_if(len(thing.cells) != x2 - x1 + z2 - z1 + 1 or y1 != y2)
    color = b.color()
    text = b.say("every second of", color=color, it=b.named(thing))
    return Request("count", text, b.recolored(f"even(is({thing.colors[0]}))", color), subject=thing)


# --- once more ---


def copied(b: BuildingTalk) -> Request:
    thing = b.pick(*_COPIED)
    bounds = (x1, x2), _, (z1, z2) = _bounds(thing)
    way = b.some("left", "right", "behind", "front", "right", "left")
    size = x2 - x1 + 1 if way in ("left", "right") else z2 - z1 + 1
    gap = b.some(0, 1, 1, 2)
    impossible_if(not _room(bounds, way, size + gap))
    color = b.color() if b.rng.random() < 0.35 and len(thing.colors) == 1 else ""
    slots = {"it": b.ref(thing), "noun": thing.noun, "side": b.say(f"side {way}")}
    slots["gap"] = b.say("gap" if gap else "no gap", n=b.number(gap), s=_s(gap))
    text = b.say("copy in color" if color else "copy", color=color, **slots)
    return copy_of(thing, text, b.where(thing), f"{way} {size + gap}", color)


def again(b: BuildingTalk) -> Request:
    thing = needed(b.last)
    impossible_if(thing.noun not in _COPIED or not b.is_distinct(thing) or not b.orders[-1].noun)
    bounds = (x1, x2), _, (z1, z2) = _bounds(thing)
    moves = ("right", x2 - x1 + 2), ("left", x2 - x1 + 2), ("behind", z2 - z1 + 2)
    ways = [move for move in moves if _room(bounds, *move)]
    impossible_if(not ways)
    way, k = b.rng.choice(ways)
    color = b.color() if len(thing.colors) == 1 and b.rng.random() < 0.5 else ""
    text = b.say("again with color" if color else "again", color=color, noun=thing.noun)
    return copy_of(thing, text, b.where(thing), f"{way} {k}", color, bare=not color)


def stacked(b: BuildingTalk) -> Request:
    thing = b.pick("block", "row", "square", "carpet", "cube", "wall", "floor", "tower")
    _, (y1, y2), _ = _bounds(thing)
    impossible_if(y2 + y2 - y1 + 1 > HEIGHT)
    color = b.color() if len(thing.colors) == 1 and b.rng.random() < 0.4 else ""
    text = b.say("stack in color" if color else "stack", color=color, it=b.ref(thing), noun=thing.noun)
    subject = None if color else thing
    return copy_of(thing, text, b.where(thing), f"up {y2 - y1 + 1}", color, subject=subject, noun="layer")


def to_the_edge(b: BuildingTalk) -> Request:
    thing = needed(b.last)
    impossible_if(thing.noun not in ("block", "tower", "wall", "chair", "tree", "flower") or not b.is_distinct(thing))
    bounds = (x1, x2), _, _ = _bounds(thing)
    way, gap = b.some("left", "right"), b.some(1, 1, 2)
    k = x2 - x1 + 1 + gap
    n = (SIDE - x2) // k if way == "left" else (SIDE + x1) // k
    impossible_if(n < 2 or not _room(bounds, way, k))
    it, apart = b.ref(thing), b.say("gap", n=b.number(gap), s=_s(gap))
    text = b.say("to the edge", it=it, side=way, gap=apart, noun=thing.noun)
    program = f"copy repeat(shift({b.where(thing)},{way} {k}),{way} {k},{n})"
    return Request("repeat", text, program, count=n * len(thing.cells), fresh=True)


# --- mirrored, moved, larger ---


def mirrored(b: BuildingTalk) -> Request:
    """A mirror image next to the thing, or on the other half of the ground."""
    thing = b.pick()
    (x1, x2), _, _ = _bounds(thing)
    cells = b.where(thing)
    if thing.noun in ("staircase", "L shape", "flag") and b.rng.random() < 0.5:
        way = b.some("left", "right")
        impossible_if(not _room(_bounds(thing), way, x2 - x1 + 1))
        text = b.say("mirror beside", it=b.ref(thing), way=way)
        edge = x2 + 1 if way == "left" else x1
        program = f"copy reflect({cells},right,({edge - 1},1,0+{edge},1,0))"
        return Request("mirror", text, program, noun=thing.noun, count=len(thing.cells), fresh=True)
    impossible_if(x1 <= 0 <= x2)
    text = b.say("mirror", it=b.ref(thing), other="left" if x2 < 0 else "right")
    return Request("mirror", text, f"copy reflect({cells},right,0,1,0)", noun=thing.noun, count=len(thing.cells), fresh=True)


def turned(b: BuildingTalk) -> Request:
    """A row or wall turned by a quarter, or a tower laid down."""
    thing = b.pick_plain("row", "wall", "tower")
    (x1, x2), (y1, y2), (z1, z2) = _bounds(thing)
    color, cells = thing.colors[0], b.where(thing)
    if thing.noun == "tower":
        n = y2 - y1 + 1
        impossible_if(y1 > 1 or x1 != x2 or x1 - n + 1 < -SIDE)
        program = f"s={cells}; remove s; {color} row({x1},1,{z1},right,{n})"
        return Request("mirror", b.say("lay down", it=b.ref(thing)), program, subject=thing)
    impossible_if((x2 - x1) % 2 or (z2 - z1) % 2 or y1 > 1)
    text = b.say("turn", it=b.ref(thing))
    return Request("mirror", text, f"s={cells}; m=middle(s); remove s; {color} rotate(s,1,m)", subject=thing)


def moved(b: BuildingTalk) -> Request:
    thing = b.pick_plain(*_COPIED)
    way, k = b.some("left", "right", "behind", "front"), b.some(1, 1, 2, 3)
    impossible_if(not _room(_bounds(thing), way, k))
    impossible_if(any((x, 1, z) not in thing.cells for x, _, z in thing.cells))
    text = b.say("move", it=b.ref(thing), n=b.number(k), s=_s(k), way=b.say(f"to {way}"))
    return moved_by(b, thing, text, f"{way} {k}")


def taller(b: BuildingTalk) -> Request:
    thing = b.pick_plain("tower", "wall", "fence", "square", "block")
    _, (y1, y2), _ = _bounds(thing)
    k = b.some(1, 1, 2)
    section = "taller" if k == 1 else "taller by"
    if thing.noun == "tower" and b.rng.random() < 0.3:
        k, section = y2 - y1 + 1, "twice as high"
    impossible_if(y2 + k > HEIGHT)
    text = b.say(section, it=b.ref(thing), n=b.number(k))
    return Request("size", text, f"{thing.colors[0]} on({b.where(thing)}{_more(k)})", subject=thing, fresh=True)


def shorter(b: BuildingTalk) -> Request:
    thing = b.pick_plain("tower", "wall")
    _, (y1, y2), _ = _bounds(thing)
    height = y2 - y1 + 1
    impossible_if(height < 2)
    k, section = (height // 2, "half as high") if height % 2 == 0 and b.rng.random() < 0.4 else (1, "lower")
    text = b.say(section, it=b.ref(thing))
    return Request("size", text, f"remove end({b.where(thing)},up{_more(k)})", subject=thing)


def longer(b: BuildingTalk) -> Request:
    thing = b.pick_plain("row", "wall")
    bounds = (x1, x2), _, (z1, z2) = _bounds(thing)
    impossible_if(z2 > z1 and x2 > x1)
    ways = ("left", "right") if x2 > x1 else ("behind", "front")
    k, way = b.some(1, 2, 3), b.rng.choice(ways)
    stated = b.rng.random() < 0.4
    if not stated and b.rng.random() < 0.3:
        k = max(x2 - x1, z2 - z1) + 1
    way = way if stated or _room(bounds, way, k) else next(other for other in ways if other != way)
    impossible_if(not _room(bounds, way, k))
    double = not stated and k == max(x2 - x1, z2 - z1) + 1
    section = "twice as long" if double else "longer to" if stated else "longer by"
    text = b.say(section, it=b.ref(thing), n=b.number(k), s=_s(k), way=b.say(f"to {way}"))
    return Request("size", text, f"{thing.colors[0]} {way}({b.where(thing)}{_more(k)})", subject=thing, fresh=True)


RELATIONS: dict[Maker, int] = {
    on_top: 26, beside: 28, ends: 14, around: 12, inside: 16, between: 20, parts: 16, every_second_of: 10, copied: 20, again: 18,
    stacked: 10, to_the_edge: 10, mirrored: 16, turned: 10, moved: 12, taller: 10, shorter: 8, longer: 10,
}  # fmt: skip
