"""The Minecraft format `moves`, which is ours: `red left 2 up` gives each action relative to the cell of the previous one.

It says where a block goes as a builder would: a number of cells left, up or behind, as the builder sees it. `red up x3` is
three blocks, each on top of the one before. The meaning of a text therefore depends on the item: on the cell of the last
action before it, and on the builder's direction.

Any line may give its cell, as in `red at 0 1 0`; it is written where there is no previous action.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.corpora.item import Executed, Item, MinecraftItem
from harness.worlds.minecraft import CODES, COLORS, Action, turn
from serialization.formats.answer import BLANK, GAP, NOTHING, NUMBER, Constraint, Parsed, discard, scan
from serialization.formats.lines import BETWEEN, COLOR, END, HEIGHT, SIDE, check_action

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

MOST_REPEATS = 10
"""The grammar admits at most this many actions a line."""

_WAY = rf"(?:{'|'.join(DIRECTIONS)})(?:{GAP}\d{{1,2}})?"
_WAYS = rf"{GAP}{_WAY}(?:(?:{BLANK},{BLANK}|{GAP}(?:and{GAP})?){_WAY}){{0,5}}"
_NUMBERS = BETWEEN.join(f"(?P<{name}>{NUMBER[1:-1]})" for name in "xyz")
_MOVE = re.compile(
    rf"(?<!\w)(?:place{GAP})?(?P<done>{'|'.join(COLORS)}|pick|remove)"
    rf"(?:{GAP}at{GAP}{_NUMBERS}|{GAP}here|(?P<ways>{_WAYS})(?:{GAP}x(?P<times>[1-9]\d?))?){END}",
    re.IGNORECASE,
)
_STEP = re.compile(rf"({'|'.join(DIRECTIONS)})(?:{GAP}(\d{{1,2}}))?", re.IGNORECASE)


def constraint() -> Constraint:
    """The constraint, with directions in the order in which they are written: left or right, up or down, behind or front."""
    side, height, depth = (rf"({a}|{b})( ([2-9]|10))?" for a, b in (("left", "right"), ("up", "down"), ("behind", "front")))
    ways = rf"({side}( {height})?( {depth})?|{height}( {depth})?|{depth})( x([2-9]|10))?"
    line = rf"({COLOR}|pick) (at {SIDE} {HEIGHT} {SIDE}|here|{ways})"
    return Constraint("regex", rf"({NOTHING}|{line}(\n{line})*)")


def write(actions: Sequence[Action], before: Cell | None = None, quarter: int = 0) -> str:
    """`red at 0 1 0`, then `blue left 2 up`, `pick here`: one a line, each from the cell of the line above.

    `before` is the cell of the action before the first one; without it, the first line gives its own cell. `quarter`: the
    builder's quarter turn, as `Pose.quarter`.
    """
    lines: list[str] = []
    counts: list[int] = []
    for action in actions:
        done = "pick" if action.kind == "remove" else action.color
        here = way(before, action.cell, quarter)
        # A repeated way is one line. `here` is not a way: a second block does not fit there.
        if lines and f"{done} {here}" == lines[-1] and here != "here":
            counts[-1] += 1
        else:
            lines.append(f"{done} {here}")
            counts.append(1)
        before = action.cell
    return "\n".join(line if n == 1 else f"{line} x{n}" for line, n in zip(lines, counts, strict=True)) or NOTHING


def way(before: Cell | None, cell: Cell, quarter: int) -> str:
    """`left 2 up`: the way from the previous cell to a cell; without a previous cell, `at` and the coordinates."""
    if before is None:
        return "at {} {} {}".format(*cell)
    x, z = turn(cell[0] - before[0], cell[2] - before[2], -quarter)
    pairs = ((x, "left", "right"), (cell[1] - before[1], "up", "down"), (z, "behind", "front"))
    steps = [f"{more if n > 0 else less} {abs(int(n))}".removesuffix(" 1") for n, more, less in pairs if n]
    return " ".join(steps) or "here"


def parse(text: str, before: Cell | None = None, quarter: int = 0) -> Parsed:
    """The inverse of `write`. Without a previous cell, a way starts from the middle of the ground, 0 1 0."""
    cell = before or (0, 1, 0)

    def read(match: re.Match[str]) -> tuple[str, list[Action | str]]:
        nonlocal cell
        word, done = match["done"].lower(), list[Action | str]()
        step = _step(match["ways"] or "", quarter)
        if match["x"]:
            cell = (int(match["x"]), int(match["y"]), int(match["z"]))
        for _ in range(int(match["times"] or 1)):
            cell = (cell[0] + step[0], cell[1] + step[1], cell[2] + step[2])
            done.append(check_action("place", word, *cell) if word in CODES else check_action("remove", None, *cell))
        return match.group(), done

    lines = scan(text, _MOVE, read)
    pairs = [(said, action) for said, done in lines.actions for action in done]
    actions = tuple(action for _, action in pairs if isinstance(action, Action))
    return Parsed(actions, lines.discarded + tuple(discard(said, why) for said, why in pairs if isinstance(why, str)))


def _step(way: str, quarter: int) -> Cell:
    """The step of a way in x, y and z."""
    across = up = deep = 0
    for direction, count in _STEP.findall(way):
        step, n = DIRECTIONS[direction.lower()], int(count or 1)
        across, up, deep = across + n * step[0], up + n * step[1], deep + n * step[2]
    x, z = turn(across, deep, quarter)
    return int(x), up, int(z)


def last_cell(item: Item) -> Cell | None:
    """The cell of the last action before the item's turn; None before the first action."""
    done = [a for turn in item.history if isinstance(turn, Executed) for a in turn.actions if isinstance(a, Action)]
    return done[-1].cell if done else None


def answer(actions: Sequence[Action], item: Item) -> str:
    assert isinstance(item, MinecraftItem)
    return write(actions, last_cell(item), item.pose.quarter)


def read_for(text: str, item: Item) -> Parsed:
    assert isinstance(item, MinecraftItem)
    return parse(text, last_cell(item), item.pose.quarter)
