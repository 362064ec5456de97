"""Requests that name parts of the board: all of it, its border, corners, rows and columns."""

from __future__ import annotations

from harness.corpora.wording import joined
from harness.simulators import impossible_if
from harness.simulators.everyday.following import cannot_make
from harness.simulators.everyday.hexagons.drawing import DrawingTalk
from harness.simulators.everyday.talk import Maker, Request, Revision
from harness.worlds.hexagons import COLUMNS, ROWS

_OTHER = {
    "left half": "right half", "top half": "bottom half", "top edge": "bottom edge", "left edge": "right edge",
    "top left corner": "top right corner", "bottom left corner": "bottom right corner", "top corners": "bottom corners",
    "left corners": "right corners", "top left quarter": "bottom right quarter", "first column": "last column",
    "first row": "last row", "upright sides": "flat sides",
}  # fmt: skip
_OTHER |= {other: one for one, other in _OTHER.items()}

_AREAS = {
    "whole": {
        "whole board": "all", "left half": "1-9", "right half": "10-18", "top half": ":1-5", "bottom half": ":6-10",
        "top left quarter": "1-9:1-5", "bottom right quarter": "10-18:6-10", "inner part": "2-17:2-9",
    },
    "border": {
        "border": "1,18+:1,10", "top edge": ":1", "bottom edge": ":10", "left edge": "1", "right edge": "18",
        "upright sides": "1,18", "flat sides": ":1,10", "thick border": "1-2,17-18+:1-2,9-10",
        "border without corners": "1,18:2-9+2-17:1,10",
    },
    "corner": {
        "corners": "1,18:1,10", "top left corner": "1:1", "top right corner": "18:1", "bottom left corner": "1:10",
        "bottom right corner": "18:10", "top corners": "1,18:1", "bottom corners": "1,18:10", "left corners": "1:1,10",
        "right corners": "18:1,10", "opposite corners": "1:1+18:10", "corner groups": "flower((1,18:1,10))",
    },
    "line": {
        "first column": "1", "last column": "18", "first row": ":1", "last row": ":10", "middle columns": "9-10",
        "middle rows": ":5-6", "odd columns": "1-17/2", "even columns": "2-18/2", "odd rows": ":1-9/2", "even rows": ":2-10/2",
    },
}  # fmt: skip
"""Parts of the board by kind: their names in the frames, and their sets as expressions of programs."""
_NOUNS = {
    "whole": "part", "border": "border", "corner": "corners", "line": "lines", "whole board": "board",
    "inner part": "inside part",
    "top edge": "edge", "bottom edge": "edge", "left edge": "edge", "right edge": "edge", "upright sides": "edges",
    "flat sides": "edges", "first column": "column", "last column": "column", "first row": "row", "last row": "row",
    "odd columns": "stripes", "even columns": "stripes", "odd rows": "stripes", "even rows": "stripes",
    "middle columns": "columns",
    "middle rows": "rows", **{f"{one} corner": "corner" for one in ("top left", "top right", "bottom left", "bottom right")},
}  # fmt: skip
"""The nouns for painted parts, by part or, failing that, by kind."""


def _area(kind: str) -> Maker:
    def make(d: DrawingTalk) -> Request:
        name, cells = d.rng.choice(list(_AREAS[kind].items()))
        color = d.color()
        variants: tuple[Revision, ...] = ()
        if other := _OTHER.get(name):
            slots, program = {"other": d.say(f"the {other}")}, f"{color} {_AREAS[kind][other]}"
            variants = Revision("other side", program, slots), Revision("=also other", program, slots, "repeat")
        if d.rng.random() < 0.4 and f"a {name}" in d.frames:
            text = d.ask("draw", d.say(f"a {name}", color=color), "")
        else:
            text = d.say("paint", what=d.say(f"the {name}"), color=color)
        return Request(kind, text, f"{color} {cells}", noun=_NOUNS.get(name, _NOUNS[kind]), variants=variants)

    return make


