"""Requests for simple shapes (towers, rows, walls, cubes, floors, stairs, letters), numbers of blocks, and the ground."""

from __future__ import annotations

from itertools import groupby

from harness.corpora.wording import listing
from harness.simulators import impossible_if
from harness.simulators.everyday.following import cannot_make
from harness.simulators.everyday.minecraft.building import BuildingTalk, Other, Plan, box, build, span, standing
from harness.simulators.everyday.talk import LETTERS, PICTURES, Maker, Request, Revision
from harness.worlds.minecraft import HEIGHT, SIDE


def block(b: BuildingTalk) -> Request:
    color = b.color()
    return build(b, b.some("count", "figure"), "block", b.say("block", color=color), lambda x, z: f"{color} {x},1,{z}", 1)


def tower(b: BuildingTalk) -> Request:
    n, color, rng = b.rng.choice((2, 3, 3, 4, 4, 5, 6)), b.color(), b.rng
    if rng.random() < 0.15:
        what, n = b.say("tower bare", color=color), rng.choice((3, 4))
    else:
        what = b.say("tower", color=color, n=b.number(n))
    others = (
        Other("=taller", lambda x, z: f"{color} {x},{n + 1},{z}"),
        Other("=shorter", lambda x, z: f"remove {x},{n},{z}"),
        Other("=meant high", lambda x, z: f"{color} {x},{span(n + 1, n + 2)},{z}", "correction", {"n": b.number(n + 2)}),
        Other("lying", lambda x, z: f"{color} row({max(x, n - 6)},1,{z},right,{n})", "correction"),
    )
    return build(b, b.some("figure", "size"), "tower", what, lambda x, z: f"{color} tower({x},1,{z},{n})", 1, others=others)


def row(b: BuildingTalk) -> Request:
    n, color, rng = b.rng.choice((3, 3, 4, 4, 5, 6, 7)), b.color(), b.rng
    away = rng.random() < 0.3
    way, width, depth = ("behind", 1, n) if away else ("right", n, 1)
    stated = away or rng.random() < 0.35
    what = b.say("row", color=color, n=b.number(n))
    if stated:
        what = f"{what} {b.say('way away' if away else 'way across')}"
    others: tuple[Other, ...] = (
        Other("standing", lambda x, z: f"{color} tower({x},1,{z},{n})", "correction"),
        Other("=one more", lambda x, z: f"{color} {way}({_last(x, z, n, away)},1)", "size"),
        Other("=one fewer", lambda x, z: f"remove {_last(x, z, n, away)}", "size"),
    )
    if away and stated:
        others += (Other("sideways", lambda x, z: f"{color} row({max(x, n - 6)},1,{z},right,{n})", "correction"),)
    elif stated:
        others += (Other("not sideways", lambda x, z: f"{color} row({x},1,{min(z, 6 - n)},behind,{n})", "correction"),)
    kind = b.some("line", "line", "size") if stated else b.some("line", "count", "size")
    return build(b, kind, "row", what, lambda x, z: f"{color} row({x},1,{z},{way},{n})", width, depth, others)


def _last(x: int, z: int, n: int, away: bool) -> str:
    return f"{x},1,{z + n - 1}" if away else f"{x - n + 1},1,{z}"


def wall(b: BuildingTalk) -> Request:
    width, height, color = b.rng.randint(3, 6), b.rng.randint(2, 4), b.color()
    stated = b.rng.random() < 0.8
    if not stated:
        width, height = 5, 3
    what = b.say("wall" if stated else "wall bare", color=color, n=str(width), m=str(height))
    others = (
        Other("=taller row", lambda x, z: f"{color} {box(x, height + 1, z, width, 1, 1)}"),
        Other("=shorter row", lambda x, z: f"remove {box(x, height, z, width, 1, 1)}"),
        Other("lower wall", lambda x, z: f"{color} {box(x, 1, z, width, 1, 1)}", "correction"),
        Other("=door", lambda x, z: f"remove {box(x - width // 2, 1, z, 1, min(2, height - 1), 1)}", "remove"),
    )
    kind = b.some("figure", "size") if stated else "figure"
    return build(b, kind, "wall", what, lambda x, z: f"{color} {box(x, 1, z, width, height, 1)}", width, others=others)


