"""Automatic error classes of wrong predictions.

Every item that is not exactly right has one or more of `CLASSES`; the first of them in that order is its main one. Changes are
compared as the scores compare them: tiles with their new color (HEXAGONS), net placements and removals (Minecraft).
"""

from collections.abc import Sequence, Set
from typing import Any, NamedTuple

from harness.worlds import hexagons, minecraft

CLASSES = {
    "not answered": "the engine failed, or the item is missing from the predictions",
    "unparsable": "there is text, but no action could be read from it",
    "nothing predicted": "no change was predicted where one was wanted",
    "right place, wrong color": "the right cells change, at least one to a wrong color",
    "shifted by one": "right once everything moves by one tile, or by one cell along the ground",
    "wrong height": "right once everything moves up or down",
    "right shape, wrong place": "right once everything moves; in Minecraft it may also turn about the vertical axis",
    "over-execution": "all that was wanted, and more",
    "under-execution": "a part of what was wanted, and nothing else",
    "infeasible": "actions that cannot be carried out: floating, on an occupied cell, removing nothing",
    "off the board": "actions outside the board or the build region",
    "wrong count": "more or fewer changes than wanted",
    "other": "as many changes as wanted, and none of the above",
}
OFF_THE_BOARD = ("off the board", "outside the build region")
"""The parsers' reasons for discarding an action because of its place."""

Position = tuple[int, ...]


class Change(NamedTuple):
    """A change of one cell. `kind`: paint (HEXAGONS), place or remove (Minecraft)."""

    position: Position
    kind: str
    color: str


def classify(
    item: Any, actions: Sequence[Any], reasons: Set[str] = frozenset(), *, answered: bool = True, same_shape: bool = False
) -> tuple[str, ...]:
    """The classes of an item that is not exactly right, in the order of `CLASSES`; at least one.

    `reasons`: why the parser discarded pieces of the text, except what may surround an answer. `same_shape` says that a Minecraft
    prediction matches after alignment (`eval.metrics.alignment`).
    """
    off = {"off the board"} if not reasons.isdisjoint(OFF_THE_BOARD) else set()
    if not answered:
        classes = {"not answered"}
    elif not actions and reasons:
        classes = {"unparsable"} | off
    elif isinstance(item.before, hexagons.Board):
        classes = _tiles(item, actions) | off
    else:
        classes = _blocks(item, actions) | off | ({"right shape, wrong place"} if same_shape else set())
    if "nothing predicted" in classes:
        classes &= {"nothing predicted", "infeasible", "off the board"}
    return tuple(name for name in CLASSES if name in classes) or ("other",)


def _tiles(item: Any, actions: Sequence[hexagons.Paint]) -> set[str]:
    painted = {action.tile: action.color for action in actions if hexagons.on_board(*action.tile)}
    predicted = {Change(hexagons.to_cube(tile), "paint", color) for tile, color in painted.items()}
    wanted = {Change(hexagons.to_cube(action.tile), "paint", action.color) for action in item.before.diff(item.after)}
    classes = _compared(predicted, wanted)
    if len(painted) < len({action.tile for action in actions}):
        classes.add("off the board")
    if shift := _shift(predicted, wanted):
        x, z = shift
        classes.add("shifted by one" if max(abs(x), abs(z), abs(x + z)) == 1 else "right shape, wrong place")
    return classes


def _blocks(item: Any, actions: Sequence[minecraft.Action]) -> set[str]:
    reached, ignored = item.before.apply(actions)
    predicted, wanted = (
        {Change(action.cell, action.kind, str(action.color)) for action in minecraft.net_actions(item.before, state)}
        for state in (reached, item.after)
    )
    classes = _compared(predicted, wanted)
    outside = [action for action in ignored if not minecraft.in_region(*action.cell)]
    classes |= {"off the board"} if outside else set()
    classes |= {"infeasible"} if len(outside) < len(ignored) else set()
    if shift := _shift(predicted, wanted):
        x, y, z = shift
        classes |= {"wrong height"} if not x and not z else set()
        classes |= {"shifted by one"} if not y and abs(x) + abs(z) == 1 else set()
    return classes


def _compared(predicted: Set[Change], wanted: Set[Change]) -> set[str]:
    """The classes that follow from comparing the sets of changes as they are."""
    if not predicted:
        return {"nothing predicted"}
    classes = {"wrong count"} if len(predicted) != len(wanted) else set()
    if predicted > wanted and wanted:
        classes.add("over-execution")
    if predicted < wanted:
        classes.add("under-execution")
    if {change[:2] for change in predicted} == {change[:2] for change in wanted}:
        classes.add("right place, wrong color")
    return classes


def _shift(predicted: Set[Change], wanted: Set[Change]) -> Position | None:
    """The shift that turns `predicted` into `wanted`; None if there is none or either is empty."""
    if len(predicted) != len(wanted) or not predicted:
        return None
    # A shift keeps the order of the cells, so the first cell moves to the first cell.
    ends = min(predicted).position, min(wanted).position
    shift = tuple(b - a for a, b in zip(*ends, strict=True))
    moved = {change._replace(position=tuple(map(sum, zip(change.position, shift, strict=True)))) for change in predicted}
    return shift if moved == wanted else None
