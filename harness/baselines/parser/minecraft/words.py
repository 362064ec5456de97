"""Splits what the Architect says into clauses: words in lower case, without their numbers and colors, and the colors and numbers
with their roles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.baselines.parser.minecraft.compass import as_if_north, told_pose
from harness.baselines.parser.minecraft.grammar import COLOR, LEXICON, NUMBER, ORDINAL, fitting
from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance, since_actions
from harness.corpora.wording import NUMBERS, ORDINALS
from harness.tasks import get_task
from harness.worlds.minecraft import COLORS

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
    if not get_task(item.task).compass:
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
