"""Lines, rings and triangles: the tiles of figures described by pieces."""

from collections import Counter
from collections.abc import Sequence

from harness.baselines.parser.hexagons.copies import shifted
from harness.baselines.parser.hexagons.meaning import Term, frame_pieces
from harness.baselines.parser.hexagons.memory import Memory, NoMeaningError
from harness.baselines.parser.hexagons.regions import REGIONS, WAYS, beside, resolve_columns, run, tiles, way, ways
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, distance, line, neighbors, on_board, step

Stroke = tuple[Tile, list[Tile]]
"""A line's start, and its tiles."""


def _line(memory: Memory, *pieces: Term) -> list[Tile]:
    lines = strokes(memory, pieces)
    inside = [[tile for tile in stroke if on_board(*tile)] for _, stroke in lines]
    memory.ends = tuple(stroke[-1] for stroke in inside if stroke)
    return [tile for stroke in inside for tile in stroke]


REGIONS["line"] = _line


def strokes(memory: Memory, pieces: Sequence[Term]) -> list[Stroke]:
    """The lines that pieces describe: between two ends, from a start to a goal, in a direction, of a length (count,
    colored_count), in columns, beside something, from everything mentioned last (several)."""
    parts = frame_pieces(pieces)
    if "colored_count" in parts:
        parts = {"count": parts["colored_count"], **parts}
    if "beside" in parts:
        direction, of = parts["beside"].args
        around = tiles(of, memory)
        return [(around[-1], [tile for towards in ways(direction, memory) for tile in beside(around, towards)])]
    if "columns" in parts:
        memory.columns = tuple(resolve_columns(parts["columns"], memory))
        if "start" not in parts and set(parts) <= {"columns", "count", "colored_count"}:
            memory.fronts, memory.direction = tuple(Tile(-1, column) for column in memory.columns), "d"
    if "ends" in parts:
        return [_between(memory, parts)]
    start = tiles(parts["start"], memory) if "start" in parts else list(memory.last if "several" in parts else memory.fronts)
    if not start:
        raise NoMeaningError("a line from nowhere")
    if "goal" in parts and parts["goal"].op == "columns":
        return _to_columns(memory, parts, start[0])
    if "goal" in parts and "count" in parts and (corner := _corner(parts["goal"])):
        parts = {"direction": Term("direction", (corner,)), **parts}
    elif "goal" in parts:
        return _towards(memory, parts, start)
    if not {"direction", "count"} & set(parts):
        raise NoMeaningError("a line to nowhere")
    return _rays(memory, parts, start)


def _to_columns(memory: Memory, parts: dict[str, Term], start: Tile) -> list[Stroke]:
    """Diagonals from a tile as far as some columns."""
    letters, lines = str(parts["direction"].args[0]) if "direction" in parts and parts["direction"].op == "direction" else "g", []
    for stop in resolve_columns(parts["goal"].args[0], memory):
        across = "r" if stop > start.column else "l"
        memory.direction = way(Term("direction", (letters if set(letters) & set("lr") else letters + across,)), memory)
        lines.append((start, [start, *run(start, memory.direction, abs(stop - start.column))]))
    return lines


def _corner(term: Term) -> str:
    """The letters of the direction to a corner of the board ("the lower right"); empty if the term is not a corner."""
    match term:
        case Term("cross", (Term("at", ((1,), down)), Term("at", ((1,), across)))):
            return ("d" if down == "back" else "u") + ("r" if across == "back" else "l")
    return ""


def _between(memory: Memory, parts: dict[str, Term]) -> Stroke:
    ends = tiles(parts["ends"], memory) + (tiles(parts["goal"], memory) if "goal" in parts else [])
    if len(ends) < 2:
        ends = [*memory.before_last[-1:], *ends]
    return ends[0], list(line(ends[0], ends[-1]))


def _towards(memory: Memory, parts: dict[str, Term], start: list[Tile]) -> list[Stroke]:
    """Lines to the tiles of a goal, or in a direction until they reach one of these tiles."""
    ends = tiles(parts["goal"], memory)
    if len(ends) == 1 or "direction" not in parts:
        if parts["goal"].op in ("cross", "union", "tiles"):
            return [(one, list(line(min(start, key=lambda other: distance(one, other)), one))) for one in ends]
        return [(one, list(line(one, min(ends, key=lambda end: distance(one, end))))) for one in start]
    lines = []
    for one in start:
        for towards in _line_ways(memory, parts, start):
            memory.direction = towards
            stroke = run(one, towards, COLUMNS)
            reach = next((n for n, tile in enumerate(stroke) if tile in ends or not on_board(*tile)), COLUMNS)
            lines.append((one, stroke[:reach]))
    return lines


def _rays(memory: Memory, parts: dict[str, Term], start: list[Tile]) -> list[Stroke]:
    inclusive = "start" in parts and start[0] not in memory.cells
    lines = []
    for towards in _line_ways(memory, parts, start):
        memory.direction = towards
        for one in start:
            first = [one] if inclusive else []
            count = parts["count"].args[0] - inclusive if "count" in parts else 0
            lines.append((one, first + (run(one, towards, count) if "count" in parts else _ray(memory, one))))
    return lines


