"""HEXAGONS boards as SVG: flat-top hexagons in the palette of the official game, 7 to 9 KB a board.

Units: a tile has side 8 and half its height is 7 (the exact 6.93 rounded, so that every coordinate is a whole number);
columns are 12 apart, rows 14.
"""

from collections.abc import Iterable
from functools import cache

from harness.drawing.svg import CHECK, CROSS, DIAMOND, document, label, strokes
from harness.worlds.hexagons import COLUMNS, ROWS, TILES, Board, Tile

PALETTE = {
    "white": "#ffffff", "black": "#000000", "yellow": "#fff700", "green": "#32cd32", "red": "#dc143c", "blue": "#1e90ff",
    "purple": "#ee82ee", "orange": "#ff8c00",
}  # fmt: skip
DARK = frozenset({"black", "red"})
"""Colors on which a mark or a letter is white."""
_HEXAGON = "m-4-7h8l4 7-4 7h-8l-4-7z"
_TILES = tuple(Tile(i // COLUMNS, i % COLUMNS) for i in range(TILES))


def center(tile: tuple[int, int]) -> tuple[int, int]:
    """The middle of a tile (x, y), in the picture's units."""
    row, column = tile
    return 8 + 12 * column, 7 + 14 * row + 7 * (column & 1)


def board_svg(board: Board, *, before: Board | None = None, first: int = 0) -> str:
    """A picture of `board`, with the numbers of its columns and rows, counted from `first`. Tiles painted since `before` carry a
    dot."""
    changed = [] if before is None else [action.tile for action in before.diff(board)]
    dots = (strokes(_at(group, "h.01"), 2.4, ink) for ink, group in _by_ink(board, changed).items())
    return _document(_tiles(board) + "".join(dots), first)


def difference_svg(gold: Board, predicted: Board, before: Board) -> str:
    """The predicted board compared with the gold one, both drawn on `before`. The tiles that either of them painted are marked.

    Check: painted as in gold. Cross: not painted like this in gold. Diamond: gold paints this tile in the color of the
    diamond and the prediction does not. A tile painted in a wrong color has both a diamond and a cross.
    """
    painted, wanted = set(before.diff(predicted)), set(before.diff(gold))
    missing = sorted(wanted - painted)
    diamonds = "".join(
        f'<path d="{_at([a.tile for a in missing if a.color == color], DIAMOND)}" fill="{PALETTE[color]}" stroke="#000"/>'
        for color in sorted({action.color for action in missing})
    )
    right = _by_ink(predicted, [a.tile for a in sorted(painted & wanted)])
    marks = "".join(strokes(_at(group, CHECK), 1.4, ink) for ink, group in right.items())
    crosses = _at([a.tile for a in sorted(painted - wanted)], CROSS)
    halo = strokes(crosses, 2.6, "#fff") + strokes(crosses, 1.3, "#000") if crosses else ""
    return _document(_tiles(predicted) + diamonds + marks + halo)


def _document(body: str, first: int = 0) -> str:
    return document(body + _numbers(first), (-10, -10, 231, 158))


def _tiles(board: Board) -> str:
    """The tiles with their outlines: a path for each color."""
    paths = ((color, _at((tile for tile in _TILES if board[tile] == color), _HEXAGON)) for color in PALETTE)
    tiles = "".join(f'<path d="{commands}" fill="{PALETTE[color]}"/>' for color, commands in paths if commands)
    return f'<g stroke="#000" stroke-width=".5">{tiles}</g>'


def _at(tiles: Iterable[Tile], glyph: str) -> str:
    return "".join(f"M{x} {y}{glyph}" for x, y in map(center, tiles))


def _by_ink(board: Board, tiles: Iterable[Tile]) -> dict[str, list[Tile]]:
    """The tiles by the color of the marks on them: white on dark tiles, black on the others."""
    groups: dict[str, list[Tile]] = {}
    for tile in tiles:
        groups.setdefault("#fff" if board[tile] in DARK else "#000", []).append(tile)
    return groups


@cache
def _numbers(first: int) -> str:
    columns = "".join(label(str(c + first), 8 + 12 * c, -5) for c in range(COLUMNS))
    rows = "".join(label(str(r + first), -6, 7 + 14 * r) for r in range(ROWS))
    return strokes(columns + rows)
