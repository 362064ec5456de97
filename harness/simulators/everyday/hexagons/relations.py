"""Requests about existing figures: drawing beside or around them, repeating, mirroring, moving and enlarging them."""

from __future__ import annotations

from harness.simulators import impossible_if, needed
from harness.simulators.everyday.hexagons.drawing import DrawingTalk
from harness.simulators.everyday.talk import Maker, NamedObject, Request, Revision, copy_of, moved_by
from harness.worlds.hexagons import COLUMNS, ROWS

_FIGURES = (
    "flower", "ring", "circle", "hexagon", "blob", "disc", "star", "snowflake", "X", "plus", "V", "Y", "triangle", "diamond",
    "rhombus",
    "letter", "house", "heart", "arrow", "smiley", "ladder", "fish", "key", "cup", "chair", "mushroom", "tulip", "tree",
    "lollipop",
    "sun", "snake", "worm", "caterpillar", "zigzag", "staircase", "square", "rectangle", "line", "dot",
)  # fmt: skip
_AROUND = (
    "flower", "hexagon", "blob", "disc", "dot", "square", "rectangle", "triangle", "ring", "circle", "letter", "star", "heart",
    "diamond",
)  # fmt: skip


def _bounds(thing: NamedObject) -> tuple[int, int, int, int]:
    """The first and last column, and the first and last row, counted from 1."""
    rows, columns = [cell[0] + 1 for cell in thing.cells], [cell[1] + 1 for cell in thing.cells]
    return min(columns), max(columns), min(rows), max(rows)


def beside(d: DrawingTalk) -> Request:
    """One tile above or below a figure, or to the left or right of a single tile."""
    thing = d.pick(*_FIGURES)
    color, cells = d.color(), d.where(thing)
    variants: tuple[Revision, ...]
    named = way = d.some("above", "below", "above", "below", "left", "right", "next to")
    left, right, top, _ = _bounds(thing)
    if way == "next to":
        way = d.some("above", "below")
    if way in ("left", "right"):
        impossible_if(len(thing.cells) > 1)
        impossible_if(not 1 < left < COLUMNS)
        program, variants = f"{color} {left + (1 if way == 'right' else -1)}:{top}", ()
    else:
        middle = cells if left == right else f"{cells}&columns(middle({cells}))"
        other = "below" if way == "above" else "above"
        program = f"{color} {way}({middle},1)"
        variants = (Revision("other side of", f"{color} {other}({middle},1)", {"where": other}),)
    text = d.say("beside", what=d.say("dot", color=color), side=d.say(f"side {named}"), it=d.ref(thing))
    return Request("relation", text, program, noun="dot", count=1, fresh=True, variants=variants)


def around(d: DrawingTalk) -> Request:
    thing = d.pick(*_AROUND)
    left, right, top, bottom = _bounds(thing)
    impossible_if(left < 3 or right > COLUMNS - 2 or top < 3 or bottom > ROWS - 2)
    color, it = d.color(), d.ref(thing)
    cells = f"ring({d.where(thing)})"
    if thing.noun in ("ring", "circle"):
        cells = f"near({d.where(thing)}) - inside({d.where(thing)})"
    text = d.say("around", color=color, it=it)
    return Request("relation", text, f"{color} {cells}", noun="ring", fresh=True)


def inside(d: DrawingTalk) -> Request:
    thing = d.pick("ring", "circle", "flower", "square", "rectangle", "letter", "border")
    color = d.color()
    text = d.say("inside", color=color, it=d.ref(thing))
    return Request("relation", text, f"{color} inside({d.where(thing)})", noun="part", fresh=True)


def ends(d: DrawingTalk) -> Request:
    thing = d.pick("line")
    left, right, top, bottom = _bounds(thing)
    impossible_if(left != right or top == 1 or bottom == ROWS)
    other, cells = d.color(), d.where(thing)
    color = thing.colors[0] if d.rng.random() < 0.3 else other
    text = d.say("ends", color=color, it=d.ref(thing))
    subject = thing if color in thing.colors else None
    program = f"{color} above({cells},1)+below({cells},1)"
    return Request("relation", text, program, noun="ends", subject=subject, count=2, fresh=True)