def white_area(d: DrawingTalk) -> Request:
    impossible_if(not d.colors)
    kind = d.rng.choice(list(_AREAS))
    name, cells = d.rng.choice(list(_AREAS[kind].items()))
    impossible_if(name == "whole board")
    return Request("remove", d.say("erase", what=d.say(f"the {name}")), f"remove {cells}")


def background(d: DrawingTalk) -> Request:
    impossible_if(not d.colors or len(d.colors) > 150)
    color = d.color()
    section = "background" if d.rng.random() < 0.6 else "rest"
    return Request("whole", d.say(section, color=color), f"{color} blank", noun="background")


def stripes(d: DrawingTalk) -> Request:
    """Rows or columns in two or three alternating colors."""
    way = d.some("column", "row")
    words = d.say(f"stripes {way}")
    colors = d.shades(d.color(), d.some(1, 1, 2))
    text = d.say("stripes", stripes=words, colors=joined(colors), first=colors[0], lines=f"{way}s")
    return Request("whole", text, f"{','.join(colors)} by {way} all", noun="stripes")


def checkerboard(d: DrawingTalk) -> Request:
    one = d.color()
    two = d.color(one)
    program = f"{one} 1-17/2:1-9/2+2-18/2:2-10/2"
    if d.rng.random() < 0.25:
        two = "white"
    else:
        program = f"{program}; {two} 1-17/2:2-10/2+2-18/2:1-9/2"
    return Request("whole", d.say("checkerboard", colors=f"{one} and {two}"), program, noun="checkerboard")


def halves(d: DrawingTalk) -> Request:
    way = d.some("left", "top")
    one = d.color()
    two = d.color(one)
    a, b = ("1-9", "10-18") if way == "left" else (":1-5", ":6-10")
    return Request("whole", d.say(f"halves {way}", color=one, other=two), f"{one} {a}; {two} {b}")


# --- rows and columns by number ---


def _lined(d: DrawingTalk) -> tuple[str, int, str, str]:
    """The word "row" or "column", how many the board has, the other word, and the prefix of its number in a program."""
    return ("row", ROWS, "column", ":") if d.rng.random() < 0.5 else ("column", COLUMNS, "row", "")


def one_line(d: DrawingTalk) -> Request:
    way, count, other, mark = _lined(d)
    n, color = d.rng.randint(1, count), d.color()
    back, end = count + 1 - n, "bottom" if way == "row" else "right"
    if back < n and back < 6 and d.rng.random() < 0.3:
        what = d.say("line from end", line=way, nth=d.nth(back), end=end)
    else:
        what = d.say("line by number", line=way, nth=d.nth(n), n=str(n))
    near = [m for m in (n - 1, n + 1) if 0 < m <= count]
    variants = [Revision("meant number", f"{color} {mark}{m}", {"line": way, "n": str(m)}) for m in near]
    if n <= ROWS:
        turned = f"{color} {'' if mark else ':'}{n}"
        variants.append(Revision("meant line", turned, {"line": other, "other": way, "n": str(n)}))
    if n not in (back, back + 1, back - 1):
        variants.append(Revision("meant end", f"{color} {mark}{back}", {"end": end, "line": way}))
    if n + 2 <= count:
        variants.append(Revision("=also line", f"{color} {mark}{n + 2}", {"line": way, "n": str(n + 2)}, "line"))
    text = d.say("paint", what=what, color=color)
    if d.rng.random() < 0.25:
        text = d.ask("draw", d.say("a line at number", color=color, line=way, nth=d.nth(n), n=str(n)), "")
    return Request("line", text, f"{color} {mark}{n}", noun=way, variants=variants)


