"""Which tiles of the board words stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from harness.baselines.parser import axis
from harness.baselines.parser.directions import beside, extreme, number, run, way
from harness.baselines.parser.meaning import Term
from harness.baselines.parser.memory import Memory, NoMeaningError
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, line, neighbors, on_board
from serialization.program.hexagons_geometry import enclosed


def tiles(term: Term, memory: Memory) -> list[Tile]:
    """The tiles that a term stands for, in the order in which they are spoken of. Raises NoMeaningError if there are none."""
    operation = REGIONS.get(term.op)
    found = [tile for tile in operation(memory, *term.args) if on_board(*tile)] if operation else []
    if not found:
        raise NoMeaningError(str(term))
    return list(dict.fromkeys(found))


def _cross(memory: Memory, rows: Term, columns: Term) -> list[Tile]:
    memory.columns = tuple(axis.columns(columns, memory))
    return _tiles(memory, rows)


def _tiles(memory: Memory, rows: Term) -> list[Tile]:
    if rows.op == "blank" and not memory.columns:
        return [Tile(row, column) for column in range(COLUMNS) for row in range(ROWS) if (row, column) not in memory.cells]
    return [Tile(row, column) for column in memory.columns or range(COLUMNS) for row in axis.rows(rows, memory, column)]


def _columns(memory: Memory, columns: Term) -> list[Tile]:
    return _cross(memory, Term("all"), columns)


def _same_tiles(memory: Memory, columns: Term) -> list[Tile]:
    """The tiles that the step painted last, in other columns."""
    if not memory.painted:
        raise NoMeaningError("the same tiles as what?")
    rows = dict.fromkeys(tile.row for tile in memory.last)
    memory.columns = tuple(axis.columns(columns, memory))
    return [Tile(row, column) for column in memory.columns for row in rows]


def _union(memory: Memory, one: Term, two: Term) -> list[Tile]:
    return tiles(one, memory) + tiles(two, memory)


def _that(memory: Memory) -> list[Tile]:
    return list(memory.last)


def _colored(memory: Memory, color: str, which: str, edge: object) -> list[Tile]:
    """Tiles of a color: all of the board's, those of the last step that painted it (some), or the last one painted."""
    there = [Tile(*tile) for tile, shade in memory.cells.items() if shade == color]
    recent = next((step_.painted for step_ in reversed(memory.steps) if any(p.color == color for p in step_.painted)), ())
    recent = memory.painted if any(paint.color == color for paint in memory.painted) else recent
    group = [paint.tile for paint in recent if paint.color == color and paint.tile in there] or there
    if not group:
        raise NoMeaningError(f"no {color} tile")
    if edge in ("t", "b", "l", "r"):
        return [extreme(there, str(edge))]
    if isinstance(edge, int) and edge > 0:
        return there[edge - 1 : edge]
    if which == "all":
        return there
    return group if which == "some" else group[-1:]


def _within(memory: Memory, what: Term, columns: Term) -> list[Tile]:
    if what.op == "that" and memory.painted and not {tile.column for tile in memory.last} & {*axis.columns(columns, memory)}:
        return _same_tiles(memory, columns)
    if what.op == "colored":
        what = Term("colored", (what.args[0], "all", what.args[2]))
    allowed = axis.columns(columns, memory)
    memory.columns = tuple(allowed)
    if what.op == "colored" and what.args[2] in ("t", "b", "l", "r", "e"):
        all_ = [tile for tile in tiles(Term("colored", (what.args[0], "all", "")), memory) if tile.column in allowed]
        edge = str(what.args[2]).replace("e", "b")
        return [extreme([t for t in all_ if t.column == c], edge) for c in allowed if any(t.column == c for t in all_)]
    return [tile for tile in tiles(what, memory) if tile.column in allowed]


def _within_steps(memory: Memory, what: Term, steps: Term) -> list[Tile]:
    painted = memory.painted_by(steps.args)
    if what.op == "colored":
        found = [paint.tile for paint in painted if paint.color == what.args[0]]
        return [extreme(found, str(what.args[2]))] if found and what.args[2] in ("t", "b", "l", "r") else found
    if what.op == "tiles":
        return _of_steps(memory, cast(Term, what.args[0]), steps)
    return [paint.tile for paint in painted]


def _of_steps(memory: Memory, which: Term, steps: Term) -> list[Tile]:
    """What steps painted: all of it, or the first or last by the order of the painting."""
    painted = [paint.tile for paint in memory.painted_by(steps.args)]
    match which:
        case Term("at", (numbers, side)):
            order = painted[::-1] if side == "back" else painted
            return [order[n - 1] for n in cast(tuple[int, ...], numbers) if 0 < n <= len(order)]
    return painted


def _latest(memory: Memory, count: object) -> list[Tile]:
    return [paint.tile for paint in memory.earlier()[-number(count) :]]


def _previous_step(memory: Memory) -> list[Tile]:
    return [paint.tile for paint in memory.painted_by(())]


def _beside(memory: Memory, direction: Term, of: Term) -> list[Tile]:
    return beside(tiles(of, memory), way(direction, memory))


def _beside_tile(memory: Memory, relation: Term, _: Term) -> list[Tile]:
    return _beside(memory, *cast(tuple[Term, Term], relation.args))


