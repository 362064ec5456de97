"""The three text formats of Minecraft: `lines` (Nebula), `calls` (few-shot code generation) and `moves`, which is ours.

None says the color of a removed block, so parse(write(actions)) gives back the actions with that color left out.
Actions keep their order; the world, not the parser, decides what is feasible.

`moves` says where a block goes as a builder would: so many cells left, up or behind the block before it, as the builder looks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.corpora.item import Executed, Item, MinecraftItem
from harness.worlds.minecraft import CODES, COLORS, Action, in_region, turn
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


# --- moves ---

Cell = tuple[int, int, int]

DIRECTIONS = {
    "left": (1, 0, 0),
    "right": (-1, 0, 0),
    "up": (0, 1, 0),
    "down": (0, -1, 0),
    "behind": (0, 0, 1),
    "front": (0, 0, -1),
}
"""The step of each direction for a builder who looks along +z: `front` comes toward the builder, `behind` goes away."""

_WAY = rf"(?:{'|'.join(DIRECTIONS)})(?:{_GAP}\d{{1,2}})?"
_MOVE = re.compile(
    rf"(?<!\w)(?:place{_GAP})?({'|'.join(COLORS)}|pick|remove)"
    rf"(?:{_GAP}at{_GAP}{_NUMBER}{_BETWEEN}{_NUMBER}{_BETWEEN}{_NUMBER}|{_GAP}here"
    rf"|({_GAP}{_WAY}(?:(?:{_BLANK},{_BLANK}|{_GAP}(?:and{_GAP})?){_WAY}){{0,5}})){_END}",
    re.IGNORECASE,
)
_STEP = re.compile(rf"({'|'.join(DIRECTIONS)})(?:{_GAP}(\d{{1,2}}))?", re.IGNORECASE)


def _moves_constraint() -> Constraint:
    """The ways in the order in which they are written: left or right, up or down, behind or front."""
    side, height, depth = (rf"({a}|{b})( ([2-9]|10))?" for a, b in (("left", "right"), ("up", "down"), ("behind", "front")))
    way = rf"({side}( {height})?( {depth})?|{height}( {depth})?|{depth})"
    line = rf"({_COLOR}|pick) (at {_SIDE} {_HEIGHT} {_SIDE}|here|{way})"
    return Constraint("regex", rf"({NOTHING}|{line}(\n{line})*)")


MOVES_CONSTRAINT = _moves_constraint()


def write_moves(actions: Sequence[Action], before: Cell | None = None, quarter: int = 0) -> str:
    """`red at 0 1 0`, then `blue left 2 up`, `pick here`: one a line, each from the cell of the line above.

    `before` is the cell of the action before the first one; without it, the first line says its cell. `quarter`: how the
    builder looks, as `Pose.quarter`.
    """
    lines = []
    for action in actions:
        lines.append(f"{'pick' if action.kind == 'remove' else action.color} {_way(before, action.cell, quarter)}")
        before = action.cell
    return "\n".join(lines) or NOTHING


def _way(before: Cell | None, cell: Cell, quarter: int) -> str:
    if before is None:
        return "at {} {} {}".format(*cell)
    x, z = turn(cell[0] - before[0], cell[2] - before[2], -quarter)
    pairs = ((x, "left", "right"), (cell[1] - before[1], "up", "down"), (z, "behind", "front"))
    steps = [f"{more if n > 0 else less} {abs(int(n))}".removesuffix(" 1") for n, more, less in pairs if n]
    return " ".join(steps) or "here"


def parse_moves(text: str, before: Cell | None = None, quarter: int = 0) -> Parsed:
    """The inverse of `write_moves`. Where nothing goes before, a way is taken from the middle of the ground, 0 1 0."""
    cell = before or (0, 1, 0)

    def read(match: re.Match[str]) -> Action | str:
        nonlocal cell
        cell = (int(match[2]), int(match[3]), int(match[4])) if match[2] else _moved(cell, match[5] or "", quarter)
        word = match[1].lower()
        return check_action("place", word, *cell) if word in CODES else check_action("remove", None, *cell)

    return scan(text, _MOVE, read)


def _moved(cell: Cell, way: str, quarter: int) -> Cell:
    across = up = deep = 0
    for direction, count in _STEP.findall(way):
        step, n = DIRECTIONS[direction.lower()], int(count or 1)
        across, up, deep = across + n * step[0], up + n * step[1], deep + n * step[2]
    x, z = turn(across, deep, quarter)
    return cell[0] + int(x), cell[1] + up, cell[2] + int(z)


def last_cell(item: Item) -> Cell | None:
    """The cell of the last action before a builder's turn; None before the first one."""
    done = [a for said in item.history if isinstance(said, Executed) for a in said.actions if isinstance(a, Action)]
    return done[-1].cell if done else None


def answer_moves(actions: Sequence[Action], item: Item) -> str:
    """Raises TypeError for an item of the other task."""
    return write_moves(actions, last_cell(item), _quarter(item))


def read_moves(text: str, item: Item) -> Parsed:
    """Raises TypeError for an item of the other task."""
    return parse_moves(text, last_cell(item), _quarter(item))


def _quarter(item: Item) -> int:
    if not isinstance(item, MinecraftItem):
        raise TypeError(f"builder's moves for {item.id}")
    return item.pose.quarter