def cube(b: BuildingTalk) -> Request:
    n, color = b.rng.choice((2, 2, 3, 3, 4)), b.color()
    section = "cube" if b.rng.random() < 0.8 else "cube small" if n == 2 else "cube big"
    what = b.say(section, color=color, n=str(n))
    others: tuple[Other, ...] = (
        Other("bigger", lambda x, z: f"{color} {box(max(x, n - 5), 1, min(z, 5 - n), n + 1, n + 1, n + 1)}"),
        Other("smaller", lambda x, z: f"{color} {box(x, 1, z, n - 1, n - 1, n - 1)}"),
        Other("flat", lambda x, z: f"{color} {box(x, 1, z, n, 1, n)}", "correction"),
    )
    others = others if n > 2 else others[::2]
    return build(b, b.some("figure", "size"), "cube", what, lambda x, z: f"{color} {box(x, 1, z, n, n, n)}", n, n, others)


def floor(b: BuildingTalk) -> Request:
    width, depth, color = b.rng.randint(2, 6), b.rng.randint(2, 5), b.color()
    if b.rng.random() < 0.5:
        depth = width = min(width, depth)
    noun = b.some("carpet", "floor", "square" if width == depth else "rectangle", "platform")
    what = b.say("floor", color=color, n=str(width), m=str(depth), noun=noun)
    others = (
        Other("=second layer", lambda x, z: f"{color} {box(x, 2, z, width, 1, depth)}"),
        Other("only outline", lambda x, z: f"{color} frame({x},1,{z},right,{width},behind,{depth})", "border"),
        Other("upright", lambda x, z: f"{color} {box(x, 1, z, width, depth, 1)}", "correction"),
    )
    kind = b.some("figure", "size")
    return build(b, kind, noun, what, lambda x, z: f"{color} {box(x, 1, z, width, 1, depth)}", width, depth, others)


def outline(b: BuildingTalk) -> Request:
    width, depth, color = b.rng.randint(3, 7), b.rng.randint(3, 6), b.color()
    if b.rng.random() < 0.5:
        depth = width = min(width, depth)
    what = b.say("outline", color=color, n=str(width), m=str(depth))
    other = b.color(color)

    def frame(x: int, z: int, y: int = 1) -> str:
        return f"{color} frame({x},{y},{z},right,{width},behind,{depth})"

    def inside(x: int, z: int) -> str:
        return f"{other} {box(x - 1, 1, z + 1, width - 2, 1, depth - 2)}"

    others = Other("=fill inside", inside, "relation", {"color": other}), Other("=higher", lambda x, z: frame(x, z, 2))
    noun = b.called(what, "rectangle", "ring", "frame", "square", "fence", "border")
    return build(b, "border", noun, what, frame, width, depth, others)


def upright_frame(b: BuildingTalk) -> Request:
    width, height, color = b.rng.randint(3, 5), b.rng.randint(3, 5), b.color()
    what = b.say("picture frame", color=color, n=str(width), m=str(height))
    return build(b, "border", "frame", what, lambda x, z: f"{color} frame({x},1,{z},right,{width},up,{height})", width)


def stairs(b: BuildingTalk) -> Request:
    n, color, way = b.rng.randint(3, 5), b.color(), b.some("right", "left", "away")
    what = b.say("stairs", color=color, n=b.number(n), way=b.say(f"stairs {way}"))

    def plan(x: int, z: int, n: int = n, way: str = way) -> str:
        def at(k: int) -> tuple[int, int]:
            return (x, z + k - 1) if way == "away" else (x - k + 1, z) if way == "right" else (x - n + k, z)

        return f"{color} " + "+".join(f"{at(k)[0]},{span(1, k)},{at(k)[1]}" for k in range(1, n + 1))

    if way == "away":
        return build(b, "figure", "staircase", what, plan, 1, n)
    back = "left" if way == "right" else "right"
    other_way = Other("other way", lambda x, z: plan(x, z, n, back), "mirror")
    bigger = Other("bigger stairs", lambda x, z: plan(max(x, n - 5), z, n + 1, way))
    return build(b, "figure", "staircase", what, plan, n, 1, (other_way, bigger))


# --- letters and signs ---


