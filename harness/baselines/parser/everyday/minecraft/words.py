"""Tokenizes a request with the words and meanings of lexicon.txt."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.everyday import english
from harness.worlds.minecraft import COLORS

LARGEST = 40
"""Numbers are capped at this value, which fits nowhere in the region."""
MOST_WORDS = 400
"""Words after this many are ignored."""
UNAVAILABLE_COLORS = frozenset(
    {"white", "black", "brown", "pink", "gray", "grey", "golden", "silver", "cyan", "magenta", "beige", "transparent"}
)
"""Colors that no block has."""
_REPLACEMENTS = {
    "cant": "can not",
    "wont": "will not",
    "im": "i am",
    "id": "i would",
    "ive": "i have",
    "lets": "let us",
    "colour": "color",
    "colours": "colors",
    "wich": "which",
    "teh": "the",
    "em": "them",
    "w": "with",
}
"""Words that are often written without their apostrophe, and slips that the spelling corrector leaves alone."""
_COLON = " . colonmark "
_ORDINAL_ENDS = ("st", "nd", "rd", "th")


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


class BuildingToken(NamedTuple):
    """A word or an expression, such as `BuildingToken("tall", "dim", "high")`."""

    text: str
    kind: str
    meaning: str

    @property
    def number(self) -> int:
        return int(self.meaning)


END = BuildingToken("", "end", "")


def tokens(text: str) -> list[BuildingToken]:
    """The tokens of a text: `Two red towers!` is a number, a color, a thing and the end of a sentence."""
    text = re.sub(r"\bits (?=(?:an?|the|too|not|so|just)\b)", "it is ", text.replace(":", _COLON).lower())
    evened = " ".join(_REPLACEMENTS.get(word, word.removesuffix("'s")) for word in english.evened(text).split()[:MOST_WORDS])
    words = _joined(english.spelled(english.without_politeness(evened), known_words()).split())
    found: list[BuildingToken] = []
    start = 0
    while start < len(words):
        token, length = _first(words[start : start + _longest()])
        found.append(token)
        start += length
    return _settled(found)


def _joined(words: list[str]) -> list[str]:
    """The words with each verb's particle directly after it: `knock the tower down` becomes `knock down the tower`."""
    for place, word in enumerate(words):
        for end in range(place + 2, min(place + 8, len(words))):
            if words[end] in {".", ",", "and"}:
                break
            token = _lexicon().get((word, words[end]))
            closes = words[end + 1 : end + 2] in ([], ["."], [","], ["and"], ["to"], ["so"], ["again"])
            if closes and token and token.kind == "verb" and words[place + 1] != "it":
                words.insert(place + 1, words.pop(end))
                break
    return words


def unknown(found: list[BuildingToken]) -> tuple[str, ...]:
    """The words that the reader skips without knowing them."""
    return tuple(dict.fromkeys(token.text for token in found if token.kind == "unknown"))


@lru_cache(maxsize=1)
def known_words() -> frozenset[str]:
    return frozenset({*COLORS, *UNAVAILABLE_COLORS, *english.ORDINALS, *(word for entry in _lexicon() for word in entry)})


@lru_cache(maxsize=1)
def _lexicon() -> dict[tuple[str, ...], BuildingToken]:
    entries: dict[tuple[str, ...], BuildingToken] = {}
    text = (Path(__file__).parent / "lexicon.txt").read_text(encoding="utf-8")
    for line in text.replace("\n    ", " ").splitlines():
        if not line or line.startswith("#"):
            continue
        head, _, listed = line.partition(": ")
        kind, _, meaning = head.partition(" ")
        for text in listed.split(", "):
            entries.setdefault(tuple(text.split()), BuildingToken(text, kind, meaning))
    return entries


@lru_cache(maxsize=1)
def _longest() -> int:
    return max(map(len, _lexicon()))


def _first(words: list[str]) -> tuple[BuildingToken, int]:
    for length in range(len(words), 0, -1):
        token = _lexicon().get(tuple(words[:length]))
        if token:
            return token, length
    return _single(words[0]), 1


