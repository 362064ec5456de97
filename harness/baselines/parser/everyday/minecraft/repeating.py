"""Orders that name no act because they repeat the act before: `and the next one`, `again`, `the same for the blue ones`."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import Location, Order, it
from harness.baselines.parser.everyday.minecraft.scene import SIDES, WAYS

_REPEATED = frozenset({"copy", "resize", "extend", "remove", "move", "rotate", "mirror"})


def repeated(order: Order, verb: str, last: Order) -> Order | None:
    """The last order with what is said anew, or None if the order does not repeat it; `verb` is the act that its words name."""
    for rule in (_next_removed, _moved_on, _too, _same_for, _on_side, _again):
        found = rule(order, verb, last)
        if found is not None:
            return found
    return None


def _next_removed(order: Order, verb: str, last: Order) -> Order | None:
    """`and the next one`, `another one` after a removal."""
    thing = order.first
    if verb or order.mended or order.places or last.act != "remove":
        return None
    generic = thing.generic and thing.word in {"", "1", "ones", "block"} and not thing.colors
    if not generic or not (thing.article or thing.picks or thing.count) or {*thing.picks} - {"next"} or thing.ordinals:
        return None
    return replace(last, things=[replace(one, count=thing.count or (1 if one.generic else None)) for one in last.things])


def _moved_on(order: Order, verb: str, last: Order) -> Order | None:
    """`and one to the left` after a move."""
    thing, place = order.first, order.places[0] if order.places else Location("")
    if verb or last.act != "move" or place.of or place.relation not in WAYS:
        return None
    if not thing.only_describes or thing.colors:
        return None
    distance = thing.count or place.distance
    return replace(last, things=[it()], places=[replace(place, distance=distance)])


def _too(order: Order, verb: str, last: Order) -> Order | None:
    """`and the ends too`, `now the block at the right end`: the same act for another thing."""
    thing = order.thing
    on = "too" in order.flags or order.said.split(" ")[0] in {"and", "and then", "now", "then", "next"}
    if verb or thing is None or not on or order.become or order.growth or last.act not in {"recolor", "remove", "resize"}:
        return None
    at = order.places[0].of if order.places and not thing.noun else None
    told = at or thing
    return replace(last, things=[told], places=[] if at else order.places) if told.definite else None


def _same_for(order: Order, verb: str, last: Order) -> Order | None:
    """`the same for the right wing`, `same for the blue blocks, but with yellow`."""
    thing = order.first
    if not last.things or not thing.definite or "same" not in order.flags | thing.flags:
        return None
    if order.places or thing.is_it or not last.places:
        return None
    colors = order.become.colors if order.become else []
    things = [replace(one, colors=colors or one.colors) for one in last.things]
    return replace(last, things=things, places=[replace(last.places[0], of=thing), *last.places[1:]])


def _on_side(order: Order, verb: str, last: Order) -> Order | None:
    """`same on the left side`, after something was put on another side of a thing."""
    place = order.places[0] if len(order.places) == 1 else Location("")
    before = last.places[-1] if last.places and last.act == "build" else Location("")
    if order.act != "copy" or place.of is not None or {place.relation, before.relation} - {*SIDES} or before.of is None:
        return None
    return None if before.landmark.is_it else replace(last, places=[replace(before, relation=place.relation)])


def _again(order: Order, verb: str, last: Order) -> Order | None:
    """`and again`, `do that again`."""
    if order.act != "copy" or order.places:
        return None
    if order.thing and order.thing.only_counts and last.growth:
        sign = -1 if last.growth.add < 0 else 1
        return replace(last, growth=replace(last.growth, add=sign * (order.thing.count or 1)))
    does = order.first.is_it and "do" in order.said.split()
    if (order.thing is None or does) and not order.become and last.act in _REPEATED:
        return last
    built_on = last.act == "build" and any(place.landmark.is_it for place in last.places)
    return last if order.thing is None and built_on else None
