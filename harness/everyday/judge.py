"""Whether an answer to an ordinary request is right: it matches one of several programs, up to free moves, or meets conditions.

An answer is judged on the state that the player made before, so that later turns refer to what that player drew or built.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.corpora.item import HexagonsItem, Item
from harness.corpora.rollout import as_met
from harness.everyday.requests import Right, read_condition, read_program
from harness.worlds.hexagons import COLORS, Board, Tile, to_cube
from harness.worlds.minecraft import Structure, turn
from serialization.formats.program import run, state_of
from serialization.program import hexagons_geometry as geometry
from serialization.program.figure import Cell, Figure
from serialization.program.machine import ProgramResult

Change = Mapping[Cell, str | None]
"""The cells that an answer changed, with their new colors; None for a removed block or a blank tile."""


def is_right(item: Item, actions: Sequence[Any]) -> bool:
    """Whether the actions are a right answer to the turn, whose `before` and `history` are the player's own.

    If the gold answer after right answers to the earlier turns changes something, an answer that changes nothing is never right.
    """
    return bool(_judged(item, actions).meta["solved"])


def as_judged(items: Sequence[Item], answers: Mapping[str, Sequence[Sequence[Any]]]) -> list[Item]:
    """The turns as the player with these answers, by item id, met them. Their `meta` has "solved", and their gold is what the
    first right program does in the player's state."""
    records = [{"id": item.id, "actions": answers[item.id]} for item in items if item.id in answers]
    return [_judged(item, answers.get(item.id, ())) for item in as_met(items, records)]


def _judged(item: Item, answer: Sequence[Any]) -> Item:
    after = item.before.apply(answer)[0]
    made = _change(item.before, after)
    rights = [Right.model_validate(one) for one in item.meta["right"]]
    outcomes = [_outcomes(item, right, after, made) for right in rights]
    fits = any(_fits(item, right, made, *of) for right, of in zip(rights, outcomes, strict=True))
    solved = {**item.meta, "solved": fits and bool(made or not item.meta["changes"])}
    actions = outcomes[0][0].actions
    changed: dict[str, Any] = {"actions": actions, "after": item.before.apply(actions)[0], "meta": solved}
    return replace(item, **changed)


def _outcomes(item: Item, right: Right, after: Any, made: Change) -> list[ProgramResult]:
    """What a right program, or its example, does in the player's state; then what each condition does in the state after the
    answer. A condition may name `change`, the changed cells, and `red_before`, what was red."""
    programs = [read_program(right.gold), *(read_condition(text) for text in right.holds)]
    old = _colors(item.before)
    names: dict[str, Any] = {"change": Figure.of(made)}
    names |= {f"{color}_before": Figure.of(cell for cell in sorted(old) if old[cell] == color) for color in COLORS}
    state = state_of(item)
    states = [state, *(replace(state, before=after, names=names) for _ in right.holds)]
    return [run(program, state) for program, state in zip(programs, states, strict=True)]


def _fits(item: Item, right: Right, made: Change, outcome: ProgramResult, *conditions: ProgramResult) -> bool:
    """Whether an answer matches this right one.

    `program`: the change is the one that the program makes in the player's state. `up_to`: the change may be moved (shift: in
    Minecraft along the ground), also turned (by sixths; in Minecraft about the vertical axis) or mirrored, and colors may be
    exchanged one for one. `holds`: the conditions hold in the state after the answer.
    """
    if right.program is not None:
        wanted = _change(item.before, item.before.apply(outcome.actions)[0])
        if outcome.error or not _same(made, wanted, right.up_to, item):
            return False
    return all(condition.error is None and condition.names.get("yes") == 1 for condition in conditions)


def _colors(state: Board | Structure) -> dict[Cell, str]:
    if isinstance(state, Board):
        return {paint.tile: paint.color for paint in state.painted()}
    return {block[:3]: block.color for block in state.blocks()}


def _change(before: Any, after: Any) -> Change:
    old, new = _colors(before), _colors(after)
    return {cell: new.get(cell) for cell in sorted(old.keys() | new.keys()) if old.get(cell) != new.get(cell)}


def _same(made: Change, wanted: Change, up_to: Iterable[str], item: Item) -> bool:
    free = set(up_to)
    if made == wanted or len(made) != len(wanted) or not free:
        return made == wanted
    color = "color" in free
    if free == {"color"}:
        return _named(made, color) == _named(wanted, color)
    (drawn,) = _shapes(made, set(), item)
    return any(_named(drawn, color) == _named(shape, color) for shape in _shapes(wanted, free, item))


def _shapes(change: Change, free: set[str], item: Item) -> Iterator[Change]:
    """The change moved to the origin, in each way that it may be turned and mirrored: in cube coordinates (x, z) or along the
    ground. A mirror may stand upright or lie."""
    turned, circle, axes = (_turned_tile, 6, (0, 1)) if isinstance(item, HexagonsItem) else (_turned_block, 4, (0, 2))
    for mirrored in (False, True) if "mirror" in free else (False,):
        for turns in range(circle) if "turn" in free else (0, circle // 2) if mirrored else (0,):
            yield _at_origin({turned(cell, turns, mirrored): color for cell, color in change.items()}, axes)


def _turned_tile(cell: Cell, sixths: int, mirrored: bool) -> Cell:
    center = Tile(0, 0)
    return to_cube(geometry.turned(geometry.flipped(cell, center, "up") if mirrored else cell, sixths, center))


def _turned_block(cell: Cell, quarters: int, mirrored: bool) -> Cell:
    x, z = turn(-cell[0] if mirrored else cell[0], cell[2], quarters)
    return int(x), cell[1], int(z)


def _at_origin(change: Change, axes: Sequence[int]) -> Change:
    least = {axis: min(cell[axis] for cell in change) for axis in axes}
    return {tuple(value - least.get(axis, 0) for axis, value in enumerate(cell)): color for cell, color in change.items()}


def _named(change: Change, any_colors: bool) -> list[tuple[Cell, Any]]:
    """The cells in order with their colors or, if colors do not matter, with numbers for the colors in order of appearance."""
    names: dict[str, int] = {}
    cells = sorted(change.items(), key=lambda entry: entry[0])
    if not any_colors:
        return cells
    return [(cell, None if color is None else names.setdefault(color, len(names))) for cell, color in cells]
