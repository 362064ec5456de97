"""The board of a conversation, and what was mentioned last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from harness.baselines.parser.everyday.hexagons.meaning import Clause
from harness.worlds.hexagons import COLUMNS, ROWS, Board, Paint, Tile, neighbors, on_board
from serialization.program import hexagons_geometry as g
from serialization.program.figure import Cell, Figure

ALL = g.ALL
BORDER = tuple(tile for tile in ALL if tile.row in (0, ROWS - 1) or tile.column in (0, COLUMNS - 1))
DEFAULT_COLOR = "black"

Tiles = Sequence[Tile]
Painting = Mapping[Tile, str]


@dataclass
class Done:
    """A clause that was carried out, and the board before it."""

    clause: Clause
    before: Board
    tiles: Tiles
    """The tiles that it selected or drew."""
    color: str = ""
    about: Tiles = ()
    """What `it` meant in the clause."""


@dataclass
class DrawingScene:
    """What stands on the board, and what `it`, `the flower` or `the other one` can mean."""

    board: Board
    focus: Tiles = ()
    """What was mentioned last."""
    names: dict[str, Tiles] = field(default_factory=dict)
    """The tiles that were drawn or painted under a name, such as `frame` or `moon`."""
    done: list[Done] = field(default_factory=list)
    color: str = ""
    """The color that was last painted."""
    turn_start: Board = field(default_factory=Board)
    sentence_start: Board = field(default_factory=Board)
    changed: Tiles = ()
    """The tiles that the turn before changed."""
    past: list[Board] = field(default_factory=list)
    """The boards before the turns that can still be undone."""
    boards: list[Board] = field(default_factory=list)
    """The boards before all turns that changed anything."""
    sentence_focus: Tiles | None = None
    """What `it` meant in the first clause of the sentence."""
    bars: list[int] = field(default_factory=list)
    """The columns of a bar chart."""
    owner: Tiles = ()
    """The thing whose part was mentioned last: the line in `the middle tile of the line`."""
    gap: int = 0
    """The number of lines to leave free before the next one."""
    axis: Tiles = ()
    """The line that was named as a mirror."""
    undoing: bool = False
    """Whether this turn undoes others."""

    def paint(self, tiles: Iterable[Tile], color: str) -> None:
        self.board = self.board.apply(Paint(*tile, color) for tile in tiles if on_board(*tile)).board

    def paint_all(self, painting: Painting, to: Callable[[Tile], Tile] = lambda tile: tile) -> list[Tile]:
        """Paints tiles, each in its color, at the places to which `to` moves them; returns those on the board."""
        moved = {to(tile): color for tile, color in painting.items()}
        for tile, color in moved.items():
            self.paint([tile], color)
        return [tile for tile in moved if on_board(*tile)]

    def changed_now(self) -> bool:
        """Whether this turn has changed anything yet."""
        return self.board != self.turn_start

    def of_colors(self, colors: Sequence[str]) -> list[Tile]:
        return [tile for tile in ALL if self.board[tile] in colors]

    def colors_of(self, tiles: Tiles) -> dict[Tile, str]:
        """Those of the tiles that are painted, with their colors."""
        return {tile: self.board[tile] for tile in tiles if on_board(*tile) and self.board[tile] != "white"}

    @property
    def painted(self) -> list[Tile]:
        return self.painted_of(ALL)

    def painted_of(self, tiles: Tiles) -> list[Tile]:
        return [tile for tile in tiles if self.board[tile] != "white"]

    def blank_of(self, tiles: Tiles) -> list[Tile]:
        return [tile for tile in tiles if self.board[tile] == "white"]

    def dots(self, tiles: Tiles) -> list[Tile]:
        """The tiles that touch no other tile of their color."""
        return [piece[0] for piece in self.pieces(tiles) if len(piece) == 1]

    def pieces(self, tiles: Tiles, by_color: bool = True) -> list[list[Tile]]:
        """The connected pieces of some tiles, from left to right; each of one color, unless `by_color` is off."""
        groups = [tiles := [tile for tile in tiles if on_board(*tile)]]
        if by_color:
            colors = dict.fromkeys(self.board[tile] for tile in tiles)
            groups = [[tile for tile in tiles if self.board[tile] == color] for color in colors]
        found = [[Tile(*tile) for tile in piece] for group in groups for piece in Figure.of(group).pieces(_touching)]
        return sorted(found, key=lambda piece: (min(t.column for t in piece), min(t.row for t in piece)))

    def main_color(self, tiles: Tiles) -> str:
        """The color that most of the painted tiles have; empty if none is painted."""
        counts = Counter(self.board[tile] for tile in tiles if on_board(*tile))
        counts.pop("white", None)
        return counts.most_common(1)[0][0] if counts else ""


def _touching(cell: Cell) -> tuple[Tile, ...]:
    return neighbors(Tile(*cell))


def ordered(tiles: Iterable[Tile]) -> list[Tile]:
    return list(dict.fromkeys(tiles))


def flat(pieces: Iterable[Tiles]) -> list[Tile]:
    """The tiles of several pieces, one piece after the other."""
    return list(chain.from_iterable(pieces))


def number_of(kind: str, tile: Tile) -> int:
    """The index of the row, or column, that a tile is in."""
    return tile.row if kind == "row" else tile.column


def minus(tiles: Iterable[Tile], others: Iterable[Tile]) -> list[Tile]:
    gone = set(others)
    return [tile for tile in tiles if tile not in gone]


def common(tiles: Iterable[Tile], others: Iterable[Tile]) -> list[Tile]:
    kept = set(others)
    return [tile for tile in tiles if tile in kept]


def outline(tiles: Tiles) -> list[Tile]:
    """The outermost tiles of a set: a neighbor, on the board or off it, is not in the set."""
    inside = set(tiles)
    return [tile for tile in tiles if any(other not in inside for other in g.around(tile))]


def extent(tiles: Tiles) -> tuple[int, int, int, int]:
    """The first and last row, and the first and last column; for no tiles, empty ranges (0, -1)."""
    if not tiles:
        return 0, -1, 0, -1
    rows, columns = [t.row for t in tiles], [t.column for t in tiles]
    return min(rows), max(rows), min(columns), max(columns)


def rectangle(top: int, bottom: int, left: int, right: int) -> list[Tile]:
    """The tiles of some rows and columns, row by row, as far as they are on the board."""
    rows, columns = range(max(top, 0), min(bottom, ROWS - 1) + 1), range(max(left, 0), min(right, COLUMNS - 1) + 1)
    return [Tile(row, column) for row in rows for column in columns]


def near(tiles: Tiles, count: int = 1) -> list[Tile]:
    """The tiles of the board around some tiles, up to a distance."""
    return [tile for layer in g.grown(tiles, count) for tile in layer if on_board(*tile)]
