"""The Minecraft format `lines` (Nebula): `place red 0 1 0` and `pick 0 1 0`, one action a line.

Like `calls` and `moves`, it omits the color of a removed block: parse(write(actions)) returns the actions without that color.
Actions keep their order; the world, not the parser, decides what is feasible.
"""

import re
from collections.abc import Sequence

from harness.worlds.minecraft import CODES, COLORS, Action, in_region
from serialization.formats.answer import BLANK, GAP, NOTHING, NUMBER, Constraint, Parsed, scan

COLOR = f"({'|'.join(COLORS)})"
SIDE, HEIGHT = "(-[1-5]|[0-5])", "[1-9]"
"""The range of x and z, and that of y, as regular expressions for grammars."""
BETWEEN = rf"(?:{BLANK},{BLANK}|{GAP})"
"""The separator of coordinates."""
END = r"(?!\w|\.\d|-\d)"
"""A number ends here: no fraction or range follows."""

_NAMED = [rf"(?:{name}{BLANK}[=:]{BLANK})?{NUMBER}" for name in "xyz"]
_PLACE = rf"(?:{GAP}(?:at|on|to|from)(?:{GAP}(?:position|coordinates))?)?{BLANK}[:,]?{BLANK}[(\[]?{BLANK}"
_LINE = re.compile(
    rf"(?<!\w)(?:place{GAP}(?:(?:an?|one|the){GAP})?([a-z]{{2,12}})"
    rf"|(?:pick(?:{GAP}up)?|remove)(?:{GAP}(?:an?|one|the))?(?:{GAP}[a-z]{{2,12}})?)"
    rf"(?:{GAP}block)?{_PLACE}{_NAMED[0]}{BETWEEN}{_NAMED[1]}{BETWEEN}{_NAMED[2]}{END}(?:{BLANK}[)\]])?",
    re.IGNORECASE,
)


def constraint(side: str = SIDE, height: str = HEIGHT) -> Constraint:
    """The grammar; `side` is the pattern of x and z, `height` that of y."""
    cell = f"{side} {height} {side}"
    line = f"(place {COLOR} {cell}|pick {cell})"
    return Constraint("regex", rf"({NOTHING}|{line}(\n{line})*)")


def check_action(kind: str, color: str | None, x: int, y: int, z: int) -> Action | str:
    """The action, or the reason why there is none."""
    if not in_region(x, y, z):
        return "outside the build region"
    if kind == "place" and color not in CODES:
        return "unknown color" if color else "no color"
    return Action(kind, color, x, y, z)


def written(actions: Sequence[Action], place: str, pick: str) -> str:
    """The actions, one a line, in the templates `place` and `pick`."""
    return "\n".join((place if a.kind == "place" else pick).format_map(a._asdict()) for a in actions) or NOTHING


def write(actions: Sequence[Action]) -> str:
    """`place red 0 1 0` and `pick 0 1 0`, one a line."""
    return written(actions, "place {color} {x} {y} {z}", "pick {x} {y} {z}")


def _read_line(match: re.Match[str]) -> Action | str:
    cell = int(match[2]), int(match[3]), int(match[4])
    return check_action("place", match[1].lower(), *cell) if match[1] else check_action("remove", None, *cell)


def parse(text: str) -> Parsed:
    return scan(text, _LINE, _read_line)
