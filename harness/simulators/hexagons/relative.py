"""Places relative to earlier figures (level 2); all tiles of a color, white tiles, regions (level 3)."""

from __future__ import annotations

from contextlib import suppress

from harness.simulators import Impossible, impossible_if, needed
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.sketch import Sketch, Stroke, moved
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile, distance, neighbors, on_board, step
from serialization.program import ast

_BOTTOMED = ("ring", "flower", "filled flower")
"""Figures whose only lowest tile is directly below their center."""


def _search(d: Sketch, *nouns: str) -> tuple[Stroke, str] | None:
    """A figure with one of these nouns, most often the latest, and words that identify it."""
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
    """All white tiles that touch a figure without an inside."""
    figure, it = _find(d, "flower", "filled flower", "line", "V", "arrowhead", "X", "triangle", "diamond", "tile", "star")
    color = d.color(*figure.colors)
    drawn = d.draw(op.among(op.call("near", d.drawn_by(figure)), op.BLANK), color)
    impossible_if(not 3 <= len(drawn.painting) <= 24)
    return Stroke("surround", 2, d.voice.say("surround", it=it, color=color), *drawn, "border", color)


def beside(d: Sketch) -> Stroke:
    """One or more tiles in some direction from a single tile."""
    chosen, way = _search(d, "tile"), d.rng.choice(tuple(DIRECTIONS))
    figure, it = needed(chosen)
    center, color = needed(figure.center), d.color()
    count = d.rng.choice((1, 2, 3, 4)) if way in ("up", "down") else d.rng.choice((1, 1, 1, 2, 3))
    drawn = d.draw(op.ray(step(center, way), way, count), color)
    n, side = d.voice.number(count), {"up": "above", "down": "below"}.get(way)
    if count == 1:
        what = d.voice.say("beside one", side=d.voice.say(f"side {way}"), it=it)
    elif side and d.rng.random() < 0.6:
        what = d.voice.say("beside some", n=n, side=side, it=it)
    else:
        what = d.voice.say("beyond", n=n, way=d.voice.way(way), it=it)
    noun = "tile" if count == 1 else "line"
    line = None if count == 1 else (step(center, way), way, count)
    return Stroke("beside", 2, d.voice.order(what, color), *drawn, noun, color, next(iter(drawn.painting)), line)


def stem(d: Sketch) -> Stroke:
    figure, it = _find(d, *_BOTTOMED)
    center, color = needed(figure.center), d.color(figure.color)
    start = Tile(center.row + 2, center.column)
    impossible_if(not on_board(*start))
    drawn = d.draw(op.ray(start, "down"), color)
    impossible_if(len(drawn.painting) < 2)
    return Stroke("stem", 2, d.voice.say("stem", it=it, color=color), *drawn, "stem", color)


def parallel(d: Sketch) -> Stroke:
    figure, it = _find(d, "line")
    start, way, count = needed(figure.line)
    impossible_if(way in ("up", "down"))
    color = d.color()
    side, gap = d.rng.choice(("above", "below")), d.rng.choice((1, 1, 2))
    drawn = d.draw(op.moved(d.drawn_by(figure), gap if side == "below" else -gap, 0), color)
    text = d.voice.say("parallel" if gap == 1 else "parallel gap", it=it, side=side, color=color)
    line = (moved(start, gap if side == "below" else -gap, 0), way, count)
    return Stroke("parallel", 2, text, *drawn, "line", color, None, line)


def longer(d: Sketch) -> Stroke:
    """Continues a line from its end, or adds one tile at both ends."""
    figure, it = _find(d, "line")
    (start, way, count), color = needed(figure.line), d.color()
    end = step(start, way, count - 1)
    both = d.rng.random() < 0.3
    more = 1 if both else d.rng.randint(1, 4)
    places: ast.Expr = op.tiles(step(start, way, -1), step(end, way)) if both else op.ray(step(end, way), way, more)
    drawn = d.draw(places, color)
    impossible_if(more == 1 and not both)
    text = d.voice.say("ends" if both else "continue line", it=it, n=d.voice.number(more), color=color)
    return Stroke("ends" if both else "continue line", 2, text, *drawn, "", color)


