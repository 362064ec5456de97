"""Carrying out actions: terms in a memory become paint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from harness.baselines.parser import axis
from harness.baselines.parser.copies import mirror, repeat
from harness.baselines.parser.directions import number, run, way
from harness.baselines.parser.meaning import Term, pieces_of
from harness.baselines.parser.memory import Memory, NoMeaningError, Step
from harness.baselines.parser.regions import tiles
from harness.baselines.parser.shapes import ring, triangle
from harness.worlds.hexagons import COLUMNS, Tile, on_board

_BLANKS_ONLY = frozenset({"around", "line", "between", "kept", "beside", "inside", "beside_tile", "run_beside"})
_BY_COLUMN = frozenset({"cross", "tiles", "columns", "from_column", "beside", "beside_tile", "within"})


def _paint(memory: Memory, color: Term, what: Term) -> None:
    _paint_with(memory, str(color.args[0]), what)


def _paint_again(memory: Memory, what: Term) -> None:
    if what.op not in ("that", "colored", "within_steps", "previous_step", "tiles_of_steps", "within"):
        counted = next((cast(Term, piece.args[0]) for piece in what.args if isinstance(piece, Term) and piece.op == "Q"), None)
        _paint_with(memory, str(counted.args[1]) if counted else memory.color, what)
    else:
        memory.look_at(tiles(what, memory))


def _paint_with(memory: Memory, color: str, what: Term) -> None:
    memory.paint(tiles(what, memory), color, over=what.op not in _BLANKS_ONLY, by_column=_by_column(what, memory))


def _by_column(what: Term, memory: Memory) -> bool:
    return memory.direction in "ud" if what.op in ("next", "turned", "run_beside") else what.op in _BY_COLUMN


def _paint_marks(memory: Memory, marks: Term, columns: Term) -> None:
    if marks.op == "marks":
        for mark in marks.args:
            _paint_marks(memory, cast(Term, mark), columns)
        return
    color, rows = cast(tuple[Term, Term], marks.args)
    _paint(memory, color, Term("cross", (rows, columns)))


def _paint_runs(memory: Memory, runs: Term, what: Term) -> None:
    order = [str(color) for count, color in cast(tuple[tuple[int, str], ...], runs.args) for _ in range(count)]
    if what.op in ("next", "turned"):
        memory.direction = way(cast(Term, what.args[1]), memory) if what.op == "turned" else memory.direction
        what = Term("next", (len(order),))
    found = _upper_or_lower(tiles(what, memory), len(order))
    groups = [[tile for tile in found if tile.column == column] for column in dict.fromkeys(tile.column for tile in found)]
    if len(found) == 1 and len(order) > 1:
        found += run(found[0], memory.direction if memory.direction in "ud" else "d", len(order) - 1)
        found = [tile for tile in found if on_board(*tile)]
    by_column = what.op in ("columns", "cross") and any(len(group) > 1 for group in groups)
    for group in groups if by_column else [found]:
        for n, tile in enumerate(group):
            if (n < len(order) or runs.op == "cycle") and order[n % len(order)] != "white":
                memory.paint([tile], order[n % len(order)])


def _upper_or_lower(found: list[Tile], count: int) -> list[Tile]:
    """A whole row, or, for as many colors as fit, those of its tiles that stick out of the board's edge."""
    if len({tile.row for tile in found}) != 1 or len(found) != COLUMNS or count > COLUMNS // 2:
        return found
    return [tile for tile in found if tile.column % 2 == (tile.row > 0)]


def _runs_on(memory: Memory, runs: Term) -> None:
    _paint_runs(memory, runs, Term("next", (1,)))


def _more(memory: Memory, action: Term, what: Term) -> None:
    act(action, memory)
    _paint_again(memory, what)


def _in_columns(memory: Memory, action: Term, columns: Term) -> None:
    _go(memory, columns)
    act(action, memory)


def _then(memory: Memory, first: Term, second: Term) -> None:
    act(first, memory)
    act(second, memory)


