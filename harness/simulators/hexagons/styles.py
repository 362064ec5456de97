"""The kinds of orders that a simulated Instructor gives: each procedure has a style, which sets the mix of levels and kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from harness.simulators import attempt, impossible_if
from harness.simulators.hexagons import program as op
from harness.simulators.hexagons import relative, repeats, shapes
from harness.simulators.hexagons.program import Painting
from harness.simulators.hexagons.sketch import Sketch, Stroke
from harness.simulators.hexagons.voice import tail
from harness.worlds.hexagons import COLUMNS, ROWS, Tile

Maker = Callable[[Sketch], Stroke]
"""Makes an order. Raises Impossible if the order does not fit the drawing."""
_LEVEL_TRIES, _KIND_TRIES, _TRIES = 6, 5, 4
"""The search for an order tries this many levels, kinds of each level, and attempts at each kind."""


def in_words(make: Maker, plain: bool) -> Maker:
    """A maker of the same figure, described tile by tile (level 0) or range by range (level 1) instead of by name."""

    def made(d: Sketch) -> Stroke:
        stroke = make(d)
        impossible_if(len(stroke.painting) > (7 if plain else 16) or len({t.column for t in stroke.painting}) > 6)
        text, level = d.spelled(stroke.painting, plain)
        impossible_if(level != (0 if plain else 1))
        named = bool(stroke.noun) and d.rng.random() < 0.3
        if named:
            article = "an" if stroke.noun[0] in "aeiou" else "a"
            noun = f"{article} {stroke.noun}" if not stroke.noun.endswith("s") else stroke.noun
            text += tail(d.voice.say("look tail", noun=noun))
        return replace(stroke, kind=f"spelled {stroke.kind}", level=level, text=text, line=None, named=named)

    return made


def picture(d: Sketch, width: int) -> list[Painting]:
    """A figure of `width` columns, column by column, whose height changes evenly; it may be symmetric."""
    rng, (a, b) = d.rng, d.colors(2)
    gap = 2 if width <= COLUMNS // 2 and rng.random() < 0.25 else 1
    start, peak = rng.randrange(COLUMNS - (width - 1) * gap), rng.choice((0, (width - 1) / 2, width - 1))
    base, slope, high = rng.randint(2, 5), rng.choice((-1, 1, 1)), rng.randint(0, 4)
    hollow, hang = rng.random() < 0.5, rng.choice(("middle", "top", "bottom"))
    columns = list[Painting]()
    for k in range(width):
        height = min(ROWS - high, max(1, base + slope * round(peak - abs(k - peak))))
        top = {"middle": (ROWS - height) // 2, "top": high, "bottom": ROWS - height}[hang]
        ends = {top, top + height - 1}
        column = start + k * gap
        columns.append({Tile(row, column): a if row in ends or not hollow else b for row in range(top, top + height)})
    return columns


def planned(plan: list[Painting]) -> Maker:
    """A maker that draws the next column of a picture, or the next two."""

    def made(d: Sketch) -> Stroke:
        impossible_if(not plan or not d.free(plan[0]))
        painting = plan.pop(0)
        if plan and d.rng.random() < 0.4 and d.free(plan[0]):
            painting |= plan.pop(0)
        colors = tuple(dict.fromkeys(painting.values()))
        parts = [op.paint(op.tiles(*(tile for tile, its in painting.items() if its == color)), color) for color in colors]
        text, level = d.spelled(painting, plain=len(painting) < 6 and d.rng.random() < 0.5)
        return Stroke("picture", level, text, op.together(*parts), painting)

    return made


@dataclass(frozen=True)
class Style:
    """The style's weight among procedures, the shares of the levels in percent, and the kinds of orders it favors."""

    share: int
    levels: tuple[int, int, int, int]
    favorites: frozenset[Maker]
    longest: int = 14
    """The most steps of a procedure in this style."""

    def order(self, d: Sketch) -> Stroke | None:
        """The next order, which changes the board; None if many attempts find none."""
        for _ in range(_LEVEL_TRIES):
            level = d.rng.choices(range(4), self.levels)[0]
            makers, weights = _weighted(self, level, d.last.noun if d.last else None)
            for make in d.rng.choices(makers, weights, k=_KIND_TRIES):
                for _ in range(_TRIES):
                    if stroke := attempt(make, d):
                        return stroke
        return None


