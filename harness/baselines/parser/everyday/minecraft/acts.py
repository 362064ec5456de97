"""Determines the act of an order if its verb alone does not: `the tower should be red` recolors, `make it taller` resizes."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.minecraft.meaning import Location, Order, Thing, it
from harness.baselines.parser.everyday.minecraft.references import found
from harness.baselines.parser.everyday.minecraft.scene import BuildingScene

BUILDING = frozenset({"", "make", "build", "with", "give"})
"""Verbs that build, unless what they are about stands already."""
_RESIZING = frozenset({"halve", "raise", "widen", "shrink", "sink", "narrow", "enlarge", "shrink_all"})
_OPENINGS = frozenset({"hole", "arch"})
_ON_TOP = frozenset({"roof", "lid", "hat", "cap", "chimney", "head", "tip", "star", "flame", "antenna", "flag"})


def act_of(order: Order, scene: BuildingScene) -> str:
    """The act of an order; also fills in what the order's words imply, such as the place of a roof."""
    if order.thing is not None:
        bare = order.growth or order.become or "remark" in order.flags
        if bare and order.act == "" and not order.thing.article and order.thing.noun and found(order.thing, scene):
            order.thing.article = "the"
        _sizes_become(order, order.thing, scene)
        _colors_become(order, order.thing, scene)
    for rule in (_nothing, _opening, _by_verb, _by_flag, _without_thing, _with_parts, _becoming, _standing):
        act = rule(order, scene)
        if act:
            return act
    return _building(order, scene)


def _sizes_become(order: Order, thing: Thing, scene: BuildingScene) -> None:
    """In `make it 3 wide` and `make the red tower as tall as the blue one` the size is what it becomes."""
    if order.act in {"extend", "raise", "give"} and thing.like:
        order.act = "make"
    if order.become is not None or order.act not in {"", "make"} or not thing.definite:
        return
    sized = thing.sizes or thing.by or thing.like
    if sized and (thing.is_it or (order.act == "make" and found(thing, scene))):
        order.become = Thing(sizes=thing.sizes, by=thing.by, like=thing.like)
        thing.sizes, thing.by, thing.like = {}, [], {}
    elif thing.like:
        order.become, thing.like = Thing(like=thing.like), {}


def _colors_become(order: Order, thing: Thing, scene: BuildingScene) -> None:
    """In `I want the roof purple` the color is what it becomes; in `instead of red` it is the color that it had."""
    for place in order.places:
        if place.word == "of" and place.landmark.colors and "instead" in order.flags:
            order.places = [one for one in order.places if one is not place]
            if not thing.definite:
                order.act, order.things, order.become = "replace", [place.landmark], thing
                return
    plain = order.become is None and order.act in BUILDING and not order.places and len(order.things) == 1
    if plain and thing.definite and thing.noun and thing.colors and not found(thing, scene):
        bare = replace(thing, colors=[])
        if found(bare, scene):
            order.things, order.become, order.act = [bare], Thing(colors=thing.colors), "recolor"


def _nothing(order: Order, scene: BuildingScene) -> str:
    """Talk, questions, and orders not to do something."""
    thing, flags = order.first, order.flags
    said = bool(order.things) and (bool(thing.colors) or not thing.definite) and "question" not in flags
    if thing.definite and "only" in flags | thing.flags and "idle" in flags and found(thing, scene):
        return "keep"
    quiet = order.act in {"", "hold", "build", "make"} or (order.act == "look" and "idle" in flags)
    if quiet and flags & {"idle", "question", "remark", "talk"}:
        if "remark" in flags and order.things and not order.become:
            return "look"
        if not (order.become or said or order.growth):
            return "nothing"
    bare = order == Order(things=[Thing(kind="thing", noun="block", word=thing.word)], said=order.said)
    refused = "not_done" in flags and order.act != "remove"
    return "nothing" if order.act == "hold" or bare or refused else ""


def _opening(order: Order, scene: BuildingScene) -> str:
    """`dig a hole in it`, `leave a gate`."""
    thing = order.first
    if order.act == "leave":
        return "open" if thing.noun in _OPENINGS else "nothing"
    if thing.definite or thing.noun not in _OPENINGS:
        return ""
    within = any(place.word == "in" and place.of and not place.of_area for place in order.places)
    opens = within and scene.blocks if thing.noun == "arch" else order.act in {"", "make", "build"}
    return "open" if order.act == "remove" or (opens and not thing.colors) else ""


def _by_verb(order: Order, scene: BuildingScene) -> str:
    thing, act, told = order.first, order.act, order.told
    new = bool(order.things) and not thing.definite
    if act == "look" and new and thing.noun and not found(thing, scene):
        return "build"
    if act == "swap" and len(told) == 2 and told[0].definite and not told[1].definite and " for " in order.said:
        return "replace"
    if act == "lay_down" and new and thing.noun:
        return "build"
    if act == "remove" and order.growth and order.growth.factor == 0.5:
        return "resize"
    if act == "remove" and new and (thing.flags & {"varied", "each_color"} or not scene.blocks):
        return "build"
    if act == "recolor" and order.said.startswith("switch") and order.become is None:
        return "swap"
    plain = BUILDING | _RESIZING | {"recolor", "move", "extend", "mirror", "lift"}
    return "" if act in plain or (act == "copy" and "mirrored" in order.flags) else act


