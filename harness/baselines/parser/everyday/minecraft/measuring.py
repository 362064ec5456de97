"""Reads measures token by token: sizes, changes of size, and distances."""

from __future__ import annotations

from harness.baselines.parser.everyday.minecraft.meaning import Growth, Thing
from harness.baselines.parser.everyday.minecraft.words import END, BuildingToken

_CHANGES = {
    "higher": ("high", 1),
    "lower": ("high", -1),
    "longer": ("long", 1),
    "wider": ("wide", 1),
    "narrower": ("wide", -1),
    "deeper": ("deep", 1),
    "fewer": ("", -1),
}
_OPENINGS = frozenset({"hole", "holes", "opening", "door", "doors", "window", "windows"})
"""Words for openings, which are not distances."""
_UNITS = frozenset({"block", "square", "stairs", "row", "layer", "hole", "tower"})
"""Nouns that may be units: 3 blocks, 2 spaces, 4 steps."""


class Measures:
    """Reads measures from the current token on; a method does not move if its measure does not begin there."""

    def __init__(self, tokens: list[BuildingToken]) -> None:
        self._tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> BuildingToken:
        place = self.at + ahead
        return self._tokens[place] if place < len(self._tokens) else END

    def take(self) -> BuildingToken:
        token = self.peek()
        self.at += 1
        return token

    def refers(self, ahead: int = 0) -> bool:
        """Whether the token is `the`, `a`, `it` or the like."""
        return self.peek(ahead).kind in {"article", "it"}

    def accept(self, kind: str, *meanings: str) -> BuildingToken | None:
        token = self.peek()
        if token.kind != kind or (meanings and token.meaning not in meanings):
            return None
        return self.take()

    def skip(self, *kinds: str) -> None:
        while self.peek().kind in (kinds or ("skip", "common")):
            self.at += 1

    # --- sizes ---

    def sized(self, thing: Thing) -> bool:
        """`3 high`, `3 blocks long`, `a height of 3`, `of height 3`, `3 by 4`; adds it to the thing."""
        number, after = self.peek(), self.peek(1)
        if number.kind == "number" and after.text == "by" and self.peek(2).kind == "number":
            thing.by = [number.number]
            self.at += 1
            while self.peek().text == "by" and self.peek(1).kind == "number":
                thing.by.append(self.peek(1).number)
                self.at += 2
            unit = self.peek().meaning == "block" and self.peek().text in {"block", "blocks", "bricks", "cubes"}
            self.at += unit and self.peek(1).kind != "thing"
            return True
        if number.kind == "number":
            unit = after.meaning in _UNITS and after.kind in {"thing", "part"}
            ahead = 2 if unit or after.kind in {"unknown", "common"} else 1
            while self.peek(ahead).kind == "skip":
                ahead += 1
            dim = self.peek(ahead)
            if dim.kind == "dim":
                thing.sizes[dim.meaning] = number.number
                self.at += ahead + 1
                return True
        if number.text == "of" and after.kind == "dim" and self.peek(2).kind == "number":
            thing.sizes[after.meaning] = self.peek(2).number
            self.at += 3
            return True
        if number.kind == "dim":
            ahead = 2 if after.text in {"of", "is", "should be"} else 1
            value = self.peek(ahead)
            if value.kind == "number" and (ahead == 2 or self.peek(2).kind in {"link", "end"}):
                thing.sizes[number.meaning] = value.number
                self.at += ahead + 1
                return True
        return False

    # --- changes of size ---

    def growth(self) -> Growth | None:
        """`one block higher`, `twice as long`, `half as tall`, `bigger`, `by 2`."""
        start = self.at
        if self.accept("times"):
            return self._times(2.0)
        opening, after = self.peek(), self.peek(1)
        half_the = after.text == "the" and self.peek(2).kind in {"dim", "unknown"}
        if opening.text == "half" and (after.kind in {"as", "dim"} or half_the):
            self.at += 1
            return self._times(0.5)
        if opening.text == "by" and (after.kind == "number" or after.meaning in {"another", "a"}):
            return Growth(add=self._by() or 1)
        number = self.accept("number")
        if number and self.peek().text == "times":
            self.at += 1
            return self._times(float(number.number))
        if number is None and self.peek().text == "a" and self.peek(1).meaning in _UNITS and self.peek(2).kind == "change":
            self.at += 1
        if self.peek().kind == "thing" and self.peek().meaning in _UNITS and self.peek(1).kind in {"change", "size"}:
            self.at += 1
        self.skip()
        change = self.accept("change")
        if change:
            axis, sign = _CHANGES[change.meaning]
            count = self._by() if number is None else number.number
            return Growth(axis, add=sign * (count or 1))
        size = self.accept("size", "bigger", "smaller")
        if size and self.peek().kind != "thing":
            count = number.number if number else self._by() or 1
            return Growth("all", add=count if size.meaning == "bigger" else -count)
        self.at = start
        return None

    def _by(self) -> int | None:
        """2 in `by 2 blocks`."""
        if self.peek().text != "by" or self.peek(1).kind not in {"number", "article"}:
            return None
        self.at += 1
        token = self.take()
        self.skip("flag", "skip")
        self.accept("thing") or self.accept("part")
        return token.number if token.kind == "number" else 1

    def _times(self, factor: float) -> Growth:
        self.skip("as", "skip", "article")
        dim = self.accept("dim")
        change = None if dim else self.accept("change")
        size = None if dim or change else self.accept("size")
        self.skip("as")
        axis = dim.meaning if dim else _CHANGES[change.meaning][0] if change else "all" if size else ""
        return Growth(axis, factor=factor)

    # --- distances ---

    def measures(self) -> bool:
        """Whether a number here may be a distance: `2 to the left`, `2 blocks behind it`."""
        start = self.at
        found = self.distance() is not None
        self.at = start
        return found

    def distance(self) -> int | None:
        """2 in `2 blocks to the left`."""
        number = self.peek()
        counts = number.kind == "number"
        one = number.text in {"a", "another", "1 more"} and self.peek(1).text in {"step", "space", "cell", "field", "row"}
        if not (counts or one):
            return None
        ahead = 1
        while self.peek(ahead).kind in {"thing", "unknown", "skip", "common", "flag", "part"} and ahead < 4:
            ahead += 1
        token, after = self.peek(ahead), self.peek(ahead + 1)
        is_place = token.kind == "side" or token.text in {"to", "from", "above", "over", "below", "under", "away"}
        if not counts and (ahead < 2 or (token.kind != "side" and after.kind != "side")):
            return None
        measured = (
            ahead == 1
            or self.peek(1).meaning in _UNITS
            or self.peek(1).text in {"cells", "fields", "units", "further", "places", "positions"}
        )
        if not is_place or not measured:
            return None
        self.at += ahead
        return number.number if counts else 1

    def gap(self) -> int | None:
        """1 in `leaving one space free`, `with a gap of 1`, `one empty row between them`: the free cells between things."""
        start = self.at
        opened = self.accept("verb", "leave", "hold") or self.accept("with", "with") or self.accept("skipping")
        self.skip("skip", "common")
        number = self.accept("number") or self.accept("article", "a", "another") or self.accept("without")
        self.accept("pick", "free")
        stays = self.peek(1).kind in {"idle", "be"} and self.peek(2).meaning == "free"
        space = self.accept("part", "hole")
        if space is None and (stays or self.peek(1).kind == "relation"):
            space = self.accept("thing", "block", "row", "area", "square")
        self.at += space is not None and stays
        free = self.accept("pick", "free") or self.accept("flag", "hollow") or (space and space.text not in _OPENINGS)
        count = number.number if number and number.kind == "number" else 0 if number and number.kind == "without" else 1
        if self.peek().text == "of" and self.peek(1).kind == "number":
            count = self.peek(1).number
            self.at += 2
            self.accept("thing", "block") or self.accept("part", "hole")
        between = self.peek().meaning == "between" or (space and self.accept("flag", "apart"))
        placed = not between and (self.peek().kind in {"relation", "be"} or self.peek().text == "for")
        if number and (space or opened) and free and (opened or between) and not placed:
            return count
        self.at = start
        return None

    def height(self) -> int | None:
        """5 in `at height 5`, `on level 5`, `at a height of 5`."""
        ahead = 1 if self.peek().kind == "article" else 0
        if self.peek(ahead).meaning not in {"high", "layer"}:
            return None
        ahead += 1 + (self.peek(ahead + 1).text == "of")
        number = self.peek(ahead)
        if number.kind != "number":
            return None
        self.at += ahead + 1
        return number.number
