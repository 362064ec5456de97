"""Orders about all tiles of a color, about what is white, about regions (level 3)."""

from __future__ import annotations

from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.simulators.hexagons.wording import some_columns
from harness.simulators.possible import impossible_if, needed
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile

_MOST = 60
"""The most tiles that one condition may paint."""


def _shown(d: Sketch) -> str | None:
    """A color on the board."""
    shown = d.shown()
    return d.rng.choice(shown) if shown else None


def each(d: Sketch) -> Stroke:
    """The tile on one side of every tile of a color, or several below or above each."""
    x, rng = needed(_shown(d)), d.rng
    way = rng.choice((*DIRECTIONS, "up", "down", "down", "down"))
    count = rng.choice((1, 1, 2, 3, 4)) if way in ("up", "down") else 1
    color, sources = d.color(x), d.tiles_of(x)
    drawn = d.new(op.paint(op.beside(op.colored(x), way, count), color))
    impossible_if(not 2 <= len(sources) <= 18 or len(drawn.painting) != count * len(sources))
    side = d.voice.side(way)
    if count == 1:
        what = d.voice.say("each what", x=x, side=side)
    else:
        what = d.voice.say("each some", n=d.voice.number(count), side={"up": "above"}.get(way, "below"), x=x)
    return Stroke("each", 3, d.voice.order(what, color), *drawn, "", color)


def touching(d: Sketch) -> Stroke:
    """White tiles that touch a color, at least once or at least twice."""
    x, rng = needed(_shown(d)), d.rng
    color, twice = d.color(x), rng.random() < 0.25
    drawn = d.new(op.paint(op.crowded(x, 2 if twice else 1), color))
    impossible_if(len(drawn.painting) > _MOST // 2)
    one = len(d.tiles_of(x)) == 1
    impossible_if(one and twice)
    section = "crowded what" if twice else "touching one what" if one else "touching what"
    text = d.voice.order(d.voice.say(section, x=x), color)
    return Stroke("crowded" if twice else "touching", 3, text, *drawn, "", color)


def by_sign(d: Sketch) -> Stroke:
    """Tiles of those columns whose top (or bottom, ...) tile has some color; in another color where it has another."""
    rng, sign = d.rng, d.rng.choice((0, ROWS - 1, _painted_row(d)))
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
    slots = {"nth": nth, "its": nth.removeprefix("the "), "what": what, "x": cases[0], "a": a}
    if len(cases) == 2:
        slots |= {"y": cases[1], "b": colors[-1]}
    text = d.voice.say("by sign" if len(cases) == 2 else "by sign one", **slots)
    return Stroke("by sign", 3, text, *drawn)


def _painted_row(d: Sketch) -> int:
    """A row that something is painted in, if there is any."""
    rows = sorted({tile.row for tile in d.board})
    return d.rng.choice(rows) if rows else 0


def beams(d: Sketch) -> Stroke:
    """From every tile of a color straight on to the edge or to the next colored tile."""
    x, way = _shown(d), d.rng.choice(tuple(DIRECTIONS))
    x = needed(x)
    impossible_if(not 2 <= len(d.tiles_of(x)) <= 6)
    color = d.color(x)
    drawn = d.new(op.paint(op.beams(x, way), color))
    impossible_if(len(drawn.painting) > _MOST)
    text = d.voice.say("beams", x=x, way=d.voice.way(way), color=color)
    return Stroke("beams", 3, text, *drawn, "", color)


def _regions(d: Sketch) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Parts of the board: what they are called, their columns and rows."""
    say, number, tiles = d.voice.say, d.voice.number, tuple(range(ROWS))
    half, rest = tuple(range(9)), tuple(range(9, COLUMNS))
    top = d.rng.randint(2, 6)
    return [
        (say("left half"), half, tiles),
        (say("right half"), rest, tiles),
        (say("top part", n=number(top)), tuple(range(COLUMNS)), tiles[:top]),
        (say("bottom part", n=number(top)), tuple(range(COLUMNS)), tiles[ROWS - top :]),
    ]


def remaining(d: Sketch) -> Stroke:
    """What is still white: in some columns, in a part of the board, on the whole board."""
    rng, color, kind = d.rng, d.color(), d.rng.random()
    impossible_if(not d.board)
    if kind < 0.6:
        painted = sorted({tile.column for tile in d.board})
        which = (rng.choice(painted),) if rng.random() < 0.6 else some_columns(d)
        places, of = op.cells(which, tuple(range(ROWS))), d.voice.say("in columns still", where=d.voice.columns(which))
    elif kind < 0.9:
        name, columns, rows = rng.choice(_regions(d))
        places, of = op.cells(columns, rows), f"in {name}"
    else:
        places, of = op.ALL, d.voice.say("on board")
    drawn = d.new(op.paint(op.among(places, op.BLANK), color))
    impossible_if(len(drawn.painting) > (126 if kind >= 0.9 else _MOST) or len(drawn.painting) == len(op.tiles_of(places, d)))
    text = d.voice.order(d.voice.say("remaining", of=of), color)
    return Stroke("remaining", 3, text, *drawn, "", color)


def recolor(d: Sketch) -> Stroke:
    """All tiles of a color in another one."""
    x = needed(_shown(d))
    color = d.color(x)
    program = op.paint(op.colored(x), color)
    painting = op.run(program, d)
    impossible_if(len(painting) > _MOST // 2)
    return Stroke("recolor", 3, d.voice.say("recolor", x=x, color=color), program, painting, "", color, repaints=True)
