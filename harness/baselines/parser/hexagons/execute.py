"""Carries out actions: terms become paint in a memory, and paint becomes a program."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import groupby

from harness.baselines.parser.hexagons.copies import mirror, repeat
from harness.baselines.parser.hexagons.meaning import Term, frame_pieces
from harness.baselines.parser.hexagons.memory import DEEPEST, MOST_AGAIN, ExecutedInstruction, Memory, NoMeaningError
from harness.baselines.parser.hexagons.regions import resolve_columns, run, tiles, way
from harness.baselines.parser.hexagons.shapes import ring, strokes, triangle
from harness.worlds.hexagons import COLUMNS, Paint, Tile, line, neighbors, on_board, step
from serialization.program import ast
from serialization.program.literal import tile_set
from serialization.program.written import write_expression

_BLANKS_ONLY = frozenset({"around", "line", "beside", "inside", "beside_tile", "run_beside"})
_BY_COLUMN = frozenset({"cross", "tiles", "columns", "from_column", "beside", "beside_tile", "within"})


def _paint(memory: Memory, color: Term, what: Term) -> None:
    _paint_with(memory, str(color.args[0]), what)


def _paint_again(memory: Memory, what: Term) -> None:
    if what.op == "line" and not any(piece.op in ("colored_count", "beside") for piece in what.args):
        _extend(memory, what)
    elif what.op not in ("that", "colored", "within_steps", "previous_step", "tiles_of_steps", "within"):
        counted = frame_pieces(what.args).get("colored_count") if what.op == "line" else None
        _paint_with(memory, counted.args[1] if counted else memory.color, what)
    else:
        memory.look_at(tiles(what, memory))


def _extend(memory: Memory, what: Term) -> None:
    """Lines without a named color continue in the color they start from."""
    extended = [
        (memory.cells.get(start, memory.color), [tile for tile in stroke if on_board(*tile)])
        for start, stroke in strokes(memory, what.args)
    ]
    if not any(stroke for _, stroke in extended):
        raise NoMeaningError(str(what))
    for color, stroke in extended:
        memory.paint(stroke, color, over=False)
    memory.ends = tuple(stroke[-1] for _, stroke in extended if stroke)
    memory.look_at([tile for _, stroke in extended for tile in stroke])


def _look_beside(memory: Memory, relation: Term) -> None:
    """A place such as "below the ring", from which the next action continues."""
    direction, of = relation.args
    memory.look_at(tiles(of, memory), by_column=True)
    memory.direction = way(direction, memory)


def _paint_with(memory: Memory, color: str, what: Term) -> None:
    memory.paint(tiles(what, memory), color, over=what.op not in _BLANKS_ONLY, by_column=_by_column(what, memory))


def _by_column(what: Term, memory: Memory) -> bool:
    return memory.direction in "ud" if what.op in ("next", "turned", "run_beside") else what.op in _BY_COLUMN


def _paint_marks(memory: Memory, marks: Term, columns: Term) -> None:
    if marks.op == "marks":
        for mark in marks.args:
            _paint_marks(memory, mark, columns)
            columns = Term("same_columns")
        return
    color, rows = marks.args
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


def _paint_count(op: str, memory: Memory, counted: Term, where: Term) -> None:
    count, color = counted.args
    _paint_with(memory, str(color), Term(op, (Term("count", (count,)), where)))


def _skip(memory: Memory, count: int) -> None:
    if not memory.fronts:
        raise NoMeaningError("skip from nowhere")
    memory.fronts = tuple(run(front, memory.direction, max(count, 1))[-1] for front in memory.fronts)


def _skip_columns(memory: Memory, count: int) -> None:
    if not memory.columns:
        raise NoMeaningError("skip from nowhere")
    memory.gap = count
    memory.columns = (min(max(memory.columns) + count, COLUMNS - 1),)
    memory.left_out = True


def _leave(memory: Memory, what: Term, _: Term) -> None:
    """Tiles to leave blank: they count as mentioned, and the step's paint on them is undone."""
    left = tiles(what, memory)
    memory.take_back(left)
    memory.look_at(left, by_column=_by_column(what, memory))


