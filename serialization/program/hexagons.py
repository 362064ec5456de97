"""Drawing programs, run on a HEXAGONS board. Programs count rows and columns from 1, from the top left; the code from 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

from harness.worlds.hexagons import COLORS, COLUMNS, DIRECTIONS, ROWS, Board, Paint, Tile, on_board
from harness.worlds.hexagons import line as straight_line
from serialization.program import ast
from serialization.program import hexagons_geometry as g
from serialization.program.ast import Span
from serialization.program.errors import ProgramError, located
from serialization.program.expressions import Function, Mapped, Shift
from serialization.program.figure import Cell, ColorName, Figure, Way, together
from serialization.program.machine import Machine, ProgramResult, State
from serialization.program.shared_functions import SHARED, beyond, end, indices, moved_to, next_cells, number_of


def run(program: ast.Program, state: State | None = None) -> ProgramResult:
    """Runs a drawing program. Never raises ProgramError: the result holds the error and the actions before it.

    The actions are sorted by row and column, at most one a tile. With a state, actions that do not change the board are left
    out.
    """
    outcome = Drawing(state or State(Board())).run(program)
    if state is None:
        return outcome
    return outcome._replace(actions=tuple(a for a in outcome.actions if state.before[a.tile] != a.color))


def at(d: Drawing, columns: Sequence[Span], rows: Sequence[Span]) -> Figure:
    """The tiles of the given columns and rows; negative numbers count from the right and the bottom."""
    return d.literal(ast.Tiles(tuple(columns), tuple(rows)))


def line(d: Drawing, first: Cell, second: Cell, *others: Cell) -> Figure:
    """Straight lines from each tile to the next."""
    points = pairwise(Tile(*point) for point in (first, second, *others))
    return d.kept(tile for a, b in points for tile in straight_line(a, b))


def ray(d: Drawing, tiles: Figure, way: Way, count: int | None = None) -> Figure:
    return together(Figure.of(g.ray(Tile(*tile), way, count)) for tile in tiles)


def star(d: Drawing, tiles: Figure, count: int | None = None) -> Figure:
    """The next tiles in all six directions; each line is an object."""
    return together(next_cells(d, tiles, way, count) for way in d.ways)


def triangle(d: Drawing, tiles: Figure, way: Way, size: int | None = None) -> Figure:
    """With a size, lines of 1, 2, ..., `size` tiles from a corner; without one, the triangle over a straight base."""
    if way not in g.SPREAD:
        raise ProgramError(f"a triangle opens {', '.join(g.SPREAD)}")
    if size is not None:
        return d.kept(tile for corner in tiles for tile in g.triangle(Tile(*corner), way, size))
    one, other = (ray(d, tiles, side) for side in g.SPREAD[way])
    return one.within(other)


def ring(d: Drawing, tiles: Figure, radius: int = 1) -> Figure:
    """The tiles at distance `radius` from a set; around a single tile, clockwise from the top."""
    if radius < 1:
        raise ProgramError("a ring's radius is at least 1")
    if len(tiles) == 1 and radius <= g.MARGIN:
        return d.kept(g.ring(Tile(*next(iter(tiles))), radius))
    layers = g.grown(tiles, radius)
    return d.kept(layers[radius - 1] if radius <= len(layers) else ())


def near(d: Drawing, tiles: Figure, radius: int = 1) -> Figure:
    return d.kept(tile for layer in g.grown(tiles, radius) for tile in layer)


def flower(d: Drawing, tiles: Figure, radius: int = 1) -> Figure:
    return together([tiles, near(d, tiles, radius)])


def inside(d: Drawing, tiles: Figure) -> Figure:
    return d.kept(g.enclosed(tiles))


def fill(d: Drawing, tiles: Figure) -> Figure:
    return together([tiles, inside(d, tiles)])


def outline(d: Drawing, tiles: Figure) -> Figure:
    return tiles.filtered(lambda tile: any(other not in tiles for other in g.around(Tile(*tile))))


def touch(d: Drawing, tiles: Figure, others: Figure, least: int = 1) -> Figure:
    """The tiles of a set that touch at least `least` tiles of another one."""
    return tiles.filtered(lambda tile: sum(near in others for near in g.around(Tile(*tile))) >= least)


def _by(axis: int, tiles: Figure) -> dict[int, list[Cell]]:
    groups: dict[int, list[Cell]] = {}
    for tile in tiles:
        groups.setdefault(tile[axis], []).append(tile)
    return groups


def _ends(sign: int) -> Callable[..., Figure]:
    """In each column, the first tiles counted downward (1), or the last ones (-1)."""

    def chosen(d: Drawing, tiles: Figure, count: int = 1) -> Figure:
        groups = (sorted(group, key=lambda tile: sign * tile[0]) for group in _by(1, tiles).values())
        return tiles.within({tile for group in groups for tile in group[: max(0, count)]})

    return chosen


def _outmost(way: str) -> Callable[..., Figure]:
    """The tiles in the first or last columns that a set has."""

    def chosen(d: Drawing, tiles: Figure, count: int = 1) -> Figure:
        return end(d, tiles, [way], count)

    return chosen


def span(d: Drawing, tiles: Figure) -> Figure:
    """In each column, all tiles from the set's top tile to its bottom tile."""
    columns = _by(1, tiles).items()
    return Figure.of(Tile(row, column) for column, group in columns for row in range(min(group)[0], max(group)[0] + 1))


