"""The functions and names of drawing programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, cast

from harness.worlds.hexagons import COLUMNS, ROWS, Tile
from serialization.program import hexagons_geometry as g
from serialization.program.errors import ProgramError
from serialization.program.expressions import Function
from serialization.program.figure import Cell, Figure, together
from serialization.program.shared_functions import SHARED

if TYPE_CHECKING:
    from serialization.program.hexagons import Drawing

Tiles = Iterable[Cell]


def _figure(tiles: Tiles) -> Figure:
    return Figure.of(tile for tile in tiles if g.near_board(tile))


# --- places ---


def at(d: Drawing, columns: list[int], rows: list[int]) -> Figure:
    """The tiles of columns and rows that are computed; negative numbers count from the right and the bottom."""
    down = [_index(number, ROWS, "row") for number in rows]
    return Figure.of(Tile(row, _index(number, COLUMNS, "column")) for number in columns for row in down)


def _index(number: int, size: int, name: str) -> int:
    if not 1 <= abs(number) <= size:
        raise ProgramError(f"{name} {number} is off the board: {name}s are 1 to {size}, or -1 to -{size} from the other side")
    return number - 1 if number > 0 else size + number


def line(d: Drawing, *points: Cell) -> Figure:
    return _figure(g.path([Tile(*point) for point in points]))


def ray(d: Drawing, tiles: Figure, way: str, count: int | None = None) -> Figure:
    return together(Figure.of(g.ray(Tile(*tile), way, count)) for tile in tiles)


def until(d: Drawing, tiles: Figure, way: str, walls: Figure) -> Figure:
    """From next to each tile straight on, up to before the first tile of a set or the edge."""
    found: list[Tile] = []
    for tile in tiles:
        for near in g.ray(Tile(*tile), way, None)[1:]:
            if near in walls:
                break
            found.append(near)
    return Figure.of(dict.fromkeys(found))


def triangle(d: Drawing, corner: Cell, way: str, size: int) -> Figure:
    return _figure(g.triangle(Tile(*corner), way, size))


# --- around ---


def ring(d: Drawing, tiles: Figure, radius: int = 1) -> Figure:
    """The tiles at a distance from a set; around one tile clockwise from the top."""
    if radius < 1:
        raise ProgramError("a ring's radius is at least 1")
    if len(tiles) == 1 and radius <= g.MARGIN:
        return _figure(g.ring(Tile(*next(iter(tiles))), radius))
    layers = g.grown(tiles, radius)
    return _figure(layers[radius - 1] if radius <= len(layers) else ())


def near(d: Drawing, tiles: Figure, radius: int = 1) -> Figure:
    return _figure(tile for layer in g.grown(tiles, radius) for tile in layer)


def flower(d: Drawing, tiles: Figure, radius: int = 1) -> Figure:
    return together([tiles, near(d, tiles, radius)])


def inside(d: Drawing, tiles: Figure) -> Figure:
    return _figure(g.enclosed(tiles))


def fill(d: Drawing, tiles: Figure) -> Figure:
    return together([tiles, inside(d, tiles)])


def outline(d: Drawing, tiles: Figure) -> Figure:
    return tiles.kept(lambda tile: any(other not in tiles for other in g.around(Tile(*tile))))


def touch(d: Drawing, tiles: Figure, others: Figure, least: int = 1) -> Figure:
    """Those tiles that touch at least so many of the others."""
    return tiles.kept(lambda tile: sum(near in others for near in g.around(Tile(*tile))) >= least)


# --- parts ---


def _by(axis: int, tiles: Figure) -> dict[int, list[Cell]]:
    groups: dict[int, list[Cell]] = {}
    for tile in tiles:
        groups.setdefault(tile[axis], []).append(tile)
    return groups


def _ends(axis: int, sign: int) -> Callable[..., Figure]:
    """In each column (axis 1) or row (axis 0), the first tiles counted downward or rightward (1), or the last ones (-1)."""

    def chosen(d: Drawing, tiles: Figure, count: int = 1) -> Figure:
        across = 1 - axis
        groups = (sorted(group, key=lambda tile: sign * tile[across]) for group in _by(axis, tiles).values())
        return tiles.within({tile for group in groups for tile in group[: max(0, count)]})

    return chosen


def _outmost(axis: int, sign: int) -> Callable[..., Figure]:
    """The tiles in the first or last columns (or rows) that a set has."""

    def chosen(d: Drawing, tiles: Figure, count: int = 1) -> Figure:
        numbers = sorted(_by(axis, tiles), key=lambda number: sign * number)[: max(0, count)]
        return tiles.kept(lambda tile: tile[axis] in numbers)

    return chosen


def span(d: Drawing, tiles: Figure) -> Figure:
    """In each column all tiles from the set's top one to its bottom one."""
    columns = _by(1, tiles).items()
    return Figure.of(Tile(row, column) for column, group in columns for row in range(min(group)[0], max(group)[0] + 1))


