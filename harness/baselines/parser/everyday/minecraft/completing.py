"""Completes orders with what later sentences add to them, and with what they take from the orders before."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.acts import BUILDING
from harness.baselines.parser.everyday.minecraft.figures import COMPOSED, PARTS, SINGLE, SIZED, usual_size
from harness.baselines.parser.everyday.minecraft.meaning import Growth, Location, Order, Thing
from harness.baselines.parser.everyday.minecraft.scene import WAYS
from harness.baselines.parser.everyday.minecraft.telling import merge, takes_without
from harness.worlds.minecraft import COLORS

_PLAIN = frozenset({"block", "tower", "column", "row", "line", "wall", "square", "cube", "frame", "outline", "stack", "pile"})
"""Words for a form, not for a thing that is made of other things."""
_BESIDE = frozenset({"beside", "left", "right", "front", "behind"})


# --- sentences that go on ---


def united(orders: list[Order]) -> list[Order]:
    """The orders of a turn, each with what later sentences say about it: `2 lines. Each should be 4 long` is one order."""
    done: list[Order] = []
    heading, colors = "", list[str]()
    carried: list[Location] = []
    area: list[Thing] = []
    for order in orders:
        if order.new and order.act == "remove" and order.new.flags & {"varied", "each_color"}:
            order.act = "build"
    for number, order in enumerate(orders):
        if area and order.first.is_it:
            order.things = area
        area = [thing for thing in order.things if thing.noun == "area" and thing.kind == "thing"]
        if done and _goes_on(order, done):
            continue
        if _is_heading(order, orders[number + 1 :]):
            heading = order.first.noun
            colors = next((place.of.colors for place in order.places if place.of and place.of.generic), [])
            continue
        if _only_leads(order) and number + 1 < len(orders):
            carried = [place for place in order.places if place.relation in WAYS]
            continue
        if heading:
            _head(order, heading, colors)
        order.places += carried
        heading, carried = "" if order.things else heading, []
        done.append(order)
    return done


def _goes_on(order: Order, done: list[Order]) -> bool:
    """Whether an order only adds to the one before, which then takes it in: `take the top block off and put it there` moves."""
    last = done[-1]
    if last.act == order.act == "remove" and order.first.is_it and not order.places:
        return True
    alike = bool(order.things) and order.first.generic and not order.first.colors
    if order.growth and alike and last.first.count == 2 and len(last.things) == 1:
        one = replace(last.things[0], count=None, article="a")
        last.things = [one, _grown(replace(one), replace(order), one)]
        return True
    if "without" in order.flags and order.things and _builds(last):
        return takes_without(last, order.first) or order.first.noun in {"floor", "area"}
    if not order.things and any(place.relation == "gap" for place in order.places):
        last.places += order.places
        return True
    if last.act == "remove" and order.act == "build" and order.places and len(order.things) == 1 and order.things[0].is_it:
        last.act, last.places = "move", order.places
        return True
    if not last.things or not _builds(last):
        return False
    if _tells_parts(order, last):
        return True
    if _only_tells(order, last):
        _tell(order, last, done)
        return True
    return False


def _only_leads(order: Order) -> bool:
    """Whether an order only gives a direction (`I want to climb away from you`), or says nothing by itself (`but small`)."""
    vague = order == Order(things=[Thing(vague="small")], said=order.said)
    return vague or (not order.things and bool(order.places) and order.act in {"", "build"} and not order.mended)


def _head(order: Order, heading: str, colors: list[str]) -> None:
    """`A snake. 6 green blocks`: a snake of 6 blocks. `An arch of blue blocks: two pillars`: blue ones."""
    thing = order.thing
    if thing is not None and thing.noun:
        thing.colors = thing.colors or colors
    if thing is not None and thing.noun == "block" and (thing.count or 0) > 1:
        thing.word = heading if thing.word == "blocks" else thing.word
        thing.noun, thing.count, thing.sizes = heading, None, thing.sizes | {"count": thing.count or 1}


def _tells_parts(order: Order, last: Order) -> bool:
    """Whether an order describes parts that a thing has anyway: `with a red roof`, `a table: green legs, a 4 by 4 top`."""
    thing = last.things[-1]
    if not _only_parts(order, thing):
        return False
    told = deepcopy(order.things)
    if order.become:
        merge(told[-1], order.become)
    described = {one.word.rstrip("s"): one for one in told if one.colors or one.sizes or one.by}
    thing.parts |= described
    return bool(described) or len(told) > 1


def _only_parts(order: Order, thing: Thing) -> bool:
    """Whether an order names only parts that a thing has anyway, and only sizes that it takes from them."""
    own = [
        one.word.rstrip("s") in PARTS.get(thing.noun, ()) and (thing.noun in SIZED or not (one.sizes or one.by or order.become))
        for one in order.things
    ]
    return order.act in {"with", ""} and not order.places and bool(own) and all(own)


def _builds(order: Order) -> bool:
    return order.act in BUILDING and order.new is not None and not order.become and not order.flags & {"once_more"}


def _only_tells(order: Order, last: Order) -> bool:
    """Whether an order only describes: `each should be 4 blocks long`, `blue`, `5 by 5`, `one empty row between them`."""
    it = bool(order.things) and all(thing.is_it or thing.only_counts for thing in order.things)
    shapes = bool(order.places) and all(_shapes(place) or place.relation == "round" for place in order.places)
    if it and shapes and order.act == "build":
        return True
    if order.act == "" and "first" in order.first.picks and not order.first.colors:
        return True
    if order.act not in {"", "build", "with", "make"} or order.flags & {"too", "once_more"} or not order.told:
        return False
    sized = all(not one.noun and one.sizes for one in order.told)
    if not all(place.landmark.each or place.of_area or (sized and _of_itself(place)) for place in order.places):
        return False
    return all(_describes(thing, order, last) for thing in order.told)


def _of_itself(place: Location) -> bool:
    """`3 wide at the top`: a part of what is being described."""
    return place.relation == "at" and place.landmark.kind == "part" and place.landmark.of is None


def _describes(thing: Thing, order: Order, last: Order) -> bool:
    target = last.things[-1]
    several = thing.colors and thing.count and not thing.noun and (target.count or 0) > 1
    same = thing.noun == target.noun and thing.each and not thing.picks
    own_part = thing.word.rstrip("s") in PARTS.get(target.noun, ()) and not thing.colors
    flagged = thing == Thing(article="a", flags=thing.flags)
    if several or same or own_part or flagged or thing.kind in {"it", "everything"}:
        return True
    if thing.noun == "" and thing.article in {"", "each", "all", "other"}:
        return not (order.mended and thing.article == "")
    if thing.noun in {"layer", "block"} and not thing.colors and thing.article in {"", "each", "all"} and thing.picks == []:
        counts = thing.count is not None and target.noun in SINGLE
        return bool(thing.article or order.act == "with" or thing.flags or counts)
    return order.mended and thing.word == "1" and bool(thing.vague)


def _shapes(place: Location) -> bool:
    """Whether a place only names a form, or the ground: `in a row`."""
    of = place.landmark
    return of.noun == "area" or (place.relation == "at" and of.kind == "thing" and not of.definite)


def _tell(order: Order, last: Order, done: list[Order]) -> None:
    last.places += [place for place in order.places if _shapes(place)]
    thing = last.things[-1]
    if any(place.relation == "round" for place in order.places):
        thing.flags.add("hollow")
    for more in order.told:
        if "varied" in more.flags and len(done) > 1:
            for number, one in enumerate(one for one in done if one.things):
                one.things[0].colors = [COLORS[number % len(COLORS)]]
        elif more.sizes or not (more.word in {"legs", "leg"} and thing.noun == "table"):
            _tell_thing(thing, more)


def _tell_thing(thing: Thing, more: Thing) -> None:
    several = (thing.count or 0) > 1 and more.count
    count = thing.count
    colors = more.colors * (more.count or 1) if several else [] if thing.colors else more.colors
    merge(thing, replace(more, colors=colors, picks=[]))
    thing.count = count


def _is_heading(order: Order, rest: list[Order]) -> bool:
    """Whether an order only names what the next ones build: `I'd like an arch. Two pillars ...`."""
    if len(order.things) != 1 or order.act not in {"", "build", "make"} or order.become or order.mended:
        return False
    thing = order.things[0]
    part = rest[0].first if rest and rest[0].act == "with" else Thing()
    if part.word.rstrip("s") in PARTS.get(thing.noun, ()) and not (thing.noun == "house" and (part.sizes or part.by)):
        return False
    if rest and len(rest[0].things) > 1 and _only_parts(rest[0], thing):
        return False
    if thing.noun in SIZED and all(_only_parts(one, thing) for one in rest if one.things):
        return False
    if thing.definite or thing.colors or thing.sizes or thing.by:
        return False
    parts = sum(bool(one.things) and _says_blocks(one) for one in rest)
    return parts > 0 if thing.noun in COMPOSED | {"named", "sign"} else parts > 1 and thing.word not in _PLAIN


def _says_blocks(order: Order) -> bool:
    return order.act in BUILDING and any(thing.colors or thing.by or (thing.sizes and thing.noun != "") for thing in order.told)


# --- what an order takes from those before ---


def completed_thing(thing: Thing, order: Order, last: Thing | None) -> Thing:
    """A thing with what it has in common with the last: `another one`, `a blue one`, `3 more`, `another tower, twice as high`."""
    if last is None:
        return thing
    if order.growth and not thing.definite and (order.growth.factor or thing.noun == last.noun):
        return _grown(thing, order, last)
    on = any(place.relation in {"on", "up"} and not place.of_area for place in order.places)
    again = thing.article == "another" or "extra" in thing.flags
    one = thing.generic and thing.word in {"", "1", "ones"} and (not on or (again and last.noun not in {"tower", "row"}))
    if again and one and not last.generic:
        return _like_last(thing, last)
    near = all(place.relation in _BESIDE or place.other or place.of is None or _in_area(place) for place in order.places)
    near = near and not any(place.relation == "here" for place in order.places)
    if one and near and thing.word and thing.article in {"a", ""} and last.noun in SINGLE and not thing.picks:
        return _like_last(thing, last)
    if again and (thing.noun == last.noun or thing.generic) and not thing.sizes and not thing.by:
        same = thing.noun == last.noun
        sizes, by = (last.sizes, last.by) if same else (thing.sizes, thing.by)
        colors = thing.colors or (last.colors if same or not thing.noun else [])
        return replace(thing, sizes=sizes, by=by, colors=colors, flags=thing.flags | (last.flags & {"apart"}))
    return thing


def _grown(thing: Thing, order: Order, last: Thing) -> Thing:
    """`another tower, twice as high`, `a blue tower that is one block taller`."""
    growth, order.growth = order.growth or Growth(), None
    size = last.sizes.get("high") or last.sizes.get("count") or last.sizes.get("long") or usual_size(last)
    size = round(size * growth.factor) if growth.factor else size + growth.add
    return replace(thing, sizes={growth.axis or "count": size}, colors=thing.colors or last.colors)


def _like_last(thing: Thing, last: Thing) -> Thing:
    """The last thing once more, with what is said about this one."""
    kept = replace(last, sizes={}, by=[], vague="") if thing.sizes or thing.by or thing.vague else last
    return replace(
        kept,
        colors=thing.colors or last.colors,
        count=thing.count,
        article=thing.article,
        sizes=thing.sizes or kept.sizes,
        by=thing.by or kept.by,
        vague=thing.vague or kept.vague,
        flags=last.flags | thing.flags,
    )


def _in_area(place: Location) -> bool:
    return "area" in {place.landmark.noun, place.landmark.whole.noun}
