"""What the Architect says as clauses: words without case, number or color; the colors and numbers in them with their roles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.corpora.item import Executed, Turn, Utterance
from harness.corpora.wording import NUMBERS, ORDINALS
from harness.worlds.minecraft import COLORS

LONGEST = 40
"""Words of a clause that are read."""
CLAUSES = 12
"""Clauses of a turn that are carried out, from the first one on."""
LARGEST = 11
"""No row in the region is longer."""
_TOKEN = re.compile(r"[a-z]+|[0-9]+(?:st|nd|rd|th)?|[,.!?;:\n-]")
_NUMBER = re.compile(r"([0-9]{1,2})(st|nd|rd|th)?")
_SIZE = re.compile(r"([0-9])\s*(?:x|by)\s*([0-9])")
_SAME = {
    **dict.fromkeys(("block", "blocks", "brick", "bricks", "cube", "cubes", "piece", "pieces", "bloc"), "block"),
    **dict.fromkeys(("put", "place", "placing", "add", "adding", "set", "plop", "stick"), "place"),
    **dict.fromkeys(("build", "make", "create", "building", "making", "do", "form", "construct"), "build"),
    **dict.fromkeys(("remove", "delete", "destroy", "break", "erase", "rid", "pick", "removing", "clear", "breaking"), "remove"),
    **dict.fromkeys(("column", "columns", "tower", "towers", "pillar", "pillars"), "tower"),
    **dict.fromkeys(("row", "rows", "line", "lines"), "row"),
    **dict.fromkeys(("behind", "back", "backward", "backwards", "away"), "behind"),
    **dict.fromkeys(("toward", "towards", "forward", "forwards", "closer"), "towards"),
    **dict.fromkeys(("ground", "floor"), "ground"),
    **dict.fromkeys(("middle", "center", "centre"), "middle"),
    **dict.fromkeys(("diagonal", "diagonally", "diag", "diagnol", "diagnal"), "diagonal"),
    **dict.fromkeys(("yes", "yeah", "yep", "yup", "correct", "perfect", "great", "good", "nice", "awesome", "cool"), "yes"),
    **dict.fromkeys(("under", "underneath", "below", "beneath"), "below"),
    **dict.fromkeys(("above", "atop"), "above"),
    **dict.fromkeys(("sides", "side"), "side"),
    **dict.fromkeys(("these", "those", "them"), "those"),
    **dict.fromkeys(("tall", "high"), "tall"),
    **dict.fromkeys(("long", "wide"), "long"),
    **dict.fromkeys(("spaces", "space", "gap", "spot", "spots"), "space"),
    "reds": "red", "blues": "blue", "greens": "green", "oranges": "orange", "yellows": "yellow", "purples": "purple",
    "ends": "end", "corners": "corner", "edges": "edge", "infront": "front", "single": "one", "levels": "level",
    "layers": "level", "layer": "level",
}  # fmt: skip
_VERBS = frozenset(("place", "build", "remove", "stack", "repeat", "move", "extend", "another", "continue", "fill"))
_MENTIONS = frozenset(
    ("the", "that", "those", "each", "this", "other", "of", "both", "top", "bottom", "last", "left", "right", "first")
)
"""Before a color: it tells of blocks that are there."""
_MEASURES = frozenset(("tall", "long", "up", "down", "deep", "length", "in"))


class Word(NamedTuple):
    text: str
    """K for a color, N for a number above 1, O for an ordinal, else the word itself."""
    color: str = ""
    number: int = 0


class Clause(NamedTuple):
    """What is said in one go, and what is known from what was said before it in the turn."""

    words: tuple[Word, ...]
    cues: tuple[str, ...]
    """The words and pairs of neighbors, each once; in capitals what tells of the turn."""
    colors: tuple[tuple[str, str], ...]
    """Colors with their roles, in order: `new` for blocks to place, `there` for blocks that are there."""
    numbers: tuple[tuple[int, str], ...]
    """Numbers with their roles: `many` before blocks, `size` before a measure, `some`."""
    size: tuple[int, int] | None
    """Of "3 x 4"."""

    @property
    def text(self) -> str:
        return " ".join(word.color or (str(word.number) if word.text == "N" else word.text) for word in self.words)


def read_turn(history: Sequence[Turn]) -> list[Clause]:
    """The clauses of the Architect since the last actions, or of the words before them where there are none since."""
    since, asked = _said(history)
    old = not since
    if old:
        end = max((n for n, turn in enumerate(history) if isinstance(turn, Executed)), default=0)
        since = _said(history[:end])[0]
    parts = [part for text in since for part in _parts(_words(text))][-CLAUSES:]
    return [_clause(words, n, len(parts), old, asked) for n, words in enumerate(parts)]


def color_told(history: Sequence[Turn]) -> str | None:
    """The color that anyone named last."""
    texts = (turn.text for turn in reversed(history) if isinstance(turn, Utterance))
    return next((word.color for text in texts for word in reversed(_words(text)) if word.color), None)


def _said(history: Sequence[Turn]) -> tuple[list[str], bool]:
    """The Architect's lines since the last actions, and whether the Builder asked something there."""
    lines, asked = [], False
    for turn in reversed(history):
        if isinstance(turn, Executed):
            break
        if turn.speaker == "Builder":
            asked = asked or "?" in turn.text
        else:
            lines.append(turn.text)
    return lines[::-1], asked


