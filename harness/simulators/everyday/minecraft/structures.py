"""Requests for arches, furniture, houses, pyramids, trees and other things with several parts."""

from __future__ import annotations

from harness.corpora.wording import listing
from harness.simulators.everyday.minecraft.building import BuildingTalk, Other, box, build, span
from harness.simulators.everyday.talk import Maker, Request


def arch(b: BuildingTalk) -> Request:
    gap, height, color = b.rng.randint(1, 3), b.rng.randint(2, 4), b.color()
    noun = b.some("arch", "gate", "bridge", "doorway")
    stated = b.rng.random() < 0.7
    gap, height = (gap, height) if stated else (1, 3)
    other = b.color(color) if b.rng.random() < 0.3 else color
    section = f"arch{' colors' if other != color else ''}" if stated or other != color else "arch bare"
    sizes = {"n": b.number(height), "gap": b.number(gap), "gaps": "s" if gap > 1 else "", "top": b.number(gap + 2)}
    what = b.say(section, color=color, other=other, noun=noun, **sizes)

    def plan(x: int, z: int) -> str:
        pillars = f"tower({x},1,{z},{height})+tower({x - gap - 1},1,{z},{height})"
        return f"{color} {pillars}; {other} {box(x, height + 1, z, gap + 2, 1, 1)}"

    return build(b, "figure", noun, what, plan, gap + 2)


def table(b: BuildingTalk) -> Request:
    width, depth = b.some((3, 3), (3, 3), (4, 3), (2, 2))
    color, height = b.color(), b.some(1, 1, 2)
    other = b.color(color) if b.rng.random() < 0.4 else color
    section = "table colors" if color != other else "table"
    what = b.say(section, color=color, other=other, n=str(width), m=str(depth), k=b.number(height))

    def plan(x: int, z: int) -> str:
        legs = "+".join(f"{u},{span(1, height)},{v}" for u in (x, x - width + 1) for v in (z, z + depth - 1))
        return f"{other} {legs}; {color} {box(x, height + 1, z, width, 1, depth)}"

    new = b.color(color, other)
    top = Other("=on the table", lambda x, z: f"{new} {x - width // 2},{height + 2},{z + depth // 2}", "relation", {"color": new})
    return build(b, "figure", "table", what, plan, width, depth, (top,))


def chair(b: BuildingTalk) -> Request:
    """A seat of one block or four, with a back of the same width."""
    color, big = b.color(), b.rng.random() < 0.5
    if not big:
        what = b.say("chair small", color=color)
        return build(b, "figure", "chair", what, lambda x, z: f"{color} {x},1,{z}+{x},{span(1, 2)},{z + 1}", 1, 2)
    what = b.say("chair", color=color)

    def plan(x: int, z: int) -> str:
        return f"{color} {box(x, 1, z, 2, 2, 2)}+{box(x, 3, z + 1, 2, 2, 1)}"

    return build(b, "figure", "chair", what, plan, 2, 2)


def bench(b: BuildingTalk) -> Request:
    n, color = b.rng.randint(3, 5), b.color()
    what = b.say("bench", color=color, n=b.number(n))

    def plan(x: int, z: int) -> str:
        return f"{color} {x},1,{z}+{x - n + 1},1,{z}; {color} {box(x, 2, z, n, 1, 1)}"

    return build(b, "figure", "bench", what, plan, n)


