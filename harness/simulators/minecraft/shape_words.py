"""How a row, a diagonal or a plane is ordered as a whole: what it is, where it starts, which way it goes on.

The text of an order depends on nothing that is left out of it. A part that is left out is asked for, and the answer tells it.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.simulators.minecraft.relations import Relation
from harness.simulators.voice import Voice, relation_parts

PARTS = ("color", "size", "direction", "start")
"""The parts that an order may leave out."""
_BEHIND = {"left": "right", "right": "left", "up": "bottom", "down": "top", "front": "far", "behind": "near"}
"""The side of a plane from which it extends in a direction."""


class Shape(NamedTuple):
    """A shape as the builder sees it: `ways` from its first cell on, in the order of `sizes`; `where` its first cell goes."""

    kind: str
    sizes: tuple[int, ...]
    ways: tuple[Relation, ...]
    color: str
    where: str


class Words(NamedTuple):
    """An order; if something is left out, the question for it and the answer."""

    text: str
    question: str | None = None
    answer: str | None = None


def order(voice: Voice, shape: Shape, omitted: str | None) -> Words:
    """An order with all that the cells and their color need, but for the part of `PARTS` that is left out."""
    name = noun(shape.kind, () if omitted == "direction" else shape.ways)
    by_corner = name in ("flat", "wall") and omitted != "start" and voice.rng.random() < 0.4
    parts = {"what": _what(voice, name, shape, omitted, by_corner)}
    if omitted != "start":
        parts["start"] = _start(voice, name, shape, by_corner)
    # A tower goes up implicitly, and a plane given by its corner extends the only possible way.
    if omitted != "direction" and name != "tower" and not by_corner:
        parts["way"] = _way(voice, shape, sized=omitted != "size")
    bare = "shape bare" if len(parts) == 1 else "shape way" if "start" not in parts else "shape start"
    text = voice.draw("shape" if len(parts) == 3 else bare, **parts)
    return Words(text, *_question_and_answer(voice, name, shape, omitted)) if omitted else Words(text)


def noun(kind: str, ways: tuple[Relation, ...]) -> str:
    """The kind of words for a shape; without its ways, one that says nothing of them."""
    if kind == "row" and ways and ways[0].up:
        return "tower" if ways[0].up > 0 else "column"
    if kind == "plane" and ways:
        return "wall" if any(way.up for way in ways) else "flat"
    return kind


def form(sizes: tuple[int, ...]) -> str:
    return "square" if len(set(sizes)) == 1 else "rectangle"


def corner(voice: Voice, ways: tuple[Relation, ...], *, after: bool) -> str:
    """The corner of a plane from which it goes on in its two ways: "bottom left corner", "near right corner".

    `after`: nothing follows that belongs to it, so that it may also be a "left corner nearest to you".
    """
    ends = {_BEHIND[relation_parts(way)[0][0]] for way in ways}
    side = next((end for end in ("left", "right") if end in ends), "")
    height = next((voice.draw(f"at {end}") for end in ("top", "bottom") if end in ends), "")
    depth = next((end for end in ("near", "far") if end in ends), "")
    if depth and after and voice.rng.random() < 0.5:
        return voice.draw(f"corner {depth}", side=height or side)
    return " ".join(word for word in (depth, height, side, "corner") if word)


def _what(voice: Voice, name: str, shape: Shape, omitted: str | None, by_corner: bool) -> str:
    slots = {"color": "" if omitted == "color" else shape.color}
    if omitted == "size":
        return voice.draw(f"{name} sizeless", **slots)
    if shape.kind != "plane":
        return voice.draw(name, n=voice.number(shape.sizes[0]), **slots)
    slots["form"] = form(shape.sizes)
    if by_corner:
        return voice.draw(f"{name} spans", spans=voice.draw("spans", **_spans(voice, shape)), **slots)
    x, y = shape.sizes
    dims = voice.draw("dims", x=str(x), y=str(y), a=voice.number(x), b=voice.number(y))
    return voice.draw(name, dims=dims, **slots)


def _spans(voice: Voice, shape: Shape) -> dict[str, str]:
    """The sizes of a plane, and what each measures: its width, depth or height."""
    one, two = (voice.draw(f"span {relation_parts(way)[0][0]}") for way in shape.ways)
    return {"a": voice.number(shape.sizes[0]), "b": voice.number(shape.sizes[1]), "one": one, "two": two}


def _start(voice: Voice, name: str, shape: Shape, by_corner: bool) -> str:
    if by_corner:
        return voice.draw("start corner", corner=corner(voice, shape.ways, after=True), where=shape.where)
    return voice.draw(f"start {_asked(name, shape)}", where=shape.where)


def _way(voice: Voice, shape: Shape, sized: bool) -> str:
    if shape.kind != "plane":
        return voice.draw("way diagonal" if shape.kind == "diagonal" else "way row", go=voice.go(shape.ways[0]))
    one, two = (voice.go(way) for way in shape.ways)
    if not sized or len(set(shape.sizes)) == 1:
        return voice.draw("way square", one=one, two=two)
    return voice.draw("way plane", a=voice.number(shape.sizes[0]), b=voice.number(shape.sizes[1]), one=one, two=two)


def _asked(name: str, shape: Shape) -> str:
    """The kind of words for what is asked of a shape: only rows that are known to go up or down have their own."""
    return name if name in ("tower", "column") else "row" if shape.kind != "plane" else "plane"


def _question_and_answer(voice: Voice, name: str, shape: Shape, omitted: str) -> tuple[str, str]:
    """The question for what was left out, and the answer."""
    kind = _asked(name, shape)
    if omitted == "color":
        return voice.draw("what color"), voice.draw("answer color", color=shape.color)
    if omitted == "size":
        slots = _spans(voice, shape) if kind == "plane" else {"n": voice.number(shape.sizes[0])}
        return voice.draw(f"ask size {kind}"), voice.draw(f"answer size {kind}", **slots)
    if omitted == "direction":
        if kind == "plane":
            return voice.draw("ask direction"), voice.draw("answer direction plane", way=_way(voice, shape, sized=True))
        return voice.draw("ask direction"), voice.draw("answer direction row", go=voice.go(shape.ways[0]))
    return voice.draw("ask start"), voice.draw(f"answer start {kind}", where=shape.where)