def _except(memory: Memory, action: Term, but: Term) -> None:
    """An action except for some tiles, which are left out or get another color."""
    done = len(memory.painted)
    act(action, memory)
    region = (but.args[0] if but.op == "but_colored" else but).args[0]
    out = {*tiles(region, memory)}
    chosen = [paint.tile for paint in memory.painted[done:] if paint.tile in out] or sorted(out)
    if but.op == "but_colored":
        memory.paint(chosen, str(but.args[1].args[0]))
    else:
        memory.take_back(chosen)


def _choose(memory: Memory, color: Term) -> None:
    memory.color = str(color.args[0])


def _go(memory: Memory, columns: Term) -> None:
    memory.columns = tuple(resolve_columns(columns, memory))
    memory.fronts = tuple(Tile(-1, column) for column in memory.columns)


def _repeat(memory: Memory, *pieces: Term) -> None:
    """Repeat steps from where the last ones ended; if that changes nothing, copy what they painted."""
    parts = frame_pieces(pieces)
    color = str(parts["color"].args[0]) if "color" in parts else ""
    many = COLUMNS if "on_and_on" in parts else min(parts["times"].args[0], COLUMNS) if "times" in parts else 1
    changed = False
    while (
        "steps" in parts
        and set(parts) <= {"steps", "color", "on_and_on", "times"}
        and many > 0
        and _again(memory, parts["steps"].args, color)
    ):
        many, changed = many - 1, True
    if not changed:
        repeat(memory, *pieces)


def _again(memory: Memory, numbers: Sequence[int], color: str) -> bool:
    """Repeat the actions of some steps from where the last ones ended; returns whether the board changed."""
    memory.painted_by(numbers)
    before, done = dict(memory.cells), len(memory.painted)
    for n in numbers:
        for action in memory.steps[n - 1].actions if 0 < n <= len(memory.steps) else ():
            _act_again(action, memory)
    if color:
        for paint in memory.painted[done:]:
            memory.cells[paint.tile] = color
        memory.painted = memory.painted[:done] + tuple(paint._replace(color=color) for paint in memory.painted[done:])
    return memory.cells != before


def _act_again(action: Term, memory: Memory) -> None:
    """Carry out an action of an earlier step, which may itself repeat steps, even its own."""
    memory.again += 1
    if memory.depth >= DEEPEST or memory.again > MOST_AGAIN:
        raise NoMeaningError("steps that repeat each other without end")
    memory.depth += 1
    try:
        act(action, memory)
    finally:
        memory.depth -= 1


# Painting in a sequence of colors, up to something, and back to white.


def _paint_runs(memory: Memory, runs: Term, what: Term) -> None:
    """Paint colors in sequence, or alternating, in each column or along all of the tiles."""
    order = [str(color) for count, color in runs.args for _ in range(count)]
    if what.op in ("next", "turned"):
        memory.direction = way(what.args[1], memory) if what.op == "turned" else memory.direction
        what = Term("next", (len(order),))
    region_tiles = _upper_or_lower(tiles(what, memory), len(order))
    groups = [
        [tile for tile in region_tiles if tile.column == column] for column in dict.fromkeys(tile.column for tile in region_tiles)
    ]
    if len(region_tiles) == 1 and len(order) > 1:
        region_tiles += run(region_tiles[0], memory.direction if memory.direction in "ud" else "d", len(order) - 1)
        region_tiles = [tile for tile in region_tiles if on_board(*tile)]
    by_column = what.op in ("columns", "cross") and any(len(group) > 1 for group in groups)
    for group in groups if by_column else [region_tiles]:
        for n, tile in enumerate(group):
            if (n < len(order) or runs.op == "cycle") and order[n % len(order)] != "white":
                memory.paint([tile], order[n % len(order)])


def _upper_or_lower(row: list[Tile], count: int) -> list[Tile]:
    """The tiles; of a whole row, for up to nine colors, only every second one: at the board's edge, those that stick out."""
    if len({tile.row for tile in row}) != 1 or len(row) != COLUMNS or count > COLUMNS // 2:
        return row
    return [tile for tile in row if tile.column % 2 == (tile.row > 0)]


