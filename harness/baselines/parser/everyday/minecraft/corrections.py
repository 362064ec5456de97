"""Corrections: an order with what is said about it afterwards, such as `no, blue`, `on the other side`, `three, not four`."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import Location, Order, Thing
from harness.baselines.parser.everyday.minecraft.scene import OPPOSITE, WAYS


def is_correction(order: Order) -> bool:
    """Whether an order without an act of its own says how the last one should have been."""
    told = order.told
    if order.flags & {"question", "talk", "idle"}:
        return bool(order.mended and told and told[0].colors)
    bare = [Thing(thing.noun, thing.word, thing.kind, thing.article) for thing in told]
    content = told != bare or any(thing.kind == "part" for thing in told)
    placed = any(place.of or place.other or place.relation in WAYS for place in order.places)
    return content or placed or any(thing.article == "other" for thing in told)


def corrected(old: Order, said: Order) -> Order:
    """The old order, changed as the correction says."""
    new, said = deepcopy(old), deepcopy(said)
    for thing in said.told:
        if thing.noun in {"side", "end"} and thing.article == "other":
            _correct_place(new, Location("at", of=thing, other=True))
        elif thing.kind == "part" and new.places and new.places[-1].of and not thing.colors:
            new.places[-1] = replace(new.places[-1], of=replace(thing, of=thing.of or new.places[-1].landmark.of))
        else:
            _correct_thing(new, thing)
    for place in said.places:
        _correct_place(new, place)
    return new


def _correct_thing(order: Order, thing: Thing) -> None:
    if order.act in {"recolor", "replace"} and (thing.colors or thing.no_color):
        order.become = replace(order.become or Thing(), colors=thing.colors, no_color=thing.no_color)
        return
    if order.act == "resize" and (thing.count or thing.sizes or thing.by):
        order.become, order.growth = Thing(count=thing.count, sizes=thing.sizes, by=thing.by), None
        return
    order.things = [_corrected_thing(old, thing) for old in order.things]


def _corrected_thing(old: Thing, thing: Thing) -> Thing:
    if thing.article == "other":
        return replace(old, article="other", colors=thing.colors, picks=[], ordinals=[])
    noun = thing.noun if thing.kind == "thing" and thing.word not in {"1", "ones"} and thing.noun != "block" else ""
    sizes = dict(thing.sizes)
    count = thing.count if thing.article not in {"a", "the"} and thing.word != "1" else None
    counts = old.count is not None and old.count > 1
    if count and not sizes and not counts:
        sizes = {"count": count}
    if sizes.get("count") and set(old.sizes) & {"high", "long"}:
        sizes = {next(name for name in old.sizes if name in {"high", "long"}): sizes["count"]}
    elif sizes.get("count") and counts:
        count = sizes.pop("count")
    return replace(
        old,
        colors=thing.colors or old.colors,
        no_color=thing.no_color,
        sizes=old.sizes | sizes,
        count=count if counts and count else old.count,
        by=thing.by or old.by,
        vague=thing.vague or old.vague,
        flags=old.flags | thing.flags,
        noun=noun or old.noun,
        word=thing.word if noun else old.word,
    )


def _correct_place(order: Order, place: Location) -> None:
    old = order.places[-1] if order.places else None
    of = place.landmark
    if place.other or (of.article == "other" and of.noun in {"side", "end", ""} and not of.colors):
        if old:
            order.places[-1] = replace(old, relation=OPPOSITE.get(old.relation, old.relation))
        return
    if of.generic and of.colors and not of.article and place.relation == "at":
        _correct_thing(order, Thing(colors=of.colors))
        return
    runs = order.first.noun in {"row", "wall", "stairs", "diagonal"} and place.of is None
    if place.relation in {"away", "sideways", "toward"} or (runs and place.relation in WAYS and not (old and old.of)):
        order.places = [one for one in order.places if one.relation not in WAYS or one.of] + [place]
        return
    if old and place.of is None:
        place = replace(place, of=old.of)
    order.places = [*order.places[:-1], place]
