"""Splits what the Architect says into clauses: words in lower case, without their numbers and colors, and the colors and numbers
with their roles."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.minecraft.compass import as_if_north, told_pose
from harness.baselines.parser.notation import entries, pattern_regex, read_lines, symbols
from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance, since_actions
from harness.corpora.wording import NUMBERS, ORDINALS
from harness.tasks.registry import TASKS
from harness.worlds.minecraft import COLORS

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
        return PhraseSense(phrase[1], re.compile(pattern_regex(phrase[2], symbols, parts)), phrase[3]) if phrase else None

    return tuple(read_lines(text, symbols, read))


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


LONGEST = 40
"""Only this many words of a clause are read."""
CLAUSES = 12
"""Only the last clauses of a turn, up to this number, are carried out."""
LARGEST = 11
"""The length of the longest row in the region."""
_TOKEN = re.compile(r"[a-z]+|[0-9]+(?:st|nd|rd|th)?|[,.!?;:\n-]")
_NUMBER = re.compile(r"([0-9]{1,2})(st|nd|rd|th)?")
_TIMES = tuple(LEXICON.categories["TIMES"])
_SIZE = re.compile(rf"([0-9])\s*(?:{'|'.join(_TIMES)})\s*([0-9])")


class Word(NamedTuple):
    text: str
    """K for a color, N for a number except the word "one", O for an ordinal; otherwise the word itself."""
    color: str = ""
    number: int = 0


class ClauseInContext(NamedTuple):
    """The words of a clause, and its place in the turn."""

    words: tuple[Word, ...]
    cues: tuple[str, ...]
    """The words and pairs of neighbors, each once; cues about the turn are in capitals."""
    colors: tuple[tuple[str, str], ...]
    """Colors with their roles, in order: `new` for blocks to place, `there` for blocks that are there."""
    numbers: tuple[tuple[int, str], ...]
    """Numbers with their roles: `many` before blocks, `size` before a measure, `some`."""
    size: tuple[int, int] | None
    """The sides of "3 x 4"."""

    @property
    def texts(self) -> frozenset[str]:
        """Its words without order."""
        return frozenset(word.text for word in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.color or (str(word.number) if word.text == NUMBER else word.text) for word in self.words)


def read_item(item: MinecraftItem) -> list[ClauseInContext]:
    """The clauses of an item's turn, in the frame in which it is read."""
    if not TASKS[item.task].compass:
        return read_turn(item.history)
    pose = told_pose(item)
    turns = (turn._replace(text=as_if_north(turn.text, pose)) if isinstance(turn, Utterance) else turn for turn in item.history)
    return read_turn(tuple(turns))


def read_turn(history: Sequence[Turn]) -> list[ClauseInContext]:
    """The Architect's clauses since the last actions; if nothing was said since, the clauses before them."""
    since, asked = _said(history)
    old = not since
    if old:
        end = max((n for n, turn in enumerate(history) if isinstance(turn, Executed)), default=0)
        since = _said(history[:end])[0]
    parts = [part for text in since for part in _parts(read_words(text))][-CLAUSES:]
    return [_clause(words, n, len(parts), old, asked) for n, words in enumerate(parts)]


def color_told(history: Sequence[Turn]) -> str | None:
    """The color that anyone named last."""
    texts = (turn.text for turn in reversed(history) if isinstance(turn, Utterance))
    return next((word.color for text in texts for word in reversed(read_words(text)) if word.color), None)


def _said(history: Sequence[Turn]) -> tuple[list[str], bool]:
    """The Architect's lines since the last actions, and whether the Builder asked something there."""
    said = since_actions(history)
    asked = any("?" in turn.text for turn in said if turn.speaker == "Builder")
    return [turn.text for turn in said if turn.speaker != "Builder"], asked


def read_words(text: str) -> list[Word]:
    """The words of a text, spelled as in the lexicon; a size such as "3x4" is three words."""
    return [_word(found) for found in _TOKEN.findall(_SIZE.sub(rf"\1 {_TIMES[0]} \2", text.lower()))]


def _word(token: str) -> Word:
    token = LEXICON.same.get(token, token)
    if token in COLORS:
        return Word(COLOR, color=token)
    if digits := _NUMBER.fullmatch(token):
        return Word(ORDINAL if digits[2] else NUMBER, number=int(digits[1]))
    if token in NUMBERS and NUMBERS.index(token):
        return Word(token if token in LEXICON.categories["ONE"] else NUMBER, number=NUMBERS.index(token))
    if token in ORDINALS and ORDINALS.index(token):
        return Word(ORDINAL, number=ORDINALS.index(token))
    return Word("." if token == "\n" else token)


def _parts(words: list[Word]) -> list[list[Word]]:
    """The clauses of some words: sentences, divided where a `break` of grammar.txt fits."""
    ends = {at.start for at, _ in fitting("break", [word.text for word in words])}
    parts: list[list[Word]] = [[]]
    for n, word in enumerate(words):
        if n in ends:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part[:LONGEST] for part in parts if any(word.text.isalnum() for word in part)]


def _clause(words: list[Word], place: int, count: int, old: bool, asked: bool) -> ClauseInContext:
    kept = [word for word in words if word.text not in LEXICON.categories["PASSED"]]
    texts = [word.text for word in kept]
    cues = dict.fromkeys(["ALL", *texts, *map(" ".join, zip(["", *texts], [*texts, ""], strict=True))])
    told = {"OLD": old, "ASKED": asked, "FIRST": place == 0, "LAST": place == count - 1}
    cues |= dict.fromkeys(name for name, holds in told.items() if holds)
    sides = next((kept[at] for at, _ in fitting("size", texts)), None)
    size = (min(sides[0].number, LARGEST), min(sides[-1].number, LARGEST)) if sides else None
    colors = tuple((kept[at.start].color, phrase.role) for at, phrase in fitting("color", texts))
    numbers = [(kept[at.start].number, phrase.role) for at, phrase in fitting("number", texts)]
    numbers = [(number, role) for number, role in numbers if 0 < number <= LARGEST]
    return ClauseInContext(tuple(kept), tuple(cues), colors, tuple(numbers), size)
