"""Sets of tiles as 180-bit integers, for the compressor: bit 10 * column + row, both 0-based."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from harness.worlds.hexagons import CODES, COLUMNS, ROWS, Tile, on_board
from serialization.program.figure import Cell
from serialization.program.hexagons_geometry import ALL, next_tile
from serialization.program.hexagons_geometry import ring as ring_of

Painting = Mapping[str, int]
"""The tiles of each color."""
BOARD = (1 << ROWS * COLUMNS) - 1
COLUMN = (1 << ROWS) - 1
LONGEST_RADIUS = 4


def bit(tile: Cell) -> int:
    return 1 << (int(tile[1]) * ROWS + int(tile[0]))


def to_mask(tiles: Iterable[Cell]) -> int:
    """Tiles off the board are left out."""
    mask = 0
    for tile in tiles:
        if on_board(tile[0], tile[1]):
            mask |= bit(tile)
    return mask


def mask_tiles(mask: int) -> list[Tile]:
    """Column by column."""
    tiles = []
    while mask:
        low = mask & -mask
        tiles.append(ALL[low.bit_length() - 1])
        mask ^= low
    return tiles


def mask_columns(mask: int) -> list[int]:
    """For each of the 18 columns its rows, as 10 bits."""
    return [mask >> ROWS * column & COLUMN for column in range(COLUMNS)]


def bit_numbers(bits: int) -> tuple[int, ...]:
    """The 1-based numbers of the bits that are set."""
    return tuple(k + 1 for k in range(bits.bit_length()) if bits >> k & 1)


_PARITIES = tuple(sum(COLUMN << ROWS * column for column in range(p, COLUMNS, 2)) for p in (0, 1))


@cache
def _rows_that_stay(down: int) -> int:
    """The tiles that a move downward leaves in rows of the board."""
    rows = sum(1 << row for row in range(ROWS) if 0 <= row + down < ROWS)
    return sum(rows << ROWS * column for column in range(COLUMNS))


def shifted(mask: int, x: int, z: int) -> int:
    """Moved in cube coordinates; what leaves the board is lost."""
    moved = 0
    for parity, columns in enumerate(_PARITIES):
        down = z + (parity + x) // 2
        part = mask & columns & _rows_that_stay(down)
        by = x * ROWS + down
        moved |= part << by if by >= 0 else part >> -by
    return moved & BOARD


@cache
def rings() -> tuple[tuple[Tile, Sequence[int]], ...]:
    """For each tile of the board those tiles of it that lie at distance 0, 1, ..., `LONGEST_RADIUS`."""
    return tuple((tile, tuple(to_mask(ring_of(tile, radius)) for radius in range(LONGEST_RADIUS + 1))) for tile in ALL)


@cache
def ways(tile: Tile) -> Mapping[str, Sequence[Tile]]:
    """The straight lines from a tile to the edge, itself first, in the six directions."""

    def walk(way: str) -> Iterator[Tile]:
        here = tile
        while on_board(*here):
            yield here
            here = next_tile(here, way)

    return {way: tuple(walk(way)) for way in ("up", "up-right", "down-right", "down", "down-left", "up-left")}


def touching(mask: int) -> int:
    """The tiles at distance 0 or 1."""
    steps = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
    grown = mask
    for x, z in steps:
        grown |= shifted(mask, x, z)
    return grown


def pieces(mask: int) -> list[int]:
    """The parts that hang together."""
    parts = []
    while mask:
        piece = mask & -mask
        while (grown := touching(piece) & mask) != piece:
            piece = grown
        parts.append(piece)
        mask &= ~piece
    return parts


def union(painting: Painting) -> int:
    """The tiles of all colors."""
    whole = 0
    for mask in painting.values():
        whole |= mask
    return whole


def to_painting(shades: Mapping[Tile, str]) -> Painting:
    colors = sorted(set(shades.values()), key=CODES.__getitem__)
    return {color: to_mask(tile for tile, own in shades.items() if own == color) for color in colors}


def to_shades(painting: Painting) -> dict[Tile, str]:
    return {tile: color for color, mask in painting.items() for tile in mask_tiles(mask)}
