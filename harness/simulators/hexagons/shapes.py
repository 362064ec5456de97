"""Figures with a name: rings, flowers, lines, V shapes, crosses, triangles, diamonds (level 2)."""

from __future__ import annotations

from harness.corpora.wording import listing
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.simulators.possible import impossible_if
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile, distance, neighbors, step
from serialization.program import ast
from serialization.program.hexagons_geometry import ray

_DIAGONALS = ("up-right", "down-right", "down-left", "up-left")
_OPEN = {
    ("up-left", "up-right"): ("V", "V shape", '"V"', '"V" shape'),
    ("down-left", "down-right"): ("upside down V", "upside-down V"),
    ("up-left", "down-left"): ("arrowhead pointing right", "sideways V that points right"),
    ("up-right", "down-right"): ("arrowhead pointing left", "sideways V that points left"),
}
"""The two arms of a V shape, and what it is called."""


def _centers(d: Sketch, count: int) -> list[Tile]:
    """Centers of flowers that do not touch, in a row, in a column or anywhere."""
    rng, kind = d.rng, d.rng.random()
    if kind < 0.55:
        gap = rng.choice([gap for gap in (3, 4, 4, 5, 6) if gap * (count - 1) <= COLUMNS - 3])
        row, start = rng.randint(1, ROWS - 2), rng.randint(1, COLUMNS - 2 - gap * (count - 1))
        return [Tile(row, start + k * gap) for k in range(count)]
    if kind < 0.7 and count < 4:
        row, column = rng.randint(1, ROWS - 2 - 3 * (count - 1)), rng.randint(1, COLUMNS - 2)
        return [Tile(row + 3 * k, column) for k in range(count)]
    return [Tile(rng.randint(1, ROWS - 2), rng.randint(1, COLUMNS - 2)) for _ in range(count)]


def _petals(center: Tile, color: str) -> ast.Program:
    return op.paint(op.ring(center), color)


def ring(d: Sketch) -> Stroke:
    center, color = d.open_center(), d.color()
    drawn = d.new(_petals(center, color))
    impossible_if(center in d.board)
    if d.rng.random() < 0.4:
        text = d.voice.order(d.voice.say("ring what", center=d.voice.at(center)), color)
    else:
        text = d.voice.say("ring", center=d.voice.at(center), start=d.voice.at(step(center, "up")), color=color)
    return Stroke("ring", 2, text, *drawn, "ring", color, center)


def flower(d: Sketch) -> Stroke:
    center, (a, b) = d.open_center(), d.colors(2)
    drawn = d.new(op.together(op.paint(op.tile(center), b), _petals(center, a)))
    return Stroke("flower", 2, d.voice.say("flower", center=d.voice.at(center), a=a, b=b), *drawn, "flower", a, center)


def several(d: Sketch) -> Stroke:
    """Two to four rings or flowers that do not touch."""
    count, (a, b), open_ = d.rng.choice((2, 3, 3, 4, 4, 5)), d.colors(2), d.rng.random() < 0.55
    centers = _centers(d, count)
    impossible_if(any(distance(p, q) < 3 for k, p in enumerate(centers) for q in centers[:k]))
    parts = [_petals(center, a) for center in centers]
    drawn = d.new(op.together(*parts) if open_ else op.together(*parts, op.paint(op.tiles(*centers), b)))
    impossible_if(not d.free(centers))
    section = "rings" if open_ else "flowers"
    in_a_row = len({center.row for center in centers}) == 1
    words = d.voice.spell(centers, False)[0] if in_a_row else listing(d.rng, [d.voice.at(center) for center in centers])
    text = d.voice.say(section, n=d.voice.number(count), centers=words, color=a, a=a, b=b)
    return Stroke(section, 2, text, *drawn, section, a)


def tulip(d: Sketch) -> Stroke:
    """A flower with a stem that leads to the bottom edge."""
    center, (a, b, c) = d.inner(), d.colors(3)
    c = d.rng.choice((b, c))
    stem = Tile(center.row + 2, center.column)
    impossible_if(stem.row >= ROWS - 1)
    flower_ = op.together(op.paint(op.tile(center), b), _petals(center, a))
    drawn = d.new(op.together(flower_, op.paint(op.ray(stem, "down"), c)))
    text = d.voice.say("tulip", center=d.voice.at(center), a=a, b=b, c=c)
    return Stroke("tulip", 2, text, *drawn, "flower with a stem", None)


def caterpillar(d: Sketch) -> Stroke:
    """A head and a body in one column."""
    rng, column, (a, b), count = d.rng, d.tile().column, d.colors(2), d.rng.randint(2, 5)
    side, head = rng.choice((("below", 0), ("below", 0), ("above", ROWS - 1), ("below", rng.randint(1, 4))))
    body = range(head + 1, head + 1 + count) if side == "below" else range(head - count, head)
    drawn = d.new(op.together(op.paint(op.tile(Tile(head, column)), a), op.paint(op.cells((column,), tuple(body)), b)))
    slots = {"where": d.voice.column(column), "head": d.voice.nth(head), "n": d.voice.count(count), "side": side}
    return Stroke("caterpillar", 2, d.voice.say("caterpillar", a=a, b=b, **slots), *drawn, "caterpillar")


def bow_tie(d: Sketch) -> Stroke:
    center, color = d.open_center(), d.color()
    drawn = d.new(op.paint(op.rays(center, _DIAGONALS, 1), color))
    text = d.voice.say("bow tie", center=d.voice.at(center), color=color)
    return Stroke("bow tie", 2, text, *drawn, "bow tie", color, center)