def _until(memory: Memory, action: Term, stop: Term) -> None:
    """Paint, in each column, down to some tiles."""
    color, what = action.args
    ends = {tile.column: tile.row for tile in tiles(stop, memory)}
    if stop.op == "colored":
        shade = stop.args[0]
        ends = {column: row for (row, column), found in sorted(memory.cells.items(), reverse=True) if found == shade}
    found = tiles(what, memory)
    if all(column in ends for column in {tile.column for tile in found}):
        whole = tiles(Term("columns", (Term("same_columns"),)), memory) if what.op == "cross" else found
        found = [tile for tile in whole if tile.row < ends[tile.column]]
    memory.paint(found, str(color.args[0]), over=False, by_column=True)


_ACTIONS: tuple[Callable[..., None], ...] = (
    *(_paint, _paint_again, _look_beside, _paint_marks, _paint_runs, _skip, _skip_columns, _leave, _choose, _except),
    *(_until, _go, _repeat, mirror, ring, triangle, _more, _in_columns, _then),
)
ACTIONS = {function.__name__.removeprefix("_"): function for function in _ACTIONS}
"""Functions of the memory and an operation's arguments, by the name of the operation."""
ACTIONS |= {
    "paint_count": partial(_paint_count, "turned"),
    "paint_count_beside": partial(_paint_count, "run_beside"),
    "mention": lambda memory, what: memory.look_at(tiles(what, memory)),
    "erase": lambda memory, _, what: memory.paint(tiles(what, memory), "white"),
    "runs_on": lambda memory, runs: _paint_runs(memory, runs, Term("next", (1,))),
}


def act(term: Term, memory: Memory) -> None:
    """Carry out an action. Raises NoMeaningError if it means nothing here."""
    ACTIONS[term.op](memory, *term.args)


def carry_out(actions: Sequence[Term], memory: Memory, named: Collection[str] = ()) -> tuple[Memory, int]:
    """The memory after an instruction's actions, and how many of them had no meaning. If no color is known yet and nothing was
    painted, a single named color holds for what follows."""
    after, failed = memory.copy(), 0
    for action in actions:
        try:
            act(action, after)
        except NoMeaningError:
            failed += 1
    if not after.painted and not after.color and len(named) == 1:
        (after.color,) = named
    latest = {paint.tile: paint for paint in after.painted}
    after.steps = (*after.steps, ExecutedInstruction(tuple(actions), after.painted, latest, after.columns, after.center))
    return after, failed


def changes(before: Memory, after: Memory) -> dict[tuple[int, int], str]:
    """The tiles that the step changed, with their new colors."""
    changed = {tile: color for tile, color in after.cells.items() if before.cells.get(tile) != color}
    return changed | {tile: "white" for tile in before.cells if tile not in after.cells}


def paint_program(painted: Sequence[Paint]) -> ast.Program:
    """A program with one statement per run of a color, in the order of painting; lines and rings by their names."""
    runs = [(color, [paint.tile for paint in group]) for color, group in groupby(painted, lambda paint: paint.color)]
    return ast.Program(tuple(ast.PaintSet(((color, 1),), _figure(list(dict.fromkeys(tiles)))) for color, tiles in runs))


def _figure(tiles: list[Tile]) -> ast.Expr:
    """The shortest way to write exactly these tiles: a list, a line from the first to the last, or a ring."""
    ways = [tile_set(tiles)]
    if len(tiles) > 2 and tuple(tiles) == line(tiles[0], tiles[-1]):
        ways.append(ast.Call("line", (tile_set(tiles[:1]), tile_set(tiles[-1:]))))
    center = step(min(tiles, key=lambda tile: tile.row + tile.column % 2 / 2), "down")
    if len(tiles) == 6 and set(tiles) == set(neighbors(center)):
        ways.append(ast.Call("ring", (tile_set([center]),)))
    return min(ways, key=lambda way: len(write_expression(way)))
