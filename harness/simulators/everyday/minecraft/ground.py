"""Requests about the whole ground, its border and its corners."""

from __future__ import annotations

from harness.simulators.everyday.minecraft.building import BuildingTalk
from harness.simulators.everyday.talk import Maker, Request, Revision
from harness.simulators.possible import impossible_if

_CORNERS = {"far left": (5, 5), "far right": (-5, 5), "near left": (5, -5), "near right": (-5, -5)}
_EDGES = {"far": "-5..5,1,5", "near": "-5..5,1,-5", "left": "5,1,-5..5", "right": "-5,1,-5..5"}
_OPPOSITE = {"far": "near", "near": "far", "left": "right", "right": "left"}
_HALVES = {"left": "1-5,1,-5..5", "right": "-5..-1,1,-5..5", "far": "-5..5,1,1-5", "near": "-5..5,1,-5..-1"}


def _other(program: str, words: str) -> tuple[Revision, Revision]:
    """The other side, in place of the first one or too."""
    return Revision("other side", program, {"other": words}), Revision("=also other", program, {"other": words}, "repeat")


def whole_floor(b: BuildingTalk) -> Request:
    color = b.color()
    return Request("whole", b.say("whole floor", color=color), f"{color} -5..5,1,-5..5", noun="floor", fresh=True)


def half_floor(b: BuildingTalk) -> Request:
    color, (side, cells) = b.color(), b.rng.choice(list(_HALVES.items()))
    other = _other(f"{color} {_HALVES[_OPPOSITE[side]]}", b.say(f"the {_OPPOSITE[side]} half"))
    text = b.say("cover", what=b.say(f"the {side} half"), color=color)
    return Request("whole", text, f"{color} {cells}", noun="floor", variants=other, fresh=True)


def checkered_floor(b: BuildingTalk) -> Request:
    color = b.color()
    other = b.color(color)
    text = b.say("checkered floor", color=color, other=other)
    return Request("whole", text, f"{color},{other} -5..5,1,-5..5", noun="floor", fresh=True)


def striped_floor(b: BuildingTalk) -> Request:
    color = b.color()
    other = b.color(color)
    across = b.rng.random() < 0.5
    text = b.say("striped floor", color=color, other=other, way=b.say("stripes across" if across else "stripes away"))
    one, two = ("-5..5,1,-5..5/2", "-5..5,1,-4..4/2") if across else ("-5..5/2,1,-5..5", "-4..4/2,1,-5..5")
    return Request("whole", text, f"{color} {one}; {other} {two}", noun="floor", fresh=True)


def second_layer(b: BuildingTalk) -> Request:
    """All that lies on the ground once more on top of it."""
    impossible_if(not b.colors or any(y > 6 for _, y, _ in b.colors) or len(b.colors) > 130)
    color = b.color()
    return Request("whole", b.say("on everything", color=color), f"{color} on(all)", noun="layer")


def fence(b: BuildingTalk) -> Request:
    color, height = b.color(), b.some(1, 1, 2)
    text = b.say("fence" if height == 1 else "fence high", color=color, n=b.number(height))
    program = "; ".join(f"{color} frame(5,{y},-5,right,11,behind,11)" for y in range(1, height + 1))
    variants = (
        Revision("=gate", "remove 0,1,-5", kind="border"),
        Revision("=fence higher", f"{color} frame(5,{height + 1},-5,right,11,behind,11)", kind="size"),
    )
    return Request("border", text, program, noun="fence", variants=variants if height == 1 else variants[1:], fresh=True)


def edge(b: BuildingTalk) -> Request:
    color, (side, cells) = b.color(), b.rng.choice(list(_EDGES.items()))
    other = _other(f"{color} {_EDGES[_OPPOSITE[side]]}", b.say(f"the {_OPPOSITE[side]} edge"))
    text = b.say("edge", where=b.say(f"the {side} edge"), color=color)
    return Request(b.some("border", "line"), text, f"{color} {cells}", noun="line", variants=other, fresh=True)


def corner(b: BuildingTalk) -> Request:
    """A block or a tower in one corner of the ground."""
    color, (name, (x, z)) = b.color(), b.rng.choice(list(_CORNERS.items()))
    n = b.some(1, 1, 1, 2, 3)
    what = b.say("block", color=color) if n == 1 else b.say("tower", color=color, n=b.number(n))
    way, side = name.split()
    text = b.ask("build", what, b.place(f"corner {name}"))
    variants: list[Revision] = []
    for other in (f"{_OPPOSITE[way]} {side}", f"{way} {_OPPOSITE[side]}"):
        u, v = _CORNERS[other]
        words = b.place(f"corner {other}")
        variants += _other(f"{color} tower({u},1,{v},{n})", words)
    program = f"{color} {x},1,{z}" if n == 1 else f"{color} tower({x},1,{z},{n})"
    return Request("corner", text, program, noun="block" if n == 1 else "tower", variants=variants, fresh=True)


def all_corners(b: BuildingTalk) -> Request:
    color, n = b.color(), b.some(1, 1, 1, 2, 3)
    text = b.say("all corners" if n == 1 else "corner towers", color=color, n=b.number(n))
    program = (
        f"{color} 5,1,5+-5,1,5+5,1,-5+-5,1,-5"
        if n == 1
        else f"{color} {'+'.join(f'tower({x},1,{z},{n})' for x, z in _CORNERS.values())}"
    )
    return Request("corner", text, program, noun="corners" if n == 1 else "towers", fresh=True)


GROUND: dict[Maker, int] = {
    whole_floor: 3, half_floor: 3, checkered_floor: 2, striped_floor: 2, fence: 6, edge: 5, corner: 11, all_corners: 6,
}  # fmt: skip
GROUND_LATER: dict[Maker, int] = {second_layer: 2}
