"""Lines: between two places, or from a place in a direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from harness.baselines.parser.hexagons import axis
from harness.baselines.parser.hexagons.directions import beside, number, run, way, ways
from harness.baselines.parser.hexagons.meaning import Term
from harness.baselines.parser.hexagons.memory import Memory, NoMeaningError
from harness.baselines.parser.hexagons.places import region, tiles
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, distance, line, on_board

Stroke = tuple[Tile, list[Tile]]
"""Where a line comes from, and its tiles."""


@region("line")
def _line(memory: Memory, *pieces: Term) -> list[Tile]:
    found = strokes(memory, pieces)
    inside = [[tile for tile in stroke if on_board(*tile)] for _, stroke in found]
    memory.ends = tuple(stroke[-1] for stroke in inside if stroke)
    return [tile for stroke in inside for tile in stroke]


def strokes(memory: Memory, pieces: Sequence[Term]) -> list[Stroke]:
    """Lines by their pieces: between the first and the last of E, from F to G, in the direction D, so many tiles N or Q, in the
    columns C, beside something (V), from all that was spoken of last (s)."""
    parts = {piece.op: cast(Term, piece.args[0]) for piece in pieces}
    if "Q" in parts:
        parts = {"N": parts["Q"], **parts}
    if "V" in parts:
        direction, of = cast(tuple[Term, Term], parts["V"].args)
        around = tiles(of, memory)
        return [(around[-1], [tile for towards in ways(direction, memory) for tile in beside(around, towards)])]
    if "C" in parts:
        memory.columns = tuple(axis.columns(parts["C"], memory))
        if "F" not in parts and set(parts) <= {"C", "N", "Q"}:
            memory.fronts, memory.direction = tuple(Tile(-1, column) for column in memory.columns), "d"
    if "E" in parts:
        return [_between(memory, parts)]
    start = tiles(parts["F"], memory) if "F" in parts else list(memory.last if "s" in parts else memory.fronts)
    if not start:
        raise NoMeaningError("a line from nowhere")
    if "G" in parts and parts["G"].op == "columns":
        return _to_columns(memory, parts, start[0])
    if "G" in parts and "N" in parts and (corner := _corner(parts["G"])):
        parts = {"D": Term("direction", (corner,)), **parts}
    elif "G" in parts:
        return _towards(memory, parts, start)
    if not {"D", "N", "r"} & set(parts):
        raise NoMeaningError("a line to nowhere")
    return _rays(memory, parts, start)


def _to_columns(memory: Memory, parts: dict[str, Term], start: Tile) -> list[Stroke]:
    """Diagonals from a tile as far as some columns."""
    told, found = str(parts["D"].args[0]) if "D" in parts and parts["D"].op == "direction" else "g", []
    for stop in axis.columns(cast(Term, parts["G"].args[0]), memory):
        across = "r" if stop > start.column else "l"
        memory.direction = way(Term("direction", (told if set(told) & set("lr") else told + across,)), memory)
        found.append((start, [start, *run(start, memory.direction, abs(stop - start.column))]))
    return found


def _corner(term: Term) -> str:
    """ "Towards the lower right": letters of a direction, if a term is a corner of the board."""
    match term:
        case Term("cross", (Term("at", ((1,), down)), Term("at", ((1,), across)))):
            return ("d" if down == "back" else "u") + ("r" if across == "back" else "l")
    return ""


def _between(memory: Memory, parts: dict[str, Term]) -> Stroke:
    ends = tiles(parts["E"], memory) + (tiles(parts["G"], memory) if "G" in parts else [])
    if len(ends) < 2:
        ends = [*memory.before_last[-1:], *ends]
    return ends[0], list(line(ends[0], ends[-1]))


def _towards(memory: Memory, parts: dict[str, Term], start: list[Tile]) -> list[Stroke]:
    """To a tile, or, in a direction, as far as one of some tiles."""
    ends = tiles(parts["G"], memory)
    if len(ends) == 1 or "D" not in parts:
        if parts["G"].op in ("cross", "union", "tiles"):
            return [(one, list(line(min(start, key=lambda other: distance(one, other)), one))) for one in ends]
        return [(one, list(line(one, min(ends, key=lambda end: distance(one, end))))) for one in start]
    found = []
    for one in start:
        for towards in _line_ways(memory, parts, start):
            memory.direction = towards
            stroke = run(one, towards, COLUMNS)
            reach = next((n for n, tile in enumerate(stroke) if tile in ends or not on_board(*tile)), COLUMNS)
            found.append((one, stroke[:reach]))
    return found


def _rays(memory: Memory, parts: dict[str, Term], start: list[Tile]) -> list[Stroke]:
    inclusive = "F" in parts and start[0] not in memory.cells
    found = []
    for towards in _line_ways(memory, parts, start):
        memory.direction = towards
        for one in start:
            first = [one] if inclusive else []
            count = number(parts["N"].args[0]) - inclusive if "N" in parts else 0
            found.append((one, first + (run(one, towards, count) if "N" in parts else _ray(memory, one))))
    return found


def _line_ways(memory: Memory, parts: dict[str, Term], start: Sequence[Tile]) -> list[str]:
    """The directions in which a line is told to go; a diagonal one (g) if that is said too; up from the lowest row."""
    told = parts.get("D", parts.get("g"))
    if told is None:
        from_below = "F" in parts and memory.direction == "d" and all(tile.row == ROWS - 1 for tile in start)
        return ["u" if from_below else memory.direction]
    slanted = "g" if "g" in parts else ""
    each = [cast(Term, one) for one in told.args] if told.op == "ways" else [told]
    return [way(Term("direction", (str(one.args[0]) + slanted,)), memory) for one in each]


def _ray(memory: Memory, start: Tile) -> list[Tile]:
    """On and on from a tile, to the edge of the board or to what is painted."""
    found = []
    for tile in run(start, memory.direction, COLUMNS):
        if not on_board(*tile) or tile in memory.cells:
            break
        found.append(tile)
    return found