def _line_ways(memory: Memory, parts: dict[str, Term], start: Sequence[Tile]) -> list[str]:
    """The directions of a line, diagonal if the words say so (slant); if they name none, the last direction, but up from the
    lowest row."""
    direction = parts.get("direction", parts.get("slant"))
    if direction is None:
        from_below = "start" in parts and memory.direction == "d" and all(tile.row == ROWS - 1 for tile in start)
        return ["u" if from_below else memory.direction]
    slanted = "g" if "slant" in parts else ""
    each = list(direction.args) if direction.op == "ways" else [direction]
    return [way(Term("direction", (str(one.args[0]) + slanted,)), memory) for one in each]


def _ray(memory: Memory, start: Tile) -> list[Tile]:
    """The tiles after one, up to the edge of the board or the next painted tile."""
    ray = []
    for tile in run(start, memory.direction, COLUMNS):
        if not on_board(*tile) or tile in memory.cells:
            break
        ray.append(tile)
    return ray


def ring(memory: Memory, *pieces: Term) -> None:
    """Paint a ring of six tiles around a tile, or beside another ring."""
    parts = frame_pieces(pieces)
    named = parts.get("color") or parts.get("colored_count")
    color = named.args[-1] if named else memory.color
    if "beside" in parts:
        direction, of = parts["beside"].args
        known = tiles(of, memory)
        middle = Tile(sum(t.row for t in known) // len(known), sum(t.column for t in known) // len(known))
        towards = way(direction, memory)
        centers = run(middle, towards, 3)[-1:] if towards not in "lr" else [shifted(middle, 4 if towards == "r" else -4, 0)]
    elif "region" in parts and parts["region"].op == "inside":
        memory.paint(tiles(parts["region"], memory), color, over=False)
        return
    elif "region" in parts:
        around = parts["region"]
        centers = tiles(around.args[1] if around.op == "around" else around, memory)
        if around.op in ("cross", "union", "tiles") and 1 < len(centers) < 60 and _close(centers):
            _petals(memory, centers, color)
            return
    else:
        raise NoMeaningError("a ring around what?")
    if "edge" in parts:
        centers = [step(center, "down" if parts["edge"].args[0] == "t" else "up") for center in centers]
    memory.center = centers[0]
    for center in centers[:6]:
        whole = Tile(min(max(center.row, 1 - center.column % 2), ROWS - 1 - center.column % 2), min(max(center.column, 1), 16))
        memory.paint(neighbors(whole if len(centers) == 1 else center), color, over=False)


def _close(group: Sequence[Tile]) -> bool:
    return any(0 < distance(one, other) < 3 for one in group for other in group)


def _petals(memory: Memory, told: Sequence[Tile], color: str) -> None:
    """Paint the rings that the tiles belong to, at least three to a ring; if some belong to none, paint the tiles alone."""
    left, rings, inside = list(told), list[Tile](), {*told}
    while left:
        near = Counter(center for tile in left for center in neighbors(tile) if center not in inside)
        center, petals = max(near.items(), key=lambda one: one[1], default=(left[0], 0))
        if petals < 3:
            memory.paint(told, color)
            return
        rings += [tile for tile in neighbors(center) if on_board(*tile)]
        left = [tile for tile in left if tile not in neighbors(center)]
        memory.center = center
    memory.paint(list(dict.fromkeys(rings)), color)


_SIDES = {3: 2, 6: 3, 10: 4, 15: 5, 21: 6}
"""The number of tiles on a triangle's side, by the number of tiles in the triangle."""


def triangle(memory: Memory, *pieces: Term) -> None:
    """Paint a triangle from a vertical side to the right or the left, with one tile less in each column."""
    parts = frame_pieces(pieces)
    color = str(parts["color"].args[0]) if "color" in parts else memory.color
    count = parts["count"].args[0] if "count" in parts else 0
    if "colored_count" in parts:
        count, color = parts["colored_count"].args[0], str(parts["colored_count"].args[1])
    per_side = "side_length" in parts or ("direction" in parts and parts["direction"].op == "ways")
    side = parts["side_length"].args[0] if "side_length" in parts else count if per_side else _SIDES.get(count, count)
    towards = "l" if "direction" in parts and not per_side and way(parts["direction"], memory)[-1] == "l" else "r"
    column = set(_base(memory, parts, side))
    if len(column) < 2:
        raise NoMeaningError("a triangle on what?")
    while column:
        memory.paint(sorted(tile for tile in column if on_board(*tile)), color, over=False)
        beyond = Counter(step(tile, WAYS[vertical + towards]) for tile in column for vertical in "ud")
        column = {tile for tile, touched in beyond.items() if touched == 2}


def _base(memory: Memory, parts: dict[str, Term], side: int) -> list[Tile]:
    """The tiles of a triangle's vertical side: the named ones, or a number of tiles from a tile or a column's end."""
    if "columns" in parts or ("region" not in parts and memory.left_out):
        end = Term("at", ((1,), "back" if "edge" in parts and parts["edge"].args[0] == "b" else "fore"))
        base = tiles(Term("cross", (end, parts["columns"])) if "columns" in parts else Term("tiles", (end,)), memory)
    elif "region" in parts:
        region = parts["region"]
        base = tiles(region.args[1] if region.op == "around" else region, memory)
    else:
        base = list(memory.last)
    base = [tile for tile in base if tile.column == base[0].column] if base else base
    if len(base) == 1 and side > 1:
        return [base[0], *run(base[0], "u" if base[0].row > ROWS / 2 else "d", side - 1)]
    return base
