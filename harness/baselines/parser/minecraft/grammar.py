"""What lexicon.txt and grammar.txt say of the Architect's words: how they are evened out, in which categories they are, and what
those of a category are for where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.notation import entries, pattern_regex, read_lines, symbols

COLOR, NUMBER, ORDINAL = "K", "N", "O"
"""Stand for the words of these categories."""
_OTHER = "0"
"""The character of words in no category."""


class PhraseLexicon(NamedTuple):
    """What lexicon.txt holds."""

    same: dict[str, str]
    """For a spelling the word that it is taken for."""
    categories: dict[str, dict[str, str]]
    """For a category its words, each with its value, or with nothing."""


class PhraseSense(NamedTuple):
    """What words are for where they stand."""

    category: str
    pattern: re.Pattern[str]
    role: str
    example: str
    """An instruction for which it is used."""


def read_lexicon(text: str) -> PhraseLexicon:
    """Raises ValueError for a spelling of two words, and for a line that is no entry."""
    same: dict[str, str] = {}
    categories: dict[str, dict[str, str]] = {}
    for name, _, words in entries(text):
        if name.isupper():
            categories[name] = dict(words)
            continue
        for spelling, _ in words:
            if spelling in same:
                raise ValueError(f"{spelling!r} is {same[spelling]} and {name}")
            same[spelling] = name
    return PhraseLexicon(same, categories)


_LINE = re.compile(r"([a-z]+): (.+) -> ([a-z]+)")


def read_grammar(text: str, symbols: Mapping[str, str]) -> tuple[PhraseSense, ...]:
    """The phrases of a text; `symbols` has a regular expression for each category. Raises ValueError that names an invalid
    line."""

    def read(line: str, _: str, parts: Mapping[str, str]) -> PhraseSense | None:
        phrase = _LINE.fullmatch(line)
        return PhraseSense(phrase[1], re.compile(pattern_regex(phrase[2], symbols, parts)), phrase[3], "") if phrase else None

    return tuple(phrase._replace(example=example) for phrase, example in read_lines(text, symbols, read))


_HERE = Path(__file__).parent
LEXICON = read_lexicon((_HERE / "lexicon.txt").read_text(encoding="utf-8"))
_LISTED = {"COLOR": (COLOR,), "NUMBER": (NUMBER,), "ORDINAL": (ORDINAL,), **LEXICON.categories}
_CHARACTERS = symbols(dict.fromkeys(word for words in _LISTED.values() for word in words))
"""The character that stands for a word in what is matched."""
SYMBOLS = {name: f"[{''.join(map(_CHARACTERS.__getitem__, words))}]" for name, words in _LISTED.items()} | {"ANY": "."}
GRAMMAR = read_grammar((_HERE / "grammar.txt").read_text(encoding="utf-8"), SYMBOLS)


def fitting(category: str, texts: Sequence[str]) -> Iterator[tuple[slice, PhraseSense]]:
    """The words that phrases of a category fit, from left to right, each place with the first phrase that does."""
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
