"""From text to words with a letter and a value each."""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.baselines.parser.hexagons.lexicon import KNOWN, SKIPPED, SPELLINGS

_TOKEN = re.compile(r"[a-z]+|[0-9]+(?:st|nd|rd|th)?|[,&–;.!?():\n#-]")
_DIGITS = re.compile(r"([0-9]{1,3})(st|nd|rd|th)?")
_NUMBERED = re.compile(r"^\s*(?:step\s*)?[0-9]{1,2}\s*[.:)]\s*")
_REMARK = re.compile(
    r"(?:^|(?<=[.!?;\n])) *(?:so |and |now,? |if done correctly,? )*"
    r"(?:you(?:'ll| should| will(?! (?:draw|paint|colou?r|fill|connect|leave|skip|repeat|use)\b)| have| now have| can)"
    r"|there should|this (?:should|forms?|makes|creates|completes|gives)"
    r"|it should|make sure|the (?:result|drawing|image|shape) (?:is|should|will)|these should|note that|notice)\b[^.!?;\n]*"
)
"""A sentence that says what came out, and asks for nothing."""
_SPELLED = tuple((re.compile(pattern), spelled) for pattern, spelled in SPELLINGS)


class Token(NamedTuple):
    """A word as the grammar sees it."""

    letter: str
    """A key of `lexicon.LETTERS`, N for a number, O for an ordinal, K for a color."""
    word: str
    value: object


def read_tokens(text: str) -> list[Token]:
    """The words of any text that mean something, in order; case and articles do not matter."""
    text = _REMARK.sub("", _NUMBERED.sub("", text.lower()))
    for pattern, spelled in _SPELLED:
        text = pattern.sub(spelled, text)
    return [_read(word) for word in _TOKEN.findall(text) if word not in SKIPPED]


def _read(word: str) -> Token:
    if digits := _DIGITS.fullmatch(word):
        return Token("O" if digits[2] else "N", word, int(digits[1]))
    letter, value = KNOWN.get("." if word == "\n" else word, ("x", word))
    return Token(letter, word, value)


def numbers_of(tokens: list[Token]) -> list[int]:
    """The numbers of a list such as "2, 4 and 6 through 8"; a range that does not rise is its two ends."""
    numbers: list[int] = []
    through = False
    for token in tokens:
        if isinstance(token.value, int):
            rises = through and numbers and numbers[-1] < token.value <= 18
            numbers += range(numbers[-1] + 1, token.value + 1) if rises else [token.value]
        through = token.letter in "->"
    return numbers
