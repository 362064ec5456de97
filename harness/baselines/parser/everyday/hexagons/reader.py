"""Reads tokens one after the other: their values, numbers, sizes and distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from harness.baselines.parser.everyday.hexagons.lexicon import DrawingToken

LINES = ("row", "column")
UNITS = ("tile", "row", "column", "step", "gap")
SMALL_WORDS = ("that", "is", "are", "of", "each", "being", "exactly", "about", "all", "has", "have", "a", "which")
"""Words that may stand between the name of a measure and its number: `sides that are each 3 tiles long`."""
DESCRIBING = ("NUMBER", "ORDINAL", "COLOR", "MARK", "SIDE", "EVERY", "DET")
NO_TOKEN = DrawingToken("", {})

R = TypeVar("R", bound="TokenReader")
P = ParamSpec("P")
T = TypeVar("T")


def rewinding(read: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Makes a method that finds nothing go back to where it began."""

    @wraps(read)
    def read_or_rewind(self: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        start = self.at
        found = read(self, *args, **kwargs)
        if not found:
            self.at = start
        return found

    return read_or_rewind


class TokenReader:
    """Tokens with a position; every method either reads on and returns what it read, or leaves the position as it is."""

    def __init__(self, tokens: Sequence[DrawingToken]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> DrawingToken:
        at = self.at + ahead
        return self.tokens[at] if 0 <= at < len(self.tokens) else NO_TOKEN

    def take(self, category: str, *values: str) -> str | None:
        """The next token's value in a category, if it has one (of these)."""
        value = self.peek()[category]
        if value is None or (values and value not in values):
            return None
        self.at += 1
        return value

    def skip(self, *texts: str) -> bool:
        """Skips any of some words; returns whether there was one."""
        start = self.at
        while self.peek().text in texts:
            self.at += 1
        return self.at > start

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def one_ahead(self) -> bool:
        """Whether `one` follows, as in `the one`, `the red one`."""
        ahead = 1
        while any(self.peek(ahead)[category] for category in ("COLOR", "SIDE", "ORDINAL", "MARK")):
            ahead += 1
        return self.peek(ahead)["NUMBER"] == "1"

    def noun_ahead(self, ahead: int, joined: bool = False) -> bool:
        """Whether a noun follows after words that can describe it; `joined`: also after `and` or a comma."""
        while True:
            token = self.peek(ahead)
            if token["NOUN"] and token["NOUN"] != "it":
                return True
            if not any(token[category] for category in DESCRIBING) and not (joined and (token["AND"] or token["COMMA"])):
                return False
            ahead += 1

    def stands_alone(self, token: DrawingToken) -> bool:
        """Whether a word such as `that` or `them` stands for a thing by itself."""
        if token["NOUN"] != "it":
            return False
        numbered = self.peek(1)["NOUN"] in LINES and self.peek(2)["NUMBER"]
        ahead = (self.noun_ahead(1) and not numbered) or self.one_ahead()
        return token.text in ("it", "they", "them") or self.peek(1)["DET"] in ("a", "another") or not ahead

    def describes(self, token: DrawingToken) -> bool:
        """Whether a word that can be a noun describes the next word: `the middle row`, `the flat line`."""
        if token["SIDE"] or token["MARK"]:
            if self.peek(1).text == "third" and not self.noun_ahead(2):
                return True
            return (self.noun_ahead(1) and self.peek(1)["DET"] is None) or self.peek(1)["NUMBER"] is not None
        return False

    def separator(self) -> str:
        """Reads commas and conjunctions: "," or "and"; "" if there are none."""
        found = ""
        while True:
            if self.take("AND"):
                found = "and"
            elif self.take("COMMA"):
                found = found or ","
            else:
                return found

    @rewinding
    def size(self) -> dict[str, int]:
        """`7 tiles long` is {"long": 7}, `3 by 4` {"wide": 3, "tall": 4}, `sides of 3 tiles` {"side": 3}; otherwise {}."""
        measure = self.take("MEASURE") or ("side" if self.take("NOUN", "side") else None)
        if measure:
            self.skip(*SMALL_WORDS)
        count = self.take("NUMBER")
        if count is not None:
            unit = self.take("NOUN", *UNITS)
            if self.peek().text == "by" and self.peek(1)["NUMBER"]:
                self.at += 1
                tall = self.take("NUMBER")
                self.take("NOUN", *UNITS)
                return {"wide": int(count), "tall": int(str(tall))}
            if self._each_side():
                return {"side": int(count)}
            self.skip("in", "whole")
            dimension = self.take("MEASURE") or (self.take("MARK", "long", "tall", "wide") if not self.peek(1)["NOUN"] else None)
            if measure or dimension:
                upright = dimension == "long" and unit == "row"
                return {measure or ("tall" if upright else str(dimension)): int(count)}
        return {}

    @rewinding
    def _each_side(self) -> bool:
        """The rest of `3 tiles on each side`, `5 tiles per side`; not of `2 tiles on each side of the line`."""
        per = self.skip("per") or (self.take("REL", "in", "to") and self.take("DET", "each", "all", "a"))
        return bool(per and self.take("NOUN", "side", "edge") and self.peek()["REL"] != "of")

    @rewinding
    def distance(self) -> tuple[str, int | None] | None:
        """`3 tiles further to the left` is ("left", 3), `down` is ("down", None)."""
        counted = self.take("NUMBER") or ("1" if self.take("DET", "a", "another") else None)
        unit = None
        if counted is not None:
            self.take("DET", "another")
            unit = self.take("NOUN", *UNITS)
            self.take("DET", "another")
            self.skip("further", "farther", "straight", "more", "over")
        side = counted is None and self.peek()["SIDE"] and (self.peek(1)["SIDE"] or self.noun_ahead(1))
        way = None if side else self.take("WAY")
        if way is None and unit and self.peek(-1).text == "over" and not (self.peek()["DET"] or self.noun_ahead(0)):
            way = "right"
        if way is None and (unit or (self.peek(1)["NUMBER"] and not self._thing_ahead(2) and not self.peek(2)["NOUN"])):
            way = self.take("SIDE", "left", "right")
        if way is not None and counted is None and self.peek()["NUMBER"] and not self._thing_ahead(1):
            counted = self.take("NUMBER")
            self.take("NOUN", *UNITS)
        if way is None:
            return None
        return way, int(counted) if counted is not None else None

    def _thing_ahead(self, ahead: int) -> bool:
        """Whether a number counts new things and is not a distance: `down 3 red tiles`."""
        token = self.peek(ahead)
        return bool(token["COLOR"] or (token["NOUN"] and token["NOUN"] not in UNITS) or token.text in ("times", "by", "more"))

    def numbers(self, commas: bool = True) -> list[int]:
        """`2, 5 and 8`, `3 to 7`."""
        found: list[int] = []
        while True:
            start = self.at
            joined = (self.separator() if found else "") in ("and", "," if commas else "and")
            to = bool(found) and not joined and (self.skip("through", "thru") or self.take("REL", "to") is not None)
            number = self.take("NUMBER")
            after = self.peek()
            counts = after["NOUN"] not in (None, "it") or (after["COLOR"] and self.peek(1)["NOUN"]) or after.text == "by"
            if number is None or (found and (not (joined or to) or counts)):
                self.at = start
                return found
            found += range(found[-1] + 1, int(number) + 1) if to else [int(number)]
