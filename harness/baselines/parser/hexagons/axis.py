"""Places on an axis: which columns of the board, and which tiles of a column, words stand for."""

from __future__ import annotations

from collections import Counter
from typing import cast

from harness.baselines.parser.hexagons.meaning import Term
from harness.baselines.parser.hexagons.memory import Memory, NoMeaningError
from harness.worlds.hexagons import COLUMNS, ROWS


def columns(term: Term, memory: Memory) -> list[int]:
    """Columns from 0, in the order in which they are spoken of. Raises NoMeaningError if there are none."""
    found = _places(term, memory, COLUMNS, None)
    memory.left_out = False
    if not found:
        raise NoMeaningError(str(term))
    return found


def rows(term: Term, memory: Memory, column: int) -> list[int]:
    """Rows of a column from 0, in the order in which they are spoken of."""
    return _places(term, memory, ROWS, column)


def _places(term: Term, memory: Memory, size: int, column: int | None) -> list[int]:
    match term:
        case Term("at", (numbers, side)):
            found = [size - n if side == "back" else n - 1 for n in cast(tuple[int, ...], numbers)]
        case Term("first", (count, side)):
            found = [size - n if side == "back" else n - 1 for n in range(1, min(cast(int, count), size) + 1)]
        case Term("all"):
            found = list(range(size))
        case Term("odd") | Term("every_other"):
            found = list(range(0, size, 2))
        case Term("every", (int() as count,)) if count > 0:
            found = list(range(count - 1, size, count))
        case Term("even"):
            found = list(range(1, size, 2))
        case Term("every_other_from", (Term("columns" | "tiles", (Term() as start,)) | Term("cross", (Term() as start, *_)), *_)):
            first = _places(start, memory, size, column)[:1]
            found = [n for one in first for n in (range(one, size, 2) if one < size - 2 else range(one, -1, -2))]
        case Term("both", (Term() as one, Term() as two)):
            found = _places(one, memory, size, column) + _places(two, memory, size, column)
        case Term("span", (Term() as one, Term() as two)):
            first, last = _places(one, memory, size, column)[:1], _places(two, memory, size, column)[-1:]
            found = [n for a in first for b in last for n in (range(a, b + 1) if a <= b else range(a, b - 1, -1))]
        case Term("all_but", (_, Term() as but)):
            out = _places(but, memory, size, column)
            found = [n for n in range(size) if n not in out]
        case Term("middle", counts):
            count = cast(int, counts[0]) if counts else 2 - size % 2
            found = list(range((size - count) // 2, (size + count) // 2))
        case Term("blank"):
            found = [row for row in range(size) if (row, column) not in memory.cells] if column is not None else []
        case Term("next_columns", (int() as count,)):
            start_at = max(memory.columns, default=-1)
            found = list(range(start_at + 1, start_at + 1 + count))
        case Term("moved", (int() as count,)):
            start_at = max(memory.columns, default=-1) if count > 0 else min(memory.columns, default=COLUMNS)
            found = [start_at + count]
        case Term("outward"):
            found = [min(memory.columns, default=9) - 1, max(memory.columns, default=7) + 1]
        case Term("same_columns"):
            found = list(memory.columns)
        case Term("shifted", (Term(_, (side,)), Term() as of)):
            found = [n + (1 if side == "r" else -1) for n in _places(of, memory, size, column)]
        case Term("colored_columns", (color,)):
            times = Counter(n for (_, n), shade in memory.cells.items() if shade == color)
            found = sorted(n for n in times if 2 * times[n] >= max(times.values()))
        case Term("middle_columns"):
            found = [8]
        case _:
            raise NoMeaningError(str(term))
    return [n for n in found if 0 <= n < size]