def _paint_count(memory: Memory, counted: Term, direction: Term) -> None:
    count, color = counted.args
    _paint(memory, Term("color", (color,)), Term("turned", (Term("count", (count,)), direction)))


def _paint_count_beside(memory: Memory, counted: Term, relation: Term) -> None:
    count, color = counted.args
    _paint(memory, Term("color", (color,)), Term("run_beside", (Term("count", (count,)), relation)))


def _skip(memory: Memory, count: object) -> None:
    if not memory.fronts:
        raise NoMeaningError("skip from nowhere")
    memory.fronts = tuple(run(front, memory.direction, max(number(count), 1))[-1] for front in memory.fronts)


def _skip_columns(memory: Memory, count: object) -> None:
    if not memory.columns:
        raise NoMeaningError("skip from nowhere")
    memory.gap = number(count)
    memory.columns = (min(max(memory.columns) + number(count), COLUMNS - 1),)


def _leave(memory: Memory, what: Term, _: Term) -> None:
    """What is left blank: it is looked at, and what the step painted there is taken back."""
    if what.op in ("columns",):
        memory.columns = tuple(axis.columns(cast(Term, what.args[0]), memory))
        return
    left = tiles(what, memory)
    memory.take_back(left)
    memory.look_at(left, by_column=_by_column(what, memory))


def _choose(memory: Memory, color: Term) -> None:
    memory.color = str(color.args[0])


def _go(memory: Memory, columns: Term) -> None:
    memory.columns = tuple(axis.columns(columns, memory))
    memory.fronts = tuple(Tile(-1, column) for column in memory.columns)


def _repeat(memory: Memory, *pieces: Term) -> None:
    """Steps whose actions go on from where the last ones ended, if that changes anything; else copies of them."""
    parts = pieces_of(pieces)
    color = str(parts["K"].args[0]) if "K" in parts else ""
    if not ("S" in parts and set(parts) <= {"S", "K"} and _again(memory, parts["S"].args, color)):
        repeat(memory, *pieces)


def _again(memory: Memory, numbers: Sequence[object], color: str) -> bool:
    """The actions of some steps once more, from where the last ones ended; whether they changed anything."""
    memory.painted_by(numbers)
    before, done = dict(memory.cells), len(memory.painted)
    for n in numbers:
        for action in memory.steps[cast(int, n) - 1].actions if 0 < cast(int, n) <= len(memory.steps) else ():
            act(action, memory)
    if color:
        for paint in memory.painted[done:]:
            memory.cells[paint.tile] = color
        memory.painted = memory.painted[:done] + tuple(paint._replace(color=color) for paint in memory.painted[done:])
    return memory.cells != before


ACTIONS: dict[str, Callable[..., None]] = {
    "paint": _paint,
    "paint_again": _paint_again,
    "paint_marks": _paint_marks,
    "paint_runs": _paint_runs,
    "paint_count": _paint_count,
    "paint_count_beside": _paint_count_beside,
    "skip": _skip,
    "skip_columns": _skip_columns,
    "leave": _leave,
    "choose": _choose,
    "go": _go,
    "repeat": _repeat,
    "mirror": mirror,
    "ring": ring,
    "triangle": triangle,
    "runs_on": _runs_on,
    "more": _more,
    "in_columns": _in_columns,
    "then": _then,
}


def act(term: Term, memory: Memory) -> None:
    """Carry out an action. Raises NoMeaningError where it means nothing here."""
    ACTIONS[term.op](memory, *term.args)


def carry_out(actions: Sequence[Term], memory: Memory) -> tuple[Memory, int]:
    """The memory after an instruction's actions, and how many of them meant nothing."""
    after, failed = memory.copy(), 0
    for action in actions:
        try:
            act(action, after)
        except NoMeaningError:
            failed += 1
    after.steps = (*after.steps, Step(tuple(actions), after.painted, after.columns))
    return after, failed


def changes(before: Memory, after: Memory) -> dict[tuple[int, int], str]:
    """What differs on the boards: the actions of the step."""
    found = {tile: color for tile, color in after.cells.items() if before.cells.get(tile) != color}
    return found | {tile: "white" for tile in before.cells if tile not in after.cells}
