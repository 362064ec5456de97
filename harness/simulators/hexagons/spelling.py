"""Any painting in words for rows and columns, and choices of rows and columns that make some sense."""

from __future__ import annotations

from harness.corpora.places import draw_rows
from harness.corpora.wording import listing
from harness.simulators.hexagons.program import Painting
from harness.simulators.hexagons.sketch import Sketch
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
