"""Which tiles words refer to: places on an axis, directions, and the table of operations that find tiles."""

from collections import Counter
from collections.abc import Callable, Sequence

from harness.baselines.parser.hexagons.meaning import Term
from harness.baselines.parser.hexagons.memory import Memory, NoMeaningError
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, neighbors, on_board, step
from serialization.program.hexagons_geometry import enclosed

Region = Callable[..., list[Tile]]


def tiles(term: Term, memory: Memory) -> list[Tile]:
    """The tiles of the board that a term stands for, in the order of the words. Raises NoMeaningError if there are none."""
    operation = REGIONS.get(term.op)
    spoken = operation(memory, *term.args) if operation else []
    inside = [tile for tile in spoken if on_board(*tile)]
    memory.clipped = memory.clipped or len(inside) < len(spoken)
    if not inside:
        raise NoMeaningError(str(term))
    return list(dict.fromkeys(inside))


# Places on an axis: which columns of the board, and which tiles of a column.


def resolve_columns(term: Term, memory: Memory) -> list[int]:
    """Columns from 0, in the order of the words. Raises NoMeaningError if there are none."""
    columns = _places(term, memory, COLUMNS, None)
    memory.left_out = False
    if not columns:
        raise NoMeaningError(str(term))
    return columns


def resolve_rows(term: Term, memory: Memory, column: int) -> list[int]:
    """Rows of a column from 0, in the order of the words."""
    return _places(term, memory, ROWS, column)


