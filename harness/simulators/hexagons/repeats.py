"""Repetitions: in other columns, further on, around another center, mirrored or turned; alternation, stairs, and growing rings
(level 3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from harness.corpora.wording import listing
from harness.simulators import impossible_if, needed
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.program import Painting
from harness.simulators.hexagons.shapes import slant, start_of_line
from harness.simulators.hexagons.sketch import Sketch, Stroke, inside, moved
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, distance
from serialization.program import ast
from serialization.program.hexagons_geometry import grown

_SHIFTS = ((0, 2), (0, 4), (0, 4), (0, 6), (0, 8), (0, -4), (0, -6), (2, 0), (3, 0), (4, 0), (-3, 0), (-4, 0))
"""Shifts by rows downward and columns to the right. An even number of columns keeps every shape."""

_BY_COLUMN = (
    *("tile", "tiles", "cells", "columns", "colors", "stack", "sequence", "carry", "picture", "caterpillar"),
    *("alternate column", "next column", "previous column", "do the same", "do the same color"),
)
"""Kinds of orders whose meaning in another column does not depend on the rest of the board."""


def to_repeat(d: Sketch) -> tuple[Stroke, str]:
    """A figure to repeat, most often the last one, and words that identify it."""
    impossible_if(not d.figures)
    figure = d.figures[-1] if d.rng.random() < 0.75 else d.rng.choice(d.figures[-4:])
    impossible_if(not 1 < len(figure.painting) <= 40)
    return figure, needed(d.refer(figure))


def _swaps(d: Sketch, old: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """New colors for the old ones, with one replaced or two swapped, and the change in words."""
    if len(old) == 2 and d.rng.random() < 0.4:
        return (old[1], old[0]), d.voice.say("swap both", x=old[0], y=old[1])
    changed, fresh = d.rng.randrange(len(old)), d.color(*old)
    new = tuple(fresh if k == changed else color for k, color in enumerate(old))
    return new, d.voice.say("swap", x=old[changed], y=fresh)


def _shift_words(d: Sketch, rows: int, columns: int) -> dict[str, str]:
    n = abs(rows + columns)
    unit = ("column" if n == 1 else "columns") if columns else (d.voice.tile if n == 1 else d.voice.tiles)
    toward = ("to the right" if columns > 0 else "to the left") if columns else ("downward" if rows > 0 else "upward")
    return {"far": f"{d.voice.number(n)} {unit}", "toward": toward}


def _room(d: Sketch, figure: Stroke) -> tuple[int, int, int, bool]:
    """A shift (rows, columns), the number of copies of a figure that fit, and whether the edge of the board ends them.

    The shift is the one of four random shifts that leaves room for most copies.
    """
    best = (*_SHIFTS[0], 0, False)
    for rows, columns in d.rng.sample(_SHIFTS, 4):
        room, copy = 0, figure.tiles
        while d.free(copy := tuple(moved(tile, rows, columns) for tile in copy)) and not set(copy) & set(figure.tiles):
            room += 1
        if room > best[2]:
            best = rows, columns, room, not inside(copy)
    return best


def same_columns(d: Sketch) -> Stroke:
    """The last figure of one column, repeated in others, in its own colors or in a new one."""
    last, rng = d.recent_column(), d.rng
    impossible_if(last.kind not in _BY_COLUMN or (last.step < d.step and not d.alone(last)))
    source, every = last.columns[0], rng.choice((2, 2, 3, 4))
    until = rng.random() < 0.3
    columns = tuple(range(source + every, COLUMNS, every)) if until else d.some_columns()
    columns = tuple(column for column in columns if column != source)
    columns = columns if until or rng.random() < 0.7 else columns[:1]
    impossible_if(not columns)
    of, color = d.drawn_by(last), None
    program = op.copy(ast.plus([op.moved(of, 0, column - source) for column in columns]))
    if last.color and len(last.colors) == 1 and not until and rng.random() < 0.3:
        color = d.color(last.color)
        program = op.recolored(program, (last.color,), (color,))
    drawn = d.new(program)
    section = "do the same until" if until else "do the same color" if color else "do the same"
    this = rng.choice(("this", "that")) if last.step == d.step else rng.choice(("this", "the last step", "the previous step"))
    words = {2: "other", 3: "third", 4: "fourth"}[every]
    text = d.voice.say(section, where=d.voice.columns(columns), every=words, color=color or "", a=last.color or "", this=this)
    noun = "columns" if last.noun == "column" and len(columns) > 1 else last.noun if len(columns) == 1 else ""
    return Stroke(section, 3, text, *drawn, noun)


def repeat(d: Sketch) -> Stroke:
    """Several copies of a figure, each moved from the one before."""
    (figure, again), rng = to_repeat(d), d.rng
    rows, columns, room, whole = _room(d, figure)
    impossible_if(not room)
    times = room if rng.random() < 0.7 else rng.randint(1, room)
    slots = _shift_words(d, rows, columns) | {"n": d.voice.number(times), "times": d.voice.times(times), "again": again}
    source: ast.Expr = d.drawn_by(figure)
    single = figure.color if len(figure.colors) == 1 else None
    if single and rng.random() < 0.35:
        other = d.color(single)
        program = op.alternately(source, times, rows, columns, (other, single))
        kind = "repeat alternating" if times > 1 else "repeat alternating once"
        slots |= {"a": single, "b": other}
    elif times == room and times > 1 and whole and rng.random() < 0.5:
        program, kind = op.copy(op.copies(source, times, rows, columns)), "repeat until"
    else:
        program, kind = op.copy(op.copies(source, times, rows, columns)), "repeat" if times > 1 else "copy"
    drawn = d.new(program)
    noun = f"{figure.noun}s" if times > 1 and figure.noun and not figure.noun.endswith("s") else figure.noun if times == 1 else ""
    center = moved(figure.center, rows, columns) if figure.center and times == 1 else None
    return Stroke(kind, 3, d.voice.say(kind, **slots), *drawn, noun, None, center)


def copy(d: Sketch) -> Stroke:
    figure, again = to_repeat(d)
    rows, columns, *_ = _room(d, figure)
    old = figure.colors
    new, swaps = _swaps(d, old)
    drawn = d.new(op.recolored(op.copy(op.moved(d.drawn_by(figure), rows, columns)), old, new))
    section = "copy colored" if len(old) == 1 else "copy recolored"
    slots = _shift_words(d, rows, columns) | {"again": again, "swaps": swaps, "color": new[0], "a": old[0]}
    text = d.voice.say(section, shape=figure.noun or "shape", **slots)
    center = moved(figure.center, rows, columns) if figure.center else None
    return Stroke(section, 3, text, *drawn, figure.noun, new[0] if len(new) == 1 else None, center)


def again_at(d: Sketch) -> Stroke:
    """Copies of an existing ring, flower, X or star around another center or several others."""
    figures, rng = [figure for figure in d.figures if figure.noun in ("ring", "flower", "X", "star")], d.rng
    impossible_if(not figures)
    figure = rng.choice(figures)
    it, old_center = needed(d.refer(figure)), needed(figure.center)
    count = rng.choice((1, 1, 2, 3))
    centers = [d.open_center() for _ in range(count)]
    centers = [Tile(c.row, c.column + (c.column - old_center.column) % 2) for c in centers]
    source = d.drawn_by(figure)
    moves = [op.moved(source, c.row - old_center.row, c.column - old_center.column) for c in centers]
    slots = {"noun": figure.noun, "nouns": f"{figure.noun}s", "it": it, "n": d.voice.number(count)}
    slots["centers"] = listing(rng, [d.voice.at(center) for center in centers])
    section, program = ("again at" if count == 1 else "again at several"), op.copy(ast.plus(moves))
    if count == 1 and rng.random() < 0.4:
        new, slots["swaps"] = _swaps(d, figure.colors)
        section, program = "again at colored", op.recolored(program, figure.colors, new)
    drawn = d.new(program)
    impossible_if(len(drawn.painting) < count * len(figure.painting) or not d.free(centers))
    text = d.voice.say(section, center=slots["centers"], **slots)
    if count > 1:
        return Stroke(section, 3, text, *drawn, f"{figure.noun}s")
    return Stroke(section, 3, text, *drawn, figure.noun, None, centers[0])


def steps_again(d: Sketch) -> Stroke:
    rng, (rows, columns) = d.rng, d.rng.choice(_SHIFTS)
    steps = [figure for figure in d.figures if figure.step < d.step and figure.level < 3 and d.alone(figure)]
    pairs = [(a, b) for a, b in pairwise(steps) if b.step == a.step + 1]
    impossible_if(not pairs)
    a, b = pairs[-1] if rng.random() < 0.7 else rng.choice(pairs)
    program = op.copy(op.moved(ast.plus([d.drawn_by(a), d.drawn_by(b)]), rows, columns))
    section, swaps = "steps again", ""
    if rng.random() < 0.4:
        old = tuple(dict.fromkeys((*a.colors, *b.colors)))
        new, swaps = _swaps(d, old)
        section, program = "steps again colored", op.recolored(program, old, new)
    drawn = d.new(program)
    impossible_if(len(drawn.painting) > 60)
    text = d.voice.say(section, i=str(a.step), k=str(b.step), swaps=swaps, **_shift_words(d, rows, columns))
    return Stroke(section, 3, text, *drawn)


def parallels(d: Sketch) -> Stroke:
    """More lines parallel to an existing one, above or below it, with or without white lines in between."""
    lines = [figure for figure in d.figures if figure.line and figure.line[1] not in ("up", "down") and len(figure.colors) == 1]
    impossible_if(not lines)
    figure = lines[-1]
    it, color = needed(d.refer(figure)), needed(figure.color)
    side, gap = d.rng.choice(("above", "below")), d.rng.choice((1, 2))
    down = gap if side == "below" else -gap
    times = 0
    while times < 4 and d.free(moved(tile, (times + 1) * down, 0) for tile in figure.tiles):
        times += 1
    impossible_if(times < 2)
    times = d.rng.randint(2, times)
    slots = {"n": d.voice.number(times), "times": d.voice.times(times), "it": it, "side": side, "a": color}
    if gap == 2:
        section, program = "parallel lines", op.copy(op.copies(d.drawn_by(figure), times, down, 0))
    else:
        slots["b"] = d.color(color)
        section = "parallel lines alternating"
        program = op.alternately(d.drawn_by(figure), times, down, 0, (slots["b"], color))
    text = d.voice.say(section, color=color, **slots)
    return Stroke(section, 3, text, program, d.run(program), "lines")


def mirror(d: Sketch) -> Stroke:
    """The mirror image of a figure, or of the whole drawing, over a column at its left or right or in the board's middle."""
    impossible_if(not d.figures)
    if d.rng.random() < 0.45:
        return _mirror(d, op.PAINTED, None, "")
    figure, it = to_repeat(d)
    return _mirror(d, d.drawn_by(figure), figure, it)


