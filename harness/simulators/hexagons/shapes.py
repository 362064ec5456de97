"""Orders that give the place of every tile (level 0), lists, ranges and whole columns (level 1), and named figures: rings,
flowers, lines, V shapes, crosses, triangles, diamonds (level 2)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.corpora.wording import listing
from harness.simulators import impossible_if, needed
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile, distance, neighbors, step
from serialization.program import ast
from serialization.program.hexagons_geometry import ray

_SIZES = (5, 10, 12, 14, 15, 16, 18, 20, 24, 36, 50)
"""Desired numbers of tiles in a grid."""
_CORNERS = {
    "top left": Tile(0, 0), "top right": Tile(0, COLUMNS - 1), "bottom left": Tile(ROWS - 1, 0),
    "bottom right": Tile(ROWS - 1, COLUMNS - 1),
}  # fmt: skip


def tile(d: Sketch) -> Stroke:
    place, color = d.tile(), d.color()
    drawn = d.draw(op.tile(place), color)
    if d.rng.random() < 0.5:
        text = d.voice.order(d.voice.at(place), color)
    else:
        text = d.voice.order_in(d.voice.column(place.column), d.voice.nth(place.row), color)
    return Stroke("tile", 0, text, *drawn, "tile", color, place)


def corner(d: Sketch) -> Stroke:
    name, color = d.rng.choice(tuple(_CORNERS)), d.color()
    every = d.rng.random() < 0.3
    drawn = d.draw(op.tiles(*_CORNERS.values()) if every else op.tile(_CORNERS[name]), color)
    what = d.voice.say("corners") if every else d.voice.say("corner", corner=name)
    noun = "corner tiles" if every else "tile"
    return Stroke("corner", int(every), d.voice.order(what, color), *drawn, noun, color, None if every else _CORNERS[name])


def _few(d: Sketch) -> Sequence[Tile]:
    """Two to eight tiles in a recognizable arrangement."""
    rng, start = d.rng, d.tile()
    count, kind = rng.choice((2, 2, 2, 3, 3, 4)), rng.random()
    if kind < 0.3:
        rows = sorted(rng.sample(range(ROWS), count))
        return [Tile(row, start.column) for row in rows]
    if kind < 0.5:
        gap = rng.choice((1, 2, 2, 3, 4))
        return [Tile(start.row, start.column + k * gap) for k in range(count)]
    if kind < 0.65:
        down, over = rng.choice((-1, 1)), rng.choice((1, 2, 3))
        return [Tile(start.row + k * down, start.column + k * over) for k in range(count)]
    if kind < 0.75:
        return [start, Tile(start.row, COLUMNS - 1 - start.column)]
    columns = sorted(rng.sample(range(COLUMNS), rng.randint(4, 8)))
    return [Tile(rng.randrange(ROWS), column) for column in columns]


def tiles(d: Sketch) -> Stroke:
    places, color = _few(d), d.color()
    drawn = d.draw(op.tiles(*places), color)
    text, level = d.spelled(drawn.painting, plain=True)
    return Stroke("tiles", level, text, *drawn, "", color)


def colors(d: Sketch) -> Stroke:
    rng, column = d.rng, d.tile().column
    names = d.colors(rng.choice((2, 2, 2, 3)))
    rows = rng.sample(range(ROWS), rng.randint(len(names), len(names) + 2))
    shares = [sorted(rows[k :: len(names)]) for k in range(len(names))]
    parts = [op.paint(op.cells((column,), tuple(its)), name) for name, its in zip(names, shares, strict=True)]
    drawn = d.new(op.together(*parts))
    text, level = d.spelled(drawn.painting, plain=True)
    return Stroke("colors", level, text, *drawn)


def cells(d: Sketch) -> Stroke:
    """The same rows of one or several columns: among some blank grids, the one nearest to a desired size."""
    grids = []
    for _ in range(8):
        which = (d.tile().column,) if d.rng.random() < 0.1 else d.some_columns()
        rows = d.some_rows()
        if len(which) * len(rows) > 1 and d.free(Tile(row, column) for column in which for row in rows):
            grids.append((which, rows))
    impossible_if(not grids)
    size, color = d.rng.choice(_SIZES), d.color()
    program = op.paint(op.cells(*min(grids, key=lambda grid: abs(len(grid[0]) * len(grid[1]) - size))), color)
    painting = d.run(program)
    text, level = d.spelled(painting, plain=False)
    return Stroke("cells", level, text, program, painting, "", color)


def columns(d: Sketch) -> Stroke:
    which = (d.tile().column,) if d.rng.random() < 0.3 else d.some_columns()
    color = d.color()
    drawn = d.draw(op.cells(which), color)
    impossible_if(len(which) > 9)
    where, one = d.voice.columns(which), len(which) == 1
    if d.rng.random() < 0.6:
        text = d.voice.order(d.voice.say("column what", where=where) if one else where, color)
    else:
        text = d.voice.say("column" if one else "columns", where=where, color=color)
    return Stroke("columns", 1, text, *drawn, "column" if one else "columns", color)


def row(d: Sketch) -> Stroke:
    """The same tile of every column, or of a range of columns: a zig-zag."""
    rng, color = d.rng, d.color()
    which = rng.choice((0, ROWS - 1, rng.randrange(ROWS)))
    first, last = (0, COLUMNS - 1) if rng.random() < 0.4 else sorted(rng.sample(range(COLUMNS), 2))
    drawn = d.draw(op.cells(tuple(range(first, last + 1)), (which,)), color)
    impossible_if(last - first < 5)
    say, nth = d.voice.say, d.voice.nth(which)
    if last - first == COLUMNS - 1:
        text = d.voice.order(say("row what", nth=nth, n=d.voice.number(which + 1)), color)
    elif rng.random() < 0.4:
        start, end = d.voice.at(Tile(which, first)), d.voice.at(Tile(which, last))
        text = say("zigzag", start=start, end=end, row=say("zigzag row", nth=nth), color=color)
    else:
        names = {"first": d.voice.number(first + 1), "last": d.voice.number(last + 1)}
        whole = d.voice.columns(range(first, last + 1))
        text = d.voice.order(say("part row what", nth=nth, columns=whole, **names), color)
    return Stroke("row", 1, text, *drawn, "row", color)


def stack(d: Sketch) -> Stroke:
    """One or several columns, painted from the top in runs of colors."""
    rng = d.rng
    columns = (d.tile().column,) if rng.random() < 0.25 else d.some_columns()
    a, b = d.colors(2)
    names = [a, b, rng.choice((a, d.color(a, b)))][: rng.choice((2, 3, 3))]
    counts = [rng.randint(1, 4) for _ in names]
    whole = rng.random() < 0.4
    if whole:
        counts[-1] = ROWS - sum(counts[:-1])
    impossible_if(min(counts) < 1 or sum(counts) > ROWS or sum(counts) * len(columns) > 50)
    each = [op.paint(op.cells((column,), tuple(range(sum(counts)))), *names, counts=counts) for column in columns]
    drawn = d.new(op.together(*each))
    sections = ["stack first", *["stack next"] * (len(names) - 1)]
    if whole and counts[-1] > 1:
        sections[-1] = "stack rest"
    words = [d.voice.say(section, n=d.voice.some(n)) for section, n in zip(sections, counts, strict=True)]
    runs = listing(rng, [f"{what} {color}" for what, color in zip(words, names, strict=True)])
    text = d.voice.say("stack", where=d.voice.columns(columns), runs=runs)
    return Stroke("stack", 1, text, *drawn, "")


def sequence(d: Sketch) -> Stroke:
    """A list of colors, one tile each, down a column or across columns."""
    rng, names = d.rng, d.colors(d.rng.choice((2, 2, 3)))
    if rng.random() < 0.35:
        column = d.tile().column
        places = op.cells((column,))
        order = [rng.choice(names) for _ in range(ROWS)]
        section, noun, slots = "sequence down", "column", {"where": d.voice.column(column)}
    else:
        which, start = rng.choice((0, ROWS - 1, rng.randrange(ROWS))), rng.randrange(2)
        across = tuple(range(start, COLUMNS, 2)) if rng.random() < 0.6 else d.some_columns()
        places = op.cells(across, (which,))
        order = [rng.choice(names) for _ in across]
        section, noun, slots = "sequence across", "row", {"where": d.voice.columns(across), "nth": d.voice.nth(which)}
    drawn = d.draw(places, *order)
    impossible_if(len(order) < 3 or len(set(order)) < 2)
    text = d.voice.say(section, colors=listing(rng, order), **slots)
    return Stroke("sequence", 1, text, *drawn, noun)


def carry(d: Sketch) -> Stroke:
    """More tiles in the color of the last step, or in the color that it chose; the text does not name the color."""
    last = d.recent()
    colors_ = {color for figure in d.figures if last and figure.step == last.step for color in figure.colors}
    color = needed(d.chosen or (colors_.pop() if len(colors_) == 1 else None))
    section = "carry chosen" if d.chosen else "carry"
    few = d.rng.random() < 0.6
    places = op.tiles(*_few(d)) if few else op.cells((d.tile().column,), d.some_rows())
    drawn = d.draw(places, color)
    what, level = d.voice.spell(tuple(drawn.painting), few)
    return Stroke(section, level, d.voice.say(section, what=what), *drawn, "", color)


def border(d: Sketch) -> Stroke:
    color = d.color()
    sides = op.cells((0, COLUMNS - 1))
    drawn = d.new(op.together(op.paint(sides, color), op.paint(op.cells(tuple(range(1, COLUMNS - 1)), (0, ROWS - 1)), color)))
    return Stroke("border", 1, d.voice.order(d.voice.say("border"), color), *drawn, "border", color)


# --- figures ---

_DIAGONALS = ("up-right", "down-right", "down-left", "up-left")
_OPEN = {
    ("up-left", "up-right"): ("V", "V shape", '"V"', '"V" shape'),
    ("down-left", "down-right"): ("upside down V", "upside-down V"),
    ("up-left", "down-left"): ("arrowhead pointing right", "sideways V that points right"),
    ("up-right", "down-right"): ("arrowhead pointing left", "sideways V that points left"),
}
"""The names of V shapes, by the directions of their two arms."""


def _centers(d: Sketch, count: int) -> list[Tile]:
    """Centers for several flowers, in a row, in a column or anywhere."""
    rng, kind = d.rng, d.rng.random()
    if kind < 0.55:
        gap = rng.choice([gap for gap in (3, 4, 4, 5, 6) if gap * (count - 1) <= COLUMNS - 3])
        row, start = rng.randint(1, ROWS - 2), rng.randint(1, COLUMNS - 2 - gap * (count - 1))
        return [Tile(row, start + k * gap) for k in range(count)]
    if kind < 0.7 and count < 4:
        row, column = rng.randint(1, ROWS - 2 - 3 * (count - 1)), rng.randint(1, COLUMNS - 2)
        return [Tile(row + 3 * k, column) for k in range(count)]
    return [Tile(rng.randint(1, ROWS - 2), rng.randint(1, COLUMNS - 2)) for _ in range(count)]


def ring(d: Sketch) -> Stroke:
    center, color = d.open_center(), d.color()
    drawn = d.draw(op.ring(center), color)
    impossible_if(center in d.board)
    if d.rng.random() < 0.4:
        text = d.voice.order(d.voice.say("ring what", center=d.voice.at(center)), color)
    else:
        text = d.voice.say("ring", center=d.voice.at(center), start=d.voice.at(step(center, "up")), color=color)
    return Stroke("ring", 2, text, *drawn, "ring", color, center)


def flower(d: Sketch) -> Stroke:
    center, (a, b) = d.open_center(), d.colors(2)
    drawn = d.new(op.together(op.paint(op.tile(center), b), op.paint(op.ring(center), a)))
    return Stroke("flower", 2, d.voice.say("flower", center=d.voice.at(center), a=a, b=b), *drawn, "flower", a, center)


def several(d: Sketch) -> Stroke:
    """Two to five rings or flowers that do not overlap."""
    count, (a, b), open_ = d.rng.choice((2, 3, 3, 4, 4, 5)), d.colors(2), d.rng.random() < 0.55
    centers = _centers(d, count)
    impossible_if(any(distance(p, q) < 3 for k, p in enumerate(centers) for q in centers[:k]))
    parts = [op.paint(op.ring(center), a) for center in centers]
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
    parts = op.paint(op.tile(center), b), op.paint(op.ring(center), a), op.paint(op.ray(stem, "down"), c)
    drawn = d.new(op.together(*parts))
    text = d.voice.say("tulip", center=d.voice.at(center), a=a, b=b, c=c)
    return Stroke("tulip", 2, text, *drawn, "flower with a stem", None)


def caterpillar(d: Sketch) -> Stroke:
    rng, column, (a, b), count = d.rng, d.tile().column, d.colors(2), d.rng.randint(2, 5)
    side, head = rng.choice((("below", 0), ("below", 0), ("above", ROWS - 1), ("below", rng.randint(1, 4))))
    body = range(head + 1, head + 1 + count) if side == "below" else range(head - count, head)
    drawn = d.new(op.together(op.paint(op.tile(Tile(head, column)), a), op.paint(op.cells((column,), tuple(body)), b)))
    slots = {"where": d.voice.column(column), "head": d.voice.nth(head), "n": d.voice.count(count), "side": side}
    return Stroke("caterpillar", 2, d.voice.say("caterpillar", a=a, b=b, **slots), *drawn, "caterpillar")


def bow_tie(d: Sketch) -> Stroke:
    center, color = d.open_center(), d.color()
    drawn = d.draw(op.rays(center, _DIAGONALS, 1), color)
    text = d.voice.say("bow tie", center=d.voice.at(center), color=color)
    return Stroke("bow tie", 2, text, *drawn, "bow tie", color, center)


def big_ring(d: Sketch) -> Stroke:
    center, color = d.tile(), d.color()
    drawn = d.draw(op.ring(center, 2), color)
    impossible_if(not d.free((center, *neighbors(center))))
    text = d.voice.say("big ring", center=d.voice.at(center), color=color)
    return Stroke("big ring", 2, text, *drawn, "big ring", color)


def disc(d: Sketch) -> Stroke:
    center, color = d.open_center(), d.color()
    drawn = d.draw(op.call("flower", op.tile(center)), color)
    text = d.voice.say("disc", center=d.voice.at(center), color=color)
    return Stroke("disc", 2, text, *drawn, "filled flower", color, center)


def start_of_line(d: Sketch) -> tuple[Tile, str, int]:
    """The start of a line, its direction (mostly a diagonal), and the number of tiles up to the edge, including the start."""
    start, ways = d.tile(), _DIAGONALS if d.rng.random() < 0.85 else ("up", "down")
    way = d.rng.choice(ways)
    return start, way, len(ray(start, way, None))


def slant(way: str) -> str:
    return "vertical" if way in ("up", "down") else "diagonal"


def line(d: Sketch) -> Stroke:
    """A straight line, described by its length, by the edge to which it runs, or by its ends."""
    rng, color = d.rng, d.color()
    start, way, room = start_of_line(d)
    impossible_if(room < 3)
    kind, count = rng.choice(("line", "line", "edge line", "connect", "between")), rng.randint(min(room, 4), min(room, 14))
    if kind == "edge line":
        tiles, count = op.ray(start, way), room
    elif kind == "line":
        tiles = op.ray(start, way, count)
    else:
        tiles = op.call("line", op.tile(start), op.tile(step(start, way, count - 1)))
    if kind == "between":
        tiles = op.minus(tiles, op.tiles(start, step(start, way, count - 1)))
    drawn = d.draw(tiles, color)
    impossible_if(len(drawn.painting) < 2)
    end = d.voice.at(step(start, way, count - 1))
    slots = {"way": d.voice.way(way), "slant": slant(way), "n": d.voice.number(count), "end": end}
    text = d.voice.say(kind, start=d.voice.at(start), color=color, **slots)
    known = None if kind == "between" else (start, way, count)
    return Stroke(kind, 2, text, *drawn, "line", color, None, known)


def line_runs(d: Sketch) -> Stroke:
    start, way, room = start_of_line(d)
    names = d.colors(d.rng.choice((2, 2, 3)))
    names = [*names, names[0]] if d.rng.random() < 0.5 else names
    counts = [d.rng.randint(1, 4) for _ in names]
    impossible_if(sum(counts) > room)
    drawn = d.draw(op.ray(start, way, sum(counts)), *names, counts=counts)
    runs = listing(d.rng, [f"{d.voice.number(n)} {color}" for n, color in zip(counts, names, strict=True)])
    text = d.voice.say("line runs", start=d.voice.at(start), way=d.voice.way(way), slant=slant(way), runs=runs)
    return Stroke("line runs", 2, text, *drawn, "line", None, None, (start, way, sum(counts)))


def open_shape(d: Sketch) -> Stroke:
    point, count, color = d.inner(), d.rng.randint(2, 6), d.color()
    ways = d.rng.choice(tuple(_OPEN))
    drawn = d.draw(op.rays(point, ways, count), color)
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
    drawn = d.draw(op.rays(center, _DIAGONALS if section == "cross" else tuple(DIRECTIONS), count), color)
    impossible_if(section == "star" and count == 1)
    slots = {"long": d.voice.some(count).split()[-1], "x": d.rng.choice(("X", "X", '"X"', "X shape"))}
    text = d.voice.say(section, center=d.voice.at(center), n=d.voice.number(count), color=color, **slots)
    return Stroke(section, 2, text, *drawn, "X" if section == "cross" else section, color, center)


def triangle(d: Sketch) -> Stroke:
    """A filled triangle whose base lies in a column, or a filled diamond around a column."""
    rng, top, size, color = d.rng, d.tile(), d.rng.choice((2, 3, 4, 5, 5, 6, 6)), d.color()
    section, side = rng.choice(("triangle", "triangle", "diamond")), rng.choice(("left", "right"))
    sides = [side] if section == "triangle" else ["left", "right"]
    program = op.paint(ast.plus([op.triangle(top, size, its) for its in sides]), color)
    impossible_if(top.row + size > ROWS or not 0 <= top.column + (size - 1) * (1 if side == "right" else -1) < COLUMNS)
    painting = d.new(program).painting
    first = 0 if section == "diamond" else top.column
    painting = dict(sorted(painting.items(), key=lambda pair: (abs(pair[0].column - first), pair[0].row)))
    base = d.voice.spell(tuple(Tile(row, top.column) for row in range(top.row, top.row + size)), plain=False)[0]
    text = d.voice.say(section, base=base, side=side, color=color)
    return Stroke(section, 2, text, program, painting, section, color)
