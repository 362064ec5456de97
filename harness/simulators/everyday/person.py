"""How one person types: politeness, lower case, missing apostrophes, typos, digits or words."""

from __future__ import annotations

import re
from random import Random

from harness.corpora.wording import NUMBERS, ORDINALS, ordinal_digits, phrase
from harness.simulators import Frames, frames
from harness.worlds.hexagons import COLORS

_TYPOS = 0.06
"""The share of messages with a typo."""
_KEPT = frozenset((*COLORS, *NUMBERS, *ORDINALS, "above", "below", "left", "right", "first", "second", "other", "every"))
"""Words that would be hard to recognize with a typo."""
_APOSTROPHES = re.compile(r"(?<=\w)'(?=\w)")


class Person:
    """One person's habits, which stay the same for a whole conversation."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.frames: Frames = frames("everyday")
        self.verbs = self.frames["verbs"]
        """First words of requests that "please" or "can you" may precede."""
        self.polite = rng.choice((0.0, 0.1, 0.3, 0.6))
        self.capital = rng.random() < 0.5
        self.stop = rng.random() < (0.75 if self.capital else 0.08)
        self.apostrophes = self.capital or rng.random() < 0.5
        self.digits = rng.random() < 0.6
        self.british = rng.random() < 0.1
        self.short = not self.capital and rng.random() < 0.25

    def number(self, n: int) -> str:
        return str(n) if self.digits or n > 12 else NUMBERS[n]

    def nth(self, n: int) -> str:
        return ordinal_digits(n) if (self.digits and self.rng.random() < 0.5) or n > 12 else ORDINALS[n]

    def request(self, text: str, follows: bool) -> str:
        rng, lead = self.rng, ""
        if follows and rng.random() < 0.3:
            lead = f"{phrase(rng, self.frames['lead'])} "
        if text.partition(" ")[0] in self.verbs and "?" not in text:
            if rng.random() < self.polite:
                text = phrase(rng, self.frames["polite" if " me " in text else "polite for me"], text=text)
            elif rng.random() < 0.08:
                text = phrase(rng, self.frames["wish" if follows else "greeted"], text=text)
        elif rng.random() < 0.5 * self.polite and not text.startswith(("can", "could")):
            text = phrase(rng, self.frames["polite tail"], text=text)
        return lead + text

    def typed(self, text: str) -> str:
        """The text in this person's spelling."""
        if self.short:
            text = re.sub(r"\bplease\b", "pls", text)
        if not self.apostrophes:
            text = _APOSTROPHES.sub("", text)
        if self.british:
            text = text.replace("color", "colour")
        if self.rng.random() < _TYPOS:
            text = self._slipped(text)
        if self.capital:
            text = re.sub(r"(^|[.!?] )([a-z])", lambda m: m[1] + m[2].upper(), text)
            text = re.sub(r"\bi\b", "I", text)
        if self.stop and text[-1] not in ".!?":
            text += "." if self.rng.random() < 0.93 else "!"
        elif not self.stop and text[-1] in ".":
            text = text[:-1]
        return text

    def _slipped(self, text: str) -> str:
        """The text with a typo in one of its longer words: two letters swapped, or one left out or doubled."""
        words = [match for match in re.finditer(r"[a-z]{5,}", text) if match[0] not in _KEPT]
        if not words:
            return text
        word = self.rng.choice(words)
        at = word.start() + self.rng.randint(1, len(word[0]) - 3)
        slip = self.rng.choice((text[at + 1] + text[at], text[at], text[at] + text[at : at + 2]))
        return text[:at] + slip + text[at + 2 :]