_SPELLED = (shapes.ring, shapes.line, shapes.open_shape, shapes.triangle, shapes.flower)
_KINDS: tuple[dict[Maker, int], ...] = ({
    shapes.tile: 28, shapes.tiles: 36, shapes.colors: 8, shapes.carry: 12, shapes.corner: 3, relative.lone: 9,
    **{in_words(make, plain=True): 4 for make in _SPELLED},
}, {
    shapes.cells: 70, shapes.columns: 18, shapes.row: 20, shapes.stack: 18, shapes.sequence: 14, shapes.carry: 7,
    shapes.border: 2, **{in_words(make, plain=False): 3 for make in _SPELLED},
}, {
    shapes.ring: 5, shapes.flower: 5, shapes.several: 26, shapes.tulip: 3, shapes.caterpillar: 4, shapes.bow_tie: 3,
    shapes.big_ring: 4, shapes.disc: 3, shapes.line: 16, shapes.line_runs: 6, shapes.open_shape: 6, shapes.cross: 6,
    shapes.triangle: 16, relative.middle: 9, relative.surround: 12, relative.beside: 10, relative.stem: 8,
    relative.parallel: 6, relative.longer: 12, relative.next_column: 10, relative.below: 9, relative.join: 40,
}, {
    repeats.same_columns: 22, repeats.repeat: 26, repeats.copy: 10, repeats.again_at: 22, repeats.steps_again: 20,
    repeats.parallels: 25, repeats.mirror: 16, repeats.flip: 20, repeats.turn: 6, repeats.column: 4,
    repeats.columns: 9, repeats.nth: 6, repeats.line: 6, repeats.stairs: 12, repeats.grow: 14, repeats.from_center: 4,
    repeats.parallel_stripes: 7, relative.each: 18, relative.touching: 12, relative.by_sign: 14, relative.beams: 8,
    relative.remaining: 16, relative.recolor: 2,
})  # fmt: skip
"""The kinds of orders of each level, with their weights."""

_AGAIN: tuple[Maker, ...] = (repeats.repeat, repeats.copy, repeats.mirror)
_COLUMN: tuple[Maker, ...] = (repeats.same_columns, relative.next_column)
_FOLLOW: dict[str | None, tuple[Maker, ...]] = {
    "": (*_COLUMN, relative.below),
    "tile": (relative.beside, relative.below, relative.lone, relative.join, relative.surround, repeats.grow, *_COLUMN),
    "column": _COLUMN,
    "columns": (relative.each, repeats.mirror),
    "row": (relative.by_sign, relative.each, relative.beams),
    "ring": (relative.middle, repeats.again_at, *_AGAIN),
    "rings": (repeats.mirror, relative.touching),
    "flower": (relative.surround, relative.stem, repeats.again_at, repeats.grow, *_AGAIN),
    "flowers": (repeats.mirror, relative.touching),
    "filled flower": (relative.surround, repeats.grow, relative.stem, *_AGAIN),
    "line": (relative.parallel, relative.longer, repeats.parallels, relative.surround, *_AGAIN),
    "V": (repeats.flip, *_AGAIN),
    "X": (repeats.again_at, *_AGAIN),
    "caterpillar": (repeats.same_columns, *_AGAIN),
    **dict.fromkeys(("triangle", "diamond", "arrowhead", "bow tie", "star", "big ring", "flower with a stem"), _AGAIN),
}
"""The orders that are likely to follow a figure, by its noun."""


@cache
def _weighted(style: Style, level: int, noun: str | None) -> tuple[tuple[Maker, ...], tuple[int, ...]]:
    """The kinds of a level and their weights, which are higher for the style's favorites and for likely continuations."""
    kinds, follow = _KINDS[level], _FOLLOW.get(noun, ())
    weights = (n * (4 if make in style.favorites else 1) * (5 if make in follow else 1) for make, n in kinds.items())
    return tuple(kinds), tuple(weights)


STYLES = (
    Style(28, (61, 24, 9, 6), frozenset(), 40),
    Style(20, (30, 41, 10, 19), frozenset({*_COLUMN, repeats.columns, repeats.nth, relative.by_sign})),
    Style(18, (10, 12, 48, 30), frozenset({shapes.ring, shapes.flower, shapes.several, shapes.tulip, relative.touching})),
    Style(16, (15, 12, 46, 27), frozenset({shapes.line, shapes.line_runs, shapes.open_shape, repeats.line, relative.beams})),
    Style(12, (12, 22, 24, 42), frozenset()),
)
"""In order, the styles prefer places, columns, flowers, lines, and everything."""
