"""States in the terminal, as rich renderables. Every picture can be read from its characters alone, without color."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich.columns import Columns
from rich.console import Group
from rich.text import Text

from harness.drawing import hexagons as hexagon_pictures
from harness.drawing.isometric import PALETTE as BLOCK_PALETTE
from harness.tasks import world_of
from harness.worlds.hexagons import COLORS, COLUMNS, ROWS, Board, Tile
from harness.worlds.minecraft import HEIGHT, SIDE, Pose, Structure, net_actions

LETTERS = {color: color[0].upper() for color in COLORS} | {"white": "·", "black": "K"}
_ARROWS = "↑↗→↘↓↙←↖"
_DARK_BLOCKS = frozenset({"red", "blue", "purple"})
_BUILDER, _EMPTY = "bold #e6007e", "#999999"


def board_text(board: Board, *, before: Board | None = None, first: int = 0) -> Text:
    """The board with two lines per row, every second column one line lower, and rows and columns numbered from `first`.

    Tiles painted since `before` are in brackets.
    """
    changed = () if before is None else before.diff(board)
    return _board(board, {action.tile: "[]" for action in changed}, {}, "[R] painted in this step" if changed else "", first)


def board_difference_text(gold: Board, predicted: Board, before: Board) -> Text:
    """The predicted board. On the tiles that it or gold paints: [R] right, !R! wrong, and below it (r) the missing color."""
    painted, wanted = set(before.diff(predicted)), set(before.diff(gold))
    marks = {action.tile: "[]" for action in painted & wanted} | {action.tile: "!!" for action in painted - wanted}
    missing = {action.tile: action.color for action in wanted - painted}
    return _board(predicted, marks, missing, "[R] right, !R! wrong, (r) missing")


def _board(board: Board, marks: Mapping[Tile, str], missing: Mapping[Tile, str], legend: str, first: int = 0) -> Text:
    text = Text(no_wrap=True)
    text.append("   " + "".join(f"{column + first:^3}" for column in range(COLUMNS)), "dim")
    for line in range(2 * ROWS + 1):
        text.append(f"\n{line // 2 + first:>2} " if line % 2 == 0 and line < 2 * ROWS else "\n   ", "dim")
        for column in range(COLUMNS):
            row, lower = divmod(line - (column & 1), 2)
            tile = Tile(row, column)
            if not 0 <= row < ROWS:
                text.append("   ")
            elif lower and tile in missing:
                text.append(f"({LETTERS[missing[tile]].lower()})", _tile_style(missing[tile], column))
            else:
                letter = "   " if lower else "{1}{0}{2}".format(LETTERS[board[tile]], *marks.get(tile, "  "))
                text.append(letter, _tile_style(board[tile], column))
    black = "K is black" if "black" in {*missing.values(), *(action.color for action in board.painted())} else ""
    legend = "; ".join(filter(None, (legend, black)))
    return text.append(f"\n   {legend}", "dim") if legend else text


def _tile_style(color: str, column: int) -> str:
    """White tiles of odd columns are a little gray, so that a blank board shows its columns."""
    if color == "white":
        return f"{_EMPTY} on {'#f2f2f2' if column & 1 else '#ffffff'}"
    ink = "#ffffff" if color in hexagon_pictures.DARK else "#000000"
    return f"{ink} on {hexagon_pictures.PALETTE[color]}"


class Window(NamedTuple):
    """The part of the build region that maps show; all of it by default."""

    x_low: int = -SIDE
    x_high: int = SIDE
    z_low: int = -SIDE
    z_high: int = SIDE

    @classmethod
    def around(cls, *structures: Structure) -> Window:
        """The smallest window with all blocks and two cells around them, as far as the region goes."""
        margin, ends = 2, []
        for places in zip(*((block.x, block.z) for structure in structures for block in structure.blocks()), strict=True):
            ends += [max(min(places) - margin, -SIDE), min(max(places) + margin, SIDE)]
        return cls(*ends)


WHOLE = Window()


def structure_text(
    structure: Structure, *, pose: Pose | None = None, before: Structure | None = None, window: Window = WHOLE
) -> Group:
    """One map per layer, from y = 1 up to the highest block, seen from above: +z is up and +x to the left.

    A letter is a block, by its color; R+ was placed since `before`, r- was removed. An arrow is the builder, on its layer or the
    nearest one, and at the nearest edge if it stands outside.
    """
    marks = {}
    if before is not None:
        changes = net_actions(before, structure)
        marks = {a.cell: f"{LETTERS[a.color].lower()}-" for a in changes if a.kind == "remove" and a.color}
        marks |= {a.cell: f"{LETTERS[a.color]}+" for a in changes if a.kind == "place" and a.color}
    return _structure(structure, pose, marks, "R+ placed, r- removed" if marks else "", window)


def structure_difference_text(gold: Structure, predicted: Structure, before: Structure, *, pose: Pose | None = None) -> Group:
    """The predicted structure; on the cells that it or gold changes: R* right, R! wrong, R? missing (r: an empty cell)."""
    wanted, done = net_actions(before, gold), net_actions(before, predicted)
    marks = {}
    for actions, sign in ((wanted & done, "*"), (wanted - done, "?"), (done - wanted, "!")):
        for action in actions:
            here = predicted.color_at(*action.cell)
            marks[action.cell] = (LETTERS[here] if here else LETTERS[str(action.color)].lower()) + sign
    legend = "* right, ! wrong, ? missing; a small letter is an empty cell" if marks else ""
    return _structure(predicted, pose, marks, legend, WHOLE)


def _structure(
    structure: Structure, pose: Pose | None, marks: Mapping[tuple[int, int, int], str], legend: str, window: Window
) -> Group:
    heights = [block.y for block in structure.blocks()] + [y for _, y, _ in marks]
    top = max(heights, default=1)
    stands = pose and min(max(math.floor(pose.y), 1), top, HEIGHT)
    layers = [_layer(structure, y, pose if stands == y else None, marks, window) for y in range(1, top + 1)]
    lines = [legend] if legend else []
    if pose is not None:
        lines.append(
            f"{_arrow(pose)} builder at ({pose.x:.1f}, {pose.y:.1f}, {pose.z:.1f}), yaw {pose.yaw:.0f}, pitch {pose.pitch:.0f}"
        )
    return Group(Columns(layers, padding=(0, 3)), *(Text(line, "dim") for line in lines))


def _arrow(pose: Pose) -> str:
    return _ARROWS[round(pose.yaw / 45.0) % 8]


def _layer(structure: Structure, y: int, pose: Pose | None, marks: Mapping[tuple[int, int, int], str], window: Window) -> Text:
    """A map of one layer, two characters per cell, with a margin of one cell for a builder outside the window."""
    x_low, x_high, z_low, z_high = window
    stands = None
    if pose is not None:
        stands = min(max(math.floor(pose.x), x_low - 1), x_high + 1), min(max(math.floor(pose.z), z_low - 1), z_high + 1)
    text = Text(no_wrap=True)
    text.append(f"y={y:<3}" + "".join(f"{x:>2}" for x in range(x_high, x_low - 1, -1)) + "  x", "dim")
    for z in range(z_high + 1, z_low - 2, -1):
        text.append(f"\n{z:>3}" if z_low <= z <= z_high else "\n  z" if z > z_high else "\n   ", "dim")
        for x in range(x_high + 1, x_low - 2, -1):
            here, arrow = structure.color_at(x, y, z), _arrow(pose) if pose and (x, z) == stands else ""
            if (x, y, z) in marks:
                cell, color = marks[x, y, z], here
            else:
                inside = x_low <= x <= x_high and z_low <= z <= z_high
                cell, color = (LETTERS[here] if here else "·" if inside else " ") + " ", here
            text.append(*_cell(cell, color, arrow))
    return text


def _cell(cell: str, color: str | None, arrow: str) -> tuple[str, str]:
    """Two characters and their style; the builder's arrow takes an empty cell, or the second half of a block's."""
    if arrow and color is None:
        return f"{arrow} ", _BUILDER
    if color is None:
        return cell, _EMPTY
    ink = "#ffffff" if color in _DARK_BLOCKS else "#000000"
    return (cell[0] + arrow if arrow else cell), f"bold {ink} on {BLOCK_PALETTE[color]}"


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
