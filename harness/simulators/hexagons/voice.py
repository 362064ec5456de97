"""How a simulated Instructor writes: each drawing procedure has one voice, with sentence frames from `frames/hexagons*.txt`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from harness.corpora.wording import NUMBERS, ORDINALS, listing, ordinal_digits, phrase
from harness.simulators import frames
from harness.worlds.hexagons import COLORS, COLUMNS, ROWS, Tile

_FILES = ("hexagons", "hexagons-cells", "hexagons-figures", "hexagons-patterns", "hexagons-corrections")
_COLUMN_FORMS = ("the {nth} column", "the {nth} column from the left", "column {n}", "column #{digits}")
_TILE_FORMS = ("the {nth} {tile}", "the {nth} {tile} from the top", "{tile} {n}", "the {nth} {tile} down")
_COLOR = re.compile(rf"\b(?:{'|'.join(COLORS)})\b")


class SpeakerVoice:
    """One person's habits: the word for a tile, digits or words, the side from which columns are counted. Positions are 0-based.

    `wordy` (0..1) is the tendency to add words around an order. Most orders use a few favorite frames.
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.tile = rng.choices(("tile", "hexagon", "hex", "cell", "spot"), (50, 15, 14, 12, 9))[0]
        self.tiles = "hexes" if self.tile == "hex" else f"{self.tile}s"
        self.digits = rng.random() < 0.5
        if rng.random() < 0.1:
            self.tile, self.tiles = rng.choice((("space", "spaces"), ("dot", "dots"), ("box", "boxes")))
        self.frames = frames(*_FILES)
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

    def count(self, n: int) -> str:
        return f"{self.number(n)} {self.tile if n == 1 else self.tiles}"

    def number(self, n: int) -> str:
        return str(n) if self.digits else NUMBERS[n]

    def ordinal(self, n: int) -> str:
        return ordinal_digits(n) if self.digits else ORDINALS[n]

    def column(self, column: int) -> str:
        """A column (0-based) in words, mostly in this person's usual form."""
        rng, n = self.rng, column + 1
        if rng.random() >= 0.15 and column not in (0, COLUMNS - 1):
            if column >= COLUMNS // 2 and rng.random() < self.from_right:
                return f"the {self.ordinal(COLUMNS - column)} column from the right"
            return self.column_form.format(nth=self.ordinal(n), n=self.number(n), digits=n)
        if column == 0 and rng.random() < 0.5:
            return self.draw("the [leftmost|left most|far left] column", "the first column [on the left|from the left|]")
        if column == COLUMNS - 1 and rng.random() < 0.6:
            return self.draw("the [rightmost|right most|far right|last] column", "the last column [on the right|]")
        if column >= COLUMNS // 2 and rng.random() < 0.25:
            return f"the {self.ordinal(COLUMNS - column)} column from the right"
        ordinal = f"the {self.ordinal(n)} column [from the left|from the left|]"
        return self.draw(ordinal, f"column {self.number(n)}", f"[column|column #] {n}")

    def columns(self, columns: Sequence[int]) -> str:
        first, last, count = columns[0], columns[-1], len(columns)
        if count == 1:
            return self.column(first)
        if count == COLUMNS:
            return self.draw("every column", "all [the|] columns", "each column")
        if count == COLUMNS // 2 and all(c % 2 == first % 2 for c in columns):
            parity = "[odd|odd numbered|odd-numbered]" if first == 0 else "[even|even numbered|even-numbered]"
            start = "[first|1st]" if first == 0 else "[second|2nd]"
            return self.draw(f"[all|the] {parity} columns", f"every other column[, starting| starting] with the {start}")
        if count > 2 and last - first + 1 == count:
            if first == 0 and self.rng.random() < 0.5:
                return f"the first {self.number(count)} columns"
            return self.draw(
                f"columns {self.number(first + 1)} [through|to] {self.number(last + 1)}", f"columns {first + 1}-{last + 1}"
            )
        if self.rng.random() < 0.3:
            return f"the {listing(self.rng, [self.ordinal(c + 1) for c in columns])} columns"
        return f"columns {listing(self.rng, [self.number(c + 1) for c in columns])}"

    def rows(self, rows: Sequence[int]) -> str:
        """Some tiles of a column, counted from the top or, if they are near the bottom, from there."""
        first, last, count = rows[0], rows[-1], len(rows)
        if count == 1:
            return self.nth(first)
        if tuple(rows) == tuple(range(first, ROWS, 2)) and first < 2 and self.rng.random() < 0.7:
            start = "[at the top|with the first|from the top]" if first == 0 else "with the [second|2nd]"
            return self.draw(f"every other {self.tile}[, starting| starting] {start}")
        if last - first + 1 == count:
            n = self.number(count)
            if first == 0:
                return self.draw(f"the [top|first|top] {n} {self.tiles}")
            if last == ROWS - 1 and self.rng.random() < 0.7:
                return self.draw(f"the [bottom|last|bottom] {n} {self.tiles}")
            if count > 2:
                span = f"{self.ordinal(first + 1)} [through|to] {self.ordinal(last + 1)}"
                return self.draw(
                    f"the {span} {self.tiles}[| from the top]", f"{self.tiles} {first + 1}[-| to | through ]{last + 1}"
                )
        return self.each(rows)

    def each(self, rows: Sequence[int]) -> str:
        if self.rng.random() < 0.3:
            return f"{self.tiles} {listing(self.rng, [self.number(r + 1) for r in rows])}"
        return self.draw(f"the {listing(self.rng, [self.ordinal(r + 1) for r in rows])} {self.tiles}[|| from the top]")

    def nth(self, row: int) -> str:
        """One tile of a column, mostly in this person's usual form."""
        rng, n = self.rng, row + 1
        if rng.random() >= 0.15 and row not in (0, ROWS - 1):
            if row >= ROWS // 2 and rng.random() < self.from_bottom:
                return f"the {self.ordinal(ROWS - row)} {self.tile} from the bottom"
            return self.tile_form.format(nth=self.ordinal(n), n=self.number(n), tile=self.tile)
        if row == 0 and rng.random() < 0.7:
            return self.draw("the [top|topmost|top most|top] {tile}")
        if row == ROWS - 1 and rng.random() < 0.8:
            return self.draw("the [bottom|last|bottom most|bottom] {tile}")
        if row >= 6 and rng.random() < 0.35:
            return f"the {self.ordinal(ROWS - row)} {self.tile} from the bottom"
        return self.draw(f"the {self.ordinal(n)} {{tile}} [from the top|from the top|down|]", f"{{tile}} {self.number(n)}")

    def at(self, tile: Tile) -> str:
        """One tile by its place in its column, or by row and column."""
        if self.rng.random() < 0.15:
            return f"the {self.tile} in row {self.number(tile.row + 1)}, column {self.number(tile.column + 1)}"
        return f"{self.nth(tile.row)} [of|in] {self.column(tile.column)}".replace("[of|in]", self.rng.choice(("of", "in")))

    def draw(self, *frames: str, **slots: str) -> str:
        """One of the frames with its slots filled; {tile} and {tiles} are the voice's words."""
        return phrase(self.rng, frames, tile=self.tile, tiles=self.tiles, **slots)

    def say(self, section: str, **slots: str) -> str:
        return self.draw(*self.frames[section], **slots)

    def order(self, what: str, color: str, imperative: bool = False) -> str:
        """An order to paint some tiles; an `imperative` order can follow "and"."""
        if self.stated and not imperative and self.rng.random() < 0.5:
            return self.say("stated", what=what, color=color)
        if self.rng.random() < 0.75:
            return self.draw(*self.favorites, what=what, color=color)
        return self.say("paint", what=what, color=color)

    def order_in(self, where: str, what: str, color: str) -> str:
        """An order to paint tiles of one or several columns, which are named before or after it."""
        rng = self.rng
        if rng.random() < 0.45:
            return self.order(f"{what} {rng.choice(('of', 'in'))} {where}", color)
        if rng.random() < 0.3:
            return self.say("go to columns", where=where, order=self.order(what, color, imperative=True))
        return self.say("in columns", where=where, order=self.order(what, color))

    def some(self, n: int) -> str:
        """A number of tiles to follow "the next" or "the top": "three tiles", "tile"."""
        return self.count(n) if n > 1 else self.tile

    def times(self, n: int) -> str:
        return {1: "once", 2: "twice"}.get(n) or f"{NUMBERS[n]} times"

    def noun(self, noun: str) -> str:
        """The person's word for a figure, for example "hexagon" for a tile."""
        return noun.replace("tiles", self.tiles).replace("tile", self.tile)

    def way(self, way: str) -> str:
        """A direction, as in "going ..."."""
        return self.say(f"way {way}")

    def groups(self, tiles: Sequence[Tile], plain: bool) -> tuple[list[tuple[str, str]], int]:
        """Pairs (tiles of a column, columns) in words for some tiles, and the level of abstraction of these words.

        `plain` names every tile separately, column by column (level 0); otherwise ranges, counts and lists of columns are used
        if possible (level 1).
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
        """Some tiles by rows and columns in words, and the level of these words."""
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
    """Words to append to a text, with a blank before them unless they begin with punctuation."""
    return words if words[0] in ".,;" else f" {words}"


def _regular(rows: Sequence[int]) -> bool:
    """Whether the rows are consecutive, or every other row from the first or second to the end."""
    steps = {b - a for a, b in pairwise(rows)}
    return steps == {1} or (steps == {2} and rows[0] < 2 and rows[-1] >= 8)