def some_lines(d: DrawingTalk) -> Request:
    way, count, _, mark = _lined(d)
    color, rng = d.color(), d.rng
    kind = rng.choice(("list", "first", "last", "range", "every"))
    if kind == "list":
        numbers = sorted(rng.sample(range(1, count + 1), rng.randint(2, 3)))
        what, cells = d.say("lines listed", lines=f"{way}s", list=joined([*map(str, numbers)])), ",".join(map(str, numbers))
    elif kind == "range":
        a = rng.randint(1, count - 3)
        b = a + rng.randint(2, 3)
        what, cells = d.say("lines range", lines=f"{way}s", a=str(a), b=str(b)), f"{a}-{b}"
    elif kind == "every":
        step, start = rng.randint(2, 4), rng.randint(1, 2)
        nth = d.nth(step) if step > 2 else d.some("second", "other", "2nd")
        what = d.say("lines every", line=way, nth=nth, first=d.nth(start))
        cells = f"{start}-{count}/{step}"
    else:
        n = rng.randint(2, 4)
        ends = ("top", "bottom") if way == "row" else ("left", "right")
        what = d.say(f"lines {kind}", lines=f"{way}s", n=d.number(n), end=ends[kind == "last"])
        cells = f"1-{n}" if kind == "first" else f"{count + 1 - n}-{count}"
    return Request("line", d.say("paint", what=what, color=color), f"{color} {mark}{cells}", noun=f"{way}s")


def part_of_line(d: DrawingTalk) -> Request:
    """The first or last few tiles of a row or column, or a range of its tiles."""
    way, count, _, mark = _lined(d)
    length = COLUMNS if way == "row" else ROWS
    line, color, rng = d.rng.randint(1, count), d.color(), d.rng
    kind = rng.choice(("first", "last", "from to"))
    n = rng.randint(2, min(6, length - 3))
    a = {"first": 1, "last": length + 1 - n}.get(kind) or rng.randint(2, length - n)
    slots = {"line": way, "number": str(line), "nth": d.nth(line), "a": str(a), "b": str(a + n - 1), "n": d.number(n)}
    slots["end"] = ("left" if kind == "first" else "right") if way == "row" else ("top" if kind == "first" else "bottom")
    span = f"{a}-{a + n - 1}"
    cells = f"{span}:{line}" if mark else f"{line}:{span}"
    text = d.say("paint", what=d.say(f"part {kind}", **slots), color=color)
    return Request("line", text, f"{color} {cells}", noun="line", count=n)


def between(d: DrawingTalk) -> Request:
    way, count, _, mark = _lined(d)
    a = d.rng.randint(1, count - 4)
    b, color = d.rng.randint(a + 3, min(count, a + 8)), d.color()
    slots = {"line": way, "lines": f"{way}s", "a": str(a), "b": str(b), "first": d.nth(a), "second": d.nth(b)}
    return Request("relation", d.say("between", color=color, **slots), f"{color} {mark}{a + 1}-{b - 1}", noun=f"{way}s")


def crossing(d: DrawingTalk) -> Request:
    column, row, color = d.rng.randint(3, 16), d.rng.randint(2, 9), d.color()
    if d.rng.random() < 0.5:
        text = d.say("cross", n=str(column), m=str(row), color=color)
        return Request("line", text, f"{color} {column}+:{row}", noun="cross")
    other = d.color(color)
    text = d.say("row and column", n=str(column), m=str(row), color=color, other=other)
    return Request("line", text, f"{color} {column}; {other} :{row}")


def off_the_board(d: DrawingTalk) -> Request:
    row, column = d.rng.randint(ROWS + 1, 40), d.rng.randint(COLUMNS + 1, 60)
    slots = {"n": str(row), "m": str(column), "nth": d.nth(row), "mth": d.nth(column)}
    return Request("cannot", d.say("off", color=d.color(), **slots))


AREAS: dict[Maker, int] = {
    _area("whole"): 6, _area("border"): 13, _area("corner"): 14, _area("line"): 5, stripes: 3, checkerboard: 2, halves: 2,
    one_line: 10, some_lines: 7, part_of_line: 4, between: 4, crossing: 2,
}  # fmt: skip
CANNOT: dict[Maker, int] = {off_the_board: 2, cannot_make: 1}
AREAS_LATER: dict[Maker, int] = {white_area: 2, background: 4}
