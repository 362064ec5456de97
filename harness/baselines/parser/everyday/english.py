"""Normalizes ordinary English: numbers become digits, contractions are expanded, misspellings corrected, polite words dropped."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase

from harness.worlds.hexagons import COLORS as TILE_COLORS
from harness.worlds.minecraft import COLORS as BLOCK_COLORS

COLORS = frozenset({*TILE_COLORS, *BLOCK_COLORS})

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
NUMBERS = {word: number for number, word in enumerate([*_UNITS, *_TEENS, "twenty"])}
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"]
ORDINALS = {word: number for number, word in enumerate(_ORDINALS, start=1)}

_SAME_COLOR = {"violet": "purple", "lilac": "purple", "crimson": "red", "scarlet": "red", "navy": "blue", "turquoise": "blue"}
_CONTRACTED = (
    (r"\b(can|could|would|do|does|did|is|are|was|were|should)n't\b", r"\1 not"),
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\bi'd\b", "i would"),
    (r"\b(that|it|there|here|what|let)'s\b", r"\1 is"),
    (r"\b(that|there|what)s\b", r"\1 is"),
    (r"\b(do|does|did|is|are|was|should)nt\b", r"\1 not"),
    (r"\b(i)'m\b", r"\1 am"),
    (r"\b(you|we|they)'re\b", r"\1 are"),
    (r"\b(i|you|we|they)'ll\b", r"\1 will"),
    (r"\b(i|you|we|they)'ve\b", r"\1 have"),
)
_POLITE = re.compile(
    r"\b(please|pls|plz|kindly|thank you|thanks|thx|ty|(can|could|would|will) you( please)?|i would like( you)? to"
    r"|i want( you)? to|let us|if you can|if possible|for me|would you mind|be so kind( as to)?|just|maybe|perhaps|hey|hi|hello"
    r"|ok|okay|now then)\b"
)


def evened(text: str) -> str:
    """The normalized text in lower case: `Two 3x3 walls, pls!` becomes `2 3 by 3 walls , pls .`, with marks as separate words."""
    text = text.lower().replace("’", "'").replace("—", " , ").replace("–", "-")
    for pattern, full in _CONTRACTED:
        text = re.sub(pattern, full, text)
    text = re.sub(r"(\d)\s*[x×*]\s*(?=\d)", r"\1 by ", text)
    text = re.sub(r"(\d)\s*-\s*(?=\d)", r"\1 to ", text)
    text = re.sub(r"(?<=[a-z0-9])-(?=[a-z0-9])", " ", text)
    text = re.sub(r"[.!?;:\n]+", " . ", text)
    text = re.sub(r"[,()]", " , ", text)
    text = re.sub(r"[^a-z0-9 .,'#-]", " ", text)
    words = [_SAME_COLOR.get(word, word) for word in text.split()]
    return " ".join(str(NUMBERS[word]) if word in NUMBERS else word for word in words)


def without_politeness(text: str) -> str:
    """A normalized text without its polite words."""
    return " ".join(_POLITE.sub(" ", text).split())


def spelled(text: str, known: Collection[str]) -> str:
    """A normalized text in which each misspelled word is replaced by the known word that it is closest to.

    `known` has the words of a reader; other common words (common.txt) are left as they are.
    """
    return " ".join(_spelled(word, frozenset(known)) for word in text.split())


@lru_cache(maxsize=20_000)
def _spelled(word: str, known: frozenset[str]) -> str:
    if len(word) < 3 or not word.isalpha() or word in known or word in common_words():
        return word
    single = re.sub(r"(.)\1+", r"\1", word)
    slips = [slip for slip in _slips(word) if slip in known or slip in common_words()]
    near = [slip for slip in slips if slip in known] or [slip for slip in slips if len(slip) != len(word)]
    if not near and len(word) > 3:
        alike = [one for one in known if one[0] == word[0] and abs(len(one) - len(word)) < 3]
        near = get_close_matches(word, alike, n=1, cutoff=0.8)
    return near[0] if near else single if single in known or single in common_words() else word


def _slips(word: str) -> list[str]:
    """The words that a word may misspell: with two letters exchanged, one too many, too few or wrong; the likeliest first."""
    parts = [(word[:k], word[k:]) for k in range(len(word) + 1)]
    exchanged = [a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1]
    if len(word) == 3:
        return exchanged + [word + letter for letter in ascii_lowercase]
    shorter = [a + b[1:] for a, b in parts if b and a]
    longer = [a + letter + b for a, b in parts if a for letter in ascii_lowercase]
    other = [a + letter + b[1:] for a, b in parts if a and b for letter in ascii_lowercase]
    return exchanged + shorter + longer + other


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Common English words, which are not taken for misspelled words of a reader."""
    return frozenset((Path(__file__).parent / "common.txt").read_text(encoding="utf-8").split())