def _words(text: str) -> list[Word]:
    return [_word(found) for found in _TOKEN.findall(_SIZE.sub(r"\1 x \2", text.lower()))]


def _word(token: str) -> Word:
    token = _SAME.get(token, token)
    if token in COLORS:
        return Word("K", color=token)
    if digits := _NUMBER.fullmatch(token):
        return Word("O" if digits[2] else "N", number=int(digits[1]))
    if token in NUMBERS and NUMBERS.index(token):
        return Word("N" if token != "one" else "one", number=NUMBERS.index(token))
    if token in ORDINALS and ORDINALS.index(token):
        return Word("O", number=ORDINALS.index(token))
    return Word("." if token in "!?;\n" else token)


def _parts(words: list[Word]) -> list[list[Word]]:
    """Sentences, and what "then", or "and" before another order, sets off."""
    parts: list[list[Word]] = [[]]
    for n, word in enumerate(words):
        following = [other.text for other in words[n + 1 : n + 3]]
        orders = bool(following) and (following[0] in _VERBS or following in (["N", "K"], ["a", "K"], ["one", "K"]))
        if word.text in (".", "then") or (word.text in ("and", ",") and orders):
            parts.append([])
        else:
            parts[-1].append(word)
    return [part[:LONGEST] for part in parts if any(word.text.isalnum() for word in part)]


def _clause(words: list[Word], place: int, count: int, old: bool, asked: bool) -> Clause:
    kept = [word for word in words if word.text not in (",", "-", ":")]
    texts = [word.text for word in kept]
    cues = dict.fromkeys(["ALL", *texts, *map(" ".join, zip(["", *texts], [*texts, ""], strict=True))])
    told = {"OLD": old, "ASKED": asked, "FIRST": place == 0, "LAST": place == count - 1}
    cues |= dict.fromkeys(name for name, holds in told.items() if holds)
    size = next((_pair(kept[n : n + 3]) for n in range(len(kept) - 2) if _pair(kept[n : n + 3])), None)
    colors = tuple((word.color, _color_role(texts, n)) for n, word in enumerate(kept) if word.color)
    numbers = tuple((word.number, _number_role(texts, n)) for n, word in enumerate(kept) if _counts(word, texts, n))
    return Clause(tuple(kept), tuple(cues), colors, numbers, size)


def _pair(words: Sequence[Word]) -> tuple[int, int] | None:
    if words[1].text in ("x", "by") and words[0].text == words[2].text == "N":
        return min(words[0].number, LARGEST), min(words[2].number, LARGEST)
    return None


def _counts(word: Word, texts: list[str], n: int) -> bool:
    if word.text == "one":
        return texts[n + 1 : n + 2] in (["K"], ["block"], ["more"]) or not _MENTIONS & set(texts[max(0, n - 1) : n])
    return word.text == "N" and 0 < word.number <= LARGEST


def _color_role(texts: list[str], n: int) -> str:
    return "there" if _MENTIONS & set(texts[max(0, n - 2) : n]) else "new"


def _number_role(texts: list[str], n: int) -> str:
    after = texts[n + 1 : n + 3]
    if (after[:1] and after[0] in _MEASURES) or (len(after) == 2 and after[0] == "block" and after[1] in _MEASURES):
        return "size"
    return "many" if after[:1] in (["K"], ["block"], ["more"]) else "some"
