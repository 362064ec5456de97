"""The HEXAGONS format `triplets`, the paper's: `0 4 red, 0 5 blue`, row and column counted from 0.

The parser returns the actions sorted by row and column; if a tile is named twice, its last color counts.
"""

import re
from collections.abc import Sequence

from harness.worlds.hexagons import CODES, COLORS, Paint, canonical, on_board
from serialization.formats.answer import BLANK, GAP, NOTHING, Constraint, Parsed, scan

_COLOR = f"({'|'.join(COLORS)})"
_COMMA = rf"{BLANK},{BLANK}"
_QUOTED = "[\"']?([A-Za-z]{2,12})[\"']?"
# A color followed by a colon and numbers begins a new list and does not belong to the numbers before it.
_TRIPLET = re.compile(
    rf"(?<![\w-])(?<!\d\.)(-?\d{{1,6}})(?:{GAP}(-?\d{{1,6}}){GAP}([A-Za-z]{{2,12}})|{_COMMA}(-?\d{{1,6}}){_COMMA}{_QUOTED})"
    rf"(?!\w|{BLANK}:{BLANK}[(\[]?\d)"
)
_REGEX = f"({NOTHING}|[0-9] (1[0-7]|[0-9]) {_COLOR}(, [0-9] (1[0-7]|[0-9]) {_COLOR})*)"
CONSTRAINT = Constraint("regex", _REGEX)


def write(actions: Sequence[Paint]) -> str:
    """`0 4 red, 0 5 blue`: 0-based row, column, color (the target of the paper's T5 model, section 6.2)."""
    return ", ".join(f"{a.row} {a.column} {a.color}" for a in canonical(actions)) or NOTHING


def _read_triplet(match: re.Match[str]) -> Paint | str:
    """The action, or the reason why there is none."""
    paint = Paint(int(match[1]), int(match[2] or match[4]), (match[3] or match[5]).lower())
    if not on_board(*paint.tile):
        return "off the board"
    return paint if paint.color in CODES else "unknown color"


def parse(text: str) -> Parsed:
    parsed = scan(text, _TRIPLET, _read_triplet)
    return parsed._replace(actions=canonical(parsed.actions))