def big_ring(d: Sketch) -> Stroke:
    center, color = d.tile(), d.color()
    drawn = d.new(op.paint(op.ring(center, 2), color))
    impossible_if(not d.free((center, *neighbors(center))))
    text = d.voice.say("big ring", center=d.voice.at(center), color=color)
    return Stroke("big ring", 2, text, *drawn, "big ring", color)


def disc(d: Sketch) -> Stroke:
    center, color = d.open_center(), d.color()
    drawn = d.new(op.paint(op.call("flower", op.tile(center)), color))
    text = d.voice.say("disc", center=d.voice.at(center), color=color)
    return Stroke("disc", 2, text, *drawn, "filled flower", color, center)


def start_of_line(d: Sketch) -> tuple[Tile, str, int]:
    """Where a line begins, its direction (mostly a diagonal), and how many tiles there are to the edge."""
    start, ways = d.tile(), _DIAGONALS if d.rng.random() < 0.85 else ("up", "down")
    way = d.rng.choice(ways)
    return start, way, len(ray(start, way, None))


def slant(way: str) -> str:
    return "vertical" if way in ("up", "down") else "diagonal"


def line(d: Sketch) -> Stroke:
    """A straight line, said by its length, by the edge it runs to, or by its ends."""
    rng, color = d.rng, d.color()
    start, way, room = start_of_line(d)
    impossible_if(room < 3)
    kind, count = rng.choice(("line", "line", "edge line", "connect", "between")), rng.randint(min(room, 4), min(room, 14))
    if kind == "edge line":
        tiles, count = op.ray(start, way), room
    elif kind == "line":
        tiles = op.ray(start, way, count)
    else:
        tiles = op.line(start, step(start, way, count - 1))
    if kind == "between":
        tiles = op.minus(tiles, op.tiles(start, step(start, way, count - 1)))
    drawn = d.new(op.paint(tiles, color))
    impossible_if(len(drawn.painting) < 2)
    end = d.voice.at(step(start, way, count - 1))
    slots = {"way": d.voice.way(way), "slant": slant(way), "n": d.voice.number(count), "end": end}
    text = d.voice.say(kind, start=d.voice.at(start), color=color, **slots)
    known = None if kind == "between" else (start, way, count)
    return Stroke(kind, 2, text, *drawn, "line", color, None, known)


def line_runs(d: Sketch) -> Stroke:
    """A line in runs of colors."""
    start, way, room = start_of_line(d)
    names = d.colors(d.rng.choice((2, 2, 3)))
    names = [*names, names[0]] if d.rng.random() < 0.5 else names
    counts = [d.rng.randint(1, 4) for _ in names]
    impossible_if(sum(counts) > room)
    drawn = d.new(op.paint(op.ray(start, way, sum(counts)), *names, counts=counts))
    runs = listing(d.rng, [f"{d.voice.number(n)} {color}" for n, color in zip(counts, names, strict=True)])
    text = d.voice.say("line runs", start=d.voice.at(start), way=d.voice.way(way), slant=slant(way), runs=runs)
    return Stroke("line runs", 2, text, *drawn, "line", None, None, (start, way, sum(counts)))


def open_shape(d: Sketch) -> Stroke:
    """A V, upright, upside down or on its side."""
    point, count, color = d.inner(), d.rng.randint(2, 6), d.color()
    ways = d.rng.choice(tuple(_OPEN))
    drawn = d.new(op.paint(op.rays(point, ways, count), color))
    shape = d.rng.choice(_OPEN[ways])
    way, other = (d.voice.way(way) for way in ways)
    slots = {"point": d.voice.at(point), "n": d.voice.number(count), "way": way, "other": other, "shape": shape}
    slots |= {"long": d.voice.tiles, "each": f"{d.voice.tiles} each"}
    text = d.voice.say("open shape", color=color, **slots)
    return Stroke("V", 2, text, *drawn, "V" if "V" in shape else "arrowhead", color, point)


def cross(d: Sketch) -> Stroke:
    """An X of four diagonals, or a star of six lines."""
    center, count, color = d.open_center(), d.rng.choice((1, 2, 2, 3)), d.color()
    section = d.rng.choice(("cross", "cross", "star"))
    drawn = d.new(op.paint(op.rays(center, _DIAGONALS if section == "cross" else tuple(DIRECTIONS), count), color))
    impossible_if(section == "star" and count == 1)
    long, x = d.voice.some(count).split()[-1], d.rng.choice(("X", "X", '"X"', "X shape"))
    text = d.voice.say(section, center=d.voice.at(center), n=d.voice.number(count), long=long, x=x, color=color)
    return Stroke(section, 2, text, *drawn, "X" if section == "cross" else section, color, center)


def triangle(d: Sketch) -> Stroke:
    """A filled triangle on a column, or a filled diamond around one."""
    rng, top, size, color = d.rng, d.tile(), d.rng.choice((2, 3, 4, 5, 5, 6, 6)), d.color()
    section, side = rng.choice(("triangle", "triangle", "diamond")), rng.choice(("left", "right"))
    program = op.paint(op.triangle(top, size, side) if section == "triangle" else op.diamond(top, size), color)
    impossible_if(top.row + size > ROWS or not 0 <= top.column + (size - 1) * (1 if side == "right" else -1) < COLUMNS)
    painting = d.new(program).painting
    first = 0 if section == "diamond" else top.column
    painting = dict(sorted(painting.items(), key=lambda pair: (abs(pair[0].column - first), pair[0].row)))
    base = d.voice.spell(tuple(Tile(row, top.column) for row in range(top.row, top.row + size)), plain=False)[0]
    text = d.voice.say(section, base=base, side=side, color=color)
    return Stroke(section, 2, text, program, painting, section, color)