def flat_letter(b: BuildingTalk) -> Request:
    """L, T, U or a plus, lying on the ground."""
    name, color = b.some("L", "T", "U", "plus"), b.color()
    n, m = b.some(3, 3, 4, 5), b.some(2, 3)
    if name == "plus":
        n, plan, size = 3, lambda x, z: f"{color} cross({x - 1},1,{z + 1},right,behind,1)", (3, 3)
    elif name == "L":
        plan, size = lambda x, z: f"{color} lshape({x},1,{z},behind,{n},right,{m})", (m, n)
    elif name == "T":
        n = 3 if n == 4 else n
        plan, size = lambda x, z: f"{color} tshape({x - n // 2},1,{z + m},right,{n},front,{m + 1})", (n, m + 1)
    else:
        plan, size = lambda x, z: f"{color} ushape({x},1,{z},right,{n},behind,{m})", (n, m)
    slots = {"color": color, "n": b.number(n), "m": b.number(m + (name == "T"))}
    noun = "plus" if name == "plus" else f"{name} shape"
    return build(b, "figure", noun, b.say(f"flat {name.lower()}", **slots), plan, *size)


def letter(b: BuildingTalk) -> Request:
    name, color = b.rng.choice(LETTERS), b.color()
    lines = PICTURES[f"letter {name.lower()}"]
    what = b.say("letter", letter=name, color=color)

    def plan(x: int, z: int) -> str:
        columns = range(len(lines[0]))
        runs = [(x - c, _heights([line[c] == "X" for line in reversed(lines)])) for c in columns]
        return f"{color} " + "+".join(f"{u},{run},{z}" for u, spans in runs for run in spans)

    return build(b, "figure", "letter", what, plan, len(lines[0]))


def _heights(filled: list[bool]) -> list[str]:
    """The ranges of filled cells in a column, from the ground up."""
    runs = [list(run) for there, run in groupby(range(len(filled)), filled.__getitem__) if there]
    return [span(run[0] + 1, run[-1] + 1) for run in runs]


def upright_plus(b: BuildingTalk) -> Request:
    color = b.color()
    what = b.say("upright plus", color=color)
    return build(b, "figure", "plus", what, lambda x, z: f"{color} cross({x - 1},2,{z},right,up,1)", 3)


def diagonal(b: BuildingTalk) -> Request:
    n, color = b.rng.randint(3, 5), b.color()
    side = b.some("right", "left")
    what = b.say("diagonal", color=color, n=b.number(n), way=side)
    first = 0 if side == "right" else 1 - n
    return build(b, "line", "diagonal", what, lambda x, z: f"{color} diagonal({x + first},1,{z},{side},behind,{n})", n, n)


def snake(b: BuildingTalk) -> Request:
    n, m, color = b.rng.randint(3, 4), b.rng.randint(2, 3), b.color()
    what = b.say("snake", color=color, n=b.number(n + m - 1), k=b.number(n), m=b.number(m - 1))

    def plan(x: int, z: int) -> str:
        return f"{color} {box(x, 1, z, n, 1, 1)}+{box(x - n + 1, 1, z + 1, 1, 1, m - 1)}"

    return build(b, "figure", "snake", what, plan, n, m)


# --- counts ---


def alternating(b: BuildingTalk) -> Request:
    """A row or a tower in two or three alternating colors."""
    n, up = b.rng.randint(4, 8), b.rng.random() < 0.35
    n = min(n, 6) if up else n
    colors = b.shades(b.color(), b.some(1, 1, 1, 2))
    run = ", ".join((*colors, *colors)[: max(4, len(colors) + 1)])
    slots = {"n": b.number(n), "run": run, "colors": listing(b.rng, colors), "first": colors[0]}
    noun = "tower" if up else "row"
    what = b.say(f"alternating {noun}", **slots)
    return build(b, "count", noun, what, _in_turn(noun, n, colors), 1 if up else n)


def _in_turn(noun: str, n: int, colors: list[str]) -> Plan:
    """A tower, or a row to the right, whose blocks alternate between the colors."""
    way = ",right" if noun == "row" else ""
    return lambda x, z: f"{','.join(colors)} {noun}({x},1,{z}{way},{n})"


