"""How a simulated Instructor writes: one voice a drawing procedure, its sentence frames from `frames/hexagons*.txt`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from harness.corpora.places import Places
from harness.corpora.wording import NUMBERS, listing, phrase
from harness.simulators import frames
from harness.worlds.hexagons import COLORS, COLUMNS, ROWS, Tile

_FILES = ("hexagons", "hexagons-cells", "hexagons-figures", "hexagons-patterns", "hexagons-corrections")
_COLUMN_FORMS = ("the {nth} column", "the {nth} column from the left", "column {n}", "column #{digits}")
_TILE_FORMS = ("the {nth} {tile}", "the {nth} {tile} from the top", "{tile} {n}", "the {nth} {tile} down")
_COLOR = re.compile(rf"\b(?:{'|'.join(COLORS)})\b")


class SpeakerVoice(Places):
    """One person's habits.

    `wordy` (0..1) is how often something is said around an order. Orders are mostly worded in a few favorite ways.
    """

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        if rng.random() < 0.1:
            self.tile, self.tiles = rng.choice((("space", "spaces"), ("dot", "dots"), ("box", "boxes")))
        self.frames = {section: lines for name in _FILES for section, lines in frames(name).items()}
        self.wordy = rng.betavariate(1.2, 3.0)
        self.favorites = rng.sample(self.frames["paint"], 3)
        self.stated = rng.random() < 0.12
        self.capital = rng.random() < 0.95
        self.stop = rng.random() < 0.91
        self.shouts = rng.random() < 0.015
        self.british = rng.random() < 0.04
        self.vertical = rng.random() < 0.02
        self.column_form = rng.choices(_COLUMN_FORMS, (45, 25, 25, 5))[0]
        self.tile_form = rng.choices(_TILE_FORMS, (45, 25, 20, 10))[0]
        self.from_right, self.from_bottom = rng.choice((0.0, 0.3, 0.7)), rng.choice((0.0, 0.3, 0.7))

    def column(self, column: int) -> str:
        """A column, mostly in this person's habitual way."""
        if self.rng.random() < 0.15 or column in (0, COLUMNS - 1):
            return super().column(column)
        if column >= COLUMNS // 2 and self.rng.random() < self.from_right:
            return f"the {self.ordinal(COLUMNS - column)} column from the right"
        return self.column_form.format(nth=self.ordinal(column + 1), n=self.number(column + 1), digits=column + 1)

    def nth(self, row: int) -> str:
        """One tile of a column, mostly in this person's habitual way."""
        if self.rng.random() < 0.15 or row in (0, ROWS - 1):
            return super().nth(row)
        if row >= ROWS // 2 and self.rng.random() < self.from_bottom:
            return f"the {self.ordinal(ROWS - row)} {self.tile} from the bottom"
        return self.tile_form.format(nth=self.ordinal(row + 1), n=self.number(row + 1), tile=self.tile)

    def say(self, section: str, **slots: str) -> str:
        """A frame of a section with its slots filled; {tile} and {tiles} are the voice's words."""
        return phrase(self.rng, self.frames[section], tile=self.tile, tiles=self.tiles, **slots)

    def order(self, what: str, color: str, imperative: bool = False) -> str:
        """An order to paint some tiles; `imperative` is one that can follow "and"."""
        if self.stated and not imperative and self.rng.random() < 0.5:
            return self.say("stated", what=what, color=color)
        if self.rng.random() < 0.75:
            return phrase(self.rng, self.favorites, tile=self.tile, tiles=self.tiles, what=what, color=color)
        return self.say("paint", what=what, color=color)

    def order_in(self, where: str, what: str, color: str) -> str:
        """The same for tiles of one or several columns; the columns come before or after the order."""
        rng = self.rng
        if rng.random() < 0.45:
            return self.order(f"{what} {rng.choice(('of', 'in'))} {where}", color)
        if rng.random() < 0.3:
            return self.say("go to columns", where=where, order=self.order(what, color, imperative=True))
        return self.say("in columns", where=where, order=self.order(what, color))

    def some(self, n: int) -> str:
        """A number of tiles after "the next" or "the top": "three tiles", "tile"."""
        return self.count(n) if n > 1 else self.tile

    def times(self, n: int) -> str:
        """once, twice, three times, ..."""
        return {1: "once", 2: "twice"}.get(n) or f"{NUMBERS[n]} times"

    def noun(self, noun: str) -> str:
        """The person's word for a figure: for example, "hexagon" for a tile."""
        return noun.replace("tiles", self.tiles).replace("tile", self.tile)

    def way(self, way: str) -> str:
        """A direction, as in "going ..."."""
        return self.say(f"way {way}")

    def side(self, way: str) -> str:
        """Where the next tile in a direction is, as in "the tile ... the red one"."""
        return self.say(f"side {way}")

    def groups(self, tiles: Sequence[Tile], plain: bool) -> tuple[list[tuple[str, str]], int]:
        """Some tiles as (tiles of a column, columns) in words, and the level of abstraction of these words.

        `plain` names every tile by its own place, column by column (level 0); otherwise ranges, counts and lists of columns
        are used where they can be (level 1).
        """
        rows: dict[int, list[int]] = {}
        for tile in sorted(tiles, key=lambda tile: (tile.column, tile.row)):
            rows.setdefault(tile.column, []).append(tile.row)
        columns: dict[tuple[int, ...], list[int]] = {}
        for column, its in rows.items():
            columns.setdefault((*its, -1 - column) if plain else tuple(its), []).append(column)
        words, level = [], 0
        for key, where in columns.items():
            span = key[:-1] if plain else key
            in_range = len(span) > 1 and not plain and _regular(span)
            what = self.nth(span[0]) if len(span) == 1 else self.rows(span) if in_range else self.each(span)
            words.append((what, self.columns(where)))
            level = max(level, int(in_range or len(where) > 1))
        return words, level

    def spell(self, tiles: Sequence[Tile], plain: bool) -> tuple[str, int]:
        """Some tiles by rows and columns in words, and their level."""
        words, level = self.groups(tiles, plain)
        if len(tiles) == 1:
            return self.at(tiles[0]), 0
        of = self.rng.choice(("of", "in"))
        return listing(self.rng, [f"{what} {of} {where}" for what, where in words]), level

    def finish(self, text: str) -> str:
        """The whole instruction as this person writes it."""
        if self.capital:
            text = re.sub(r"(^|[.!?] )([a-z])", lambda m: m[1] + m[2].upper(), text)
        if self.stop and not text.endswith((".", "!", "?")):
            text = f"{text}."
        if self.vertical:
            text = re.sub(r"\b(?<!vertical )column(s?)\b", r"vertical row\1", text)
        if self.shouts:
            text = _COLOR.sub(lambda m: m[0].upper(), text)
        return text.replace("olor", "olour") if self.british else text


def tail(words: str) -> str:
    """Words as they follow a text."""
    return words if words[0] in ".,;" else f" {words}"


def _regular(rows: Sequence[int]) -> bool:
    """Whether rows follow each other one by one or, from the first or second to the end, two by two."""
    steps = {b - a for a, b in pairwise(rows)}
    return steps == {1} or (steps == {2} and rows[0] < 2 and rows[-1] >= 8)