def columns(d: Drawing, tiles: Figure) -> Figure:
    return Figure.of(Tile(row, column) for column in _by(1, tiles) for row in range(ROWS))


def rows(d: Drawing, tiles: Figure) -> Figure:
    return Figure.of(Tile(row, column) for row in _by(0, tiles) for column in range(COLUMNS))


def middle(d: Drawing, tiles: Figure) -> Figure:
    return Figure.of([g.middle(tiles)])


def to(d: Drawing, tiles: Figure, place: Figure, anchor: Figure | None = None) -> Figure:
    """The set moved so that a tile of it, usually its leftmost, comes to each of some tiles, columns or rows."""
    if not (tiles and place):
        return Figure()
    start = next(iter(anchor or end(d, tiles, ["left", "up"])))
    rows, columns = (list(dict.fromkeys(tile[axis] for tile in place)) for axis in (0, 1))
    if len(rows) == ROWS:
        ends = [(start[0], column) for column in columns]
    elif len(columns) == COLUMNS:
        start = start if anchor else next(iter(end(d, tiles, ["up", "left"])))
        ends = [(row, start[1]) for row in rows]
    else:
        ends = list(place)
    moves = (d.mapping(Shift((row - start[0], column - start[1], 0, 0)), start)[0] for row, column in ends)
    return together(Figure.one(moved_to(d, tiles, there).cells) for there in moves)


def reflect(d: Drawing, tiles: Figure, axis: Figure) -> Figure:
    return moved_to(d, tiles, g.mirrored(axis))


def flip(d: Drawing, tiles: Figure, center: Cell, way: Way = "right") -> Figure:
    return moved_to(d, tiles, lambda tile: g.flipped(tile, Tile(*center), way))


def rotate(d: Drawing, tiles: Figure, sixths: int, center: Cell) -> Figure:
    return moved_to(d, tiles, lambda tile: g.turned(tile, sixths, Tile(*center)))


def is_color(d: Drawing, color: ColorName, *others: ColorName) -> Figure:
    return d.seen(d.colored((color, *others)))


_BESIDE = {"above": "up", "below": "down", "left": "left", "right": "right"}
_CALLS: Mapping[str, Callable[..., Any]] = {
    **{call.__name__: call for call in (at, line, ray, star, triangle, ring, near, flower, inside, fill, outline, touch)},
    "top": _ends(1),
    "bottom": _ends(-1),
    "leftmost": _outmost("left"),
    "rightmost": _outmost("right"),
    "span": span,
    **{name: beyond(way, None) for name, way in _BESIDE.items()},
    **{call.__name__: call for call in (columns, rows, middle, to, reflect, flip, rotate)},
    "is": is_color,
    "columnof": number_of(1, 1),
    "rowof": number_of(0, 1),
}
FUNCTIONS: Mapping[str, Function] = {**SHARED, **{name: Function.of(call) for name, call in _CALLS.items()}}

