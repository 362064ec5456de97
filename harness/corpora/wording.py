"""Words for synthetic instructions: numbers, lists, and frames whose bracketed alternatives are drawn."""

import re
from collections.abc import Sequence
from random import Random

NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
)
ORDINALS = (
    *("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth"),
)
_ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")


def joined(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def phrase(rng: Random, frames: Sequence[str], **slots: str) -> str:
    """A randomly drawn frame, with one of each `[a|b|c]` drawn, `{slots}` filled, and spaces and punctuation tidied."""
    text = _ALTERNATIVES.sub(lambda m: rng.choice(m[1].split("|")), rng.choice(frames)).format_map(slots)
    text = re.sub(r"\s+([,.?!])", r"\1", " ".join(text.split()))
    return re.sub(r"\b([Aa]) (?=orange)", r"\1n ", text) if "orange" in text else text
