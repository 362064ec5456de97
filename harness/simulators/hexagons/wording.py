"""The words of drawing orders: any painting by rows and columns, choices of rows and columns, and the instruction of a step."""

from __future__ import annotations

from harness.corpora.places import draw_rows
from harness.corpora.wording import listing
from harness.simulators.hexagons.program import Painting
from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.simulators.hexagons.voice import tail
from harness.worlds.hexagons import COLUMNS, Tile


def spelled(d: Sketch, painting: Painting, plain: bool) -> tuple[str, int]:
    """An order for any painting tile by tile or range by range, and its level."""
    by_color: dict[str, list[Tile]] = {}
    for tile, color in painting.items():
        by_color.setdefault(color, []).append(tile)
    parts, level = [], 0
    columns = {tile.column for tile in painting}
    if len(columns) == 1 and len(by_color) > 1:
        part = "and color" if d.rng.random() < 0.75 else "color for"
        for color, tiles in by_color.items():
            ((what, _),), its = d.voice.groups(tiles, plain)
            parts.append(d.voice.say(part, what=what, color=color))
            level = max(level, its)
        where = d.voice.column(columns.pop())
        return d.voice.say(f"{part} in column", where=where, parts=listing(d.rng, parts)), level
    for color, tiles in by_color.items():
        groups, its = d.voice.groups(tiles, plain)
        level = max(level, its)
        if len(groups) == 1 and len(tiles) > 1:
            parts.append(d.voice.order_in(groups[0][1], groups[0][0], color))
        else:
            parts.append(d.voice.order(d.voice.spell(tiles, plain)[0], color))
    return ". ".join(parts), level


def some_columns(d: Sketch) -> tuple[int, ...]:
    """Two or more columns, mostly spaced evenly."""
    rng, kind = d.rng, d.rng.random()
    if kind < 0.25:
        return tuple(sorted(rng.sample(range(COLUMNS), rng.randint(2, 6))))
    if kind < 0.45:
        start, count = rng.choice((0, 0, rng.randrange(10))), rng.randint(2, 9)
        return tuple(range(start, start + count))
    if kind < 0.75:
        gap = rng.choice((2, 2, 3, 4, 4, 4, 5, 6))
        start = rng.randrange(gap)
        return tuple(range(start, COLUMNS, gap))[: rng.randint(2, 9)]
    return tuple(range(rng.randrange(2), COLUMNS, 2))


def some_rows(d: Sketch) -> tuple[int, ...]:
    """Rows of a column: one, some, or a range of them."""
    return draw_rows(d.rng, 0.22, 0.4, 7)


_LEADS = ("then", "now", "also", "next")
"""Words that say by themselves that an order follows another one."""


def instruction(d: Sketch, strokes: list[Stroke], last: bool) -> str:
    """The text of a step; a remark if there is nothing to paint."""
    say, rng = d.voice.say, d.rng
    if not strokes and d.chosen:
        return d.voice.finish(say("choose color", color=d.chosen))
    if not strokes:
        where = d.voice.column(rng.randrange(COLUMNS))
        return d.voice.finish(say("last remark" if last and d.step > 1 else "remark", where=where))
    texts = [_with_tail(d, stroke, alone=len(strokes) == 1) for stroke in strokes]
    text = texts[0] if len(texts) == 1 else _joined(d, *texts)
    if rng.random() < 0.12 * d.voice.wordy + 0.02 and text.split()[0] not in _LEADS:
        section = "first lead" if d.step == 1 else "last lead" if last else "lead"
        text = f"{say(section)} {text}"
    return d.voice.finish(text)


def _joined(d: Sketch, a: str, b: str) -> str:
    """Two orders as one text. Only sentences follow what is more than one sentence."""
    for _ in range(20):
        text = d.voice.say("join", a=a, b=b)
        between = text[len(a) : len(text) - len(b)]
        if between == ". " or (b.split()[0] not in _LEADS and (between.startswith(".") or ". " not in a + b)):
            return text
    return f"{a}. {b}"


def _with_tail(d: Sketch, stroke: Stroke, alone: bool) -> str:
    """The order, and sometimes how many tiles it paints or that nothing else changes."""
    voice, rng, n = d.voice, d.rng, len(stroke.painting)
    if rng.random() >= 0.3 * voice.wordy:
        return stroke.text
    kind = rng.random()
    if kind < 0.6 and stroke.color and set(stroke.painting.values()) == {stroke.color} and n > 2:
        return stroke.text + tail(voice.say("count tail", n=voice.number(n) if n < 19 else str(n), color=stroke.color))
    if kind >= 0.6 and alone:
        return stroke.text + tail(voice.say("rest tail" if kind < 0.72 else "chat tail"))
    return stroke.text