def listed(b: BuildingTalk) -> Request:
    n, up = b.rng.randint(2, 5), b.rng.random() < 0.5
    colors = b.rng.sample(sorted(b.palette), n)
    noun = "tower" if up else "row"
    what = b.say(f"listed {noun}", colors=listing(b.rng, colors), n=b.number(n))
    return build(b, "count", noun, what, _in_turn(noun, n, colors), 1 if up else n)


def scattered(b: BuildingTalk) -> Request:
    n, color = b.rng.randint(2, 6), b.color()
    spots = [(x, z) for x in (-4, -2, 0, 2, 4) for z in (-3, -1, 1, 3)]
    chosen = b.rng.sample(spots, n + 1)
    cells = "+".join(f"{x},1,{z}" for x, z in chosen[:n])
    one = f"{chosen[n][0]},1,{chosen[n][1]}"
    variants = (
        Revision("=one more block", f"{color} {one}", {"color": color}, "count"),
        Revision("=take one", f"remove {chosen[0][0]},1,{chosen[0][1]}", kind="count"),
    )
    what = b.say("scattered", color=color, n=b.number(n))
    text = b.say("build", what=what, where=f", {b.say('anywhere')}")
    return Request("count", text, f"{color} {cells}", noun="blocks", variants=variants, fresh=True)


# --- the whole ground, its border and its corners ---

_CORNERS = {"far left": (5, 5), "far right": (-5, 5), "near left": (5, -5), "near right": (-5, -5)}
_EDGES = {"far": "-5..5,1,5", "near": "-5..5,1,-5", "left": "5,1,-5..5", "right": "-5,1,-5..5"}
_OPPOSITE = {"far": "near", "near": "far", "left": "right", "right": "left"}
_HALVES = {"left": "1-5,1,-5..5", "right": "-5..-1,1,-5..5", "far": "-5..5,1,1-5", "near": "-5..5,1,-5..-1"}


def _other(program: str, words: str) -> tuple[Revision, Revision]:
    """Revisions to the other side: instead of the first one, or in addition to it."""
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
    color, (name, (x, z)) = b.color(), b.rng.choice(list(_CORNERS.items()))
    n = b.some(1, 1, 1, 2, 3)
    way, side = name.split()
    text = b.ask("build", b.block_or_tower(n, color), b.place(f"corner {name}"))
    variants: list[Revision] = []
    for other in (f"{_OPPOSITE[way]} {side}", f"{way} {_OPPOSITE[side]}"):
        u, v = _CORNERS[other]
        variants += _other(f"{color} tower({u},1,{v},{n})", b.place(f"corner {other}"))
    noun = "block" if n == 1 else "tower"
    return Request("corner", text, f"{color} {standing(x, z, n)}", noun=noun, variants=variants, fresh=True)


def all_corners(b: BuildingTalk) -> Request:
    color, n = b.color(), b.some(1, 1, 1, 2, 3)
    text = b.say("all corners" if n == 1 else "corner towers", color=color, n=b.number(n))
    cells = "+".join(standing(x, z, n) for x, z in _CORNERS.values())
    return Request("corner", text, f"{color} {cells}", noun="corners" if n == 1 else "towers", fresh=True)


def off_the_ground(b: BuildingTalk) -> Request:
    n, m = b.rng.randint(2 * SIDE, 50), b.rng.randint(HEIGHT + 1, 40)
    return Request("cannot", b.say("off", color=b.color(), n=str(n), m=str(m)))


FIGURES: dict[Maker, int] = {
    block: 10, tower: 13, row: 13, wall: 6, cube: 6, floor: 6, outline: 4, upright_frame: 2, stairs: 5, flat_letter: 5, letter: 3,
    upright_plus: 1, diagonal: 2, snake: 2, alternating: 5, listed: 4, scattered: 5,
}  # fmt: skip
GROUND: dict[Maker, int] = {
    whole_floor: 3, half_floor: 3, checkered_floor: 2, striped_floor: 2, fence: 6, edge: 5, corner: 11, all_corners: 6,
}  # fmt: skip
GROUND_LATER: dict[Maker, int] = {second_layer: 2}
CANNOT: dict[Maker, int] = {off_the_ground: 2, cannot_make: 1}
