"""Automatic error classes of wrong predictions.

Every item that is not exactly right has one or more of `CLASSES`; the first of them in that order is its main one. Changes are
compared as the scores compare them: tiles with their new color (HEXAGONS), net placements and removals (Minecraft).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.worlds import hexagons, minecraft

CLASSES = {
    "not answered": "the engine failed, or the item is missing from the predictions",
    "unparsable": "there is text, but no action could be read from it",
    "nothing predicted": "no change was predicted where one was wanted",
    "right place, wrong color": "the right cells change, at least one to a wrong color",
    "mirrored left-right": "right once left and right are mirrored (on the board, or as the builder sees them)",
    "mirrored front-back": "right once front and back are mirrored as the builder sees them; on the board, top and bottom",
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
_EXCLUSIVE = ("not answered", "unparsable", "nothing predicted")
OFF_THE_BOARD = ("off the board", "outside the build region")
"""The parsers' reasons for discarding an action because of its place."""

Position = tuple[int, ...]


class Change(NamedTuple):
    """A change of one cell: its position, and a color (HEXAGONS) or a kind and a color (Minecraft)."""

    position: Position
    what: str


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """Input of the classification besides items and actions, by item id."""

    discarded: Mapping[str, Set[str]] = field(default_factory=dict)
    """Why the parser discarded pieces of the text, except what may surround an answer."""
    unanswered: Set[str] = frozenset()
    quarters: Mapping[str, int] = field(default_factory=dict)
    """Minecraft: the builder's direction in quarter turns (`harness.worlds.minecraft.Pose.quarter`)."""


def classify(item: Any, actions: Sequence[Any], clues: ErrorContext, *, same_shape: bool = False) -> tuple[str, ...]:
    """The classes of an item that is not exactly right, in the order of `CLASSES`; at least one.

    `same_shape` says that a Minecraft prediction matches after alignment (`eval.metrics.alignment`).
    """
    reasons = clues.discarded.get(item.id, frozenset())
    classes: set[str] = set()
    if item.id in clues.unanswered:
        classes.add("not answered")
    elif not actions and reasons:
        classes.add("unparsable")
    elif isinstance(item.before, hexagons.Board):
        classes |= _tiles(item, actions)
    else:
        classes |= _blocks(item, actions, clues.quarters.get(item.id, 0))
        classes |= {"right shape, wrong place"} if same_shape else set()
    if not reasons.isdisjoint(OFF_THE_BOARD):
        classes.add("off the board")
    if not classes.isdisjoint(_EXCLUSIVE):
        classes &= {*_EXCLUSIVE, "infeasible", "off the board"}
    return tuple(name for name in CLASSES if name in classes) or ("other",)


def _tiles(item: Any, actions: Sequence[hexagons.Paint]) -> set[str]:
    painted = {action.tile: action.color for action in actions if hexagons.on_board(*action.tile)}
    predicted = frozenset(Change(tile, color) for tile, color in painted.items())
    wanted = frozenset(Change(action.tile, action.color) for action in item.before.diff(item.after))
    classes = _amounts(predicted, wanted)
    if len(painted) < len({action.tile for action in actions}):
        classes.add("off the board")
    if (shift := _shift(*(_moved(changes, hexagons.to_cube) for changes in (predicted, wanted)))) is not None:
        x, z = shift
        classes.add("shifted by one" if max(abs(x), abs(z), abs(x + z)) == 1 else "right shape, wrong place")
        return classes
    mirrored = {"mirrored left-right": (1, -1), "mirrored front-back": (-1, 1)}
    for name, (row, column) in mirrored.items():
        image = _moved(predicted, lambda tile, row=row, column=column: (row * tile[0], column * tile[1]))  # type: ignore[misc]
        shift = _shift(image, wanted)
        if shift is not None and shift[0 if row > 0 else 1] == 0:
            classes.add(name)
    return classes


def _blocks(item: Any, actions: Sequence[minecraft.Action], quarter: int) -> set[str]:
    reached, ignored = item.before.apply(actions)
    # In the builder's frame: x to the left, z ahead.
    predicted, wanted = (
        frozenset(
            Change(minecraft.turn_action(a, -quarter).cell, f"{a.kind} {a.color}")
            for a in minecraft.net_actions(item.before, state)
        )
        for state in (reached, item.after)
    )
    classes = _amounts(predicted, wanted)
    outside = [action for action in ignored if not minecraft.in_region(*action.cell)]
    classes |= {"off the board"} if outside else set()
    classes |= {"infeasible"} if len(outside) < len(ignored) else set()
    shift = _shift(predicted, wanted)
    if shift is not None:
        x, y, z = shift
        classes |= {"wrong height"} if not x and not z else set()
        classes |= {"shifted by one"} if not y and abs(x) + abs(z) == 1 else set()
    turned = {block[:3] for block in item.before.turned(-quarter).blocks()}
    for name, axis in (("mirrored left-right", 0), ("mirrored front-back", 2)):
        classes |= {name} if _mirrored(predicted, wanted, axis, turned, shift is None) else set()
    return classes


def _mirrored(predicted: Set[Change], wanted: Set[Change], axis: int, blocks: Set[Position], free: bool) -> bool:
    """Whether mirroring along `axis` makes it right: through the middle of one of the `blocks` or, if `free`, anywhere.

    A block on the wrong side of another one is mirrored; two equal rows a few cells apart are only shifted.
    """
    shift = _shift(_moved(predicted, lambda cell: tuple(-v if n == axis else v for n, v in enumerate(cell))), wanted)
    if shift is None or any(v for n, v in enumerate(shift) if n != axis):
        return False
    return free or any(2 * cell[axis] == shift[axis] for cell in blocks)


def _amounts(predicted: Set[Change], wanted: Set[Change]) -> set[str]:
    """The classes that follow from comparing the sets of changes as they are."""
    if not predicted:
        return {"nothing predicted"}
    classes = {"wrong count"} if len(predicted) != len(wanted) else set()
    if predicted > wanted and wanted:
        classes.add("over-execution")
    if predicted < wanted:
        classes.add("under-execution")
    if _plain(predicted) == _plain(wanted):
        classes.add("right place, wrong color")
    return classes


def _plain(changes: Iterable[Change]) -> set[tuple[Position, str]]:
    """The changes without their colors; a removal still differs from a placement."""
    return {(change.position, change.what.partition(" ")[0] if " " in change.what else "") for change in changes}


def _moved(changes: Iterable[Change], move: Callable[[Any], Position]) -> frozenset[Change]:
    return frozenset(Change(move(change.position), change.what) for change in changes)


def _shift(predicted: Set[Change], wanted: Set[Change]) -> Position | None:
    """The shift that turns `predicted` into `wanted`; None if there is none or either is empty."""
    if len(predicted) != len(wanted) or not predicted:
        return None
    # A shift keeps the order of the cells, so the first cell moves to the first cell.
    first, target = min(predicted).position, min(wanted).position
    shift = tuple(b - a for a, b in zip(first, target, strict=True))
    moved = {Change(tuple(a + d for a, d in zip(change.position, shift, strict=True)), change.what) for change in predicted}
    return shift if moved == wanted else None