def next_line(d: DrawingTalk) -> Request:
    """The row above or below the last one, or the column to its left or right."""
    thing = needed(d.last)
    impossible_if(thing.noun not in ("row", "column", "edge") or not thing.cells)
    line, mark, place, count, sides = _line(thing)
    k = d.some(-1, 1, 1)
    impossible_if(not 1 <= place + k <= count)
    color = d.color()
    text = d.say("next line", line=line, side=d.say(f"line {sides[k > 0]}"), color=color)
    return Request("relation", text, f"{color} {mark}{place + k}", noun=line)


def _line(thing: NamedObject) -> tuple[str, str, int, int, tuple[str, str]]:
    """Which of row and column a thing is, the prefix of its number in a program, its number, the board's count of them, and the
    names of its two sides. Raises Impossible for any other thing."""
    left, right, top, bottom = _bounds(thing)
    impossible_if(top != bottom and left != right)
    return ("row", ":", top, ROWS, ("above", "below")) if top == bottom else ("column", "", left, COLUMNS, ("left", "right"))


def beyond_line(d: DrawingTalk) -> Request:
    """Everything above or below a row, or to the left or right of a column."""
    thing, color = d.pick("row", "column"), d.color()
    _, mark, place, count, sides = _line(thing)
    side, first, last = (sides[1], place + 1, count) if d.rng.random() < 0.5 else (sides[0], 1, place - 1)
    impossible_if(first >= last)
    text = d.say("beyond", color=color, side=d.say(f"line {side}"), it=d.ref(thing))
    return Request("relation", text, f"{color} {mark}{first}-{last}", noun="part")


def joined(d: DrawingTalk) -> Request:
    dots = [thing for thing in d.things if thing.noun == "dot" and len(thing.cells) == 1 and d.is_distinct(thing)]
    impossible_if(len(dots) < 2)
    (a, b), color = d.rng.sample(dots, 2), d.color()
    text = d.say("join two", color=color, it=d.named(a), that=d.named(b), noun="dot")
    ends = f"is({a.colors[0]}),is({b.colors[0]})"
    return Request("relation", text, f"{color} line({ends}) - is({a.colors[0]},{b.colors[0]})", noun="line", fresh=True)


def stem(d: DrawingTalk) -> Request:
    thing = d.pick("flower", "heart")
    n, color, cells = d.rng.randint(2, 4), d.some("green", "green", d.color()), d.where(thing)
    impossible_if(color in thing.colors)
    text = d.say("stem", color=color, n=d.number(n), it=d.ref(thing))
    return Request("relation", text, f"{color} below({cells}&columns(middle({cells})),{n})", noun="stem", count=n, fresh=True)


def center_of(d: DrawingTalk) -> Request:
    thing = d.pick("flower", "hexagon", "blob", "disc", "star", "snowflake", "X", "plus")
    impossible_if(len(thing.cells) % 2 == 0)
    if d.rng.random() < 0.25:
        return Request("remove", d.say("remove center", it=d.ref(thing)), f"remove middle({d.where(thing)})", subject=thing)
    color = d.color()
    program = f"{color} middle({d.where(thing)})"
    return Request("recolor", d.say("center", color=color, it=d.ref(thing)), program, subject=thing, count=1)


def part_of(d: DrawingTalk) -> Request:
    """The single topmost, lowest, leftmost or rightmost tile of a figure."""
    thing = d.pick("line", "column", "row", "triangle", "square", "rectangle", "letter")
    impossible_if(len(thing.cells) < 3 or len(thing.colors) != 1)
    way = d.some("top", "bottom", "leftmost", "rightmost")
    left, right, top, bottom = _bounds(thing)
    ends = {"top": top, "bottom": bottom}.get(way), {"leftmost": left, "rightmost": right}.get(way)
    hit = sum(cell[0] + 1 == ends[0] or cell[1] + 1 == ends[1] for cell in thing.cells)
    impossible_if(hit != 1)
    order = {"top": "down", "bottom": "up"}.get(way)
    cells = f"first(sort({d.where(thing)},{order}),1)" if order else f"{way}({d.where(thing)},1)"
    color = "remove" if d.rng.random() < 0.4 else d.color()
    kind, section = ("remove", "remove end") if color == "remove" else ("recolor", "end color")
    return Request(kind, d.say(section, way=way, it=d.ref(thing), color=color), f"{color} {cells}", subject=thing, count=1)


