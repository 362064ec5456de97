"""The words that the rules know. Each becomes one letter, which turns a pattern over words into a regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.corpora.wording import NUMBERS, ORDINALS
from harness.worlds.hexagons import COLORS, COLUMNS

_TILES = ("tile", "hexagon", "hex", "cell", "spot", "space", "block", "square", "box", "row", "position", "slot")
"""People's words for a tile; a "row" of a column is one, too."""
_SKIPPED = ("a", "the", "of", "number", "no", "far", "most", "#")
"""Words that are ignored because they occur within mentions."""


class RuleWord(NamedTuple):
    """A word in the form that the patterns use."""

    letter: str
    """O: ordinal, N: cardinal, C: column, T: tile, K: color, ",": and, "-": through, f: from, t: top, b: bottom, l: left,
    r: right, e: last, ".": end of a sentence, x: anything else."""
    number: int = 0
    color: str = ""


def _known() -> dict[str, RuleWord]:
    words = {word: RuleWord("O", n) for n, word in enumerate(ORDINALS) if n}
    words |= {word: RuleWord("N", n) for n, word in enumerate(NUMBERS) if n}
    words |= {color: RuleWord("K", color=color) for color in COLORS}
    letters = {
        "C": ["column", "columns", "col", "cols"],
        "T": [form for noun in _TILES for form in (noun, f"{noun}s", f"{noun}es")],
        ",": [",", "and", "or", "&"],
        "-": ["-", "–", "through", "thru", "to", "until"],
        "f": ["from"],
        "t": ["top", "topmost", "uppermost", "highest"],
        "b": ["bottom", "bottommost", "lowest"],
        "l": ["left", "leftmost"],
        "r": ["right", "rightmost"],
        "e": ["last", "final"],
        ".": [".", ";", "!", "?", "\n"],
    }
    return words | {word: RuleWord(letter) for letter, group in letters.items() for word in group}


_KNOWN = _known()
_TOKEN = re.compile(r"[a-z]+|[0-9]+(?:st|nd|rd|th)?|[,&#–;.!?\n-]")
_DIGITS = re.compile(r"([0-9]{1,3})(st|nd|rd|th)?")


def placed_words(text: str) -> Iterator[tuple[tuple[int, int], RuleWord]]:
    """The words of any text, each with its character span (start, end). Case is ignored, skipped words are left out."""
    for match in _TOKEN.finditer(text.lower()):
        if match[0] not in _SKIPPED:
            yield match.span(), _read(match[0])


def _read(token: str) -> RuleWord:
    if digits := _DIGITS.fullmatch(token):
        return RuleWord("O" if digits[2] else "N", int(digits[1]))
    return _KNOWN.get(token, RuleWord("x"))


def list_numbers(words: Iterable[RuleWord]) -> list[int]:
    """The numbers of a list such as "2, 4 and 6 through 8". A range that ends below its start or above 18 is two numbers."""
    numbers: list[int] = []
    through = False
    for word in words:
        if word.letter in "ON":
            ranges = through and numbers and numbers[-1] < word.number <= COLUMNS
            numbers += range(numbers[-1] + 1, word.number + 1) if ranges else [word.number]
        through = word.letter == "-"
    return numbers