def next_column(d: Sketch) -> Stroke:
    """Tiles of the column before or after the last painted one, or of the second one after it."""
    last, rng = d.recent_column(), d.rng
    section, over = rng.choice((("next column", 1), ("next column", 1), ("previous column", -1), ("skip column", 2)))
    column = last.columns[0] + over
    impossible_if(not 0 <= column < COLUMNS)
    rows, color = d.some_rows(), d.color()
    drawn = d.draw(op.cells((column,), rows), color)
    what = d.voice.nth(rows[0]) if len(rows) == 1 else d.voice.rows(rows)
    if section == "skip column":
        text = d.voice.say(section, order=d.voice.order(what, color, imperative=True))
    else:
        text = d.voice.order_in(d.voice.say(section), what, color)
    noun = "tile" if len(rows) == 1 else ""
    return Stroke(section, 2, text, *drawn, noun, color, Tile(rows[0], column) if noun else None)


def below(d: Sketch) -> Stroke:
    """Continues downward from the lowest tile of the last figure, which lies in one column."""
    skip = d.rng.random() < 0.3
    last = d.recent_column()
    rows = sorted(tile.row for tile in last.tiles)
    count = 1 if skip else d.rng.randint(1, 4)
    start, column, color = rows[-1] + (2 if skip else 1), last.columns[0], d.color(last.color)
    impossible_if(rows != list(range(rows[0], rows[-1] + 1)) or start + count > ROWS)
    drawn = d.draw(op.cells((column,), tuple(range(start, start + count))), color)
    section = "below skip" if skip else "below one" if count == 1 else "below"
    text = d.voice.say(section, n=d.voice.count(count), color=color)
    noun = "tile" if count == 1 else ""
    return Stroke("below", 2, text, *drawn, noun, color, Tile(start, column) if noun else None)


def join(d: Sketch) -> Stroke:
    """A straight line between two tiles that were painted as separate figures."""
    tiles = [figure for figure in d.figures if figure.noun == "tile" and figure.center is not None][-6:]
    pairs = [(a, b) for k, b in enumerate(tiles) for a in tiles[:k]]
    d.rng.shuffle(pairs)
    for a, b in pairs:
        (first,), (last,) = a.tiles, b.tiles
        if all(step(first, way, distance(first, last)) != last for way in DIRECTIONS):
            continue
        one, two, color = d.refer(a), d.refer(b), d.color()
        if not one or not two:
            continue
        line = op.call("line", op.tile(first), op.tile(last))
        program = op.paint(op.minus(line, op.tiles(first, last)), color)
        with suppress(Impossible):
            drawn = d.new(program)
            text = d.voice.say("join two", one=one, two=two, color=color)
            return Stroke("join two", 2, text, *drawn, "line", color)
    raise Impossible


def lone(d: Sketch) -> Stroke:
    """A tile on a straight line with an existing one, so that the two can be joined later."""
    tiles = [figure for figure in d.figures if figure.noun == "tile" and figure.center is not None]
    impossible_if(not tiles)
    base, way = tiles[-1].tiles[0], d.rng.choice(("up-right", "down-right", "down-left", "up-left"))
    place, color = step(base, way, d.rng.randint(3, 7)), d.color()
    drawn = d.draw(op.tile(place), color)
    impossible_if(not d.board.keys().isdisjoint((place, *neighbors(place))))
    text = d.voice.order(d.voice.at(place), color)
    return Stroke("tile", 0, text, *drawn, "tile", color, place)


# --- conditions ---

_MOST = 60
"""The most tiles that one condition may paint."""


def _shown(d: Sketch) -> str | None:
    shown = d.shown()
    return d.rng.choice(shown) if shown else None


def each(d: Sketch) -> Stroke:
    """The tile on one side of every tile of a color, or several tiles above or below each."""
    x, rng = needed(_shown(d)), d.rng
    way = rng.choice((*DIRECTIONS, "up", "down", "down", "down"))
    count = rng.choice((1, 1, 2, 3, 4)) if way in ("up", "down") else 1
    color, sources = d.color(x), d.tiles_of(x)
    drawn = d.draw(op.beside(op.colored(x), way, count), color)
    impossible_if(not 2 <= len(sources) <= 18 or len(drawn.painting) != count * len(sources))
    side = d.voice.say(f"side {way}")
    if count == 1:
        what = d.voice.say("each what", x=x, side=side)
    else:
        what = d.voice.say("each some", n=d.voice.number(count), side={"up": "above"}.get(way, "below"), x=x)
    return Stroke("each", 3, d.voice.order(what, color), *drawn, "", color)


