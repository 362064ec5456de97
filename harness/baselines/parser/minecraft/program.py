"""Writes actions as statements of the building language, relative to the last block if possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.grid import DIAGONALS, KINDS, WAYS, Cells
from harness.worlds.minecraft import COLORS, Action, Pose
from serialization.program import ast
from serialization.program.literal import building_program

_BESIDE = {"up": "on", "down": "below", "left": "left", "right": "right", "behind": "behind", "front": "front"}


def statements_of(actions: Cells, last: int, pose: Pose) -> Iterator[ast.Statement]:
    """The statements for actions in the builder's frame; `last` is the cell of the last block placed, or -1."""
    for code, group in groupby(actions.tolist(), lambda action: action % KINDS):
        cells = [action // KINDS for action in group]
        what = _shape(cells, last if code else -1, pose) or _literal(cells, pose)
        if not code:
            yield ast.Remove(what)
            last = -1
            continue
        yield ast.PaintSet(((COLORS[code - 1], 1),), what)
        last = cells[-1]


def _literal(cells: Sequence[int], pose: Pose) -> ast.Expr:
    (statement,) = building_program(Action("remove", None, *grid.action(cell * KINDS, pose).cell) for cell in cells).statements
    assert isinstance(statement, ast.Remove)
    return statement.what


def _shape(cells: Sequence[int], last: int, pose: Pose) -> ast.Expr | None:
    """The cells as a row, a tower or a diagonal, or as a cell beside the last block; None if they are none of these."""
    start = _start(cells[0], last)
    if len(cells) == 1:
        return start
    start = start or _literal(cells[:1], pose)
    step = cells[1] - cells[0]
    if any(there - here != step for here, there in pairwise(cells)):
        return None
    count = ast.number(len(cells))
    for way, vector in WAYS.items():
        if step == vector:
            return ast.Call("tower", (start, count)) if way == "up" else ast.Call("row", (start, _way(way), count))
    for ways, vector in DIAGONALS.items():
        if step == vector:
            one, two = ways.split()
            return ast.Call("diagonal", (start, _way(one), _way(two), count))
    return None


def _way(way: str) -> ast.Move:
    return ast.Move(((way, None),))


def _start(cell: int, last: int) -> ast.Expr | None:
    for way, name in _BESIDE.items():
        if last >= 0 and cell - last == WAYS[way]:
            return ast.Call(name, (ast.Name("last"),))
    return None
