"""Requests for figures (flowers, rings, triangles, stars, letters, small pictures, boxes, lines) and for numbers of tiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from harness.corpora.wording import joined, listing
from harness.simulators.everyday.hexagons.drawing import DrawingTalk
from harness.simulators.everyday.talk import LETTERS, PICTURES, Maker, Request, Revision
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile
from serialization.program.literal import tile_set
from serialization.program.written import write_expression

_DRAWN = tuple(name for name in PICTURES if not name.startswith("letter "))
_CALLED = {"hexagon shape": ("blob", "disc", "circle", "hexagon"), "star": ("snowflake", "star")}
"""Nouns that a frame may use for a figure, by the figure's section."""
_RAYS = ("up", "up-right", "down-right", "down", "down-left", "up-left")


@lru_cache(maxsize=4096)
def _picture(lines: tuple[str, ...], column: int, row: int) -> str:
    """The set of a picture, as an expression, with its top left tile at a column and row, counted from 1."""
    return write_expression(
        tile_set(Tile(row - 1 + r, column - 1 + c) for r, line in enumerate(lines) for c, mark in enumerate(line) if mark == "X")
    )


def _at(column: int, row: int) -> str:
    return f"{column}:{row}"


def _rays(*ways: str) -> Callable[[str, int], str]:
    return lambda center, n: "+".join(f"ray({center},{way},{n + 1})" for way in ways)


def _round(function: str) -> Callable[[str, int], str]:
    return lambda center, n: f"{function}({center},{n})" if n > 1 else f"{function}({center})"


def _cross(center: str, n: int) -> str:
    return "+".join((center, *(f"{way}({center},{n})" for way in ("above", "below", "left", "right"))))


def _sized(least: int, most: int, cells: Callable[[str, int], str], *nouns: str) -> Maker:
    """A figure about a center, whose size is a number from `least` to `most`."""

    def make(d: DrawingTalk) -> Request:
        noun = d.some(*nouns) if len(nouns) > 1 else nouns[0]
        small = d.rng.random() < 0.7
        n = least if small else d.rng.randint(least, most)
        stated = not small or d.rng.random() < 0.35
        where, column, row = d.place(n)
        center, color = _at(column, row), d.color()
        section = f"{noun.lower()} {'sized' if stated else 'bare'}"
        what = d.say(section, color=color, n=d.number(n), size=d.say(f"size {n}"))
        variants = [Revision("smaller", f"{color} {cells(center, n - 1)}", kind="size")] if n > least else []
        if n < most and 1 + n < min(column, COLUMNS + 1 - column, row, ROWS + 1 - row):
            variants.append(Revision("bigger", f"{color} {cells(center, n + 1)}", kind="size"))
        variants += _elsewhere(d, color, lambda c, r: cells(_at(c, r), n), column, row, n)
        noun = d.called(what, *_CALLED.get(noun, (noun,)))
        return d.figure(what, where, f"{color} {cells(center, n)}", noun, "size" if stated else "figure", variants=variants)

    return make


def _elsewhere(d: DrawingTalk, color: str, cells: Callable[[int, int], str], column: int, row: int, reach: int) -> list[Revision]:
    """At most one revision that puts the figure elsewhere: some columns to a side, or one row higher or lower."""
    moves = []
    for way, dx, dy in (("left", -1, 0), ("right", 1, 0), ("up", 0, -1), ("down", 0, 1)):
        k = d.some(2, 2, 4) if dx else 1
        c, r = column + k * dx, row + k * dy
        if reach < c <= COLUMNS - reach and reach < r <= ROWS - reach:
            moves.append(Revision(f"more {way}", f"{color} {cells(c, r)}", {"n": d.number(k), "s": "s" if k > 1 else ""}))
    return [d.rng.choice(moves)] if moves else []


def flower(d: DrawingTalk) -> Request:
    where, column, row = d.place(1)
    center, color = _at(column, row), d.color()
    kind = d.some("two", "two", "one", "hole")
    if kind == "two":
        other = d.color(color)
        what = d.say("flower with center", color=color, other=other)
        new = d.color(color, other)
        variants = [Revision("=center color", f"{new} {center}", {"color": new}), Revision("=no center", f"remove {center}")]
        return d.figure(what, where, f"{color} ring({center}); {other} {center}", "flower", variants=variants)
    what = d.say("flower bare" if kind == "one" else "flower with hole", color=color)
    larger = kind == "one" and 2 < row < 9 and 2 < column < 17
    variants = [Revision("bigger", f"{color} flower({center},2)", kind="size")] if larger else []
    other = d.color(color)
    variants.append(Revision("=center color", f"{other} {center}", {"color": other}))
    return d.figure(what, where, f"{color} {'flower' if kind == 'one' else 'ring'}({center})", "flower", variants=variants)


