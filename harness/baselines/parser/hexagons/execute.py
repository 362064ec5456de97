"""Carrying out actions: terms in a memory become paint."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import cast

from harness.baselines.parser.hexagons import axis, regions  # noqa: F401
from harness.baselines.parser.hexagons.copies import mirror, repeat
from harness.baselines.parser.hexagons.directions import number, run, way
from harness.baselines.parser.hexagons.lines import strokes
from harness.baselines.parser.hexagons.meaning import Term, pieces_of
from harness.baselines.parser.hexagons.memory import Memory, NoMeaningError, Step
from harness.baselines.parser.hexagons.orders import erase, paint_runs, runs_on, until
from harness.baselines.parser.hexagons.places import tiles
from harness.baselines.parser.hexagons.shapes import ring, triangle
from harness.worlds.hexagons import COLUMNS, Tile, on_board

_BLANKS_ONLY = frozenset({"around", "line", "between", "kept", "beside", "inside", "beside_tile", "run_beside"})
_MOST = 1000
"""Tiles that may be painted before steps are repeated once more: copies of copies grow fast."""
_BY_COLUMN = frozenset({"cross", "tiles", "columns", "from_column", "beside", "beside_tile", "within"})


def _paint(memory: Memory, color: Term, what: Term) -> None:
    _paint_with(memory, str(color.args[0]), what)


def _paint_again(memory: Memory, what: Term) -> None:
    if what.op == "line" and not any(isinstance(piece, Term) and piece.op in "QV" for piece in what.args):
        _extend(memory, what)
    elif what.op not in ("that", "colored", "within_steps", "previous_step", "tiles_of_steps", "within"):
        counted = next((cast(Term, piece.args[0]) for piece in what.args if isinstance(piece, Term) and piece.op == "Q"), None)
        _paint_with(memory, str(counted.args[1]) if counted else memory.color, what)
    else:
        memory.look_at(tiles(what, memory))


def _extend(memory: Memory, what: Term) -> None:
    """Lines of which no color is told go on in that of where they come from."""
    found = [
        (memory.cells.get(start, memory.color), [tile for tile in stroke if on_board(*tile)])
        for start, stroke in strokes(memory, cast(tuple[Term, ...], what.args))
    ]
    if not any(stroke for _, stroke in found):
        raise NoMeaningError(str(what))
    for color, stroke in found:
        memory.paint(stroke, color, over=False)
    memory.ends = tuple(stroke[-1] for _, stroke in found if stroke)
    memory.look_at([tile for _, stroke in found for tile in stroke])


def _mention(memory: Memory, what: Term) -> None:
    """What is spoken of, and not painted."""
    if what.op == "columns":
        _go(memory, cast(Term, what.args[0]))
    else:
        memory.look_at(tiles(what, memory))


def _look_beside(memory: Memory, relation: Term) -> None:
    """Below something: what comes next goes on from there."""
    direction, of = cast(tuple[Term, Term], relation.args)
    memory.look_at(tiles(of, memory), by_column=True)
    memory.direction = way(direction, memory)


def _paint_with(memory: Memory, color: str, what: Term) -> None:
    memory.paint(tiles(what, memory), color, over=what.op not in _BLANKS_ONLY, by_column=_by_column(what, memory))


def _by_column(what: Term, memory: Memory) -> bool:
    return memory.direction in "ud" if what.op in ("next", "turned", "run_beside") else what.op in _BY_COLUMN


def _paint_marks(memory: Memory, marks: Term, columns: Term) -> None:
    if marks.op == "marks":
        for mark in marks.args:
            _paint_marks(memory, cast(Term, mark), columns)
            columns = Term("same_columns")
        return
    color, rows = cast(tuple[Term, Term], marks.args)
    _paint(memory, color, Term("cross", (rows, columns)))


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
    memory.left_out = True


def _leave(memory: Memory, what: Term, _: Term) -> None:
    """What is left blank: it is looked at, and what the step painted there is taken back."""
    if what.op in ("columns",):
        memory.columns = tuple(axis.columns(cast(Term, what.args[0]), memory))
        return
    left = tiles(what, memory)
    memory.take_back(left)
    memory.look_at(left, by_column=_by_column(what, memory))


def _except(memory: Memory, action: Term, but: Term) -> None:
    """An action, and what of it is left out, or gets another color."""
    done = len(memory.painted)
    act(action, memory)
    color = memory.color
    region = cast(Term, (cast(Term, but.args[0]) if but.op == "but_colored" else but).args[0])
    out = {*tiles(region, memory)}
    chosen = [paint.tile for paint in memory.painted[done:] if paint.tile in out] or sorted(out)
    if but.op == "but_colored":
        memory.paint(chosen, str(cast(Term, but.args[1]).args[0]))
    else:
        memory.take_back(chosen)
    memory.color = color


def _choose(memory: Memory, color: Term) -> None:
    memory.color = str(color.args[0])


def _go(memory: Memory, columns: Term) -> None:
    memory.columns = tuple(axis.columns(columns, memory))
    memory.fronts = tuple(Tile(-1, column) for column in memory.columns)


def _repeat(memory: Memory, *pieces: Term) -> None:
    """Steps whose actions go on from where the last ones ended, if that changes anything; else copies of them."""
    parts = pieces_of(pieces)
    color = str(parts["K"].args[0]) if "K" in parts else ""
    many = COLUMNS if "~" in parts else min(number(parts["X"].args[0]), COLUMNS) if "X" in parts else 1
    changed = False
    while "S" in parts and set(parts) <= {"S", "K", "~", "X"} and many > 0 and _again(memory, parts["S"].args, color):
        many, changed = many - 1, True
    if not changed:
        repeat(memory, *pieces)


def _again(memory: Memory, numbers: Sequence[object], color: str) -> bool:
    """The actions of some steps once more, from where the last ones ended; whether they changed anything."""
    memory.painted_by(numbers)
    before, done = dict(memory.cells), len(memory.painted)
    for n in numbers:
        if len(memory.painted) > _MOST:
            raise NoMeaningError("steps that repeat each other without end")
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
    "mention": _mention,
    "look_beside": _look_beside,
    "paint_marks": _paint_marks,
    "paint_runs": paint_runs,
    "paint_count": _paint_count,
    "paint_count_beside": _paint_count_beside,
    "skip": _skip,
    "skip_columns": _skip_columns,
    "leave": _leave,
    "choose": _choose,
    "erase": erase,
    "except": _except,
    "until": until,
    "go": _go,
    "repeat": _repeat,
    "mirror": mirror,
    "ring": ring,
    "triangle": triangle,
    "runs_on": runs_on,
    "more": _more,
    "in_columns": _in_columns,
    "then": _then,
}


def act(term: Term, memory: Memory) -> None:
    """Carry out an action. Raises NoMeaningError where it means nothing here."""
    ACTIONS[term.op](memory, *term.args)


def carry_out(actions: Sequence[Term], memory: Memory, named: Collection[str] = ()) -> tuple[Memory, int]:
    """The memory after an instruction's actions, and how many of them meant nothing. The first color that is ever named holds for
    what follows, even where nothing is painted with it."""
    after, failed = memory.copy(), 0
    for action in actions:
        try:
            act(action, after)
        except NoMeaningError:
            failed += 1
    if not after.painted and not after.color and len(named) == 1:
        (after.color,) = named
    after.steps = (*after.steps, Step(tuple(actions), after.painted, after.columns, after.center))
    return after, failed


def changes(before: Memory, after: Memory) -> dict[tuple[int, int], str]:
    """What differs on the boards: the actions of the step."""
    found = {tile: color for tile, color in after.cells.items() if before.cells.get(tile) != color}
    return found | {tile: "white" for tile in before.cells if tile not in after.cells}
