"""States in the terminal, as rich renderables. Every picture can be read from its characters alone, without color."""

from collections.abc import Sequence
from typing import Any

from rich.columns import Columns
from rich.console import Group
from rich.text import Text

from harness.drawing.hexagons import DARK, PALETTE
from harness.drawing.minecraft import PALETTE as BLOCK_PALETTE
from harness.tasks.registry import world_of
from harness.worlds.hexagons import COLORS, COLUMNS, ROWS, Board, Tile
from harness.worlds.minecraft import SIDE, Pose, Structure, net_actions

LETTERS = {color: color[0].upper() for color in COLORS} | {"white": "·", "black": "K"}
_ARROWS = "↑↗→↘↓↙←↖"
_DARK_BLOCKS = frozenset({"red", "blue", "purple"})
_EMPTY = "#999999"


def board_text(board: Board, *, before: Board | None = None, first: int = 0) -> Text:
    """The board with two lines per row, every second column one line lower, and rows and columns numbered from `first`.

    Tiles painted since `before` are in brackets.
    """
    changed = set() if before is None else {action.tile for action in before.diff(board)}
    text = Text(no_wrap=True)
    text.append("   " + "".join(f"{column + first:^3}" for column in range(COLUMNS)), "dim")
    for line in range(2 * ROWS + 1):
        text.append(f"\n{line // 2 + first:>2} " if line % 2 == 0 and line < 2 * ROWS else "\n   ", "dim")
        for column in range(COLUMNS):
            row, lower = divmod(line - (column & 1), 2)
            tile = Tile(row, column)
            if not 0 <= row < ROWS:
                text.append("   ")
            else:
                letter = f"[{LETTERS[board[tile]]}]" if tile in changed else f" {LETTERS[board[tile]]} "
                text.append("   " if lower else letter, _tile_style(board[tile], column))
    notes = ["[R] painted in this step"] * bool(changed)
    notes += ["K is black"] * any(action.color == "black" for action in board.painted())
    return text.append(f"\n   {'; '.join(notes)}", "dim") if notes else text


def _tile_style(color: str, column: int) -> str:
    """White tiles of odd columns are a little gray, so that a blank board shows its columns."""
    if color == "white":
        return f"{_EMPTY} on {'#f2f2f2' if column & 1 else '#ffffff'}"
    return f"{'#ffffff' if color in DARK else '#000000'} on {PALETTE[color]}"


def structure_text(structure: Structure, *, pose: Pose | None = None, before: Structure | None = None) -> Group:
    """One map per layer, from y = 1 up to the highest block, seen from above: +z is up and +x to the left.

    A letter is a block, by its color; R+ was placed since `before`, r- was removed. A line below says where the builder stands,
    with an arrow for its direction on the maps.
    """
    marks = {}
    if before is not None:
        changes = net_actions(before, structure)
        marks = {a.cell: f"{LETTERS[a.color].lower()}-" for a in changes if a.kind == "remove" and a.color}
        marks |= {a.cell: f"{LETTERS[a.color]}+" for a in changes if a.kind == "place" and a.color}
    top = max([block.y for block in structure.blocks()] + [y for _, y, _ in marks], default=1)
    lines = ["R+ placed, r- removed"] if marks else []
    if pose is not None:
        arrow = _ARROWS[round(pose.yaw / 45.0) % 8]
        lines.append(f"{arrow} builder at ({pose.x:.1f}, {pose.y:.1f}, {pose.z:.1f}), yaw {pose.yaw:.0f}, pitch {pose.pitch:.0f}")
    layers = [_layer(structure, y, marks) for y in range(1, top + 1)]
    return Group(Columns(layers, padding=(0, 3)), *(Text(line, "dim") for line in lines))


def _layer(structure: Structure, y: int, marks: dict[tuple[int, int, int], str]) -> Text:
    """A map of one layer, two characters per cell."""
    text = Text(no_wrap=True)
    text.append(f"y={y}" + "".join(f"{x:>2}" for x in range(SIDE, -SIDE - 1, -1)) + "  x", "dim")
    for z in range(SIDE, -SIDE - 1, -1):
        text.append(f"\n{z:>3} ", "dim")
        for x in range(SIDE, -SIDE - 1, -1):
            color = structure.color_at(x, y, z)
            cell = marks.get((x, y, z)) or f"{LETTERS[color] if color else '·'} "
            ink = "#ffffff" if color in _DARK_BLOCKS else "#000000"
            text.append(cell, f"bold {ink} on {BLOCK_PALETTE[color]}" if color else _EMPTY)
    return text.append("\n  z", "dim")


_COMPACT = {"hexagons": "grouped", "minecraft": "lines"}
"""The shortest action format of each world."""
_LONGEST = 2000


def written(task: str, actions: Sequence[Any]) -> str:
    """The actions on one line in the world's shortest format."""
    from serialization.formats import get_format

    return get_format(task, _COMPACT[world_of(task)]).write(actions).replace("\n", ", ")


def printable(text: str) -> str:
    """The text cut to a readable length, its control characters replaced, since they could drive the terminal."""
    shown = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text[:_LONGEST].strip())
    return shown if len(text) <= _LONGEST else f"{shown} ... ({len(text) - _LONGEST:,} more characters)"


def counted(actions: Sequence[Any]) -> str:
    """How many actions: "1 action", "2 actions"."""
    return f"{len(actions)} action{'s' * (len(actions) != 1)}"
