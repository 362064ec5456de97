"""Alternation, stairs, and rings that grow (level 3)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.corpora.wording import listing
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.program import Painting
from harness.simulators.hexagons.shapes import slant, start_of_line
from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.simulators.hexagons.wording import some_columns
from harness.simulators.possible import impossible_if, needed
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, distance
from serialization.program import ast
from serialization.program.hexagons_geometry import grown


def column(d: Sketch) -> Stroke:
    """One column in two colors by turns."""
    which, (a, b) = d.tile().column, d.colors(2)
    drawn = d.new(op.paint(op.cells((which,), tuple(range(ROWS))), a, b))
    text = d.voice.say("alternate column", where=d.voice.column(which), a=a, b=b)
    return Stroke("alternate column", 3, text, *drawn, "column")


def columns(d: Sketch) -> Stroke:
    """Whole columns in two or three colors by turns."""
    which, names = some_columns(d), d.colors(d.rng.choice((2, 2, 2, 3)))
    impossible_if(len(which) <= len(names) or len(which) > 9)
    drawn = d.new(op.paint(op.cells(which, tuple(range(ROWS))), *names, by="column"))
    section = "alternate columns" if len(names) == 2 else "alternate columns three"
    a, b, c = (*names, "")[:3]
    text = d.voice.say(section, where=d.voice.columns(which), a=a, b=b, c=c)
    return Stroke(section, 3, text, *drawn, "columns")


def nth(d: Sketch) -> Stroke:
    """The same tile of some columns, in two colors by turns."""
    rng, (a, b) = d.rng, d.colors(2)
    which = rng.choice((0, ROWS - 1, rng.randrange(ROWS)))
    across = tuple(range(COLUMNS)) if rng.random() < 0.25 else tuple(range(rng.randrange(2), COLUMNS, 2))
    across = across if rng.random() < 0.6 else some_columns(d)
    drawn = d.new(op.paint(op.cells(across, (which,)), a, b))
    impossible_if(len(across) < 3)
    text = d.voice.say("alternate nth", nth=d.voice.nth(which), where=d.voice.columns(across), a=a, b=b)
    return Stroke("alternate nth", 3, text, *drawn, "row")


def line(d: Sketch) -> Stroke:
    """A straight line in two colors by turns."""
    start, way, room = start_of_line(d)
    impossible_if(room < 4)
    a, b = d.colors(2)
    edge = d.rng.random() < 0.4
    count = room if edge else d.rng.randint(4, room)
    drawn = d.new(op.paint(op.ray(start, way, None if edge else count), a, b))
    slots = {"start": d.voice.at(start), "way": d.voice.way(way), "n": d.voice.number(count), "slant": slant(way)}
    section = "alternate edge line" if edge else "alternate line"
    return Stroke(section, 3, d.voice.say(section, a=a, b=b, **slots), *drawn, "line", None, None, (start, way, count))


def stairs(d: Sketch) -> Stroke:
    """Columns that get shorter or longer by one tile."""
    rng, color, side = d.rng, d.color(), d.rng.choice(("top", "bottom"))
    gap, sign, shrink = rng.choice((1, 1, 2, 2)), rng.choice((1, 1, -1)), rng.random() < 0.6
    first = rng.randint(3, 8) if shrink else rng.choice((1, 1, 2, 3))
    count = first if shrink else rng.randint(3, ROWS - first)
    start = rng.choice((0, 0, rng.randrange(COLUMNS))) if sign > 0 else rng.choice((COLUMNS - 1, rng.randrange(COLUMNS)))
    which = tuple(start + sign * gap * k for k in range(count))
    impossible_if(not 0 <= which[-1] < COLUMNS)
    drawn = d.new(op.paint(op.stairs(which, first, -1 if shrink else 1, side), color))
    slots = {"where": d.voice.column(start), "side": side, "k": d.voice.number(count)}
    slots["toward"] = "to the right" if sign > 0 else "to the left"
    slots["n"] = d.voice.number(first) if shrink else d.voice.count(first) if first > 1 else d.voice.tile
    slots["gap"] = "one column at a time" if gap == 1 else "two columns at a time"
    slots["each"] = "in each next column" if gap == 1 else "in every second column"
    text = d.voice.say("stairs" if shrink else "stairs up", color=color, **slots)
    return Stroke("stairs", 3, text, *drawn, "", color)


def grow(d: Sketch) -> Stroke:
    """Rings around a figure, one around the other, clipped at the edges of the board."""
    centered = [f for f in d.figures if f.noun in ("flower", "filled flower", "tile") and f.center]
    impossible_if(not centered)
    figure = centered[-1]
    it = needed(d.refer(figure))
    rng, count = d.rng, d.rng.choice((2, 2, 3, 4))
    a, b = d.colors(2)
    turns = rng.random() < 0.6
    names = tuple((a, b)[k % 2] for k in range(count)) if turns else tuple(d.colors(count))
    program = op.rings(d.drawn_by(figure), names)
    painting = _outward(d.new(program, clipped=True).painting, figure.tiles)
    impossible_if(len(painting) > 90)
    if turns:
        text = d.voice.say("grow alternating", it=it, n=d.voice.number(count), a=a, b=b)
    else:
        text = d.voice.say("grow", it=it, n=d.voice.number(count), colors=_in_order(d, names))
    return Stroke("grow", 3, text, program, painting, "rings")


def from_center(d: Sketch) -> Stroke:
    """A tile and whole rings around it."""
    center, names = d.tile(), d.colors(d.rng.choice((2, 3, 3)))
    names = [*names, names[-2]] if d.rng.random() < 0.3 else names
    program = op.together(op.paint(op.tile(center), names[0]), op.rings(op.tile(center), tuple(names[1:])))
    painting = _outward(d.new(program, clipped=True).painting, (center,))
    impossible_if(any(distance(center, tile) > len(names) for tile in painting))
    slots = {"center": d.voice.at(center), "a": names[0], "colors": _in_order(d, names[1:])}
    return Stroke("rings from center", 3, d.voice.say("rings from center", **slots), program, painting, "rings")


def _outward(painting: Painting, inner: Sequence[Tile]) -> Painting:
    """A painting around some tiles, the nearest tiles first."""
    near = (tile for layer in (inner, *grown(inner, ROWS + COLUMNS)) for tile in layer)
    return {tile: painting[tile] for tile in near if tile in painting}


def _in_order(d: Sketch, names: list[str] | tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return f"first {names[0]}, then {listing(d.rng, names[1:])}" if d.rng.random() < 0.6 else listing(d.rng, names)


def parallel_stripes(d: Sketch) -> Stroke:
    """Diagonals from every other tile of the first or last column to the edge."""
    rng, color = d.rng, d.color()
    column, ways = rng.choice(((0, ("up-right", "down-right")), (COLUMNS - 1, ("up-left", "down-left"))))
    way, gap = rng.choice(ways), rng.choice((2, 3))
    rows = tuple(range(rng.randrange(gap), ROWS, gap))
    drawn = d.new(op.paint(ast.plus([op.ray(Tile(row, column), way) for row in rows]), color))
    what = d.voice.each([*rows])
    slots = {"what": what, "where": d.voice.column(column), "way": d.voice.way(way)}
    return Stroke("stripes", 3, d.voice.say("stripes", color=color, **slots), *drawn, "lines", color)
