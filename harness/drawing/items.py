"""Pictures of items and answers."""

from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.text import Text

from harness.corpora.item import HexagonsItem, Item
from harness.drawing import hexagons, minecraft, terminal
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure

State = Board | Structure


def item_pictures(item: Item, predicted: State | None = None) -> dict[str, str]:
    """SVGs: "gold", the state after the item with its changes marked, and, with a predicted state, the same of it, "predicted",
    and "difference", the predicted state with what is right, wrong and missing."""
    draw: Any
    differ: Any
    view: dict[str, Any]
    if isinstance(item, HexagonsItem):
        draw, differ, view = hexagons.board_svg, hexagons.difference_svg, {}
    else:
        draw, differ = minecraft.structure_svg, minecraft.difference_svg
        view = {"pose": item.pose}
    drawn = {"gold": draw(item.after, before=item.before, **view)}
    if predicted is not None:
        drawn["predicted"] = draw(predicted, before=item.before, **view)
        drawn["difference"] = differ(item.after, predicted, item.before, **view)
    return drawn


def states_text(item: Item) -> RenderableType:
    """The states before and after the item, for the terminal."""
    after = _titled("After", predicted_text(item, item.after))
    if isinstance(item, HexagonsItem):
        return Columns([_titled("Before", terminal.board_text(item.before)), after], padding=(0, 3))
    before = terminal.structure_text(item.before) if len(item.before) else Text("no blocks")
    return Group(_titled("Before", before), Text(), after)


def predicted_text(item: Item, predicted: Any) -> RenderableType:
    """The predicted state with its changes since before the item, for the terminal."""
    if isinstance(item, HexagonsItem):
        return terminal.board_text(predicted, before=item.before)
    return terminal.structure_text(predicted, pose=item.pose, before=item.before)


def _titled(title: str, picture: RenderableType) -> Group:
    return Group(Text(title, "bold"), picture)
