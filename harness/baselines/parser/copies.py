"""Copies of what is there: repeated, moved, recolored, mirrored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

from harness.baselines.parser import axis
from harness.baselines.parser.directions import number, way
from harness.baselines.parser.meaning import Term, pieces_of
from harness.baselines.parser.memory import Memory, NoMeaningError
from harness.baselines.parser.regions import tiles
from harness.worlds.hexagons import COLUMNS, ROWS, Paint, Tile, from_cube, on_board, to_cube


def shifted(tile: Tile, columns: int, rows: int) -> Tile:
    """A move that keeps the shape: by an odd number of columns, tiles of even columns keep their row."""
    x, z = to_cube(tile)
    return from_cube(x + columns, z - columns // 2 + rows)


Recoloring = dict[str, str]


def _recoloring(source: Sequence[Paint], parts: dict[str, Term]) -> Recoloring:
    """The color that is told for the most common one; or two colors change places."""
    common = [color for color, _ in Counter(paint.color for paint in source).most_common()]
    if "K" in parts:
        return {common[0]: str(parts["K"].args[0])}
    return {common[0]: common[1], common[1]: common[0]} if "*" in parts and len(common) == 2 else {}


def _paste(memory: Memory, source: Sequence[Paint], anchor: Tile, to: Tile, colors: Recoloring) -> None:
    """A copy that keeps its shape, with one of its tiles at another place."""
    columns = to.column - anchor.column
    rows = to.row - shifted(anchor, columns, 0).row
    for paint in source:
        moved = shifted(paint.tile, columns, rows)
        if on_board(*moved):
            memory.paint([moved], colors.get(paint.color, paint.color))


def _recent(memory: Memory) -> list[Paint]:
    """The object that was drawn last: what this step painted, else the last steps as far as they lie in the same columns."""
    if memory.painted:
        return list(memory.painted)
    done = [step_ for step_ in memory.steps if step_.painted]
    if not done:
        raise NoMeaningError("nothing to repeat")
    reach = {paint.column for paint in done[-1].painted}
    found = list(done[-1].painted)
    for step_ in reversed(done[:-1]):
        if not {paint.column for paint in step_.painted} <= reach:
            break
        found = [*step_.painted, *found]
    return found


def repeat(memory: Memory, *pieces: Term) -> None:
    """Copies of steps (S) or of what was drawn last: in columns (C), from tiles (F, R), or so often (X) in a direction (D)."""
    pieces = tuple(_as_columns(piece) for piece in pieces)
    parts = pieces_of(pieces)
    named = [axis.columns(cast(Term, piece.args[0]), memory) for piece in pieces if piece.op == "C"]
    drawn = [chosen for chosen in named if any(column in chosen for _, column in memory.cells)]
    if "S" in parts:
        source = memory.painted_by(parts["S"].args)
    elif len(named) == 2 and len(drawn) == 1:
        source = [Paint(*tile, shade) for tile, shade in memory.cells.items() if tile[1] in drawn[0]]
    else:
        source = _recent(memory)
    where = [column for chosen in named if len(drawn) != 1 or len(named) == 1 or chosen not in drawn for column in chosen]
    if not source:
        raise NoMeaningError("nothing to repeat")
    anchor, colors = min((paint.tile for paint in source), key=lambda tile: (tile.column, tile.row)), _recoloring(source, parts)
    if where:
        for column in _starts(where, {paint.column for paint in source}):
            _paste(memory, source, anchor, Tile(anchor.row, column), colors)
        memory.columns = tuple(where)
        return
    start = parts.get("F") or parts.get("R")
    if start is not None and start.op != "that":
        for target in {tile.column: tile for tile in reversed(tiles(start, memory))}.values():
            _paste(memory, source, source[0].tile if "F" in parts else anchor, target, colors)
        return
    _again_and_again(memory, source, parts, colors)


def _starts(where: list[int], taken: set[int]) -> list[int]:
    """Where copies begin: of columns in a row, only so many as the copies fill."""
    width = max(taken) - min(taken) + 1
    in_a_row = where == list(range(where[0], where[0] + len(where)))
    return where[::width] if in_a_row and len(where) % width == 0 else where


def _as_columns(piece: Term) -> Term:
    """ "Starting in columns 5 and 9" is as good as "in columns 5 and 9"."""
    what = cast(Term, piece.args[0])
    return Term("C", what.args) if piece.op in "FR" and what.op == "columns" else piece


def _again_and_again(memory: Memory, source: Sequence[Paint], parts: dict[str, Term], colors: Recoloring) -> None:
    """Copies one after the other in a direction, as many as are told, or one."""
    if not {"X", "D", "K", "S", "~", "*"} & set(parts):
        raise NoMeaningError("repeat where?")
    lowest, columns = max(paint.row for paint in source), {paint.column for paint in source}
    down_first = len(columns) == 1 and lowest < ROWS - 1 and "#" not in parts
    towards = way(parts["D"], memory) if "D" in parts else "d" if down_first else "r"
    memory.gap = number(parts["#"].args[0]) if "#" in parts else memory.gap
    width = max(paint.column for paint in source) - min(paint.column for paint in source) + 1 + memory.gap
    height = max(paint.row for paint in source) - min(paint.row for paint in source) + 1
    across = {"l": -width, "r": width}.get(towards[-1], 0)
    down = {"u": -height, "d": height}.get(towards[0], 0)
    for n in range(1, (COLUMNS if "~" in parts else min(number(parts["X"].args[0]), COLUMNS) if "X" in parts else 1) + 1):
        anchor = source[0].tile
        _paste(memory, source, anchor, Tile(anchor.row + n * down, anchor.column + n * across), colors)


def mirror(memory: Memory, *pieces: Term) -> None:
    """Left and right change places about the ninth column, or the one that is told."""
    parts = pieces_of(pieces)
    middle = axis.columns(parts["C"], memory)[0] if "C" in parts else 8
    source = memory.painted_by(parts["S"].args) if "S" in parts else [Paint(*tile, c) for tile, c in memory.cells.items()]
    for paint in source:
        other = Tile(paint.row, 2 * middle - paint.column)
        if on_board(*other):
            memory.paint([other], paint.color, over=False)