def _places(term: Term, memory: Memory, size: int, column: int | None) -> list[int]:
    match term:
        case Term("at", (numbers, side)):
            places = [size - n if side == "back" else n - 1 for n in numbers]
        case Term("first", (count, side)):
            places = [size - n if side == "back" else n - 1 for n in range(1, min(count, size) + 1)]
        case Term("all"):
            places = list(range(size))
        case Term("odd") | Term("every_other"):
            places = list(range(0, size, 2))
        case Term("even"):
            places = list(range(1, size, 2))
        case Term("every_other_from", (Term("columns" | "tiles", (Term() as start,)) | Term("cross", (Term() as start, *_)), *_)):
            first = _places(start, memory, size, column)[:1]
            places = [n for one in first for n in (range(one, size, 2) if one < size - 2 else range(one, -1, -2))]
        case Term("both", (Term() as one, Term() as two)):
            places = _places(one, memory, size, column) + _places(two, memory, size, column)
        case Term("span", (Term() as one, Term() as two)):
            first, last = _places(one, memory, size, column)[:1], _places(two, memory, size, column)[-1:]
            places = [n for a in first for b in last for n in (range(a, b + 1) if a <= b else range(a, b - 1, -1))]
        case Term("all_but", (_, Term() as but)):
            out = _places(but, memory, size, column)
            places = [n for n in range(size) if n not in out]
        case Term("middle", counts):
            count = counts[0] if counts else 2 - size % 2
            places = list(range((size - count) // 2, (size + count) // 2))
        case Term("blank"):
            places = [row for row in range(size) if (row, column) not in memory.cells] if column is not None else []
        case Term("next_columns", (int() as count,)):
            start_at = max(memory.columns, default=-1)
            places = list(range(start_at + 1, start_at + 1 + count))
        case Term("moved", (int() as count,)):
            start_at = max(memory.columns, default=-1) if count > 0 else min(memory.columns, default=COLUMNS)
            places = [start_at + count]
        case Term("outward"):
            places = [min(memory.columns, default=9) - 1, max(memory.columns, default=7) + 1]
        case Term("same_columns"):
            places = list(memory.columns)
        case Term("shifted", (Term(_, (side,)), Term() as of)):
            places = [n + (1 if side == "r" else -1) for n in _places(of, memory, size, column)]
        case Term("colored_columns", (color,)):
            times = Counter(n for (_, n), shade in memory.cells.items() if shade == color)
            places = sorted(n for n in times if 2 * times[n] >= max(times.values()))
        case Term("middle_columns"):
            places = [8]
        case _:
            raise NoMeaningError(str(term))
    return [n for n in places if 0 <= n < size]


WAYS = {"u": "up", "d": "down", "ur": "up-right", "dr": "down-right", "dl": "down-left", "ul": "up-left"}


def ways(direction: Term, memory: Memory) -> list[str]:
    """The letters of each direction."""
    several = direction.args if direction.op == "ways" else (direction,)
    return [way(one, memory) for one in several]


def way(direction: Term, memory: Memory) -> str:
    """The letters of a direction, up or down first. A diagonal with only one half named takes the other from the last direction,
    otherwise down or right."""
    if direction.op == "ways":
        return ways(direction, memory)[-1]
    letters = str(direction.args[0])
    vertical = next((letter for letter in letters if letter in "ud"), "")
    across = next((letter for letter in letters if letter in "lr"), "")
    if "g" in letters:
        fallback = memory.direction + "dr"
        vertical = vertical or next(letter for letter in fallback if letter in "ud")
        across = across or next(letter for letter in fallback if letter in "lr")
    return vertical + across


def sticks_out(tile: Tile) -> bool:
    """Whether a tile is one of the nine that stick out of the board's upper or lower edge."""
    return tile.row == (ROWS - 1 if tile.column % 2 else 0)


def run(start: Tile, towards: str, count: int) -> list[Tile]:
    """The tiles after one in a direction; to the left or right they zig-zag along the row."""
    if towards in WAYS:
        return [step(start, WAYS[towards], n) for n in range(1, min(count, COLUMNS) + 1)]
    sign = 1 if towards == "r" else -1
    if sticks_out(start):
        return [Tile(start.row, start.column + 2 * sign * n) for n in range(1, min(count, COLUMNS) + 1)]
    return [Tile(start.row, start.column + sign * n) for n in range(1, min(count, COLUMNS) + 1)]


def extreme(group: Sequence[Tile], edge: str) -> Tile:
    keys: dict[str, Callable[[Tile], float]] = {
        "t": lambda tile: tile.row + tile.column % 2 / 2,
        "b": lambda tile: -tile.row - tile.column % 2 / 2,
        "l": lambda tile: tile.column,
        "r": lambda tile: -tile.column,
    }
    return min(group, key=keys[edge])


def beside(around: Sequence[Tile], towards: str) -> list[Tile]:
    """The tiles that touch some tiles in a direction; to the left and right, two each."""
    ways = [WAYS[towards]] if towards in WAYS else [WAYS[vertical + towards] for vertical in "ud"]
    found = [step(tile, one) for tile in around for one in ways]
    return [tile for tile in dict.fromkeys(found) if tile not in around]


def _cross(memory: Memory, rows: Term, columns: Term) -> list[Tile]:
    memory.columns = tuple(resolve_columns(columns, memory))
    return _tiles(memory, rows)


def _tiles(memory: Memory, rows: Term) -> list[Tile]:
    if memory.left_out and memory.columns:
        memory.columns, memory.left_out = (max(memory.columns) + 1,), False
    memory.columns = memory.columns or tuple(dict.fromkeys(tile.column for tile in memory.last))
    memory.unplaced = memory.unplaced or not memory.columns
    return [Tile(row, column) for column in memory.columns or range(COLUMNS) for row in resolve_rows(rows, memory, column)]


def _same_tiles(memory: Memory, columns: Term) -> list[Tile]:
    """The tiles that the step painted last, in other columns."""
    if not memory.painted:
        raise NoMeaningError("the same tiles as what?")
    rows = dict.fromkeys(tile.row for tile in memory.last)
    memory.columns = tuple(resolve_columns(columns, memory))
    return [Tile(row, column) for column in memory.columns for row in rows]


def _union(memory: Memory, one: Term, two: Term) -> list[Tile]:
    first = tiles(one, memory)
    memory.look_at(first)
    return first + tiles(two, memory)


def _colored(memory: Memory, color: str, which: str, edge: object) -> list[Tile]:
    """Tiles of a color: all on the board, those of the last step that painted it (some), or the last one painted."""
    colored = [Tile(*tile) for tile, shade in memory.cells.items() if shade == color]
    recent = next((step_.painted for step_ in reversed(memory.steps) if any(p.color == color for p in step_.painted)), ())
    recent = memory.painted if any(paint.color == color for paint in memory.painted) else recent
    group = [paint.tile for paint in recent if paint.color == color and paint.tile in colored] or colored
    if not group:
        raise NoMeaningError(f"no {color} tile")
    if edge in ("t", "b", "l", "r"):
        return [extreme(colored, str(edge))]
    if isinstance(edge, int) and edge > 0:
        return colored[edge - 1 : edge]
    if which == "all":
        return colored
    return group if which == "some" else group[-1:]


def _within(memory: Memory, what: Term, columns: Term) -> list[Tile]:
    if what.op == "that" and memory.painted and not {tile.column for tile in memory.last} & {*resolve_columns(columns, memory)}:
        return _same_tiles(memory, columns)
    if what.op == "colored":
        what = Term("colored", (what.args[0], "all", what.args[2]))
    allowed = resolve_columns(columns, memory)
    memory.columns = tuple(allowed)
    if what.op == "colored" and what.args[2] in ("t", "b", "l", "r", "e"):
        all_ = [tile for tile in tiles(Term("colored", (what.args[0], "all", "")), memory) if tile.column in allowed]
        edge = str(what.args[2]).replace("e", "b")
        return [extreme([t for t in all_ if t.column == c], edge) for c in allowed if any(t.column == c for t in all_)]
    return [tile for tile in tiles(what, memory) if tile.column in allowed]


def _within_steps(memory: Memory, what: Term, steps: Term) -> list[Tile]:
    painted = memory.painted_by(steps.args)
    return [paint.tile for paint in painted if what.op != "colored" or paint.color == what.args[0]]


def _of_steps(memory: Memory, which: Term, steps: Term) -> list[Tile]:
    """The tiles that steps painted: all, or those at some places in the order of painting."""
    painted = [paint.tile for paint in memory.painted_by(steps.args)]
    match which:
        case Term("at", (numbers, side)):
            order = painted[::-1] if side == "back" else painted
            return [order[n - 1] for n in numbers if 0 < n <= len(order)]
    return painted


def _beside(memory: Memory, direction: Term, of: Term) -> list[Tile]:
    around = tiles(of, memory)
    return [tile for towards in ways(direction, memory) for tile in beside(around, towards)]


def _beside_tile(memory: Memory, relation: Term, _: Term) -> list[Tile]:
    return _beside(memory, *relation.args)


def _next(memory: Memory, count: int) -> list[Tile]:
    following = [tile for front in memory.fronts for tile in run(front, memory.direction, count)]
    memory.columns = tuple(dict.fromkeys(tile.column for tile in following if on_board(*tile))) or memory.columns
    return following


def _turned(memory: Memory, what: Term, direction: Term) -> list[Tile]:
    turned: list[Tile] = []
    for towards in ways(direction, memory):
        memory.direction = towards
        turned += tiles(what, memory) if what.op != "count" else _next(memory, what.args[0])
    return turned


def _from_column(memory: Memory, what: Term, columns: Term) -> list[Tile]:
    """The next tiles of some columns: after the last painted one of each, or from the top."""
    chosen = resolve_columns(columns, memory)
    if set(chosen) != {front.column for front in memory.fronts}:
        memory.columns, memory.fronts = tuple(chosen), tuple(Tile(-1, column) for column in chosen)
    return tiles(what, memory)


def _run_beside(memory: Memory, count: Term, relation: Term) -> list[Tile]:
    direction, of = relation.args
    start = tiles(of, memory)
    if direction.op == "ways" and count.args[0] == len(direction.args):
        count = Term("count", (1,))
    return [tile for towards in ways(direction, memory) for tile in _run_from(memory, start, towards, count.args[0])]


def _run_from(memory: Memory, start: list[Tile], towards: str, many: int) -> list[Tile]:
    across = {tile.column for tile in start}
    edge = beside(start, towards)
    if towards in "lr" and many == 1 and len(edge) > 1:
        closest = max(len({*neighbors(tile)} & {*start}) for tile in edge)
        if closest > 1:
            return [tile for tile in edge if len({*neighbors(tile)} & {*start}) > 1]
        rows = {tile.row for tile in start}
        return [tile for tile in edge if tile.row in rows] or edge
    if towards in "lr" or (many == len(edge) and max(across) - min(across) < len(across)):  # "the five tiles below the line"
        return edge
    memory.direction = towards
    inside = {*start}
    ends = [tile for tile in start if beside([tile], towards)[0] not in inside]
    return [tile for end in ends for tile in run(end, towards, many)]


def _around(memory: Memory, _: Term, of: Term) -> list[Tile]:
    inner = tiles(of, memory)
    memory.center = inner[0] if len(inner) == 1 else memory.center
    return [tile for tile in dict.fromkeys(t for one in inner for t in neighbors(one)) if tile not in inner]


def _inside(memory: Memory) -> list[Tile]:
    """Blank tiles that painted ones enclose; only those near what was mentioned last, if there are any."""
    inner = enclosed(memory.cells)
    near = set(memory.last) | {paint.tile for paint in (memory.steps[-1].painted if memory.steps else ())}
    return [tile for tile in inner if near & set(neighbors(tile))] or inner


_REGIONS: tuple[Region, ...] = (
    *(_cross, _tiles, _same_tiles, _union, _colored, _within, _within_steps, _beside, _beside_tile, _next, _turned),
    *(_from_column, _run_beside, _around, _inside),
)
REGIONS: dict[str, Region] = {function.__name__.removeprefix("_"): function for function in _REGIONS}
"""Functions of the memory and an operation's arguments, by the name of the operation; `shapes` adds lines."""
REGIONS |= {
    "tiles_of_steps": _of_steps,
    "columns": lambda memory, columns: _cross(memory, Term("all"), columns),
    "that": lambda memory: list(memory.last),
    "latest": lambda memory, count: [paint.tile for paint in memory.earlier()[-count:]],
    "of_steps": lambda memory, steps: [paint.tile for paint in memory.painted_by(steps.args)],
    "previous_step": lambda memory: [paint.tile for paint in memory.painted_by(())],
}
