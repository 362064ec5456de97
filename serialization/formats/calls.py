"""The Minecraft format `calls` (few-shot code generation): `place(color='red',x=0,y=1,z=0)`, `pick(x=0,y=1,z=0)`, one a line."""

import re
from collections.abc import Sequence

from harness.worlds.minecraft import Action
from serialization.formats.answer import BLANK, NOTHING, NUMBER, Constraint, Parsed, scan
from serialization.formats.lines import COLOR, HEIGHT, SIDE, check_action, written

# A call as `write` writes it, or one whose arguments are still to be parsed.
_CALL = re.compile(
    rf"(?<!\w)(?:(place|pick)\((?:color='([a-z]{{2,12}})',)?x={NUMBER},y={NUMBER},z={NUMBER}\)"
    rf"|(place|pick|remove){BLANK}\(([^()\n]{{0,120}})\))",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(rf"(?:([a-z]{{1,12}}){BLANK}[=:])?{BLANK}(?:{NUMBER}|([\"']?)([a-z]{{2,12}})\3)", re.IGNORECASE)
_CALL_REGEX = rf"(place\(color='{COLOR}',x={SIDE},y={HEIGHT},z={SIDE}\)|pick\(x={SIDE},y={HEIGHT},z={SIDE}\))"
CONSTRAINT = Constraint("regex", rf"({NOTHING}|{_CALL_REGEX}(\n{_CALL_REGEX})*)")


def write(actions: Sequence[Action]) -> str:
    """`place(color='red',x=0,y=1,z=0)` and `pick(x=0,y=1,z=0)`, one a line."""
    return written(actions, "place(color='{color}',x={x},y={y},z={z})", "pick(x={x},y={y},z={z})")


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
    """Color, x, y and z of a call, by name or in this order, or the reason why they cannot be read."""
    values: dict[str, str] = {}
    named = False
    for argument in text.split(","):
        match = _ARGUMENT.fullmatch(argument.strip(" \t"))
        if match is None:
            return "an argument that is neither a number nor a color"
        name, number, color = match[1], match[2], match[4]
        if number and not name and named:
            return "an unnamed coordinate after a named one"
        named = named or bool(number and name)
        name = name.lower() if name else next((axis for axis in "xyz" if axis not in values), "more") if number else "color"
        if name in values or name not in (("x", "y", "z") if number else ("color",)):
            return f"an argument too many or of the wrong kind: {name}"
        values[name] = number or color
    if not {"x", "y", "z"} <= values.keys():
        return "a coordinate is missing"
    return values.get("color"), int(values["x"]), int(values["y"]), int(values["z"])


def parse(text: str) -> Parsed:
    return scan(text, _CALL, _read_call)
