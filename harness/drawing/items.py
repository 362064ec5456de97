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

    `behind` shows a structure from behind the builder.
    """
    pictures = item_pictures(item, predicted, behind=behind)
    return pictures["gold"] if predicted is None else side_by_side(list(pictures.items()))


def item_pictures(item: Item, predicted: State | None = None, *, behind: bool = False) -> dict[str, str]:
    """The pictures of `item_svg` as separate SVGs: "gold" and, with a predicted state, "predicted" and "difference"."""
    draw: Any
    differ: Any
    view: dict[str, Any]
    if isinstance(item, HexagonsItem):
        draw, differ, view = hexagons.board_svg, hexagons.difference_svg, {"numbers": True}
    else:
        draw, differ = minecraft.structure_svg, minecraft.difference_svg
        view = {"pose": item.pose, "quarters": -item.pose.quarter if behind else 0}
    drawn = {"gold": draw(item.after, before=item.before, **view)}
    if predicted is not None:
        drawn["predicted"] = draw(predicted, before=item.before, **view)
        drawn["difference"] = differ(item.after, predicted, item.before, **view)
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
    """The states before and after side by side, `width` characters wide, cut to the surroundings of the blocks; the builder is
    where it stood before."""
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


def prediction_text(item: Item, predicted: Any) -> RenderableType:
    """The predicted state with its differences from gold, for the terminal."""
    if isinstance(item, HexagonsItem):
        return terminal.board_difference_text(item.after, predicted, item.before)
    return terminal.structure_difference_text(item.after, predicted, item.before, pose=item.pose)


def _titled(title: str, picture: RenderableType) -> Group:
    return Group(Text(title, "bold"), picture)
