"""Plain programs, which list the cells of actions; any actions can be written this way."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from harness.worlds.hexagons import CODES, COLUMNS, ROWS, Paint, Tile
from harness.worlds.minecraft import Action
from serialization.program import ast
from serialization.program.ast import Expr, Numbers, Program, Span, Statement, Tiles, plus
from serialization.program.written import spans_text


def drawing_program(actions: Iterable[Paint]) -> Program:
    """One statement a color, with its tiles by column. If a tile is painted twice, the last action counts."""
    return Program(tuple(change(color, tile_set(tiles)) for color, tiles in by_color(actions)))


def by_color(actions: Iterable[Paint]) -> list[tuple[str, list[Tile]]]:
    """The colors that are painted, in the order of their codes, each with its tiles."""
    tiles: dict[str, list[Tile]] = defaultdict(list)
    for tile, color in {action.tile: action.color for action in actions}.items():
        tiles[color].append(tile)
    return sorted(tiles.items(), key=lambda one: CODES[one[0]])


def change(color: str | None, what: Expr) -> Statement:
    """A statement that gives a set one color, or removes it (None)."""
    return ast.Remove(what) if color is None else ast.PaintSet(((color, 1),), what)


def tile_set(tiles: Iterable[Tile]) -> Expr:
    """The shortest literal of one or more tiles (0-based), which groups columns that share the same rows."""
    return plus(
        # Whole columns have no rows, and whole rows no columns.
        Numbers(spans(columns)) if len(rows) == ROWS else Tiles(() if len(columns) == COLUMNS else spans(columns), spans(rows))
        for rows, columns in by_rows(tiles, 1).items()
    )


def by_rows(tiles: Iterable[Tile], first: int) -> dict[tuple[int, ...], list[int]]:
    """The columns of some tiles, keyed by the rows that the tiles occupy in them; numbers count from `first`."""
    rows: dict[int, list[int]] = defaultdict(list)
    for row, column in sorted(set(tiles)):
        rows[column + first].append(row + first)
    columns: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for column in sorted(rows):
        columns[tuple(rows[column])].append(column)
    return columns


def building_program(actions: Iterable[Action]) -> Program:
    """The actions in order: one statement for each run of one color, or of removals, without a repeated cell."""
    runs: list[tuple[str | None, list[tuple[int, int, int]]]] = []
    for action in actions:
        color = action.color if action.kind == "place" else None
        if not runs or runs[-1][0] != color or action.cell in runs[-1][1]:
            runs.append((color, []))
        runs[-1][1].append(action.cell)
    return Program(tuple(change(color, _cells(cells)) for color, cells in runs))


def _cells(cells: Sequence[tuple[int, int, int]]) -> Expr:
    """The cells in order; cells in a row share one literal."""
    literals: list[Expr] = []
    rest = list(cells)
    while rest:
        count = _row_length(rest)
        first, last = rest[0], rest[count - 1]
        literals.append(Numbers(tuple(Span(a, b) for a, b in zip(first, last, strict=True))))
        rest = rest[count:]
    return plus(literals)


def _row_length(cells: Sequence[tuple[int, int, int]]) -> int:
    """How many cells, from the first on, follow each other along an axis in one direction."""
    steps = [tuple(b - a for a, b in zip(*pair, strict=True)) for pair in pairwise(cells)]
    if not steps or sum(map(abs, steps[0])) != 1:
        return 1
    return 1 + sum(1 for _ in takewhile(steps[0].__eq__, steps))


def spans(numbers: Sequence[int]) -> tuple[Span, ...]:
    """Ascending numbers as spans; at each step, the run that saves the most characters is taken: `1,2` but `1-3`, `1-9/2`."""
    return _spans(tuple(numbers))


@lru_cache(maxsize=8192)
def _spans(numbers: tuple[int, ...]) -> tuple[Span, ...]:
    found: list[Span] = []
    rest = list(numbers)
    while rest:
        run = max((_run(rest, step) for step in range(1, 9)), key=_gain)
        found.append(run if _gain(run) > 0 else Span(rest[0], rest[0]))
        rest = [n for n in rest if n > found[-1].last]
    return tuple(found)


def _run(numbers: Sequence[int], step: int) -> Span:
    """The longest span from the first number in steps of `step` that skips no number of the list."""
    count = 1
    while count < len(numbers) and numbers[count] == numbers[0] + count * step:
        count += 1
    return Span(numbers[0], numbers[count - 1], step if count > 1 else 1)


def _gain(span: Span) -> int:
    """How many characters a span saves compared with a list of its numbers."""
    return len(",".join(map(str, span.numbers()))) - len(spans_text((span,)))