def house(b: BuildingTalk) -> Request:
    """Walls around an empty inside, perhaps with a flat roof in another color, perhaps with a door on the near side."""
    n, height, color = b.some(3, 3, 4, 5), b.some(2, 2, 3), b.color()
    other, roof, door = b.color(color), b.rng.random() < 0.6, b.rng.random() < 0.4 and height > 1
    slots = {"color": color, "other": other, "n": str(n), "m": b.number(height), "door": b.say("with a door") if door else ""}
    what = b.say("house with roof" if roof else "house walls", **slots)

    def top(x: int, z: int) -> str:
        return f"{other} {box(x, height + 1, z, n, 1, n)}"

    def opening(x: int, z: int) -> str:
        return box(x - n // 2, 1, z, 1, min(2, height), 1)

    def plan(x: int, z: int) -> str:
        walls = f"{color} {box(x, 1, z, n, height, n)} - {box(x - 1, 1, z + 1, n - 2, height, n - 2)}"
        return walls + (f" - {opening(x, z)}" if door else "") + (f"; {top(x, z)}" if roof else "")

    others = [] if roof else [Other("=add roof", top, "figure", {"color": other})]
    if not door:
        others.append(Other("=add door", lambda x, z: f"remove {opening(x, z)}", "remove"))
    return build(b, "figure", "house", what, plan, n, n, tuple(others))


def pyramid(b: BuildingTalk) -> Request:
    n, color = b.some(3, 5, 5), b.color()
    colors = [color]
    if b.rng.random() < 0.3:
        colors = b.shades(color, n // 2)
        what = b.say("pyramid colors", n=str(n), colors=listing(b.rng, colors))
    else:
        what = b.say("pyramid", color=color, n=str(n), levels=b.number(n // 2 + 1))

    def plan(x: int, z: int) -> str:
        layers = ((colors[k % len(colors)], box(x - k, 1 + k, z + k, n - 2 * k, 1, n - 2 * k)) for k in range(n // 2 + 1))
        return "; ".join(f"{shade} {cells}" for shade, cells in layers)

    return build(b, "figure", "pyramid", what, plan, n, n)


def tree(b: BuildingTalk) -> Request:
    """A trunk with leaves on and around its top; a flower if the trunk happens to be green."""
    n, trunk, leaves = b.rng.randint(2, 4), b.some("orange", "orange", b.color()), "green"
    if trunk == leaves:
        return flower(b)
    what = b.say("tree", other=trunk, color=leaves, n=b.number(n))

    def plan(x: int, z: int) -> str:
        x -= 1
        return f"{trunk} tower({x},1,{z + 1},{n}); {leaves} {box(x + 1, n + 1, z, 3, 1, 3)}+{x},{n + 2},{z + 1}"

    return build(b, "figure", "tree", what, plan, 3, 3)


def flower(b: BuildingTalk) -> Request:
    n, color = b.rng.randint(1, 3), b.color("green")
    what = b.say("flower", color=color, n=b.number(n))
    return build(b, "figure", "flower", what, lambda x, z: f"green tower({x},1,{z},{n}); {color} {x},{n + 1},{z}", 1)


def lamp(b: BuildingTalk) -> Request:
    """A traffic light, or a tower with a top of another color."""
    if b.rng.random() < 0.4:
        return build(b, "figure", "traffic light", b.say("traffic light"), lambda x, z: f"green,yellow,red tower({x},1,{z},3)", 1)
    n, color = b.rng.randint(2, 4), b.color()
    other = b.color(color)
    what = b.say("tower with top", color=color, other=other, n=b.number(n))
    noun = b.called(what, "candle", "lamp post", "tower")
    return build(b, "figure", noun, what, lambda x, z: f"{color} tower({x},1,{z},{n}); {other} {x},{n + 1},{z}", 1)


def flag(b: BuildingTalk) -> Request:
    n, color = b.rng.randint(4, 5), b.color()
    other = b.color(color)
    what = b.say("flag", color=color, other=other, n=b.number(n))

    def plan(x: int, z: int) -> str:
        return f"{color} tower({x},1,{z},{n}); {other} {box(x - 1, n - 1, z, 2, 2, 1)}"

    return build(b, "figure", "flag", what, plan, 3)


def well(b: BuildingTalk) -> Request:
    n, height, color = b.some(3, 3, 4), b.some(1, 1, 2), b.color("blue")
    what = b.say("well", color=color, n=str(n), m=b.number(height))

    def plan(x: int, z: int) -> str:
        ring = "+".join(f"frame({x},{y},{z},right,{n},behind,{n})" for y in range(1, height + 1))
        return f"{color} {ring}; blue {box(x - 1, 1, z + 1, n - 2, 1, n - 2)}"

    return build(b, "figure", b.called(what, "pool", "fountain", "well"), what, plan, n, n)


STRUCTURES: dict[Maker, int] = {
    arch: 5, table: 4, chair: 3, bench: 2, house: 5, pyramid: 3, tree: 2, flower: 2, lamp: 3, flag: 2, well: 2,
}  # fmt: skip
