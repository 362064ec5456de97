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
_BLANK, _GAP = r"[ \t]{0,4}", r"[ \t]{1,4}"
# Not the beginning of a fraction or of a range.
_END = r"(?!\w|\.\d|-\d)"

_BETWEEN = rf"(?:{_BLANK},{_BLANK}|{_GAP})"
_NAMED = [rf"(?:{name}{_BLANK}[=:]{_BLANK})?{_NUMBER}" for name in "xyz"]
_PLACE = rf"(?:{_GAP}(?:at|on|to|from)(?:{_GAP}(?:position|coordinates))?)?{_BLANK}[:,]?{_BLANK}[(\[]?{_BLANK}"
_LINE = re.compile(
    rf"(?<!\w)(?:place{_GAP}(?:(?:an?|one|the){_GAP})?([a-z]{{2,12}})"
    rf"|(?:pick(?:{_GAP}up)?|remove)(?:{_GAP}(?:an?|one|the))?(?:{_GAP}[a-z]{{2,12}})?)"
    rf"(?:{_GAP}block)?{_PLACE}{_NAMED[0]}{_BETWEEN}{_NAMED[1]}{_BETWEEN}{_NAMED[2]}{_END}(?:{_BLANK}[)\]])?",
    re.IGNORECASE,
)
_LINE_REGEX = f"(place {_COLOR} {_SIDE} {_HEIGHT} {_SIDE}|pick {_SIDE} {_HEIGHT} {_SIDE})"
LINES_CONSTRAINT = Constraint("regex", rf"({NOTHING}|{_LINE_REGEX}(\n{_LINE_REGEX})*)")

# As it is written, or with arguments that are still to be read.
_CALL = re.compile(
    rf"(?<!\w)(?:(place|pick)\((?:color='([a-z]{{2,12}})',)?x={_NUMBER},y={_NUMBER},z={_NUMBER}\)"
    rf"|(place|pick|remove){_BLANK}\(([^()\n]{{0,120}})\))",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(rf"(?:([a-z]{{1,12}}){_BLANK}[=:])?{_BLANK}(?:{_NUMBER}|([\"']?)([a-z]{{2,12}})\3)", re.IGNORECASE)
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
    kind, color = (match[1] or match[6]).lower(), match[2]
    if match[1]:
        x, y, z = int(match[3]), int(match[4]), int(match[5])
    else:
        arguments = _read_arguments(match[7])
        if isinstance(arguments, str):
            return arguments
        color, x, y, z = arguments
    if kind == "place":
        return check_action("place", (color or "").lower(), x, y, z)
    return check_action("remove", None, x, y, z)


def _read_arguments(text: str) -> tuple[str | None, int, int, int] | str:
    """Color, x, y and z of a call, by name or in this order, or the reason why they cannot be told."""
    found: dict[str, str] = {}
    named = False
    for argument in text.split(","):
        match = _ARGUMENT.fullmatch(argument.strip(" \t"))
        if match is None:
            return "an argument that is neither a number nor a color"
        name, number, color = match[1], match[2], match[4]
        if number and not name and named:
            return "an unnamed coordinate after a named one"
        named = named or bool(number and name)
        name = name.lower() if name else next((axis for axis in "xyz" if axis not in found), "more") if number else "color"
        if name in found or name not in (("x", "y", "z") if number else ("color",)):
            return f"an argument too many or of the wrong kind: {name}"
        found[name] = number or color
    if not {"x", "y", "z"} <= found.keys():
        return "a coordinate is missing"
    return found.get("color"), int(found["x"]), int(found["y"]), int(found["z"])


def parse_calls(text: str) -> Parsed:
    return scan(text, _CALL, _read_call)
