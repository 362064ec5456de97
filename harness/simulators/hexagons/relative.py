"""Places relative to what was drawn before (level 2)."""

from __future__ import annotations

from contextlib import suppress

from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.sketch import Sketch, Stroke, apart, moved
from harness.simulators.hexagons.wording import some_rows
from harness.simulators.possible import Impossible, impossible_if, needed
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile, distance, on_board, step
from serialization.program import ast

_BOTTOMED = ("ring", "flower", "filled flower")
"""Figures with one lowest tile, right below their center."""


def _search(d: Sketch, *nouns: str) -> tuple[Stroke, str] | None:
    """A figure of one of these nouns, the latest one most often, and words that pick it out."""
    figures = [figure for figure in d.figures if figure.noun in nouns]
    if not figures:
        return None
    figure = figures[-1] if d.rng.random() < 0.6 else d.rng.choice(figures)
    it = d.refer(figure)
    return (figure, it) if it else None


def _find(d: Sketch, *nouns: str) -> tuple[Stroke, str]:
    return needed(_search(d, *nouns))


def middle(d: Sketch) -> Stroke:
    figure, it = _find(d, "ring")
    center = needed(figure.center)
    impossible_if(center in d.board)
    color = d.color(figure.color)
    program = op.paint(op.tile(center), color)
    text = d.voice.say("middle", it=it, color=color)
    return Stroke("middle", 2, text, program, {center: color}, "tile", color, center)


def surround(d: Sketch) -> Stroke:
    """All white tiles that touch a figure which has no inside."""
    figure, it = _find(d, "flower", "filled flower", "line", "V", "arrowhead", "X", "triangle", "diamond", "tile", "star")
    color = d.color(*figure.colors)
    drawn = d.new(op.paint(op.among(op.call("near", d.drawn_by(figure)), op.BLANK), color))
    impossible_if(not 3 <= len(drawn.painting) <= 24)
    return Stroke("surround", 2, d.voice.say("surround", it=it, color=color), *drawn, "border", color)


def beside(d: Sketch) -> Stroke:
    """One tile in some direction from a single tile, or several above or below it."""
    chosen, way = _search(d, "tile"), d.rng.choice(tuple(DIRECTIONS))
    figure, it = needed(chosen)
    center, color = needed(figure.center), d.color()
    count = d.rng.choice((1, 2, 3, 4)) if way in ("up", "down") else d.rng.choice((1, 1, 1, 2, 3))
    drawn = d.new(op.paint(op.ray(step(center, way), way, count), color))
    if count == 1:
        what = d.voice.say("beside one", side=d.voice.side(way), it=it)
    else:
        upright = way in ("up", "down") and d.rng.random() < 0.6
        side = {"up": "above", "down": "below"}.get(way, "")
        n = d.voice.number(count)
        what = (
            d.voice.say("beside some", n=n, side=side, it=it)
            if upright
            else d.voice.say("beyond", n=n, way=d.voice.way(way), it=it)
        )
    noun = "tile" if count == 1 else "line"
    line = None if count == 1 else (step(center, way), way, count)
    return Stroke("beside", 2, d.voice.order(what, color), *drawn, noun, color, next(iter(drawn.painting)), line)


def stem(d: Sketch) -> Stroke:
    figure, it = _find(d, *_BOTTOMED)
    center, color = needed(figure.center), d.color(figure.color)
    start = Tile(center.row + 2, center.column)
    impossible_if(not on_board(*start))
    drawn = d.new(op.paint(op.ray(start, "down"), color))
    impossible_if(len(drawn.painting) < 2)
    return Stroke("stem", 2, d.voice.say("stem", it=it, color=color), *drawn, "stem", color)


def parallel(d: Sketch) -> Stroke:
    """A line above or below another one, at once or with a line left white between."""
    figure, it = _find(d, "line")
    start, way, count = needed(figure.line)
    impossible_if(way in ("up", "down"))
    color = d.color()
    side, gap = d.rng.choice(("above", "below")), d.rng.choice((1, 1, 2))
    drawn = d.new(op.paint(op.moved(d.drawn_by(figure), gap if side == "below" else -gap, 0), color))
    text = d.voice.say("parallel" if gap == 1 else "parallel gap", it=it, side=side, color=color)
    line = (moved(start, gap if side == "below" else -gap, 0), way, count)
    return Stroke("parallel", 2, text, *drawn, "line", color, None, line)