def _single(word: str) -> BuildingToken:
    if word == ".":
        return BuildingToken(word, "stop", "")
    if word == ",":
        return BuildingToken(word, "link", ",")
    if word.isascii() and word.lstrip("-").isdigit():
        return BuildingToken(word, "number", str(min(abs(int(word[:9])), LARGEST)))
    if word in COLORS or word.rstrip("s") in COLORS:
        return BuildingToken(word, "color", word if word in COLORS else word.rstrip("s"))
    if word in UNAVAILABLE_COLORS:
        return BuildingToken(word, "no_color", word)
    ordinal = english.ORDINALS.get(word) or _numeral(word)
    if ordinal:
        return BuildingToken(word, "ordinal", str(min(ordinal, LARGEST)))
    return BuildingToken(word, "common" if word in english.common_words() else "unknown", word)


def _numeral(word: str) -> int:
    """2 for "2nd", 0 for other words."""
    number = word[:-2]
    return int(number[:4]) if word.endswith(_ORDINAL_ENDS) and number.isascii() and number.isdigit() else 0


# --- words whose meaning depends on their neighbors ---

_OPENS_SIDE = frozenset(
    {"the", "its", "their", "my", "your", "to", "on", "far", "near", "further", "left", "or", "same", "other", "back", "front"}
)
_FOLLOWS_SIDE = frozenset(
    {"side", "edge", "half", "corner", "wing", "hand", "end", "tower", "block", "wall", "1", "from", "by", "again"}
)


def _settled(found: list[BuildingToken]) -> list[BuildingToken]:
    settled: list[BuildingToken] = []
    for place, token in enumerate(found):
        before = settled[-1] if settled else END
        after, beyond = [*found[place + 1 : place + 3], END, END][:2]
        picked = before.meaning in {"top", "bottom", "middle"} or before.kind == "side"
        if token.text == "1" and picked and after.kind == "color" and beyond.kind in {"end", "stop", "link"}:
            token = BuildingToken("1", "thing", "block")
        settled.append(_in_context(before, token, after))
    return settled


def _in_context(before: BuildingToken, token: BuildingToken, after: BuildingToken) -> BuildingToken:
    if token.text == "step back" and before.kind == "number" and after.text in {"to", "from", "toward"}:
        return BuildingToken("step", "thing", "stairs")
    if token.kind == "verb" and token.text.endswith(" go") and after.kind in {"side", "relation"}:
        return BuildingToken(token.text, "be", "be")
    if token.text == "that" and token.kind == "it" and _is_relative(before, after):
        return BuildingToken("that", "relative", "")
    if token.text in _IN_CONTEXT:
        kind, meaning, fits = _IN_CONTEXT[token.text]
        return BuildingToken(token.text, kind, meaning) if fits(before, after) else token
    names = after.kind in _NAMES or after.text in {"whole", "entire", "complete"}
    if token.kind == "it" and token.text in {"this", "that", "these", "those"} and names:
        return BuildingToken(token.text, "article", "this")
    return token


_NAMES = frozenset({"thing", "part", "color", "number", "pick", "size", "side", "ordinal", "unknown", "common"})


def _is_relative(before: BuildingToken, after: BuildingToken) -> bool:
    """Whether "that" continues to describe the thing before: `a row that is red`."""
    names = before.kind in {"everything", "thing", "part", "dim", "color", "unknown", "it", "common"}
    opens = names or before.text in {"so", ","}
    return opens and after.kind in {"be", "verb", "with", "flag", "unknown", "common", "skip", "relation", "not", "color"}


