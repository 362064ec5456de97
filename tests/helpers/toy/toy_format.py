"""An action format of another package: `red 3:1; blue 1:1`, the color, column and row of each tile."""

import re
from collections.abc import Sequence

from harness.worlds.hexagons import CODES, COLORS, Paint, canonical, on_board
from serialization.formats import Format
from serialization.formats.answer import NOTHING, Constraint, Parsed, scan

_TILE = re.compile(r"\b([a-z]{2,12}) {1,4}(\d{1,3}):(\d{1,3})")


def write(actions: Sequence[Paint]) -> str:
    return "; ".join(f"{paint.color} {paint.column + 1}:{paint.row + 1}" for paint in canonical(actions)) or NOTHING


def _read(match: re.Match[str]) -> Paint | str:
    """The action, or the reason why there is none."""
    paint = Paint(int(match[3]) - 1, int(match[2]) - 1, match[1])
    if paint.color not in CODES:
        return "unknown color"
    return paint if on_board(*paint.tile) else "off the board"


def parse(text: str) -> Parsed:
    parsed = scan(text, _TILE, _read)
    return parsed._replace(actions=canonical(parsed.actions))


def constraint() -> Constraint:
    tile = f"({'|'.join(COLORS)}) (1[0-8]|[1-9]):(10|[1-9])"
    return Constraint("regex", f"({NOTHING}|{tile}(; {tile})*)")


FORMAT = Format("tiles", "hexagons", write, parse, constraint, longest=768, first=1)