def every_second_of(d: DrawingTalk) -> Request:
    thing = d.pick_plain("row", "column", "line", "edge")
    impossible_if(len(thing.cells) < 4)
    _line(thing)
    color = d.color()
    first, every = d.some(("first", "odd"), ("second", "even"))
    text = d.say("every second of", color=color, it=d.named(thing), first=first)
    return Request("count", text, f"{color} {every}(is({thing.colors[0]}))", subject=thing)


# --- once more ---


def copied(d: DrawingTalk) -> Request:
    thing = d.pick(*_FIGURES)
    left, right, top, bottom = _bounds(thing)
    way = d.some("right", "right", "left", "down", "up")
    width, height = right - left + 1, bottom - top + 1
    k = width + width % 2 + d.some(0, 0, 2) if way in ("right", "left") else height + d.some(0, 1)
    impossible_if(not _moved_inside((left, right, top, bottom), way, k))
    cells = d.where(thing)
    color = d.color() if d.rng.random() < 0.35 and len(thing.colors) == 1 else ""
    slots = {"it": d.ref(thing), "k": d.number(k), "unit": _unit(way, k), "way": d.say(f"to {way}"), "noun": thing.noun}
    text = d.say("copy in color" if color else "copy", color=color, **slots)
    return copy_of(thing, text, cells, f"{way} {k}", color)


def _unit(way: str, k: int) -> str:
    return ("column" if way in ("left", "right") else "row") + ("s" if k > 1 else "")


def _moved_inside(bounds: tuple[int, int, int, int], way: str, k: int) -> bool:
    left, right, top, bottom = bounds
    return {"right": right + k <= COLUMNS, "left": left - k >= 1, "down": bottom + k <= ROWS, "up": top - k >= 1}[way]


def again(d: DrawingTalk) -> Request:
    thing = needed(d.last)
    impossible_if(thing.noun not in _FIGURES or not d.is_distinct(thing) or not d.orders[-1].noun)
    bounds = _bounds(thing)
    gap = bounds[1] - bounds[0] + 2
    gap += gap % 2
    moves = ("right", gap), ("left", gap), ("down", bounds[3] - bounds[2] + 2)
    ways = [move for move in moves if _moved_inside(bounds, *move)]
    impossible_if(not ways)
    (way, k), cells = d.rng.choice(ways), d.where(thing)
    color = d.color() if d.rng.random() < 0.5 and len(thing.colors) == 1 else ""
    text = d.say("again with color" if color else "again", color=color, noun=thing.noun)
    return copy_of(thing, text, cells, f"{way} {k}", color, bare=not color)


def to_the_edge(d: DrawingTalk) -> Request:
    """Copies at equal distances up to the edge of the board."""
    thing = needed(d.last)
    nouns = "flower", "ring", "dot", "line", "column", "triangle", "diamond"
    impossible_if(thing.noun not in nouns or not d.is_distinct(thing))
    left, right, _, _ = _bounds(thing)
    width = right - left + 1
    k = width + d.some(1, 2) if thing.noun == "column" else width + 1 + (width + 1) % 2
    way, room = ("right", COLUMNS - right) if right < COLUMNS - left else ("left", left - 1)
    impossible_if(room < 2 * k or d.rng.random() < 0.3)
    slots = {"it": d.ref(thing), "k": d.number(k), "way": d.say(f"to {way}"), "noun": thing.noun, "side": way}
    n = room // k
    if thing.noun == "column":
        span = f"{left + k}-{COLUMNS}/{k}" if way == "right" else f"{left - n * k}-{left - k}/{k}"
        impossible_if(len(thing.colors) > 1)
        return Request("repeat", d.say("to the edge", **slots), f"{thing.colors[0]} {span}")
    program = f"copy repeat(shift({d.where(thing)},{way} {k}),{way} {k},{n})"
    return Request("repeat", d.say("to the edge", **slots), program, count=n * len(thing.cells), fresh=True)


