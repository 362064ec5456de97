"""Loads lexicon.txt and grammar.txt: which spellings of the Architect's words are the same word, the categories of words, and the
roles that words of a category have in context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.notation import entries, pattern_regex, read_lines, symbols

COLOR, NUMBER, ORDINAL = "K", "N", "O"
"""The characters that stand for the words of these categories."""
_OTHER = "0"
"""The character of words in no category."""


class PhraseLexicon(NamedTuple):
    """The content of lexicon.txt."""

    same: dict[str, str]
    """The word that each spelling stands for."""
    categories: dict[str, dict[str, str]]
    """The words of each category with their values, which are empty if none are given."""


class PhraseSense(NamedTuple):
    """The role of the words that fit a pattern."""

    category: str
    pattern: re.Pattern[str]
    role: str
    example: str
    """An instruction that uses it."""


def read_lexicon(text: str) -> PhraseLexicon:
    """The spellings and categories of a lexicon. Raises ValueError for a spelling of two words, and for a line that is not an
    entry."""
    same: dict[str, str] = {}
    categories: dict[str, dict[str, str]] = {}
    for name, _, words in entries(text):
        if name.isupper():
            categories[name] = dict(words)
            continue
        for spelling, _ in words:
            if spelling in same:
                raise ValueError(f"{spelling!r} is a spelling of both {same[spelling]} and {name}")
            same[spelling] = name
    return PhraseLexicon(same, categories)


_LINE = re.compile(r"([a-z]+): (.+) -> ([a-z]+)")


def read_grammar(text: str, symbols: Mapping[str, str]) -> tuple[PhraseSense, ...]:
    """The phrases of a text; `symbols` has a regular expression for each category. Raises a ValueError that names the first
    invalid line."""

    def read(line: str, _: str, parts: Mapping[str, str]) -> PhraseSense | None:
        phrase = _LINE.fullmatch(line)
        return PhraseSense(phrase[1], re.compile(pattern_regex(phrase[2], symbols, parts)), phrase[3], "") if phrase else None

    return tuple(phrase._replace(example=example) for phrase, example in read_lines(text, symbols, read))


_HERE = Path(__file__).parent
LEXICON = read_lexicon((_HERE / "lexicon.txt").read_text(encoding="utf-8"))
_LISTED = {"COLOR": (COLOR,), "NUMBER": (NUMBER,), "ORDINAL": (ORDINAL,), **LEXICON.categories}
_CHARACTERS = symbols(dict.fromkeys(word for words in _LISTED.values() for word in words))
"""The character that stands for each word in matched text."""
SYMBOLS = {name: f"[{''.join(map(_CHARACTERS.__getitem__, words))}]" for name, words in _LISTED.items()} | {"ANY": "."}
GRAMMAR = read_grammar((_HERE / "grammar.txt").read_text(encoding="utf-8"), SYMBOLS)


def fitting(category: str, texts: Sequence[str]) -> Iterator[tuple[slice, PhraseSense]]:
    """Yields the spans of words that fit phrases of a category, from left to right, each with the first phrase that fits."""
    text = "".join(_CHARACTERS.get(word, _OTHER) for word in texts)
    phrases = [phrase for phrase in GRAMMAR if phrase.category == category]
    for start in range(len(text)):
        for phrase in phrases:
            if fits := phrase.pattern.match(text, start):
                yield slice(start, fits.end()), phrase
                break


def spoken_of(category: str, texts: Iterable[str]) -> bool:
    """Whether one of the words is in a category."""
    return not LEXICON.categories[category].keys().isdisjoint(texts)
