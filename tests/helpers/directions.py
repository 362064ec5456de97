"""Reads the direction in a text by a separate small table, to check the simulators' words against the blocks' places."""

from __future__ import annotations

import re

from harness.corpora.wording import NUMBERS

_WORDS = {
    "left": (0, 1),
    "right": (0, -1),
    "on top|above|higher|up(?:wards)?|on(?= it)": (1, 1),
    "below|under(?:neath)?|beneath|lower|down(?:wards)?": (1, -1),
    "behind|farther from you|away from you|on the far side": (2, 1),
    "in front|closer to you|closest to you|towards? you|on your side": (2, -1),
}
_STEPS = tuple(_WORDS.values())
_WAY = re.compile(
    rf"(?:\b(\d+|{'|'.join(NUMBERS[1:])}) )?(?:(?:spaces?|cells?|levels?|further|to the) )*"
    rf"\b(?:{'|'.join(f'({words})' for words in _WORDS)})\b"
)


def named_way(text: str) -> tuple[int, int, int]:
    """(left, up, away) of the numbers and directions in a text; repeated mentions of an axis must agree."""
    way = [0, 0, 0]
    for match in _WAY.finditer(text.lower()):
        number, (axis, sign) = match[1], _STEPS[(match.lastindex or 0) - 2]
        assert way[axis] * sign >= 0, text
        way[axis] = way[axis] or sign * (NUMBERS.index(number) if number in NUMBERS else int(number or 1))
    return way[0], way[1], way[2]
