"""What the Instructor can ask for, and the tiles that carry it out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from harness.corpora.places import SIDES, WAYS
from harness.corpora.wording import listing
from harness.simulators.strokes.drawing import Drawing, Stroke, grid
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, distance, line, neighbors, on_board, step


def _cells(d: Drawing) -> Stroke:
    columns, rows, color = d.columns(), d.rows(), d.color()
    text = d.voice.say("cells", what=d.voice.rows(rows), column=d.voice.columns(columns), color=color)
    return Stroke("cells", text, grid(columns, rows, color), columns, rows)


def _column(d: Drawing) -> Stroke:
    columns, rows, color = d.columns(), tuple(range(ROWS)), d.color()
    text = d.voice.say("column", column=d.voice.columns(columns), color=color)
    return Stroke("column", text, grid(columns, rows, color), columns, rows)


def _row(d: Drawing) -> Stroke:
    row, color = d.rng.choice((0, ROWS - 1, d.rng.randrange(ROWS))), d.color()
    return Stroke("row", d.voice.say("row", row=d.voice.row(row), color=color), grid(tuple(range(COLUMNS)), (row,), color))


def _stack(d: Drawing) -> Stroke:
    column, counts = d.rng.randrange(COLUMNS), [d.rng.randint(1, 3) for _ in range(3)]
    a = d.color()
    b = d.color(a)
    colors = (a, b, d.rng.choice((a, d.color(a, b))))
    runs = [color for color, count in zip(colors, counts, strict=True) for _ in range(count)]
    n, k, m = (
        f"the [top|first] {d.voice.count(counts[0])}",
        f"the next {d.voice.count(counts[1])}",
        f"the {d.voice.count(counts[2])} below that",
    )
    text = d.voice.say("stack", column=d.voice.column(column), n=d.voice.draw(n), k=k, m=m, a=a, b=b, c=colors[2])
    return Stroke("stack", text, {Tile(row, column): color for row, color in enumerate(runs)}, (column,), tuple(range(len(runs))))


def _alternate(d: Drawing) -> Stroke:
    column, a = d.rng.randrange(COLUMNS), d.color()
    b = d.color(a)
    paint = {Tile(row, column): (a, b)[row % 2] for row in range(ROWS)}
    text = d.voice.say("alternate", column=d.voice.column(column), a=a, b=b)
    return Stroke("alternate", text, paint, (column,), tuple(range(ROWS)))


def _ring(d: Drawing) -> Stroke:
    center, color = d.inner(), d.color()
    text = d.voice.say("ring", center=d.voice.at(center), start=d.voice.at(step(center, "up")), color=color)
    return Stroke("ring", text, dict.fromkeys(neighbors(center), color))


def _flower(d: Drawing) -> Stroke:
    center, a = d.inner(), d.color()
    b = d.color(a)
    text = d.voice.say("flower", center=d.voice.at(center), a=a, b=b)
    return Stroke("flower", text, {center: b, **dict.fromkeys(neighbors(center), a)})


def _flowers(d: Drawing) -> Stroke | None:
    centers, a = [d.inner() for _ in range(d.rng.randint(2, 4))], d.color()
    b = d.color(a)
    if any(distance(p, q) < 3 for p, q in combinations(centers, 2)):
        return None
    words = listing(d.rng, [d.voice.at(center) for center in centers])
    paint = {tile: a for center in centers for tile in neighbors(center)} | dict.fromkeys(centers, b)
    return Stroke("flowers", d.voice.say("flowers", n=d.voice.number(len(centers)), centers=words, a=a, b=b), paint)


def _slant(tiles: list[Tile]) -> str:
    return "vertical" if tiles[0].column == tiles[1].column else "diagonal"


def _diagonal(d: Drawing) -> Stroke:
    (_, tiles, way), color = d.run(), d.color()
    slots = {"start": d.voice.at(tiles[0]), "n": d.voice.number(len(tiles)), "slant": _slant(tiles)}
    text = d.voice.say("diagonal", way=way, color=color, **slots)
    return Stroke("diagonal", text, dict.fromkeys(tiles, color))


def _edge(d: Drawing) -> Stroke:
    (way, tiles, words), color = d.run(), d.color()
    while on_board(*step(tiles[-1], way)):
        tiles.append(step(tiles[-1], way))
    text = d.voice.say("edge", start=d.voice.at(tiles[0]), way=words, slant=_slant(tiles), color=color)
    return Stroke("edge", text, dict.fromkeys(tiles, color))


def _connect(d: Drawing) -> Stroke:
    (_, tiles, _), color = d.run(), d.color()
    text = d.voice.say("connect", start=d.voice.at(tiles[0]), end=d.voice.at(tiles[-1]), slant=_slant(tiles), color=color)
    return Stroke("connect", text, dict.fromkeys(line(tiles[0], tiles[-1]), color))


def _between(d: Drawing) -> Stroke:
    (_, tiles, _), color = d.run(4), d.color()
    text = d.voice.say("between", start=d.voice.at(tiles[0]), end=d.voice.at(tiles[-1]), color=color)
    return Stroke("between", text, dict.fromkeys(tiles[1:-1], color))


def _line_alternate(d: Drawing) -> Stroke:
    (_, tiles, way), a = d.run(4), d.color()
    b = d.color(a)
    text = d.voice.say("line-alternate", start=d.voice.at(tiles[0]), way=way, n=d.voice.number(len(tiles)), a=a, b=b)
    return Stroke("line-alternate", text, {tile: (a, b)[i % 2] for i, tile in enumerate(tiles)})


def _vee(d: Drawing) -> Stroke | None:
    start, n, color = d.inner(), d.rng.randint(3, 6), d.color()
    ways = d.rng.choice((("up-left", "up-right"), ("down-left", "down-right")))
    tiles = [step(start, way, i) for way in ways for i in range(n)]
    shape = d.voice.draw("V[ shape|]" if ways[0] == "up-left" else "[upside down|upside-down] V")
    way, other = (d.voice.draw(WAYS[way]) for way in ways)
    text = d.voice.say("vee", start=d.voice.at(start), n=d.voice.number(n), way=way, other=other, shape=shape, color=color)
    return Stroke("vee", text, dict.fromkeys(tiles, color)) if all(on_board(*t) for t in tiles) else None


def _touching(d: Drawing) -> Stroke | None:
    x = d.painted_color()
    if x is None:
        return None
    centers, color = d.tiles_of(x), d.color(x)
    tiles = {t for center in centers for t in neighbors(center) if d.board[t] == "white"}
    text = d.voice.say("touching", x=x, tile_s=d.voice.tile if len(centers) == 1 else d.voice.tiles, color=color)
    return Stroke("touching", text, dict.fromkeys(sorted(tiles), color)) if len(tiles) <= 30 else None


def _beside(d: Drawing) -> Stroke | None:
    x, way = d.painted_color(), d.way()
    if x is None:
        return None
    tiles, color = [step(t, way) for t in d.tiles_of(x)], d.color(x)
    if len(tiles) > 12 or not all(on_board(*t) and d.board[t] == "white" for t in tiles):
        return None
    return Stroke(
        "beside", d.voice.say("beside", x=x, side=d.voice.draw(SIDES[way]), color=color), dict.fromkeys(sorted(tiles), color)
    )


def _rest(d: Drawing) -> Stroke | None:
    painted = sorted({paint.column for paint in d.board.painted()})
    if not painted:
        return None
    column, color = d.rng.choice(painted), d.color()
    tiles = [Tile(row, column) for row in range(ROWS) if d.board[row, column] == "white"]
    return Stroke("rest", d.voice.say("rest", column=d.voice.column(column), color=color), dict.fromkeys(tiles, color))


def _recolor(d: Drawing) -> Stroke | None:
    x = d.painted_color()
    if x is None:
        return None
    color = d.color(x)
    return Stroke("recolor", d.voice.say("recolor", x=x, color=color), dict.fromkeys(sorted(d.tiles_of(x)), color))


def _middle(d: Drawing) -> Stroke | None:
    if d.last is None or d.last.frame != "ring":
        return None
    top, color = next(iter(d.last.paint)), d.color()  # a ring is painted clockwise from its top
    return Stroke("middle", d.voice.say("middle", color=color), {step(top, "down"): color})


def _next(d: Drawing) -> Stroke | None:
    over = d.rng.choice((1, 1, 2))
    if d.last is None or len(d.last.columns) != 1 or d.last.columns[0] + over >= COLUMNS:
        return None
    columns, rows, color = (d.last.columns[0] + over,), d.rows(), d.color()
    frame = "next" if over == 1 else "skip"
    return Stroke(frame, d.voice.say(frame, what=d.voice.rows(rows), color=color), grid(columns, rows, color), columns, rows)


def _again(d: Drawing) -> Stroke | None:
    """The rows of the last step in other columns, in its colors or in a new one."""
    last = d.last
    if last is None or not last.columns:
        return None
    follow = len(last.columns) == 1 and last.columns[0] + 1 < COLUMNS and d.rng.random() < 0.5
    columns = (last.columns[0] + 1,) if follow else tuple(c for c in d.columns() if c not in last.columns)
    new = d.color(last.color) if last.color and d.rng.random() < 0.5 else None
    source = last.columns[0]
    paint = {Tile(row, c): new or last.paint[Tile(row, source)] for c in columns for row in last.rows}
    frame = ("again-next" if follow else "again") + ("-color" if new else "")
    text = d.voice.say(frame, column=d.voice.columns(columns), color=new or "", step=d.last_step) if columns else ""
    return Stroke(frame, text, paint, columns, last.rows)


def _carry(d: Drawing) -> Stroke | None:
    """A step that names no color."""
    if d.last is None or d.last.color is None:
        return None
    columns, rows = d.columns(), d.rows()
    text = d.voice.say("carry", what=d.voice.rows(rows), column=d.voice.columns(columns))
    return Stroke("carry", text, grid(columns, rows, d.last.color), columns, rows)


def _below(d: Drawing) -> Stroke | None:
    """Downward from the last tile of a column."""
    last, skip = d.last, d.rng.random() < 0.3
    if last is None or len(last.columns) != 1 or last.rows != tuple(range(last.rows[0], last.rows[-1] + 1)):
        return None
    count = 1 if skip else d.rng.randint(1, 3)
    start = last.rows[-1] + (2 if skip else 1)
    if start + count > ROWS:
        return None
    frame = "below-skip" if skip else "below" if count > 1 else "below-one"
    color, rows = d.color(), tuple(range(start, start + count))
    return Stroke(
        frame, d.voice.say(frame, n=d.voice.number(count), color=color), grid(last.columns, rows, color), last.columns, rows
    )


def _shift(d: Drawing) -> Stroke | None:
    """The last step moved by an even number of columns, which keeps its shape, or by some rows."""
    last, rng = d.last, d.rng
    if last is None or len(last.paint) < 2:
        return None
    rows, columns = rng.choice(((0, 2), (0, 4), (0, 6), (0, 8), (0, -4), (0, -6), (3, 0), (4, 0), (-4, 0)))
    new = d.color(last.color) if last.color and rng.random() < 0.5 else None
    paint = {Tile(t.row + rows, t.column + columns): new or color for t, color in last.paint.items()}
    if not all(on_board(*t) and d.board[t] == "white" for t in paint):
        return None
    if columns:
        steps, toward = "columns", "to the right" if columns > 0 else "to the left"
    else:
        steps, toward = "[tiles|rows|tiles]", "[lower|further down]" if rows > 0 else "[higher|further up]"
    frame = "shift-color" if new else "shift"
    slots = {
        "k": d.voice.number(abs(rows + columns)),
        "steps": d.voice.draw(steps),
        "toward": d.voice.draw(toward),
        "step": d.last_step,
    }
    return Stroke(frame, d.voice.say(frame, color=new or "", **slots), paint)


def _remark(d: Drawing) -> Stroke:
    return Stroke("remark", d.voice.say("remark"), {})


# Weights that give about the release's distribution of actions a step: median 6, 90th percentile 21.
_MAKERS: tuple[tuple[Callable[[Drawing], Stroke | None], float], ...] = (
    (_cells, 34), (_column, 3), (_row, 2), (_stack, 4), (_alternate, 3), (_ring, 6), (_flower, 5), (_flowers, 6), (_diagonal, 6),
    (_edge, 3), (_connect, 3), (_between, 2), (_line_alternate, 2), (_vee, 3), (_touching, 3), (_beside, 9), (_rest, 3),
    (_recolor, 1), (_middle, 30), (_next, 16), (_again, 18), (_carry, 4), (_below, 26), (_shift, 14), (_remark, 2.4),
)  # fmt: skip
_WEIGHTS = tuple(weight for _, weight in _MAKERS)


def next_stroke(d: Drawing) -> Stroke:
    """The next thing to paint: it changes the board, unless it is a remark."""
    while True:
        stroke = d.rng.choices(_MAKERS, _WEIGHTS)[0][0](d)
        if stroke and (stroke.frame == "remark" or any(d.board[tile] != color for tile, color in stroke.paint.items())):
            return stroke