CONSTANTS: Mapping[str, Callable[[Drawing], Figure]] = {
    "all": lambda d: d.seen(g.ALL),
    "blank": lambda d: is_color(d, "white"),
    "painted": lambda d: is_color(d, *COLORS[1:]),
    "it": lambda d: d.seen(list(d.drawn)),
}


class Drawing(Machine):
    functions = FUNCTIONS
    constants = CONSTANTS
    colors = COLORS
    ways = tuple(DIRECTIONS)
    groups: ClassVar = {"column": (1,), "row": (0,)}
    origin = Tile(0, 0)

    def __init__(self, state: State) -> None:
        super().__init__(state.names, [[(paint.tile, paint.color) for paint in step] for step in state.steps])
        self.board: Board = state.before
        self.drawn: dict[Cell, str] = {}

    def actions(self) -> tuple[Paint, ...]:
        return tuple(Paint(row, column, color) for (row, column), color in sorted(self.drawn.items()))

    def inside(self, cell: Cell) -> bool:
        return on_board(cell[0], cell[1])

    def close(self, cell: Cell) -> bool:
        return g.near_board(cell)

    def touching(self, cell: Cell) -> Sequence[Cell]:
        return g.around(Tile(cell[0], cell[1]))

    def ahead(self, cell: Cell, way: str) -> Sequence[Cell]:
        return g.ray(Tile(*cell), way, 3 * g.MARGIN)[1:]

    def along(self, way: str) -> Callable[[Cell], int]:
        if way not in _FAR:
            g.unknown_way(way)
        across, down = _FAR[way]
        return lambda tile: across * int(tile[1]) + down * (2 * int(tile[0]) + (int(tile[1]) & 1))

    def colored(self, colors: Sequence[str]) -> list[Cell]:
        """The tiles of the board whose present color is one of these."""
        codes = {code for code, color in enumerate(COLORS) if color in colors}
        on = zip(g.ALL, self.board.cells.T.ravel().tolist(), strict=True)
        return [tile for tile, code in on if (self.drawn[tile] in colors if tile in self.drawn else code in codes)]

    def color_at(self, cell: Cell) -> str | None:
        """None for white, because a copy leaves the tiles under its white ones unchanged."""
        color = self.drawn.get(cell) or (self.board[cell[0], cell[1]] if self.inside(cell) else "white")
        return None if color == "white" else color

    def paint(self, painting: Mapping[Cell, str | None]) -> None:
        for tile, color in painting.items():
            # A tile that is painted again moves to the end of the drawing order.
            self.drawn.pop(tile, None)
            self.drawn[tile] = color or "white"

    def vector(self, way: str) -> tuple[int, int, int, int]:
        return g.WAYS[way] if way in g.WAYS else g.unknown_way(way)

    def mapping(self, shift: Shift, anchor: Cell) -> tuple[Mapped, Mapped]:
        return g.shift_maps(shift, anchor)

    def literal(self, value: ast.Numbers | ast.Tiles) -> Figure:
        match value:
            case ast.Numbers(spans):
                columns, rows = spans, ()
            case ast.Tiles(columns, rows):
                pass
        with located(value.at):
            across = indices(columns, COLUMNS, "column") if columns else range(COLUMNS)
            down = indices(rows, ROWS, "row") if rows else range(ROWS)
        if not columns:
            return Figure.of(Tile(row, column) for row in down for column in across)
        return Figure.of(Tile(row, column) for column in across for row in down)


_FAR = {"right": (1, 0), "left": (-1, 0), "down": (0, 1), "up": (0, -1),
        "down-right": (3, 1), "up-right": (3, -1), "down-left": (-3, 1), "up-left": (-3, -1)}  # fmt: skip
"""How far a tile lies in a direction as drawn: factors of its column and of its height in half tiles."""