def _is_side(before: BuildingToken, after: BuildingToken) -> bool:
    if before.text == "to" and after.kind in {"article", "it"}:
        return False
    if before.kind == "article" and after.kind in {"unknown", "common"} and after.text not in _FOLLOWS_SIDE:
        return False
    if after.meaning == "middle" or (after.kind in {"relation", "side"} and before.kind != "article"):
        return False
    closes = after.kind in {"stop", "end", "link", "verb", "part", "thing", "flag"} or after.text in _FOLLOWS_SIDE
    opens = before.text in _OPENS_SIDE or before.kind in {"number", "verb", "side", "article", "pick"}
    return opens or (closes and before.kind != "relation")


def _is_block(before: BuildingToken, after: BuildingToken) -> bool:
    """Whether "one" means a block: `the red one`, `the one on top`; not `one red block`."""
    part = before.kind == "part" and before.meaning in {"top", "bottom", "middle", "corner", "end"}
    told = part or before.kind in {"color", "article", "pick", "size", "side", "flag", "ordinal"}
    chosen = (before.meaning in {"the", "other", "this"} or before.kind in {"ordinal", "pick"}) and after.kind == "color"
    alone = chosen or after.kind not in {"color", "thing", "part", "dim", "unknown", "change"}
    return told and alone and after.text not in {"by", "of"}


def _is_figure(before: BuildingToken, after: BuildingToken) -> bool:
    return (before.kind in {"article", "color"} or after.text == "of") and after.kind not in _NAMES


def _is_order(before: BuildingToken, after: BuildingToken) -> bool:
    return before.kind in {"end", "stop", "link"} and after.meaning in {"the", "each", "all", "this", "it"}


def _is_backrest(before: BuildingToken, after: BuildingToken) -> bool:
    described = before.kind in {"color", "dim"} or before.meaning == "a"
    return described and after.kind in {"end", "stop", "link", "be", "with"}


def _is_no_verb(before: BuildingToken, after: BuildingToken) -> bool:
    return before.kind not in word_set("end stop link mend skip common not relation")


_IN_CONTEXT: dict[str, tuple[str, str, Callable[[BuildingToken, BuildingToken], bool]]] = {
    "right": ("side", "right", _is_side),
    "1": ("thing", "block", _is_block),
    # `a diagonal of 4`; not `a diagonal row`
    "diagonal": ("thing", "diagonal", _is_figure),
    "outline": ("thing", "frame", _is_figure),
    # `top it with a block`, `fence the house`, `tile the floor`
    **dict.fromkeys(("top", "crown", "cap"), ("verb", "top", _is_order)),
    **dict.fromkeys(("frame", "border", "ring", "fence"), ("verb", "surround", _is_order)),
    **dict.fromkeys(("tile", "carpet", "floor"), ("verb", "fill", _is_order)),
    # `in the same color`; not `color it`
    **dict.fromkeys(("color", "colors", "colour", "paint"), ("skip", "", _is_no_verb)),
    # `with a red back`
    "back": ("thing", "named", _is_backrest),
    # `5 wide outside`
    "outside": ("skip", "", lambda before, after: before.kind in {"number", "dim"}),
    # `one for each corner`
    "for": ("relation", "at", lambda before, after: after.meaning in {"each", "all"}),
    # `a hollow cube`; not `hollow it`
    "hollow": ("flag", "hollow", lambda before, after: after.kind not in {"article", "it"}),
    # `a stack of 3`; not `stack 3 blocks`
    "stack": (
        "thing",
        "tower",
        lambda before, after: before.kind in {"article", "number", "color", "size"} or after.text == "of",
    ),
    # `across the towers`; not `3 across the top`
    "across": ("relation", "across", lambda before, after: after.kind == "article" and before.kind != "number"),
    # `the lower block`; not `lower it`
    "lower": ("pick", "bottom", lambda before, after: before.kind == "article"),
    # `a tower where the bottom is red`
    "where": ("relative", "", lambda before, after: before.kind in {"thing", "dim", "color"} and after.kind == "article"),
    **dict.fromkeys(("which", "who"), ("relative", "", lambda before, after: before.kind not in {"stop", "end"})),
}
"""Words with the kind and meaning that they have if a function of the tokens before and after them returns true."""