def also_line(d: DrawingTalk) -> Request:
    """The last request again for another row or column."""
    thing = needed(d.last)
    impossible_if(thing.noun not in ("row", "column") or len(thing.colors) != 1)
    other = d.some("row", "column")
    n, color = d.rng.randint(1, ROWS), thing.colors[0]
    new = d.color() if d.rng.random() < 0.3 else color
    section = "also line in color" if new != color else "also the line"
    text = d.say(section, line=other, n=str(n), nth=d.nth(n), color=new)
    return Request("repeat", text, f"{new} {':' if other == 'row' else ''}{n}", noun=other if new != color else "")


# --- mirrored, moved, larger ---


def flipped(d: DrawingTalk) -> Request:
    impossible_if(not 0 < len(d.colors) < 60)
    way, axis = d.some(("left", "9-10"), ("upside", ":5-6"))
    shades = sorted(set(d.colors.values()))
    saved = "; ".join(f"{color}s=is({color})" for color in shades)
    placed = "; ".join(f"{color} reflect({color}s,{axis})" for color in shades)
    return Request("mirror", d.say(f"flip {way}"), f"{saved}; remove painted; {placed}")


def mirrored(d: DrawingTalk) -> Request:
    """The mirror image of a thing on the other half of the board; the thing itself stays."""
    thing = d.pick()
    left, right, top, bottom = _bounds(thing)
    sideways = right <= COLUMNS // 2 or left > COLUMNS // 2
    upright = bottom <= 5 or top > 5
    if sideways and (d.rng.random() < 0.6 or not upright):
        other, axis = ("right" if right <= COLUMNS // 2 else "left"), "9-10"
    else:
        impossible_if(not upright)
        other, axis = ("bottom" if bottom <= 5 else "top"), ":5-6"
    cells = d.where(thing)
    text = d.say("mirror", it=d.ref(thing), other=other)
    return Request("mirror", text, f"copy reflect({cells},{axis})", noun=thing.noun, count=len(thing.cells), fresh=True)


def turned(d: DrawingTalk) -> Request:
    thing = d.pick_plain("line", "V", "Y", "triangle")
    cells, turns = d.where(thing), 3 if thing.noun in ("V", "Y") else 1
    text = d.say("turn" if turns == 1 else "turn upside", it=d.ref(thing))
    program = f"s={cells}; m=middle(s); remove s; {thing.colors[0]} rotate(s,{turns},m)"
    return Request("mirror", text, program, subject=thing)


def moved(d: DrawingTalk) -> Request:
    thing, way = d.pick_plain(*_FIGURES), d.some("left", "right", "up", "down")
    k = d.some(2, 2, 4) if way in ("left", "right") else d.some(1, 1, 2, 3)
    impossible_if(not _moved_inside(_bounds(thing), way, k))
    text = d.say("move", it=d.ref(thing), way=d.say(f"to {way}"), k=d.number(k), unit=_unit(way, k))
    return moved_by(d, thing, text, f"{way} {k}")


def grown(d: DrawingTalk) -> Request:
    """A figure larger by one tile all around, or a longer line."""
    thing = d.pick("hexagon", "blob", "disc", "flower", "dot", "line")
    impossible_if(len(thing.colors) != 1 or (thing.noun == "flower" and len(thing.cells) != 7))
    left, right, top, bottom = _bounds(thing)
    color, cells = thing.colors[0], d.where(thing)
    if thing.noun == "line":
        n = len(thing.cells)
        impossible_if(left != right or n != bottom - top + 1)
        k, section = (n, "twice as long") if d.rng.random() < 0.5 else (d.rng.randint(1, 3), "longer by")
        way = "below" if bottom + k <= ROWS else "above"
        text = d.say(section, it=d.ref(thing), n=d.number(k))
        return Request("size", text, f"{color} {way}({cells},{k})", subject=thing, count=k, fresh=True)
    impossible_if(left == 1 or top == 1 or right == COLUMNS or bottom == ROWS)
    return Request("size", d.say("grow", it=d.ref(thing)), f"{color} near({cells})", subject=thing, fresh=True)


RELATIONS: dict[Maker, int] = {
    beside: 26, around: 22, inside: 22, ends: 12, next_line: 22, beyond_line: 10, joined: 80, stem: 10, center_of: 14,
    part_of: 8,
    every_second_of: 10, copied: 22, again: 20, to_the_edge: 16, also_line: 14, flipped: 6, mirrored: 12, turned: 10, moved: 16,
    grown: 12,
}  # fmt: skip
