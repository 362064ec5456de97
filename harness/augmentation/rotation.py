"""Items turned: building games by quarters about the vertical axis, drawing steps by half a turn of the board."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.augmentation.rotated_words import turn_words
from harness.corpora.item import Executed, HexagonsItem, MinecraftItem, Turn, Utterance
from harness.worlds.hexagons import COLUMNS, ROWS, Board, Paint
from harness.worlds.minecraft import turn_action


def turn_minecraft(item: MinecraftItem, quarters: int) -> MinecraftItem:
    """The item with structures, pose, actions and the runs in its history turned by quarters of 90 degrees, as yaw grows.

    All turn about the middle of cell (0, 0), so the blocks stay in the region, which is square, and everything is where it was
    as the builder sees it. (The published augmented data turns the builder about a corner of that cell.)
    """

    def turned(actions: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(turn_action(action, quarters) for action in actions)

    def turned_run(run: Executed) -> Executed:
        return Executed(turned(run.actions), run.pose and run.pose.turned(quarters))

    return replace(
        item,
        history=tuple(turn if isinstance(turn, Utterance) else turned_run(turn) for turn in item.history),
        before=item.before.turned(quarters),
        pose=item.pose.turned(quarters),
        actions=turned(item.actions),
        after=item.after.turned(quarters),
    )


def turn_hexagons(item: HexagonsItem) -> HexagonsItem | None:
    """The item with boards and actions turned by half a turn, which takes tile i of the 180 to 179 - i, and its words too.

    Actions are sorted by row and column, as those of the release are. None if `rotated_words` is not sure of the instruction
    or of an earlier one, so that a step and its history always go together.
    """
    instruction = _said(item.instruction, item.actions)
    history: list[Turn] = []
    for turn, done in zip(item.history[::2], item.history[1::2], strict=True):
        if not isinstance(turn, Utterance) or not isinstance(done, Executed):
            return None
        text = _said(turn.text, done.actions)
        if text is None:
            return None
        history += [turn._replace(text=text), Executed(_turned(done.actions))]
    if instruction is None:
        return None
    return replace(
        item,
        instruction=instruction,
        history=tuple(history),
        before=_board(item.before),
        actions=_turned(item.actions),
        after=_board(item.after),
    )


def _said(text: str, actions: tuple[Any, ...]) -> str | None:
    return turn_words(text, frozenset(paint.column for paint in actions))


def _turned(actions: tuple[Any, ...]) -> tuple[Paint, ...]:
    paints = (Paint(ROWS - 1 - paint.row, COLUMNS - 1 - paint.column, paint.color) for paint in actions)
    # A stable sort: the last paint on a tile stays the last.
    return tuple(sorted(paints, key=lambda paint: paint.tile))


def _board(board: Board) -> Board:
    return Board(board.cells[::-1, ::-1])
