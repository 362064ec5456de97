"""Pictures of a whole item: its states, or a prediction beside the gold state and their difference."""

from __future__ import annotations

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.text import Text

from harness.corpora.item import HexagonsItem, Item, MinecraftItem
from harness.drawing import hexagons, minecraft, terminal
from harness.drawing.svg import side_by_side
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure

State = Board | Structure
_TITLES = ("gold", "predicted", "difference")


def item_svg(item: Item, predicted: State | None = None, *, behind: bool = False) -> str:
    """The state after the item with its changes marked; with a predicted state: gold, predicted and their difference.

    `behind` shows a structure from behind the builder. Raises TypeError for a predicted state of the other task.
    """
    match item, predicted:
        case HexagonsItem(), None:
            return hexagons.board_svg(item.after, before=item.before, numbers=True)
        case HexagonsItem(), Board():
            boards = [hexagons.board_svg(board, before=item.before, numbers=True) for board in (item.after, predicted)]
            boards.append(hexagons.difference_svg(item.after, predicted, item.before, numbers=True))
            return side_by_side(list(zip(_TITLES, boards, strict=True)), legend=True)
        case MinecraftItem(), Structure() | None:
            return _structures_svg(item, predicted, -item.pose.quarter if behind else 0)
    raise TypeError(f"a predicted {type(predicted).__name__} for an item of {item.task}")


def _structures_svg(item: MinecraftItem, predicted: Structure | None, quarters: int) -> str:
    states = [item.after] if predicted is None else [item.after, predicted]
    pictures = [minecraft.structure_svg(s, pose=item.pose, before=item.before, quarters=quarters) for s in states]
    if predicted is None:
        return pictures[0]
    pictures.append(minecraft.difference_svg(item.after, predicted, item.before, pose=item.pose, quarters=quarters))
    return side_by_side(list(zip(_TITLES, pictures, strict=True)), legend=True)


def states_text(item: Item) -> RenderableType:
    """The states before and after the item, for the terminal."""
    if isinstance(item, HexagonsItem):
        boards = terminal.board_text(item.before), terminal.board_text(item.after, before=item.before)
        return Columns([_titled("Before", boards[0]), _titled("After", boards[1])], padding=(0, 3))
    before: RenderableType = terminal.structure_text(item.before) if len(item.before) else Text("no blocks")
    after = terminal.structure_text(item.after, pose=item.pose, before=item.before)
    return Group(_titled("Before", before), Text(), _titled("After", after))


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
