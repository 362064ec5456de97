"""Words for places on the HEXAGONS board, counted from 1 from the top left unless stated otherwise; color frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from harness.corpora.wording import NUMBERS, ORDINALS, listing, ordinal_digits, phrase
from harness.worlds.hexagons import COLUMNS, ROWS, Tile

COLOR_SHARES = {"orange": 20, "blue": 20, "purple": 19, "green": 16, "yellow": 11, "red": 9, "black": 5}
"""The colors' shares among the release's train actions, in percent; white is left to the sample and the real corpus."""

WAYS = {
    "up": "[straight|] [up|upward]",
    "down": "[straight|] [down|downward]",
    "up-right": "[up and to the right|diagonally up to the right|up right|to the upper right]",
    "down-right": "[down and to the right|diagonally down to the right|down right|to the lower right]",
    "up-left": "[up and to the left|diagonally up to the left|up left|to the upper left]",
    "down-left": "[down and to the left|diagonally down to the left|down left|to the lower left]",
}
SIDES = {
    "up": "[directly |]above",
    "down": "[directly |]below",
    "up-right": "to the upper right of",
    "down-right": "to the lower right of",
    "up-left": "to the upper left of",
    "down-left": "to the lower left of",
}


def draw_rows(rng: Random, one: float, some: float, longest: int) -> tuple[int, ...]:
    """Rows of a column, 0-based and rising: in a share `one` of the draws a single one, up to the share `some` two or three of
    them, up to 0.9 a range of 2 to `longest`, often at an end of the column, and else every other one."""
    kind = rng.random()
    if kind < one:
        return (rng.choice((0, ROWS - 1, *range(ROWS))),)
    if kind < some:
        return tuple(sorted(rng.sample(range(ROWS), rng.randint(2, 3))))
    if kind < 0.9:
        count = rng.randint(2, longest)
        start = rng.choice((0, ROWS - count, rng.randint(0, ROWS - count)))
        return tuple(range(start, start + count))
    return tuple(range(rng.randrange(2), ROWS, 2))


class Places:
    """How one person says where tiles are: the word for a tile, digits or words, from which side columns are counted.

    All positions taken are 0-based; `rows` are rows within a column.
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.tile = rng.choices(("tile", "hexagon", "hex", "cell", "spot"), (50, 15, 14, 12, 9))[0]
        self.tiles = "hexes" if self.tile == "hex" else f"{self.tile}s"
        self.digits = rng.random() < 0.5

    def draw(self, *frames: str) -> str:
        return phrase(self.rng, frames, tile=self.tile, tiles=self.tiles)

    def count(self, n: int) -> str:
        """A number of tiles."""
        return f"{self.number(n)} {self.tile if n == 1 else self.tiles}"

    def number(self, n: int) -> str:
        return str(n) if self.digits else NUMBERS[n]

    def ordinal(self, n: int) -> str:
        return ordinal_digits(n) if self.digits else ORDINALS[n]

    def column(self, column: int) -> str:
        """A column (0-based) in words; those in the right half are sometimes counted from the right."""
        n = column + 1
        if column == 0 and self.rng.random() < 0.5:
            return self.draw("the [leftmost|left most|far left] column", "the first column [on the left|from the left|]")
        if column == COLUMNS - 1 and self.rng.random() < 0.6:
            return self.draw("the [rightmost|right most|far right|last] column", "the last column [on the right|]")
        if column >= 9 and self.rng.random() < 0.25:
            return f"the {self.ordinal(COLUMNS - column)} column from the right"
        return self.draw(
            f"the {self.ordinal(n)} column [from the left|from the left|]", f"column {self.number(n)}", f"[column|column #] {n}"
        )

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
        """Some tiles of a column, counted from the top or, near it, from the bottom."""
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
        """Two or more tiles of a column, one by one."""
        if self.rng.random() < 0.3:
            return f"{self.tiles} {listing(self.rng, [self.number(r + 1) for r in rows])}"
        return self.draw(f"the {listing(self.rng, [self.ordinal(r + 1) for r in rows])} {self.tiles}[|| from the top]")

    def nth(self, row: int) -> str:
        """One tile of a column."""
        if row == 0 and self.rng.random() < 0.7:
            return self.draw(f"the [top|topmost|top most|top] {self.tile}")
        if row == ROWS - 1 and self.rng.random() < 0.8:
            return self.draw(f"the [bottom|last|bottom most|bottom] {self.tile}")
        if row >= 6 and self.rng.random() < 0.35:
            return f"the {self.ordinal(ROWS - row)} {self.tile} from the bottom"
        nth = self.ordinal(row + 1)
        return self.draw(f"the {nth} {self.tile} [from the top|from the top|down|]", f"{self.tile} {self.number(row + 1)}")

    def row(self, row: int) -> str:
        if row in (0, ROWS - 1) and self.rng.random() < 0.7:
            return "the top row" if row == 0 else "the bottom row"
        return self.draw(f"the {self.ordinal(row + 1)} row [from the top|]", f"row {self.number(row + 1)}")

    def at(self, tile: Tile) -> str:
        """One tile by its place in its column, or by row and column."""
        if self.rng.random() < 0.15:
            return f"the {self.tile} in row {self.number(tile.row + 1)}, column {self.number(tile.column + 1)}"
        return f"{self.nth(tile.row)} [of|in] {self.column(tile.column)}".replace("[of|in]", self.rng.choice(("of", "in")))