def touching(d: Sketch) -> Stroke:
    """White tiles that touch at least one tile of a color, or at least two."""
    x, rng = needed(_shown(d)), d.rng
    color, twice = d.color(x), rng.random() < 0.25
    drawn = d.draw(op.call("touch", op.BLANK, op.colored(x), 2 if twice else None), color)
    impossible_if(len(drawn.painting) > _MOST // 2)
    one = len(d.tiles_of(x)) == 1
    impossible_if(one and twice)
    section = "crowded what" if twice else "touching one what" if one else "touching what"
    text = d.voice.order(d.voice.say(section, x=x), color)
    return Stroke("crowded" if twice else "touching", 3, text, *drawn, "", color)


def by_sign(d: Sketch) -> Stroke:
    """Tiles of the columns whose top (or bottom, ...) tile has a certain color; columns with another color get another one."""
    rng, painted = d.rng, sorted({tile.row for tile in d.board})
    sign = rng.choice((0, ROWS - 1, rng.choice(painted) if painted else 0))
    counts = {x: sum(d.board.get(Tile(sign, column)) == x for column in range(COLUMNS)) for x in d.shown()}
    cases = [x for x, n in counts.items() if 1 < n < 12]
    impossible_if(not cases)
    cases = rng.sample(cases, min(len(cases), rng.choice((1, 2, 2))))
    count = rng.randint(1, 5)
    rows = tuple(range(sign + 1, sign + 1 + count)) if sign < ROWS // 2 else tuple(range(sign - count, sign))
    a = d.color(*cases)
    colors = (a,) if len(cases) == 1 else (a, d.color(a, *cases))
    drawn = d.new(op.by_sign(sign, rows, tuple(cases), colors))
    impossible_if(rows[0] < 0 or rows[-1] >= ROWS)
    what = d.voice.nth(rows[0]) if count == 1 else d.voice.rows(rows)
    nth = d.voice.nth(sign)
    slots = {"nth": nth, "its": nth.removeprefix("the "), "what": what, "x": cases[0], "y": cases[-1], "a": a, "b": colors[-1]}
    text = d.voice.say("by sign" if len(cases) == 2 else "by sign one", **slots)
    return Stroke("by sign", 3, text, *drawn)


def beams(d: Sketch) -> Stroke:
    """Straight lines from every tile of a color to the edge or the next painted tile."""
    shown, way = _shown(d), d.rng.choice(tuple(DIRECTIONS))
    x = needed(shown)
    impossible_if(not 2 <= len(d.tiles_of(x)) <= 6)
    color = d.color(x)
    drawn = d.draw(op.call("until", op.colored(x), op.way(way), op.PAINTED), color)
    impossible_if(len(drawn.painting) > _MOST)
    text = d.voice.say("beams", x=x, way=d.voice.way(way), color=color)
    return Stroke("beams", 3, text, *drawn, "", color)


def _regions(d: Sketch) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Parts of the board: their names, columns and rows."""
    say, number, tiles = d.voice.say, d.voice.number, tuple(range(ROWS))
    columns, top = tuple(range(COLUMNS)), d.rng.randint(2, 6)
    halves = [(say("left half"), columns[:9], tiles), (say("right half"), columns[9:], tiles)]
    parts = ("top", tiles[:top]), ("bottom", tiles[-top:])
    return [*halves, *((say(f"{end} part", n=number(top)), columns, rows) for end, rows in parts)]


def remaining(d: Sketch) -> Stroke:
    """The remaining white tiles of some columns, of a part of the board, or of the whole board."""
    rng, color, kind = d.rng, d.color(), d.rng.random()
    impossible_if(not d.board)
    if kind < 0.6:
        painted = sorted({tile.column for tile in d.board})
        which = (rng.choice(painted),) if rng.random() < 0.6 else d.some_columns()
        places, of = op.cells(which), d.voice.say("in columns still", where=d.voice.columns(which))
    elif kind < 0.9:
        name, columns, rows = rng.choice(_regions(d))
        places, of = op.cells(columns, rows), f"in {name}"
    else:
        places, of = op.ALL, d.voice.say("on board")
    drawn = d.draw(op.among(places, op.BLANK), color)
    impossible_if(len(drawn.painting) > (126 if kind >= 0.9 else _MOST) or len(drawn.painting) == len(d.tiles_in(places)))
    text = d.voice.order(d.voice.say("remaining", of=of), color)
    return Stroke("remaining", 3, text, *drawn, "", color)


def recolor(d: Sketch) -> Stroke:
    x = needed(_shown(d))
    color = d.color(x)
    program = op.paint(op.colored(x), color)
    painting = d.run(program)
    impossible_if(len(painting) > _MOST // 2)
    return Stroke("recolor", 3, d.voice.say("recolor", x=x, color=color), program, painting, "", color, repaints=True)