def _next(memory: Memory, count: object) -> list[Tile]:
    found = [tile for front in memory.fronts for tile in run(front, memory.direction, number(count))]
    memory.columns = tuple(dict.fromkeys(tile.column for tile in found if on_board(*tile))) or memory.columns
    return found


def _turned(memory: Memory, what: Term, direction: Term) -> list[Tile]:
    memory.direction = way(direction, memory)
    return tiles(what, memory) if what.op != "count" else _next(memory, what.args[0])


def _from_column(memory: Memory, what: Term, columns: Term) -> list[Tile]:
    """The next tiles of some columns: after the last painted one of each, or from the top."""
    chosen = axis.columns(columns, memory)
    if set(chosen) != {front.column for front in memory.fronts}:
        memory.columns, memory.fronts = tuple(chosen), tuple(Tile(-1, column) for column in chosen)
    return tiles(what, memory)


def _run_beside(memory: Memory, count: Term, relation: Term) -> list[Tile]:
    direction, of = cast(tuple[Term, Term], relation.args)
    start, towards = tiles(of, memory), way(direction, memory)
    many, across = number(count.args[0]), {tile.column for tile in start}
    edge = beside(start, towards)
    if towards in "lr" or (many == len(edge) and max(across) - min(across) < len(across)):  # "the five tiles below the line"
        return edge
    memory.direction = towards
    inside = {*start}
    ends = [tile for tile in start if beside([tile], towards)[0] not in inside]
    return [tile for end in ends for tile in run(end, towards, many)]


def _around(memory: Memory, _: Term, of: Term) -> list[Tile]:
    inner = tiles(of, memory)
    return [tile for tile in dict.fromkeys(t for one in inner for t in neighbors(one)) if tile not in inner]


def _first(memory: Memory, what: Term, _: Term) -> list[Tile]:
    return tiles(what, memory)


def _inside(memory: Memory) -> list[Tile]:
    """Blank tiles that the painted ones enclose, those near what was spoken of last if there are any."""
    found = enclosed(memory.cells)
    near = set(memory.last) | {paint.tile for paint in (memory.steps[-1].painted if memory.steps else ())}
    return [tile for tile in found if near & set(neighbors(tile))] or found


def _line(memory: Memory, *pieces: Term) -> list[Tile]:
    """A line by its pieces: between the first and the last of E, from F to G, in the direction D, so many tiles N or Q, in the
    columns C, beside something (V)."""
    parts = {piece.op: cast(Term, piece.args[0]) for piece in pieces}
    if "Q" in parts:
        parts = {"N": parts["Q"], **parts}
    if "V" in parts:
        return _beside(memory, *cast(tuple[Term, Term], parts["V"].args))
    if "C" in parts:
        memory.columns = tuple(axis.columns(parts["C"], memory))
    if "E" in parts:
        ends = tiles(parts["E"], memory) + (tiles(parts["G"], memory) if "G" in parts else [])
        if len(ends) < 2:
            ends = [*memory.before_last[-1:], *ends]
        return list(line(ends[0], ends[-1]))
    start = tiles(parts["F"], memory) if "F" in parts else list(memory.fronts)
    if not start:
        raise NoMeaningError("a line from nowhere")
    if "G" in parts and parts["G"].op == "columns":
        stop = axis.columns(cast(Term, parts["G"].args[0]), memory)[-1]
        across = "r" if stop > start[0].column else "l"
        memory.direction = way(parts.get("D", Term("direction", ("g" + across,))), memory)
        reach = abs(stop - start[0].column)
        return [start[0], *run(start[0], memory.direction, reach)]
    if "G" in parts:
        ends = tiles(parts["G"], memory)
        return list(line(start[0], ends[-1]))
    if not {"D", "N"} & set(parts):
        raise NoMeaningError("a line to nowhere")
    towards = "".join(str(parts[piece].args[0]) for piece in "Dg" if piece in parts)
    memory.direction = way(Term("direction", (towards,)), memory) if towards else memory.direction
    inclusive = "F" in parts and start[0] not in memory.cells
    if "N" in parts:
        count = number(parts["N"].args[0])
        return [tile for one in start for tile in ([one] if inclusive else []) + run(one, memory.direction, count - inclusive)]
    return [tile for one in start for tile in ([one] if inclusive else []) + _ray(memory, one)]


def _ray(memory: Memory, start: Tile) -> list[Tile]:
    """On and on from a tile, to the edge of the board or to what is painted."""
    found = []
    for tile in run(start, memory.direction, COLUMNS):
        if not on_board(*tile) or tile in memory.cells:
            break
        found.append(tile)
    return found


REGIONS: dict[str, Callable[..., list[Tile]]] = {
    "cross": _cross,
    "tiles": _tiles,
    "columns": _columns,
    "same_tiles": _same_tiles,
    "union": _union,
    "that": _that,
    "colored": _colored,
    "within": _within,
    "within_steps": _within_steps,
    "tiles_of_steps": _of_steps,
    "latest": _latest,
    "previous_step": _previous_step,
    "beside": _beside,
    "beside_tile": _beside_tile,
    "next": _next,
    "turned": _turned,
    "from_column": _from_column,
    "run_beside": _run_beside,
    "around": _around,
    "kept": _first,
    "end": _first,
    "inside": _inside,
    "line": _line,
}
