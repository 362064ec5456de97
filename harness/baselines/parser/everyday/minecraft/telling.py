"""What things and places add to an order that is being read: `4 blocks` after `a tower`, `in red`, `with a gap of one`."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import ColorRun, Growth, Location, Order, Thing, it
from harness.baselines.parser.everyday.minecraft.words import word_set

CHANGING = word_set("top surround remove recolor move copy mirror rotate keep swap fill connect replace hollow look leave")
"""Acts on things that stand."""
TAKES_WITH = frozenset({"top", "surround", "fill", "replace", "swap", "recolor", "connect"})
"""Acts that are done with something: `fill it with blue`."""
_TO_SIZE = frozenset({"shrink", "sink", "remove", "extend", "raise", "move"})
_PIERCED = frozenset({"wall", "floor", "square", "cube"})


def merge(thing: Thing, more: Thing) -> None:
    """Adds to a thing what is said about it afterwards."""
    thing.colors = thing.colors + more.colors
    thing.sizes |= more.sizes
    thing.by = thing.by or more.by
    thing.flags |= more.flags
    thing.picks += [pick for pick in more.picks if pick != "alternate" or len(more.colors) < 2]
    thing.vague = more.vague or thing.vague
    thing.no_color = thing.no_color or more.no_color
    thing.ordinals = more.ordinals or thing.ordinals
    thing.like |= more.like
    if more.count and not more.noun:
        thing.sizes.setdefault("count", more.count)
    if more.noun not in {"", "it", "everything", "block"} and thing.generic:
        thing.noun, thing.word, thing.kind = more.noun, more.word, more.kind
        thing.of = more.of or thing.of


def is_line(thing: Thing) -> bool:
    """Whether it is one line of blocks, or several blocks, whose colors may be named one after the other."""
    return (thing.noun in {"row", "tower"} and (thing.count or 1) == 1) or (thing.generic and (thing.count or 0) > 1)


def _length(line: Thing, default: int) -> int:
    return next((line.sizes[name] for name in ("count", "high", "long") if name in line.sizes), line.count or default)


def take_runs(line: Thing, runs: list[ColorRun]) -> None:
    """Colors a line run by run: `2 green, then 2 yellow`; runs without a number share what is left equally."""
    size = _length(line, default=0)
    begun = line.colors * (size or 1) if len(line.colors) == 1 else []
    counted = [run.number for run in runs if run.number]
    left = max(0, size - sum(counted) - len(begun))
    each = left // (len(runs) - len(counted)) if len(runs) > len(counted) else 0
    line.colors = begun + [run.color for run in runs for _ in range(run.number or each or 1)]
    if line.generic:
        line.noun, line.word, line.kind, line.count = "block", "blocks", "thing", max(size, len(line.colors))
    elif len(line.colors) > size:
        line.sizes = {name: value for name, value in line.sizes.items() if name == "wide"} | {"count": len(line.colors)}


def begin_with(line: Thing, run: ColorRun) -> None:
    """`red and blue in turn, starting with blue`, `yellow at the bottom`: rotates the colors so that this one is at that end."""
    size = _length(line, default=3)
    end = (size - 1) % len(line.colors) if run.last else 0
    first = (line.colors.index(run.color) - end) % len(line.colors)
    line.colors = line.colors[first:] + line.colors[:first]


def call(order: Order, thing: Thing) -> None:
    """`one red block as the leg`: names the last thing; `as the roof` also gives its place."""
    if order.last:
        order.last.word = thing.word or order.last.word
    if thing.word in {"top", "tip", "roof", "head", "hat", "peak", "lid"} and not order.places:
        order.places.append(Location("on"))


def only_describes(order: Order, thing: Thing) -> bool:
    """Whether a phrase names nothing new: `all blue`, `3 high` after a thing or a change."""
    entirely = thing.article == "all" and bool(thing.colors and order.things) and not thing.noun
    alone = entirely or (thing.only_describes and (thing.article == "" or (bool(thing.flags) and not thing.colors)))
    return alone and bool(order.things or order.growth or order.act in {"make", "recolor"})


# --- places ---


def takes_place(order: Order, place: Location) -> bool:
    """Takes in what only has the form of a place, such as a color (`in red`) or what something becomes (`into a wall`); returns
    whether it did."""
    of, new = place.landmark, order.new
    if place.relation == "across" and of.definite and of.noun not in {"area", "floor", "middle"}:
        place.relation = "on"
    elif place.relation == "across":
        order.flags.add("max_to_edge")
        return True
    counts = of.generic and not of.colors and not of.definite
    if of.count and counts and place.word in {"to", "down", "up"} and order.act in _TO_SIZE:
        order.act, order.become, order.growth = "shrink", Thing(sizes={"count": of.count}), None
        return True
    stands = order.last and order.last.definite
    if place.relation == "height" and (order.act in _TO_SIZE or (stands and order.act == "make")):
        order.become, order.growth = Thing(sizes={"high": place.distance or 1}), None
        return True
    if place.of and place.word == "in" and of == Thing(article=of.article, flags=of.flags) and order.thing and not new:
        return True
    if new and of.by and not of.definite and of.noun in {"named", "", "floor", "bottom"}:
        new.by = of.by
        return True
    if new and place.word == "in" and of.word in {"stripes", "layers"} and len(of.colors) > 1:
        new.colors = of.colors
        new.flags.add("by_layer")
        return True
    return _takes_color(order, place) or _is_no_place(order, place)


def _takes_color(order: Order, place: Location) -> bool:
    """`in red`, `to blue`; also `into a wall`: what a thing is or becomes."""
    of, new = place.landmark, order.new
    if place.only_colors and place.word in {"to", "into", "in", "from"} and (order.things or order.act == "recolor"):
        if new and not new.colors and place.word in {"in", "from"} and not (order.flags | new.flags) & {"once_more", "same"}:
            alike = order.things if not any(thing.colors or thing.definite for thing in order.things) else [new]
            for thing in alike:
                thing.colors = of.colors
            return True
        if order.act in {"recolor", "fill"} or (order.act in {"make", "build"} and order.first.definite):
            order.become = of
            return True
    if place.of and place.word == "into" and order.act in {"recolor", "make"}:
        order.become = of
        return True
    return False


def _is_no_place(order: Order, place: Location) -> bool:
    of, new = place.landmark, order.new
    has_gap = any(one.relation == "gap" for one in order.places)
    if place.relation == "none" or (place.relation == "between" and (place.of is None or (has_gap and of.is_it))):
        return True
    if place.word == "away" and order.act == "remove":
        return True
    if new is None:
        return False
    by_side = of.each and of.noun in {"side", "edge"} and new.noun in {"cube", "square", "frame"}
    if by_side and "count" in new.sizes:
        new.sizes["wide"] = new.sizes.pop("count")
    return by_side or (place.relation == "at" and of.noun == "bottom" and of.of is None)


# --- things ---


def tells_more(order: Order, thing: Thing, linked: bool, relative: bool) -> bool:
    """`each 2 blocks high`, `every block a different color`, `4 blocks` after `a tower`: more about what is to be built."""
    target = order.new
    if target is None or order.act in CHANGING:
        return False
    if target.noun == "pyramid" and (thing.by or thing.noun == "block"):
        return True
    if _is_each(thing, target) and not order.become and (not thing.is_it or relative or linked):
        for one in order.things if thing.each else [target]:
            _take_in(one, thing)
        return True
    plain = not thing.colors and not thing.article
    if thing.noun == "block" and thing.count and plain and "count" not in target.sizes and not target.generic:
        target.sizes["count"] = thing.count
        return True
    apposed = linked and thing.noun == "block" == target.noun and not target.colors
    if (thing.noun == target.noun != "block" and plain) or (apposed and (thing.count == 1 or thing.article in {"a", "another"})):
        _take_in(target, thing)
        return True
    return False


def _is_each(thing: Thing, target: Thing) -> bool:
    each = thing.each or (thing.kind in {"everything", "it"} and not thing.of)
    return each and (thing.generic or thing.noun in {"everything", "it", target.noun})


def _take_in(target: Thing, more: Thing) -> None:
    count = target.count
    merge(target, more)
    target.count = count or (more.count if more.noun == "block" and target.noun == "block" else None)


def takes_thing(order: Order, thing: Thing) -> bool:
    """Whether an order takes in a thing that is named after the one that it is about."""
    first = order.thing
    if first is None:
        return False
    if thing.noun == "area" and thing.kind == "thing" and not first.definite:
        return True
    if "max_to_edge" in order.flags and thing.noun == "middle" and not first.definite and not thing.colors:
        order.places.append(Location("at", of=thing))
        return True
    if thing == Thing(noun="inside", word=thing.word, kind="part") and not first.definite:
        order.places.append(Location("inside", of=it()))
        return True
    if order.act == "extend":
        order.become = Thing(sizes={"count": thing.count}) if thing.count else order.become
        return True
    return False


def is_become(order: Order, was: bool, linked: bool) -> bool:
    """Whether a thing named now is what the first one becomes; `was` is whether "is" or "should be" came between."""
    first = order.thing
    if first is None or linked:
        return False
    return order.act in {"recolor", "replace"} or (first.definite and (was or order.act in {"make", "swap"}))


def describe(order: Order, thing: Thing, was: bool, relative: bool) -> None:
    """Adds a size, color or number by itself to the thing before, or to what that becomes."""
    target = order.last
    changes = was or order.act in {"make", "", "extend", "shrink", "give"}
    if target and (relative or not (order.act in TAKES_WITH or (target.definite and changes))):
        merge(target, thing)
    elif order.become is None:
        order.become = thing
    else:
        merge(order.become, thing)


# --- with and without ---


def takes_with(order: Order, thing: Thing) -> bool:
    """Whether what comes after "with" belongs to the order: `fill it with blue`, `with 5 blocks`, `with a gap of one`."""
    if order.act == "extend":
        if thing.count and not thing.definite:
            order.growth = Growth("", add=thing.count)
        else:
            order.things = [replace(thing, colors=[])]
        return True
    same = "same" in order.flags or any("same" in one.flags for one in order.things)
    if order.act in TAKES_WITH or (order.mended and not order.things) or same:
        order.become = thing
        return True
    part = thing.kind == "part" and thing.noun in {"layer", "side", "edge"}
    if not thing.colors and (part or thing.article in {"my", "their"}):
        return True
    target, new = order.last, order.new
    if target is None:
        return False
    if (thing.noun == "stairs" == target.noun) or (new and thing.noun == "bottom" and (thing.by or thing.sizes)):
        merge(target, thing)
    elif new and thing.noun == "block" and thing.colors and thing.plural and not thing.count and not thing.article:
        new.colors = new.colors or thing.colors
    elif new and thing.noun == "block" and thing.count and not thing.colors:
        new.sizes.setdefault("count", thing.count)
    else:
        return False
    return True


def order_with(order: Order, thing: Thing) -> Order:
    """`a tower with a red block on top` goes on with a red block, `a wall with a hole in it` with the hole."""
    if thing.noun == "hole" and order.last and order.last.noun in _PIERCED:
        middle = Thing(kind="part", noun="middle", article="the", of=it())
        return Order("remove", [Thing(kind="part", noun="hole", article="a", of=middle)])
    return Order("with", [thing])


def takes_without(order: Order, thing: Thing) -> bool:
    """`without a roof`, `with no door`: whether what is to be built only lacks it."""
    open_above = thing.word in {"roof", "lid", "ceiling", "inside"}
    if order.new and open_above:
        order.new.flags.add("hollow")
    lacking = open_above or thing.word == "door" or thing.noun in {"inside", "hole", "block", "arch"}
    return not thing.noun or (order.new is not None and lacking)