def _mirror(d: Sketch, source: ast.Expr, figure: Stroke | None, it: str) -> Stroke:
    columns = {tile.column for tile in d.tiles_in(source)}
    low, high = min(columns), max(columns)
    near = (high, high + 1, high + 2, low, low - 1, low - 2, COLUMNS // 2 - 1, COLUMNS // 2)
    axis = d.rng.choice([axis for axis in near if 0 <= axis < COLUMNS and not low < axis < high])
    program = op.copy(op.call("reflect", source, ast.Numbers(op.spans((axis,)))))
    section, color, old = "mirror" if figure else "mirror everything", "", ""
    if figure and len(figure.colors) == 1 and d.rng.random() < 0.25:
        section, old = "mirror colored", figure.colors[0]
        color = d.color(old)
        program = op.recolored(program, (old,), (color,))
    new = _added(d, program)
    impossible_if(len(new) > 90)
    slots = {"where": d.voice.column(axis), "side": "left" if axis <= low else "right", "it": it, "color": color, "a": old}
    return Stroke(section, 3, d.voice.say(section, **slots), program, new, figure.noun if figure else "")


def _added(d: Sketch, program: ast.Program) -> Painting:
    """The tiles that a program adds. Raises Impossible if it leaves the board, paints over other tiles, or adds nothing."""
    painting: Painting = d.run(program)
    new = {tile: color for tile, color in painting.items() if d.board.get(tile) != color}
    impossible_if(not (new and inside(painting) and d.free(new)))
    return new


def flip(d: Sketch) -> Stroke:
    """Completes a V to an X with its mirror image over a horizontal line."""
    figure = needed(next((f for f in reversed(d.figures) if f.noun == "V" and f.center), None))
    it, center = needed(d.refer(figure)), needed(figure.center)
    program = op.copy(op.call("flip", d.drawn_by(figure), op.tile(center)))
    new = _added(d, program)
    below = all(tile.row >= center.row for tile in new)
    slots = {"point": d.voice.at(center), "result": "you get an X", "side": "below" if below else "above"}
    return Stroke("flip", 3, d.voice.say("flip", it=it, **slots), program, new)


def turn(d: Sketch) -> Stroke:
    program = op.copy(op.call("reflect", op.PAINTED, op.ALL))
    new = _added(d, program)
    impossible_if(not 1 < len(new) <= 60)
    return Stroke("turn", 3, d.voice.say("turn"), program, new)


# --- patterns ---


def column(d: Sketch) -> Stroke:
    which, (a, b) = d.tile().column, d.colors(2)
    drawn = d.draw(op.cells((which,)), a, b)
    text = d.voice.say("alternate column", where=d.voice.column(which), a=a, b=b)
    return Stroke("alternate column", 3, text, *drawn, "column")


def columns(d: Sketch) -> Stroke:
    which, names = d.some_columns(), d.colors(d.rng.choice((2, 2, 2, 3)))
    impossible_if(len(which) <= len(names) or len(which) > 9)
    drawn = d.draw(op.cells(which), *names, by="column")
    section = "alternate columns" if len(names) == 2 else "alternate columns three"
    a, b, c = (*names, "")[:3]
    text = d.voice.say(section, where=d.voice.columns(which), a=a, b=b, c=c)
    return Stroke(section, 3, text, *drawn, "columns")


def nth(d: Sketch) -> Stroke:
    rng, (a, b) = d.rng, d.colors(2)
    which = rng.choice((0, ROWS - 1, rng.randrange(ROWS)))
    across = tuple(range(COLUMNS)) if rng.random() < 0.25 else tuple(range(rng.randrange(2), COLUMNS, 2))
    across = across if rng.random() < 0.6 else d.some_columns()
    drawn = d.draw(op.cells(across, (which,)), a, b)
    impossible_if(len(across) < 3)
    text = d.voice.say("alternate nth", nth=d.voice.nth(which), where=d.voice.columns(across), a=a, b=b)
    return Stroke("alternate nth", 3, text, *drawn, "row")


def line(d: Sketch) -> Stroke:
    start, way, room = start_of_line(d)
    impossible_if(room < 4)
    a, b = d.colors(2)
    edge = d.rng.random() < 0.4
    count = room if edge else d.rng.randint(4, room)
    drawn = d.draw(op.ray(start, way, None if edge else count), a, b)
    slots = {"start": d.voice.at(start), "way": d.voice.way(way), "n": d.voice.number(count), "slant": slant(way)}
    section = "alternate edge line" if edge else "alternate line"
    return Stroke(section, 3, d.voice.say(section, a=a, b=b, **slots), *drawn, "line", None, None, (start, way, count))


def stairs(d: Sketch) -> Stroke:
    """Columns that get shorter or longer one tile at a time."""
    rng, color, side = d.rng, d.color(), d.rng.choice(("top", "bottom"))
    gap, sign, shrink = rng.choice((1, 1, 2, 2)), rng.choice((1, 1, -1)), rng.random() < 0.6
    first = rng.randint(3, 8) if shrink else rng.choice((1, 1, 2, 3))
    count = first if shrink else rng.randint(3, ROWS - first)
    start = rng.choice((0, 0, rng.randrange(COLUMNS))) if sign > 0 else rng.choice((COLUMNS - 1, rng.randrange(COLUMNS)))
    which = tuple(start + sign * gap * k for k in range(count))
    impossible_if(not 0 <= which[-1] < COLUMNS)
    heights = range(first, 0, -1) if shrink else range(first, first + count)
    rows = [tuple(range(n) if side == "top" else range(ROWS - n, ROWS)) for n in heights]
    drawn = d.draw(ast.plus([op.cells((column,), its) for column, its in zip(which, rows, strict=True)]), color)
    slots = {"where": d.voice.column(start), "side": side, "k": d.voice.number(count)}
    slots["toward"] = "to the right" if sign > 0 else "to the left"
    slots["n"] = d.voice.number(first) if shrink else d.voice.count(first) if first > 1 else d.voice.tile
    slots["gap"] = "one column at a time" if gap == 1 else "two columns at a time"
    slots["each"] = "in each next column" if gap == 1 else "in every second column"
    text = d.voice.say("stairs" if shrink else "stairs up", color=color, **slots)
    return Stroke("stairs", 3, text, *drawn, "", color)


def grow(d: Sketch) -> Stroke:
    centered = [f for f in d.figures if f.noun in ("flower", "filled flower", "tile") and f.center]
    impossible_if(not centered)
    figure = centered[-1]
    it, count = needed(d.refer(figure)), d.rng.choice((2, 2, 3, 4))
    a, b = d.colors(2)
    turns = d.rng.random() < 0.6
    names = [(a, b)[k % 2] for k in range(count)] if turns else d.colors(count)
    program = op.rings(d.drawn_by(figure), names)
    painting = _outward(d.new(program, clipped=True).painting, figure.tiles)
    impossible_if(len(painting) > 90)
    if turns:
        text = d.voice.say("grow alternating", it=it, n=d.voice.number(count), a=a, b=b)
    else:
        text = d.voice.say("grow", it=it, n=d.voice.number(count), colors=_in_order(d, names))
    return Stroke("grow", 3, text, program, painting, "rings")


def from_center(d: Sketch) -> Stroke:
    center, names = d.tile(), d.colors(d.rng.choice((2, 3, 3)))
    names = [*names, names[-2]] if d.rng.random() < 0.3 else names
    program = op.together(op.paint(op.tile(center), names[0]), op.rings(op.tile(center), names[1:]))
    painting = _outward(d.new(program, clipped=True).painting, (center,))
    impossible_if(any(distance(center, tile) > len(names) for tile in painting))
    slots = {"center": d.voice.at(center), "a": names[0], "colors": _in_order(d, names[1:])}
    return Stroke("rings from center", 3, d.voice.say("rings from center", **slots), program, painting, "rings")


def _outward(painting: Painting, inner: Sequence[Tile]) -> Painting:
    """A painting around some inner tiles, sorted by distance from them."""
    near = (tile for layer in (inner, *grown(inner, ROWS + COLUMNS)) for tile in layer)
    return {tile: painting[tile] for tile in near if tile in painting}


def _in_order(d: Sketch, names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"first {names[0]}, then {listing(d.rng, names[1:])}" if d.rng.random() < 0.6 else listing(d.rng, names)


def parallel_stripes(d: Sketch) -> Stroke:
    """Diagonals from every other tile of the first or last column to the edge."""
    rng, color = d.rng, d.color()
    column, ways = rng.choice(((0, ("up-right", "down-right")), (COLUMNS - 1, ("up-left", "down-left"))))
    way, gap = rng.choice(ways), rng.choice((2, 3))
    rows = tuple(range(rng.randrange(gap), ROWS, gap))
    drawn = d.draw(ast.plus([op.ray(Tile(row, column), way) for row in rows]), color)
    slots = {"what": d.voice.each(rows), "where": d.voice.column(column), "way": d.voice.way(way)}
    return Stroke("stripes", 3, d.voice.say("stripes", color=color, **slots), *drawn, "lines", color)