def _beyond(axis: int, sign: int) -> Callable[..., Figure]:
    """In each column (or row) of the set the tiles beyond its last one; all to the edge, or the nearest `count`."""

    def chosen(d: Drawing, tiles: Figure, count: int | None = None) -> Figure:
        size, found = (ROWS, COLUMNS)[1 - axis], list[Tile]()
        for number, group in _by(axis, tiles).items():
            last = max(sign * tile[1 - axis] for tile in group) * sign
            beyond = range(last + 1, size) if sign > 0 else range(last - 1, -1, -1)
            found += [
                Tile(other, number) if axis else Tile(number, other)
                for other in beyond[: None if count is None else max(0, count)]
            ]
        return Figure.of(found)

    return chosen


def sort(d: Drawing, tiles: Figure, way: str) -> Figure:
    """In the order in which they are met going in a direction; the sets of colors then go that way."""
    if way not in _ORDERS:
        g.unknown_way(way)
    across, down = _ORDERS[way]

    def first(tile: Cell) -> tuple[int, int]:
        x, y = across * tile[1], down * (2 * tile[0] + (tile[1] & 1))
        # Going up or down, line by line as drawn; else column by column.
        return (x, y) if across else (y, tile[1])

    ordered = sorted(tiles, key=first)
    return Figure({tile: tiles.cells[tile] for tile in ordered}, (tuple(ordered),))


_ORDERS = {"right": (1, 1), "left": (-1, 1), "down": (0, 1), "up": (0, -1),
           "down-right": (1, 1), "up-right": (1, -1), "down-left": (-1, 1), "up-left": (-1, -1)}  # fmt: skip
"""By direction, whether columns go rightward (0: tile by tile downward or upward), and whether their tiles go downward."""


def columns(d: Drawing, tiles: Figure) -> Figure:
    return Figure.of(Tile(row, column) for column in _by(1, tiles) for row in range(ROWS))


def rows(d: Drawing, tiles: Figure) -> Figure:
    return Figure.of(Tile(row, column) for row in _by(0, tiles) for column in range(COLUMNS))


# --- moved ---


def reflect(d: Drawing, tiles: Figure, axis: Figure) -> Figure:
    return tiles.mapped(g.mirrored(axis)).kept(g.near_board)


def flip(d: Drawing, tiles: Figure, center: Cell, way: str = "right") -> Figure:
    return tiles.mapped(lambda tile: g.flipped(tile, Tile(*center), way)).kept(g.near_board)


def rotate(d: Drawing, tiles: Figure, sixths: int, center: Cell) -> Figure:
    return tiles.mapped(lambda tile: g.turned(tile, sixths, Tile(*center))).kept(g.near_board)


# --- the board and its history ---


def is_color(d: Drawing, *colors: str) -> Figure:
    return d.seen([tile for tile in g.ALL if d.color_of(tile) in colors])


# --- numbers ---


def _number_of(axis: int) -> Callable[[Drawing, Figure], int]:
    """The 1-based column or row of a set's first tile."""

    def number(d: Drawing, tiles: Figure) -> int:
        if not tiles:
            raise ProgramError("the empty set lies nowhere")
        return cast(int, next(iter(tiles))[axis]) + 1

    return number


FUNCTIONS: Mapping[str, Function] = {
    **SHARED,
    "at": Function(at, ("numbers", "numbers")),
    "line": Function(line, ("cell", "cell", "cell*")),
    "ray": Function(ray, ("figure", "direction", "number?")),
    "until": Function(until, ("figure", "direction", "figure")),
    "triangle": Function(triangle, ("cell", "direction", "number")),
    "ring": Function(ring, ("figure", "number?")),
    "near": Function(near, ("figure", "number?")),
    "flower": Function(flower, ("figure", "number?")),
    "inside": Function(inside, ("figure",)),
    "fill": Function(fill, ("figure",)),
    "outline": Function(outline, ("figure",)),
    "touch": Function(touch, ("figure", "figure", "number?")),
    "top": Function(_ends(1, 1), ("figure", "number?")),
    "bottom": Function(_ends(1, -1), ("figure", "number?")),
    "leftmost": Function(_outmost(1, 1), ("figure", "number?")),
    "rightmost": Function(_outmost(1, -1), ("figure", "number?")),
    "span": Function(span, ("figure",)),
    "above": Function(_beyond(1, -1), ("figure", "number?")),
    "below": Function(_beyond(1, 1), ("figure", "number?")),
    "left": Function(_beyond(0, -1), ("figure", "number?")),
    "right": Function(_beyond(0, 1), ("figure", "number?")),
    "sort": Function(sort, ("figure", "direction")),
    "columns": Function(columns, ("figure",)),
    "rows": Function(rows, ("figure",)),
    "middle": Function(lambda d, tiles: Figure.of([g.middle(tiles)]), ("figure",)),
    "reflect": Function(reflect, ("figure", "figure")),
    "flip": Function(flip, ("figure", "cell", "direction?")),
    "rotate": Function(rotate, ("figure", "number", "cell")),
    "is": Function(is_color, ("color", "color*")),
    "columnof": Function(_number_of(1), ("figure",), counts=True),
    "rowof": Function(_number_of(0), ("figure",), counts=True),
}

CONSTANTS: Mapping[str, Callable[[Drawing], Figure]] = {
    "all": lambda d: d.seen(g.ALL),
    "blank": lambda d: is_color(d, "white"),
    "painted": lambda d: d.seen([tile for tile in g.ALL if d.color_of(tile) != "white"]),
    "it": lambda d: d.seen(list(d.drawn)),
}