def triangle(d: DrawingTalk) -> Request:
    way, n = d.some("left", "right"), d.rng.randint(2, 5)
    where, column, row = d.place(3)
    start = column + (n // 2 if way == "left" else -(n // 2))
    color, stated = d.color(), d.rng.random() < 0.6
    section = "triangle sized" if stated else "triangle bare"
    what = d.say(section, color=color, n=d.number(n), size=d.say("size 1" if n < 4 else "size 3"))
    corner, back = _at(start, row), "left" if way == "right" else "right"
    if d.rng.random() < 0.3:
        what = f"{what}, {d.say('pointing', way=back)}"
    opposite = _at(start + (n - 1 if way == "right" else 1 - n), row)
    variants = (
        Revision("bigger", f"{color} triangle({corner},{way},{n + 1})", kind="size"),
        Revision("other way round", f"{color} triangle({opposite},{back},{n})", kind="mirror"),
    )
    program, count = f"{color} triangle({corner},{way},{n})", n * (n + 1) // 2
    return d.figure(what, where, program, "triangle", "size" if stated else "figure", variants=variants, count=count)


def diamond(d: DrawingTalk) -> Request:
    where, column, row = d.place(2)
    n, color = d.some(2, 2, 3), d.color()
    what = d.say("diamond", color=color, size=d.say("size 1" if n == 2 else "size 3"))
    program = f"{color} triangle({_at(column - n + 1, row)},right,{n})+triangle({_at(column + n - 1, row)},left,{n})"
    return d.figure(what, where, program, d.called(what, "rhombus", "diamond"), count=n * n)


def letter(d: DrawingTalk) -> Request:
    name, color = d.rng.choice(LETTERS), d.color()
    words = d.say("name letter" if d.rng.random() < 0.15 else "letter", letter=name, color=color)
    return _pictured(d, "letter", PICTURES[f"letter {name.lower()}"], words, color)


def pictured(d: DrawingTalk) -> Request:
    name, color = d.rng.choice(_DRAWN), d.color()
    return _pictured(d, name, PICTURES[name], d.say("picture", picture=name, color=color), color)


def _pictured(d: DrawingTalk, noun: str, lines: tuple[str, ...], what: str, color: str) -> Request:
    where, column, row = d.place(3)
    left = min(max(column - len(lines[0]) // 2, 1), COLUMNS + 1 - len(lines[0]))
    top = min(max(row - len(lines) // 2, 1), ROWS + 1 - len(lines))
    variants = _elsewhere(d, color, lambda c, r: _picture(lines, c, r), left, top, 0)
    variants = [one for one in variants if not any(f":{ROWS + k}" in one.program for k in range(1, 4))]
    return d.figure(
        what, where, f"{color} {_picture(lines, left, top)}", noun, variants=variants, count="".join(lines).count("X")
    )


def tulip(d: DrawingTalk) -> Request:
    where, column, row = d.place(3)
    stem = min(3, ROWS - row - 1)
    if stem < 1:
        row, stem = row - 2, 3
    color, other = d.color(), d.some("green", "green", d.color())
    if other == color:
        return pictured(d)
    noun = d.some("tulip", "tree", "lollipop")
    what = d.say(noun, color=color, other=other, n=d.number(stem))
    program = f"{color} flower({_at(column, row)}); {other} below({_at(column, row + 1)},{stem})"
    return d.figure(what, where, program, noun, count=7 + stem)


def sun(d: DrawingTalk) -> Request:
    """A yellow figure in a corner or in the middle, with rays."""
    center, words = d.some(("9:5", "in the middle"), ("14:4", "in the top right"), ("4:4", "in the top left"))
    color = d.some("yellow", "orange")
    program = f"{color} flower({center}); {color} {'+'.join(f'shift({center},{way} 3)' for way in _RAYS)}"
    return Request("figure", d.say("sun", color=color, where=words), program, noun="sun", count=13, fresh=True)


def snake(d: DrawingTalk) -> Request:
    n, column, row = d.rng.randint(4, 8), d.rng.randint(2, 9), d.rng.randint(2, 9)
    color = d.color()
    program = f"{color} {column}-{column + n - 1}:{row}"
    variants = (
        Revision("=longer", f"{color} {column + n}:{row}", kind="size"),
        Revision("=shorter", f"remove {column + n - 1}:{row}", kind="size"),
    )
    what = d.say("snake", color=color, n=d.number(n))
    return d.figure(what, "", program, d.called(what, "worm", "caterpillar", "zigzag", "snake"), variants=variants, count=n)


def stairs(d: DrawingTalk) -> Request:
    n, color, rng = d.rng.randint(3, 6), d.color(), d.rng
    start, up = rng.randint(1, COLUMNS - n), rng.random() < 0.6
    heights = range(1, n + 1) if up else range(n, 0, -1)
    tiles = tile_set(Tile(ROWS - 1 - r, start - 1 + k) for k, height in enumerate(heights) for r in range(height))
    what = d.say("stairs up" if up else "stairs down", color=color, n=d.number(n))
    noun = d.called(what, "bar chart", "staircase")
    return d.figure(what, "", f"{color} {write_expression(tiles)}", noun, count=n * (n + 1) // 2)


# --- boxes and lines ---


def box(d: DrawingTalk) -> Request:
    width, height, color, rng = d.rng.randint(2, 6), d.rng.randint(2, 5), d.color(), d.rng
    if rng.random() < 0.3:
        height = width = min(width, height)
    where, column, row = d.place(3)
    left, top = min(max(1, column - width // 2), COLUMNS + 1 - width), min(max(1, row - height // 2), ROWS + 1 - height)
    right, bottom = left + width - 1, top + height - 1
    hollow = min(width, height) > 2 and rng.random() < 0.5
    noun = "square" if width == height else "rectangle"
    what = d.say(f"{'hollow ' if hollow else ''}{noun}", color=color, n=str(width), m=str(height))
    if hollow:
        other, inner = d.color(color), str(top + 1) if height == 3 else f"{top + 1}-{bottom - 1}"
        cells, inside = f"{left}-{right}:{top},{bottom}+{left},{right}:{inner}", f"{left + 1}-{right - 1}:{top + 1}-{bottom - 1}"
        variants = [
            Revision("=fill it", f"{color} {inside}", {"color": color}),
            Revision("=fill inside", f"{other} {inside}", {"color": other}, "relation"),
        ]
        return d.figure(what, where, f"{color} {cells}", noun, "size", variants=variants, count=2 * (width + height) - 4)
    variants = [Revision("=wider", f"{color} {right + 1}:{top}-{bottom}", kind="size")] if right < COLUMNS else []
    variants += [Revision("=taller down", f"{color} {left}-{right}:{bottom + 1}", kind="size")] if bottom < ROWS else []
    program = f"{color} {left}-{right}:{top}-{bottom}"
    return d.figure(what, where, program, noun, "size", variants=variants, count=width * height)


def line(d: DrawingTalk) -> Request:
    """A straight line: upright, or diagonal in some direction."""
    n, color, rng = d.rng.randint(3, 7), d.color(), d.rng
    upright = rng.random() < 0.6
    way = "down" if upright else rng.choice([way for way in DIRECTIONS if way not in ("up", "down")])
    dx = 0 if upright else -1 if way.endswith("left") else 1
    where, column, row = d.place(3) if rng.random() < 0.4 else ("", *d.spot(3))
    top = max(1, row - n // 2 if way.startswith("down") else min(ROWS, row + n // 2))
    start = _at(min(max(column - dx * (n // 2), 1), COLUMNS), min(top, ROWS))
    what = d.say("upright line" if upright else "slanted line", color=color, n=d.number(n), way=d.say(f"way {way}"))
    more = f"{color} first(ray({start},{way},{n + 1})-ray({start},{way},{n}))"
    fewer = f"remove last(ray({start},{way},{n}))"
    variants = (Revision("=longer", more, kind="size"), Revision("=shorter", fewer, kind="size"))
    text = d.ask("draw", what, where)
    kind, program = "line" if rng.random() < 0.6 else "size", f"{color} ray({start},{way},{n})"
    return Request(kind, text, program, noun="line", variants=variants, count=n, fresh=True)


def connected(d: DrawingTalk) -> Request:
    """A line between two tiles, or from corner to corner."""
    color, rng = d.color(), d.rng
    column, row, n = rng.randint(1, COLUMNS - 5), rng.randint(1, ROWS), rng.randint(2, 5)
    there = rng.choice((f"{column}:{min(ROWS, row + n)}", f"{column + n + 1}:{row}", f"{column + n}:{max(1, row - n // 2)}"))
    if there == f"{column}:{row}":
        return line(d)
    slots = {"a": str(column), "b": str(row), "c": there.partition(":")[0], "e": there.partition(":")[2]}
    return Request("line", d.say("join", color=color, **slots), f"{color} line({column}:{row},{there})", noun="line", fresh=True)


def diagonal(d: DrawingTalk) -> Request:
    color = d.color()
    end, side = d.some(("top", "left"), ("top", "right"), ("bottom", "left"), ("bottom", "right"))
    corner = f"{1 if side == 'left' else COLUMNS}:{1 if end == 'top' else ROWS}"
    way = f"{'down' if end == 'top' else 'up'}-{'right' if side == 'left' else 'left'}"
    text = d.say("diagonal", color=color, corner=f"{end} {side}", way=d.say(f"way {way}"))
    return Request("line", text, f"{color} ray({corner},{way})", noun="diagonal")


# --- counts ---


def one_tile(d: DrawingTalk) -> Request:
    """A single tile, anywhere or at a given column and row."""
    where, column, row = d.place(0)
    color = d.color()
    what = d.say("dot", color=color)
    variants = _elsewhere(d, color, _at, column, row, 0)
    kind = "relation" if where and d.rng.random() < 0.3 else "count"
    return d.figure(what, where, f"{color} {_at(column, row)}", "dot", kind, variants=variants)


def dots(d: DrawingTalk) -> Request:
    n, color, rng = d.rng.randint(2, 7), d.color(), d.rng
    spots = [(c, r) for c in range(2, COLUMNS, 3) for r in (2, 5, 8)]
    chosen = rng.sample(spots, n + 1)
    cells = write_expression(tile_set(Tile(r - 1, c - 1) for c, r in chosen[:n]))
    one = f"{chosen[n][0]}:{chosen[n][1]}"
    variants = (
        Revision("=one more", f"{color} {one}", {"color": color}, "count"),
        Revision("=one fewer", f"remove last(is({color}))", {"color": color}, "count"),
    )
    what = d.say("dots", color=color, n=d.number(n))
    text = d.say("draw", what=what, where=f"{', ' if len(what.split()) > 3 else ''}{d.say('anywhere')}")
    return Request("count", text, f"{color} {cells}", noun="dots", variants=variants, count=n, fresh=True)


def alternating(d: DrawingTalk) -> Request:
    """A row or column in two or three alternating colors, or every second tile of it in one color."""
    way = d.some("row", "column")
    n, rng = d.rng.randint(1, ROWS), d.rng
    colors = d.shades(d.color(), d.some(1, 1, 1, 2))
    slots = {"line": way, "n": str(n), "nth": d.nth(n), "colors": joined(colors), "first": colors[0]}
    slots["run"] = ", ".join((*colors, *colors[:1]) if len(colors) > 2 else (*colors, *colors))
    text = d.say("alternating", **slots)
    if rng.random() < 0.25 and len(colors) == 2:
        cells = f"1-17/2:{n}" if way == "row" else f"{n}:1-9/2"
        return Request("count", d.say("every second", **slots), f"{colors[0]} {cells}", noun=way)
    return Request("count", text, f"{','.join(colors)} {f':{n}' if way == 'row' else n}", noun=way)


def listed(d: DrawingTalk) -> Request:
    """The first tiles of a row or column, each in its own color."""
    n, rng = d.rng.randint(2, 5), d.rng
    colors = rng.sample(sorted(d.palette), n)
    way, place = d.some("row", "column"), rng.randint(1, ROWS)
    cells = f"1-{n}:{place}" if way == "row" else f"{place}:1-{n}"
    slots = {"line": way, "n": str(place), "nth": d.nth(place), "k": d.number(n), "colors": listing(rng, colors)}
    slots["end"] = "left" if way == "row" else "top"
    return Request("count", d.say("listed", **slots), f"{','.join(colors)} {cells}", noun=way, count=n)


FIGURES: dict[Maker, int] = {
    flower: 13, _sized(1, 3, _round("ring"), "ring", "ring", "circle"): 7, _sized(1, 3, _round("flower"), "hexagon shape"): 4,
    _sized(1, 3, _rays(*_RAYS), "star"): 4, _sized(1, 3, _rays("up-left", "up-right", "down-left", "down-right"), "X"): 2,
    _sized(1, 3, _cross, "plus"): 3, _sized(2, 4, _rays("up-left", "up-right"), "V"): 2,
    _sized(1, 3, _rays("up-left", "up-right", "down"), "Y"): 1, triangle: 6, diamond: 2, letter: 5, pictured: 4,
    tulip: 3, sun: 2, snake: 3, stairs: 2, box: 7, line: 9, connected: 2, diagonal: 3, one_tile: 10, dots: 7, alternating: 5,
    listed: 3,
}  # fmt: skip
