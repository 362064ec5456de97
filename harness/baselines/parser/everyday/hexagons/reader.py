"""Tokens that are read one after the other: their values, numbers, sizes and distances."""

from __future__ import annotations

from collections.abc import Sequence

from harness.baselines.parser.everyday.hexagons.lexicon import Token
from harness.baselines.parser.everyday.hexagons.meaning import Phrase

DIMENSIONS = {"long": "long", "wide": "wide", "thick": "wide"}
UNITS = ("tile", "row", "column", "step", "gap")
NO_TOKEN = Token("", {})


class Reader:
    """Tokens with a place among them; every method either reads on and gives what it read, or leaves the place as it is."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else NO_TOKEN

    def take(self, category: str, *values: str) -> str | None:
        """The next token's value in a category, if it has one (of these)."""
        value = self.peek()[category]
        if value is None or (values and value not in values):
            return None
        self.at += 1
        return value

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def size(self) -> tuple[str, int] | None:
        """`7 tiles long` is ("long", 7); `3 rows high` is ("tall", 3)."""
        start, count = self.at, self.take("NUMBER")
        if count is not None:
            unit = self.take("NOUN", *UNITS)
            self.take("MARK", "whole")
            if self.peek()["WAY"] == "up" and self.peek().text == "higher":
                self.at = start
                return None
            mark = self.take("MARK", *DIMENSIONS)
            if mark is not None and self.peek()["NOUN"] is None:
                tall = self.tokens[self.at - 1].text in ("tall", "high", "deep") or unit == "row"
                return ("tall" if tall and mark == "long" else DIMENSIONS[mark]), int(count)
        self.at = start
        return None

    def area(self) -> tuple[int, int] | None:
        """`3 by 4`."""
        start, wide = self.at, self.take("NUMBER")
        if wide is not None:
            self.take("NOUN", *UNITS)
            if self.peek().text == "by":
                self.at += 1
                tall = self.take("NUMBER")
                if tall is not None:
                    self.take("NOUN", *UNITS)
                    return int(wide), int(tall)
        self.at = start
        return None

    def distance(self) -> tuple[int | None, str] | None:
        """`3 tiles further to the left` is (3, "left"), `down` is (None, "down")."""
        start, count = self.at, self.take("NUMBER") or ("1" if self.take("DET", "a", "another") else None)
        if count is not None:
            self.take("DET", "another")
            unit = self.take("NOUN", *UNITS)
            self.take("DET", "another")
            while self.peek().text in ("further", "farther", "straight", "more", "over"):
                self.at += 1
            way = self.take("WAY") or (self.take("SIDE", "left", "right") if unit else None)
        else:
            way = self.take("WAY") if not self.peek()["SIDE"] else None
            if (
                way is None
                and self.peek()["SIDE"]
                and self.peek(1)["NUMBER"]
                and not self.peek(2)["NOUN"]
                and not self._thing_ahead(2)
            ):
                way = self.take("SIDE", "left", "right")
            if way is not None and self.peek()["NUMBER"] and not self._thing_ahead(1):
                count = self.take("NUMBER")
                self.take("NOUN", *UNITS)
        if way is None:
            self.at = start
            return None
        return (int(count) if count is not None else None), way

    def _figures_ahead(self, lined: bool) -> bool:
        """Whether other things than tiles are counted: `with 2 black eyes`; in a line `of 5 yellow hexagons`, too."""
        ahead = 0
        while self.peek(ahead)["COLOR"] or (self.peek(ahead)["MARK"] and not self.peek(ahead)["NOUN"]):
            ahead += 1
        token = self.peek(ahead)
        if token["NOUN"] == "feature":
            return True
        return lined and token.plural and token["NOUN"] not in (None, *UNITS, "thing", "side", "edge")

    def _thing_ahead(self, ahead: int) -> bool:
        """Whether a number counts something new rather than how far: `down 3 red tiles`."""
        token = self.peek(ahead)
        return bool(token["COLOR"] or (token["NOUN"] and token["NOUN"] not in UNITS) or token.text in ("times", "by", "more"))

    def numbers(self) -> list[int]:
        """`2, 5 and 8`, `3 to 7`."""
        found: list[int] = []
        while True:
            start = self.at
            if found:
                joined = self.take("COMMA") or self.take("AND")
                self.take("AND")
                to = None if joined else (self.take("REL", "to") or ("to" if self._skip_text("through", "thru") else None))
            else:
                joined, to = "", None
            number = self.take("NUMBER")
            follows = self.peek()
            if number is None or (found and joined is None and to is None) or (found and follows["NOUN"]):
                self.at = start
                return found
            found += range(found[-1] + 1, int(number) + 1) if to and found else [int(number)]

    def _skip_text(self, *texts: str) -> bool:
        if self.peek().text in texts:
            self.at += 1
            return True
        return False

    def _sized(self, phrase: Phrase, nested: bool) -> bool:
        """`7 tiles long`, `of 6 tiles`, `with sides of 3`, `from 2 tiles`."""
        start = self.at
        if nested and self.peek()["COMMA"]:
            return False
        self.take("COMMA")
        self.take("AND")
        size = self.size()
        area = None if size else self.area()
        if size:
            phrase.sizes[size[0]] = size[1]
            return True
        if area:
            phrase.sizes |= {"wide": area[0], "tall": area[1]}
            return True
        self.at = start
        if self.take("REL", "of", "with", "from") or self._skip_text("containing", "using", "has", "have", "needs", "measures"):
            self.take("DET", "a")
            length = self._skip_text("length", "size", "radius", "height", "width")
            name = self.tokens[self.at - 1].text if length else ""
            if length:
                self.take("REL", "of")
            self._skip_text("exactly", "about")
            count = self.take("NUMBER")
            if count is not None and (length or self._counted(phrase)):
                kinds = {"height": "tall", "width": "wide", "radius": "around"}
                kind = kinds.get(name, "long") if length else "side" if self._on_each_side() else "tiles"
                phrase.sizes[kind] = int(count)
                return True
            if self._colored(phrase):
                return True
            if (
                phrase.head not in ("thing", "tile", "")
                and self.peek()["NOUN"] == "tile"
                and self.tokens[self.at - 1]["REL"] == "of"
            ):
                self.at += 1
                return True
            self.at = start
        return False

    def _on_each_side(self) -> bool:
        """The rest of `with 3 tiles on each side`."""
        start = self.at
        if self.take("REL", "in") and self.take("DET", "each", "all") and self.take("NOUN", "side", "edge"):
            return True
        self.at = start
        return False

    def _colored(self, phrase: Phrase) -> bool:
        """The rest of `of black tiles`, `of alternating red and blue tiles`."""
        colors: list[str] = []
        made = self.tokens[self.at - 1]["REL"] in ("of", "from")
        cycle = {"cycle"} if made and self.take("CYCLE") else set[str]()
        while made:
            color = self.take("COLOR")
            if color:
                colors.append(color)
            elif not (colors and (self.take("AND") or self.take("COMMA"))):
                break
        if colors and phrase.head == "edge" and self.tokens[self.at - 1]["COMMA"]:
            self.at -= 1
            phrase.colors += colors
            return True
        if colors and self.peek()["NOUN"] in ("tile", "thing"):
            self.at += 1
            phrase.colors += colors
            phrase.marks |= cycle
            return True
        return False

    def _counted(self, phrase: Phrase) -> bool:
        """The rest of `of 6 red tiles`."""
        start = self.at
        if self._figures_ahead(phrase.head in ("line", "row", "column")):
            return False
        while self.peek()["COLOR"] or self.peek()["MARK"]:
            if self.peek()["COLOR"]:
                phrase.colors.append(str(self.peek()["COLOR"]))
            self.at += 1
        if self.take("NOUN", "tile", "thing") or self.done or self.at > start or self.peek()["COMMA"]:
            return True
        return not self.peek()["NOUN"] and not self.peek()["ORDINAL"] and not self.peek()["SIDE"]

    def _side_length(self, phrase: Phrase) -> bool:
        """`whose sides are each 3 tiles long`, `with sides of 3 tiles`, `with 3 equal sides`."""
        start = self.at
        relation = self.take("REL", "with", "of")
        if relation is not None:
            while self.peek().text in ("a", "each", "equal", "3", "all", "6", "4"):
                self.at += 1
            if self.take("NOUN", "side", "edge"):
                while self.peek().text in ("are", "is", "each", "all", "of", "length", "being"):
                    self.at += 1
                count = self.take("NUMBER")
                if count is not None:
                    phrase.sizes["side"] = int(count)
                    self.take("NOUN", "tile")
                    self.take("MARK", "long")
                if count is not None or relation == "with":
                    return True
        self.at = start
        return False