def longer(d: Sketch) -> Stroke:
    """A line goes on, from its end or by one tile at both ends."""
    figure, it = _find(d, "line")
    (start, way, count), color = needed(figure.line), d.color()
    end = step(start, way, count - 1)
    both = d.rng.random() < 0.3
    more = 1 if both else d.rng.randint(1, 4)
    places: ast.Expr = op.tiles(step(start, way, -1), step(end, way)) if both else op.ray(step(end, way), way, more)
    drawn = d.new(op.paint(places, color))
    impossible_if(more == 1 and not both)
    text = d.voice.say("ends" if both else "continue line", it=it, n=d.voice.number(more), color=color)
    return Stroke("ends" if both else "continue line", 2, text, *drawn, "", color)


def next_column(d: Sketch) -> Stroke:
    """Tiles of the column next to the one that was painted last, or of the one after that."""
    last, rng = d.recent_column(), d.rng
    section, over = rng.choice((("next column", 1), ("next column", 1), ("previous column", -1), ("skip column", 2)))
    column = last.columns[0] + over
    impossible_if(not 0 <= column < COLUMNS)
    rows, color = some_rows(d), d.color()
    drawn = d.new(op.paint(op.cells((column,), rows), color))
    what = d.voice.nth(rows[0]) if len(rows) == 1 else d.voice.rows(rows)
    if section == "skip column":
        text = d.voice.say(section, order=d.voice.order(what, color, imperative=True))
    else:
        text = d.voice.order_in(d.voice.say(section), what, color)
    noun = "tile" if len(rows) == 1 else ""
    return Stroke(section, 2, text, *drawn, noun, color, Tile(rows[0], column) if noun else None)


def below(d: Sketch) -> Stroke:
    """Downward from the last tile of what was painted last in one column."""
    skip = d.rng.random() < 0.3
    last = d.recent_column()
    rows = sorted(tile.row for tile in last.tiles)
    count = 1 if skip else d.rng.randint(1, 4)
    start, column, color = rows[-1] + (2 if skip else 1), last.columns[0], d.color(last.color)
    impossible_if(rows != list(range(rows[0], rows[-1] + 1)) or start + count > ROWS)
    drawn = d.new(op.paint(op.cells((column,), tuple(range(start, start + count))), color))
    section = "below skip" if skip else "below one" if count == 1 else "below"
    text = d.voice.say(section, n=d.voice.count(count), color=color)
    noun = "tile" if count == 1 else ""
    return Stroke("below", 2, text, *drawn, noun, color, Tile(start, column) if noun else None)


def join(d: Sketch) -> Stroke:
    """A straight line between two tiles that were painted in steps of their own."""
    tiles = [figure for figure in d.figures if figure.noun == "tile" and figure.center is not None][-6:]
    pairs = [(a, b) for k, b in enumerate(tiles) for a in tiles[:k]]
    d.rng.shuffle(pairs)
    for a, b in pairs:
        if not _straight(a.tiles[0], b.tiles[0]):
            continue
        one, two, color = d.refer(a), d.refer(b), d.color()
        if not one or not two:
            continue
        program = op.paint(op.minus(op.line(a.tiles[0], b.tiles[0]), op.tiles(a.tiles[0], b.tiles[0])), color)
        with suppress(Impossible):
            drawn = d.new(program)
            text = d.voice.say("join two", one=one, two=two, color=color)
            return Stroke("join two", 2, text, *drawn, "line", color)
    raise Impossible


def lone(d: Sketch) -> Stroke:
    """A tile in line with one that is there, so that the two can be joined."""
    tiles = [figure for figure in d.figures if figure.noun == "tile" and figure.center is not None]
    impossible_if(not tiles)
    base, way = tiles[-1].tiles[0], d.rng.choice(("up-right", "down-right", "down-left", "up-left"))
    place, color = step(base, way, d.rng.randint(3, 7)), d.color()
    drawn = d.new(op.paint(op.tile(place), color))
    impossible_if(not apart(place, d.board))
    text = d.voice.order(d.voice.at(place), color)
    return Stroke("tile", 0, text, *drawn, "tile", color, place)


def _straight(a: Tile, b: Tile) -> str | None:
    """The direction that leads straight from `a` to `b`; None if there is none."""
    for way in DIRECTIONS:
        if step(a, way, distance(a, b)) == b:
            return way
    return None
