"""Turns the normalized text of a drawing request into tokens with the meanings that lexicon.txt gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.everyday.english import NUMBERS, evened, spelled, without_politeness
from harness.worlds.hexagons import COLORS

FILE = Path(__file__).parent / "lexicon.txt"
LONGEST = 80
"""Only this many words of a sentence are read."""
KNOWN = "KNOWN"
LARGEST = 180
"""Larger numbers are read as this one: the board has no more tiles."""
_SOUND = re.compile(r"(?<![a-z])(hm+|ehm+|uh+m*|um+|oh|ah+|er+m*|yes|yeah|yep)(?![a-z])")
_RAINBOW = re.compile(
    r"\b(?:colou?rful|multicolou?red|all (?:the )?(?:7 |seven )colou?rs"
    r"|(?:all )?(?:the )?(?:rainbow colou?rs|colou?rs of (?:the|a) rainbow)|like (?:a|the) rainbow"
    r"|((?:each|every) \w+ )(?:in )?(?:a different|another|its own) colou?r)\b",
    re.IGNORECASE,
)
_APART = re.compile(
    r"\b(?:so that |without |(?:but )?(?:they |that )?(?:do |must |should |may |can )?(?:not|never|no 2|none|neither)(?: be)?"
    r"(?: of (?:them|these|those|the \w+))?(?: (?:may|should|must|can|are|is|do|does))?(?: be)? )"
    r"(?:touch\w*|adjacent|neighbors|neighbours|next to each other)\b(?!,? the\b| it\b)"
    r"(?: each other| 1 another| another 1| another| the others)?"
)
_IRREGULAR = {
    "took": "take",
    "drew": "draw",
    "drawn": "draw",
    "made": "make",
    "gave": "give",
    "kept": "keep",
    "taken": "take",
    "halves": "half",
}


@dataclass(frozen=True, slots=True)
class DrawingToken:
    """A word or phrase; `senses` are its meanings by category: `left` is {"SIDE": "left", ...}."""

    text: str
    senses: Mapping[str, str]
    plural: bool = False

    def __getitem__(self, category: str) -> str | None:
        return self.senses.get(category)


class Lexicon(NamedTuple):
    """Phrases, as tuples of words, with their senses; and the longest one's length."""

    phrases: Mapping[tuple[str, ...], Mapping[str, str]]
    longest: int


@cache
def lexicon() -> Lexicon:
    phrases: dict[tuple[str, ...], dict[str, str]] = {}
    for category, value, listed in _entries():
        if category != KNOWN:
            for phrase in listed:
                phrases.setdefault(_words(phrase), {}).setdefault(category, value)
    for color in COLORS:
        phrases.setdefault((color,), {})["COLOR"] = color
    return Lexicon(phrases, max(map(len, phrases)))


def _entries() -> Iterator[tuple[str, str, list[str]]]:
    """The category, the value and the phrases of each line of the file."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            head, _, listed = line.partition(": ")
            category, value = head.split()
            yield category, value, listed.split(",")


def _words(phrase: str) -> tuple[str, ...]:
    return tuple(str(NUMBERS[word]) if word in NUMBERS else word for word in phrase.split())


@cache
def known_words() -> frozenset[str]:
    phrases = lexicon().phrases
    words = {word for phrase in phrases for word in phrase if len(word) > 2}
    single = {phrase[0]: senses for phrase, senses in phrases.items() if len(phrase) == 1}
    nouns = {word + "s" for word, senses in single.items() if "NOUN" in senses}
    verbs = {word + end for word, senses in single.items() if "VERB" in senses for end in ("s", "ed", "ing")}
    others = {word.strip() for category, _, listed in _entries() if category == KNOWN for word in listed}
    return frozenset(words | nouns | verbs | others)


def sentences(text: str) -> list[list[DrawingToken]]:
    """The tokens of each sentence: `Row 4: red. Undo!` is two."""
    text = re.sub(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)", r"column \1 row \2", text)
    text = re.sub(r"(\d+)[:/](\d+)", r"column \1 row \2", text)
    text = re.sub(r"([a-z])\s*(?:\.\.+|…)", r"\1 and so on ", text, flags=re.IGNORECASE)
    text = re.sub(r"\s\+\s", " and ", text)
    text = text.replace(":", ",").replace("<", " ").replace(" - ", " , ").replace("—", " , ")
    text = re.sub(r"\bstrip(ed|y) (pattern|board|background|flag)\b", "stripes", text, flags=re.IGNORECASE)
    told = len([color for color in COLORS if color in text]) > 1
    text = _RAINBOW.sub(r"\1" if told else r"\1red, orange, yellow, green, blue, purple", text)
    even = _APART.sub(" apart ", _SOUND.sub(" ", spelled(evened(text), known_words())))
    return [
        list(_tokens(part.split()[:LONGEST]))
        for part in re.split(r"(?:^| )\.(?= |$)", without_politeness(even))
        if part.strip(" .,")
    ]


def _tokens(words: list[str]) -> Iterator[DrawingToken]:
    start = 0
    while start < len(words):
        if start + 1 < len(words) and words[start] == "," and words[start + 1] == ",":
            start += 1
        verb, thing, particle = [*words[start : start + 3], "", ""][:3]
        known = lexicon().phrases
        apart = thing in ("it", "them", "that", "this") and (verb, thing, particle) not in known
        if apart and "VERB" in known.get((verb, particle), {}):
            words[start + 1 : start + 3] = [particle, thing]
        for length in range(min(lexicon().longest, len(words) - start), 0, -1):
            token = _token(words[start : start + length])
            if token is not None and not _goes_on(token, words[start + length : start + length + 1]):
                break
        if token is None or token["NOISE"] is None:
            yield token or DrawingToken(words[start], {})
        start += length


def _goes_on(token: DrawingToken, following: list[str]) -> bool:
    """Whether a token such as `down to the bottom` continues: `down to the bottom left corner`, `to the bottom row`."""
    phrases = lexicon().phrases
    side = token["FULL"] and "SIDE" in phrases.get((token.text.split()[-1],), {})
    return bool(side and following and phrases.get((following[0],), {}).keys() & {"SIDE", "NOUN"})


def _token(words: list[str]) -> DrawingToken | None:
    """The token of some words; None if the lexicon lacks them. A single word may be inflected, or a number."""
    if len(words) > 1:
        found = lexicon().phrases.get(tuple(words)) or lexicon().phrases.get((*words[:-1], _singular(words[-1])))
        return DrawingToken(" ".join(words), found, words[-1].endswith("s")) if found else None
    word = words[0].removesuffix("'s").strip("'")
    if word == ",":
        return DrawingToken(",", {"COMMA": ","})
    number = re.fullmatch(r"#?(\d+)(st|nd|rd|th)?", word)
    if number:
        value = str(min(int(number[1][:4]), LARGEST))
        return DrawingToken(word, {"ORDINAL" if number[2] else "NUMBER": value})
    for form in _forms(word):
        found = lexicon().phrases.get((form,))
        if found:
            return DrawingToken(word, found, form != word and word.endswith("s"))
    return None


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _forms(word: str) -> Iterator[str]:
    """The word and what it may be a form of: `coloring` is a form of `color`."""
    yield word
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    for ending, others in (("s", ("",)), ("es", ("", "e")), ("ed", ("", "e")), ("d", ("",)), ("ing", ("", "e"))):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            yield from (stem + other for other in others)
            if ending in ("ed", "ing") and stem[-1] == stem[-2]:
                yield stem[:-1]
