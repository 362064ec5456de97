"""The two text formats of Minecraft: `lines` (Nebula) and `calls` (few-shot code generation).

Neither says the color of a removed block, so parse(write(actions)) gives back the actions with that color left out.
Actions keep their order; the world, not the parser, decides what is feasible.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.worlds.minecraft import CODES, COLORS, Action, in_region
from serialization.constraint import Constraint
from serialization.parsed import NOTHING, Parsed, scan

_COLOR = f"({'|'.join(COLORS)})"
_SIDE, _HEIGHT = "(-[1-5]|[0-5])", "[1-9]"
_NUMBER = r"(-?\d{1,6})"
_GAP = r"[ \t]{1,4}"

_LINE = re.compile(
    rf"(?<!\w)(?:place{_GAP}([a-z]{{2,12}})|pick(?:{_GAP}[a-z]{{2,12}})?){_GAP}{_NUMBER}{_GAP}{_NUMBER}{_GAP}{_NUMBER}(?!\w)",
    re.IGNORECASE,
)
_LINE_REGEX = f"(place {_COLOR} {_SIDE} {_HEIGHT} {_SIDE}|pick {_SIDE} {_HEIGHT} {_SIDE})"
LINES_CONSTRAINT = Constraint("regex", rf"({NOTHING}|{_LINE_REGEX}(\n{_LINE_REGEX})*)")

_BLANK = r"[ \t]{0,4}"
_POSITION = (
    rf"x{_BLANK}={_BLANK}{_NUMBER}{_BLANK},{_BLANK}y{_BLANK}={_BLANK}{_NUMBER}{_BLANK},{_BLANK}z{_BLANK}={_BLANK}{_NUMBER}"
)
_CALL = re.compile(
    rf"(?<!\w)(place|pick){_BLANK}\({_BLANK}(?:color{_BLANK}={_BLANK}['\"]([a-z]{{2,12}})['\"]{_BLANK},{_BLANK})?{_POSITION}{_BLANK}\)",
    re.IGNORECASE,
)
_CALL_REGEX = rf"(place\(color='{_COLOR}',x={_SIDE},y={_HEIGHT},z={_SIDE}\)|pick\(x={_SIDE},y={_HEIGHT},z={_SIDE}\))"
CALLS_CONSTRAINT = Constraint("regex", rf"({NOTHING}|{_CALL_REGEX}(\n{_CALL_REGEX})*)")


def check_action(kind: str, color: str | None, x: int, y: int, z: int) -> Action | str:
    """The action, or the reason why there is none."""
    if not in_region(x, y, z):
        return "outside the build region"
    if kind == "place" and color not in CODES:
        return "unknown color" if color else "no color"
    return Action(kind, color, x, y, z)


def write_lines(actions: Sequence[Action]) -> str:
    """`place red 0 1 0` and `pick 0 1 0`, one a line."""
    return (
        "\n".join(f"place {a.color} {a.x} {a.y} {a.z}" if a.kind == "place" else f"pick {a.x} {a.y} {a.z}" for a in actions)
        or NOTHING
    )


def _read_line(match: re.Match[str]) -> Action | str:
    x, y, z = int(match[2]), int(match[3]), int(match[4])
    if match[1]:
        return check_action("place", match[1].lower(), x, y, z)
    return check_action("remove", None, x, y, z)


def parse_lines(text: str) -> Parsed:
    return scan(text, _LINE, _read_line)


def write_calls(actions: Sequence[Action]) -> str:
    """`place(color='red',x=0,y=1,z=0)` and `pick(x=0,y=1,z=0)`, one a line."""
    return (
        "\n".join(
            f"place(color='{a.color}',x={a.x},y={a.y},z={a.z})" if a.kind == "place" else f"pick(x={a.x},y={a.y},z={a.z})"
            for a in actions
        )
        or NOTHING
    )


def _read_call(match: re.Match[str]) -> Action | str:
    x, y, z = int(match[3]), int(match[4]), int(match[5])
    if match[1].lower() == "place":
        return check_action("place", (match[2] or "").lower(), x, y, z)
    return check_action("remove", None, x, y, z)


def parse_calls(text: str) -> Parsed:
    return scan(text, _CALL, _read_call)
