"""Splits text into words with a category and a value; lexicon.txt lists them, after spellings.txt has evened the text."""

import re
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.notation import entries
from harness.corpora.wording import NUMBERS, ORDINALS
from harness.worlds.hexagons import COLORS

_REMARK = re.compile(
    r"(?:^|(?<=[.!?;\n])) *(?:so |and |now,? |if done correctly,? )*"
    r"(?:you(?:'ll| should| will(?! (?:draw|paint|colou?r|fill|connect|leave|skip|repeat|use)\b)| have| now have| can)"
    r"|there should|this (?:should|forms?|makes|creates|completes|gives)"
    r"|it should|make sure|the (?:result|drawing|image|shape) (?:is|should|will)|these should|note that|notice)\b[^.!?;\n]*"
)
"""A sentence that describes the result and asks for nothing."""
_NUMBERED = re.compile(r"^\s*(?:step\s*)?[0-9]{1,2}\s*[.:)]\s*")
_TOKEN = re.compile(r"[a-z]+|[0-9]+(?:st|nd|rd|th)?|[,&–;.!?():\n#-]")
_DIGITS = re.compile(r"([0-9]{1,3})(st|nd|rd|th)?")
_SKIPPED = "SKIPPED"


class LexiconToken(NamedTuple):
    """A word as the grammar sees it."""

    category: str
    """A key of `COSTS`."""
    word: str
    value: int | str
    """The number or the color that it stands for; otherwise the word itself."""


def read_lexicon(text: str) -> tuple[dict[str, float], dict[str, LexiconToken]]:
    """The cost of skipping a word, by category, and the tokens of the words. Raises ValueError for a word that is in two
    categories, and for a line that is not an entry."""
    costs: dict[str, float] = {}
    tokens: dict[str, LexiconToken] = {}
    for category, cost, words in entries(text):
        if category != _SKIPPED:
            costs[category] = cost
        valued = [(word, int(value) if value.isdecimal() else value or word) for word, value in words]
        for word, value in valued + _unlisted(category):
            if word in tokens:
                raise ValueError(f"{word!r} is in both {tokens[word].category} and {category}")
            tokens[word] = LexiconToken(category, word, value)
    return costs, tokens


def _unlisted(category: str) -> list[tuple[str, int | str]]:
    """The words of a category that need no listing."""
    if category == "COLOR":
        return [(color + s, color) for color in COLORS for s in ("", "s") if color + s != "white"]
    return [(word, n) for n, word in enumerate({"NUMBER": NUMBERS, "ORDINAL": ORDINALS}.get(category, ())) if n]


def read_spellings(text: str) -> list[tuple[re.Pattern[str], str]]:
    """The expressions of spellings.txt, each with what replaces it."""
    lines = re.findall(r'(?m)^"(.*)" <= (.+)$', text.replace("\n    ", ""))
    return [(re.compile(pattern), spelled) for spelled, pattern in lines]


_HERE = Path(__file__).parent
_SPELLED = read_spellings((_HERE / "spellings.txt").read_text(encoding="utf-8"))
COSTS, _TOKENS = read_lexicon((_HERE / "lexicon.txt").read_text(encoding="utf-8"))
WORDS = tuple(_TOKENS)
"""Every word of the lexicon, including those without meaning."""


def read_tokens(text: str) -> list[LexiconToken]:
    """The words of a text that mean something, in order; case and articles do not matter."""
    text = _REMARK.sub("", _NUMBERED.sub("", text.lower()))
    for pattern, spelled in _SPELLED:
        text = pattern.sub(spelled, text)
    return [token for word in _TOKEN.findall(text) if (token := _read(word)).category != _SKIPPED]


def _read(word: str) -> LexiconToken:
    if digits := _DIGITS.fullmatch(word):
        return LexiconToken("ORDINAL" if digits[2] else "NUMBER", word, int(digits[1]))
    if word == "\n":
        return _TOKENS["."]._replace(word=word)
    return _TOKENS.get(word) or LexiconToken("UNKNOWN", word, word)


def list_numbers(tokens: list[LexiconToken]) -> list[int]:
    """The numbers of a list such as "2, 4 and 6 through 8"; a range that does not rise stands for its two ends."""
    numbers: list[int] = []
    through = False
    for token in tokens:
        if isinstance(token.value, int):
            rises = through and numbers and numbers[-1] < token.value <= 18
            numbers += range(numbers[-1] + 1, token.value + 1) if rises else [token.value]
        through = token.category in ("THROUGH", "TO")
    return numbers