def _by_flag(order: Order, scene: BuildingScene) -> str:
    """`again`, `upside down`, `by 90 degrees`; and the verbs whose act only such words may change."""
    thing, flags = order.first, order.flags
    if not thing.noun and "alternate" in thing.picks and len(thing.colors) > 1 and scene.blocks:
        order.things, order.become = [it()], Thing(colors=thing.colors)
        return "recolor"
    if "mirrored" in flags or order.act == "mirror":
        return "mirror"
    if "turned" in flags:
        return "rotate"
    if "upside" in flags:
        return "upside_down"
    if order.act in {"recolor", "extend", "move", "lift"}:
        return "move" if order.act == "lift" else order.act
    if order.act in _RESIZING:
        return "resize"
    if order.act == "make" and "same" in flags and thing.definite and thing.plural and not order.places:
        return "recolor"
    return "copy" if _is_copy(order, thing) else ""


def _is_copy(order: Order, thing: Thing) -> bool:
    """`again`, `the same on top of it`, `three of those`."""
    if order.flags & {"once_more", "same"} and (thing.noun == "figure" or thing.definite or thing.only_describes):
        return True
    if "extra" in thing.flags and thing.definite:
        return True
    return ("same" in thing.flags and not (thing.sizes or thing.by)) or (thing.is_it and (thing.count or 0) > 1)


def _without_thing(order: Order, scene: BuildingScene) -> str:
    if order.things:
        return ""
    return "resize" if order.growth and order.act in {"", "make"} else "amend"


def _with_parts(order: Order, scene: BuildingScene) -> str:
    """`with a red top`, `with a blue border`, `with a blue block in its center`: what was built last, in other colors."""
    thing = order.first
    part = thing.kind == "part" or (thing.noun == "frame" and not thing.sizes and not thing.by)
    part |= thing.generic and bool(thing.picks or thing.ordinals or thing.article == "other")
    with_part = order.act == "with" and part and not order.places
    return "recolor_parts" if with_part and thing.colors and scene.blocks else ""


def _becoming(order: Order, scene: BuildingScene) -> str:
    """A thing that stands is to get another color or size, or to become another thing."""
    thing, become = order.first, order.become
    if become is None:
        return ""
    if not (thing.definite and found(thing, scene)):
        return "build_as" if thing.definite else ""
    if thing.is_it and order.act == "make" and become.kind == "thing" and become.article == "a" and not become.generic:
        return "reshape" if become.noun != "area" else ""
    if become.noun and become.article == "a" and not (become.colors or become.sizes or become.by) and not thing.is_it:
        return "look"
    gets = " get" in order.said
    if gets and become.noun == "block" and become.article == "a" and become.word != "1" and not become.picks:
        return "give"
    if become.noun not in {"", "block", "it"} or (become.article == "a" and not become.colors and not become.sizes):
        return "build_as" if become.noun not in {"block", "area"} and not thing.is_it else "look"
    if become.flags & {"flat", "upright"} and not become.colors and not become.sizes:
        return "lay_down"
    if become.sizes or become.by or {*become.like} - {"color"} or become.count:
        return "resize"
    if become.colors or become.like or become.flags & {"same", "varied"} or become.no_color:
        return "recolor"
    return "hollow" if "hollow" in become.flags else ""


def _standing(order: Order, scene: BuildingScene) -> str:
    """The act that other words imply for a thing that stands: `the row away from you`, `only the bottom layer`."""
    thing = order.first
    if not thing.definite or not found(thing, scene):
        return ""
    if order.act == "give" and len(order.things) > 1:
        return "give"
    if order.growth:
        return "resize"
    if thing.flags & {"flat", "upright"} and order.act in {"build", "make"}:
        return "lay_down"
    if "only" in order.flags | thing.flags and all(place.relation == "here" for place in order.places):
        return "keep"
    if order.places and not (thing.each and not thing.noun):
        turns = all(place.relation in {"away", "sideways", "toward"} for place in order.places)
        return "rotate" if turns else "move"
    return "look" if order == Order(things=[thing], said=order.said, flags=order.flags) else ""


def _building(order: Order, scene: BuildingScene) -> str:
    thing = order.first
    unclear = order.act in {"", "make"} and not order.places and (thing.only_describes or thing.definite or order.mended)
    if unclear or thing.is_it:
        return "amend"
    on_top = thing.word in _ON_TOP if order.act == "with" else thing.word in {"roof", "chimney", "lid", "hat", "cap"}
    if on_top and not order.places and scene.blocks and not thing.definite:
        order.places.append(Location("on"))
    return "build"
