"""Orders that say where every tile is (level 0), and lists, ranges and whole columns (level 1)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.corpora.wording import listing
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.simulators.hexagons.wording import some_columns, some_rows, spelled
from harness.simulators.possible import impossible_if, needed
from harness.worlds.hexagons import COLUMNS, ROWS, Tile

_SIZES = (5, 10, 12, 14, 15, 16, 18, 20, 24, 36, 50)
"""How many tiles a grid should have."""
_CORNERS = {
    "top left": Tile(0, 0),
    "top right": Tile(0, COLUMNS - 1),
    "bottom left": Tile(ROWS - 1, 0),
    "bottom right": Tile(ROWS - 1, COLUMNS - 1),
}


def tile(d: Sketch) -> Stroke:
    place, color = d.tile(), d.color()
    drawn = d.new(op.paint(op.tile(place), color))
    if d.rng.random() < 0.5:
        text = d.voice.order(d.voice.at(place), color)
    else:
        text = d.voice.order_in(d.voice.column(place.column), d.voice.nth(place.row), color)
    return Stroke("tile", 0, text, *drawn, "tile", color, place)


def corner(d: Sketch) -> Stroke:
    name, color = d.rng.choice(tuple(_CORNERS)), d.color()
    every = d.rng.random() < 0.3
    drawn = d.new(op.paint(op.tiles(*_CORNERS.values()) if every else op.tile(_CORNERS[name]), color))
    what = d.voice.say("corners") if every else d.voice.say("corner", corner=name)
    noun = "corner tiles" if every else "tile"
    return Stroke("corner", int(every), d.voice.order(what, color), *drawn, noun, color, None if every else _CORNERS[name])


def _few(d: Sketch) -> Sequence[Tile]:
    """Two to eight tiles that make some sense together."""
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
    drawn = d.new(op.paint(op.tiles(*places), color))
    text, level = spelled(d, drawn.painting, plain=True)
    return Stroke("tiles", level, text, *drawn, "", color)


def colors(d: Sketch) -> Stroke:
    """Tiles of one column in several colors."""
    rng, column = d.rng, d.tile().column
    names = d.colors(rng.choice((2, 2, 2, 3)))
    rows = rng.sample(range(ROWS), rng.randint(len(names), len(names) + 2))
    shares = [sorted(rows[k :: len(names)]) for k in range(len(names))]
    parts = [op.paint(op.cells((column,), tuple(its)), name) for name, its in zip(names, shares, strict=True)]
    drawn = d.new(op.together(*parts))
    text, level = spelled(d, drawn.painting, plain=True)
    return Stroke("colors", level, text, *drawn)


def cells(d: Sketch) -> Stroke:
    """The same tiles of one or several columns: of some grids that are white, the one that is nearest to some size."""
    grids = []
    for _ in range(8):
        which = (d.tile().column,) if d.rng.random() < 0.1 else some_columns(d)
        rows = some_rows(d)
        if len(which) * len(rows) > 1 and d.free(Tile(row, column) for column in which for row in rows):
            grids.append((which, rows))
    impossible_if(not grids)
    size, color = d.rng.choice(_SIZES), d.color()
    program = op.paint(op.cells(*min(grids, key=lambda grid: abs(len(grid[0]) * len(grid[1]) - size))), color)
    painting = op.run(program, d)
    text, level = spelled(d, painting, plain=False)
    return Stroke("cells", level, text, program, painting, "", color)


def columns(d: Sketch) -> Stroke:
    """Whole columns."""
    which = (d.tile().column,) if d.rng.random() < 0.3 else some_columns(d)
    color = d.color()
    drawn = d.new(op.paint(op.cells(which, tuple(range(ROWS))), color))
    impossible_if(len(which) > 9)
    where = d.voice.columns(which)
    one = len(which) == 1
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
    drawn = d.new(op.paint(op.cells(tuple(range(first, last + 1)), (which,)), color))
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
    """One or several columns from the top in runs of colors."""
    rng = d.rng
    columns = (d.tile().column,) if rng.random() < 0.25 else some_columns(d)
    a, b = d.colors(2)
    names = [a, b, rng.choice((a, d.color(a, b)))][: rng.choice((2, 3, 3))]
    counts = [rng.randint(1, 4) for _ in names]
    whole = rng.random() < 0.4
    if whole:
        counts[-1] = ROWS - sum(counts[:-1])
    impossible_if(min(counts) < 1 or sum(counts) > ROWS)
    impossible_if(sum(counts) * len(columns) > 50)
    each = [op.paint(op.cells((column,), tuple(range(sum(counts)))), *names, counts=counts) for column in columns]
    drawn = d.new(op.together(*each) if len(each) > 1 else each[0])
    sections = ["stack first", *["stack next"] * (len(names) - 1)]
    if whole and counts[-1] > 1:
        sections[-1] = "stack rest"
    words = [d.voice.say(section, n=d.voice.some(n)) for section, n in zip(sections, counts, strict=True)]
    runs = listing(rng, [f"{what} {color}" for what, color in zip(words, names, strict=True)])
    text = d.voice.say("stack", where=d.voice.columns(columns), runs=runs)
    return Stroke("stack", 1, text, *drawn, "")


def sequence(d: Sketch) -> Stroke:
    """Colors in a list, down a column or across columns."""
    rng, names = d.rng, d.colors(d.rng.choice((2, 2, 3)))
    if rng.random() < 0.35:
        column = d.tile().column
        places = op.cells((column,), tuple(range(ROWS)))
        order = [rng.choice(names) for _ in range(ROWS)]
        section, noun, slots = "sequence down", "column", {"where": d.voice.column(column)}
    else:
        which, start = rng.choice((0, ROWS - 1, rng.randrange(ROWS))), rng.randrange(2)
        across = tuple(range(start, COLUMNS, 2)) if rng.random() < 0.6 else some_columns(d)
        places = op.cells(across, (which,))
        order = [rng.choice(names) for _ in across]
        section, noun, slots = "sequence across", "row", {"where": d.voice.columns(across), "nth": d.voice.nth(which)}
    drawn = d.new(op.paint(places, *order))
    impossible_if(len(order) < 3 or len(set(order)) < 2)
    text = d.voice.say(section, colors=listing(rng, order), **slots)
    return Stroke("sequence", 1, text, *drawn, noun)


def carry(d: Sketch) -> Stroke:
    """More tiles in the color that was chosen, or in that of the last step, which is not named again."""
    last = d.recent()
    colors_ = {color for figure in d.figures if last and figure.step == last.step for color in figure.colors}
    color = needed(d.chosen or (colors_.pop() if len(colors_) == 1 else None))
    section = "carry chosen" if d.chosen else "carry"
    few = d.rng.random() < 0.6
    places = op.tiles(*_few(d)) if few else op.cells((d.tile().column,), some_rows(d))
    drawn = d.new(op.paint(places, color))
    what, level = d.voice.spell(tuple(drawn.painting), few)
    return Stroke(section, level, d.voice.say(section, what=what), *drawn, "", color)


def border(d: Sketch) -> Stroke:
    color = d.color()
    sides = op.cells((0, COLUMNS - 1), tuple(range(ROWS)))
    drawn = d.new(op.together(op.paint(sides, color), op.paint(op.cells(tuple(range(1, COLUMNS - 1)), (0, ROWS - 1)), color)))
    return Stroke("border", 1, d.voice.order(d.voice.say("border"), color), *drawn, "border", color)
