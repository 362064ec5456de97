"""Pictures of items and answers."""

from __future__ import annotations

from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.corpora.item import HexagonsItem, Item, MinecraftItem
from harness.drawing import hexagons, minecraft, terminal
from harness.drawing.svg import side_by_side
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure

State = Board | Structure


def item_svg(item: Item, predicted: State | None = None, *, behind: bool = False) -> str:
    """The state after the item with its changes marked; with a predicted state: gold, predicted and their difference.

    `behind` shows a structure from behind the builder. Raises TypeError for a predicted state of the other task.
    """
    pictures = item_pictures(item, predicted, behind=behind)
    return pictures["gold"] if predicted is None else side_by_side(list(pictures.items()), legend=True)


def item_pictures(item: Item, predicted: State | None = None, *, behind: bool = False) -> dict[str, str]:
    """The same as one SVG each: "gold" and, with a predicted state, "predicted" and "difference"."""
    match item, predicted:
        case HexagonsItem(), Board() | None:
            return _boards(item, predicted)
        case MinecraftItem(), Structure() | None:
            return _structures(item, predicted, -item.pose.quarter if behind else 0)
    raise TypeError(f"a predicted {type(predicted).__name__} for an item of {item.task}")


def _boards(item: HexagonsItem, predicted: Board | None) -> dict[str, str]:
    states = {"gold": item.after} | ({} if predicted is None else {"predicted": predicted})
    drawn = {title: hexagons.board_svg(board, before=item.before, numbers=True) for title, board in states.items()}
    if predicted is not None:
        drawn["difference"] = hexagons.difference_svg(item.after, predicted, item.before, numbers=True)
    return drawn


def _structures(item: MinecraftItem, predicted: Structure | None, quarters: int) -> dict[str, str]:
    view: Any = {"pose": item.pose, "quarters": quarters}
    states = {"gold": item.after} | ({} if predicted is None else {"predicted": predicted})
    drawn = {title: minecraft.structure_svg(state, before=item.before, **view) for title, state in states.items()}
    if predicted is not None:
        drawn["difference"] = minecraft.difference_svg(item.after, predicted, item.before, **view)
    return drawn


def states_text(item: Item) -> RenderableType:
    """The states before and after the item, for the terminal."""
    if isinstance(item, HexagonsItem):
        boards = terminal.board_text(item.before), terminal.board_text(item.after, before=item.before)
        return Columns([_titled("Before", boards[0]), _titled("After", boards[1])], padding=(0, 3))
    before: RenderableType = terminal.structure_text(item.before) if len(item.before) else Text("no blocks")
    after = terminal.structure_text(item.after, pose=item.pose, before=item.before)
    return Group(_titled("Before", before), Text(), _titled("After", after))


def states_beside(item: MinecraftItem, width: int) -> RenderableType:
    """The same side by side in `width` columns, around the blocks only; the builder is where it stood before."""
    window = terminal.Window.around(item.before, item.after)
    if not len(item.before):
        after = terminal.structure_text(item.after, pose=item.pose, before=item.before, window=window)
        return Group(_titled("Before", Text("no blocks")), Text(), _titled("After", after))
    both = Table.grid(padding=(0, 3, 0, 0))
    for _ in range(2):
        both.add_column(width=width // 2 - 3)
    both.add_row(
        _titled("Before", terminal.structure_text(item.before, pose=item.pose, window=window)),
        _titled("After", terminal.structure_text(item.after, before=item.before, window=window)),
    )
    return both


def prediction_text(item: Item, predicted: State) -> RenderableType:
    """The predicted state with its differences from gold, for the terminal. Raises TypeError for one of the other task."""
    match item, predicted:
        case HexagonsItem(), Board():
            return terminal.board_difference_text(item.after, predicted, item.before)
        case MinecraftItem(), Structure():
            return terminal.structure_difference_text(item.after, predicted, item.before, pose=item.pose)
    raise TypeError(f"a predicted {type(predicted).__name__} for an item of {item.task}")


def _titled(title: str, picture: RenderableType) -> Group:
    return Group(Text(title, "bold"), picture)
