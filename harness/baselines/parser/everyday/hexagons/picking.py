"""Which of several tiles or pieces are meant, and what a piece looks like."""

from __future__ import annotations

from collections import Counter

from harness.baselines.parser.everyday.hexagons import regions
from harness.baselines.parser.everyday.hexagons.meaning import Phrase
from harness.baselines.parser.everyday.hexagons.scene import DrawingScene, Tiles, extent, flat, number_of
from harness.baselines.parser.everyday.hexagons.shapes import SHAPES
from harness.worlds.hexagons import Tile, distance, neighbors
from serialization.program import hexagons_geometry as g

WHOLE = ("row", "column", "corner", "edge", "side", "half", "third", "quarter", "middle", "end", "board", "it", "gap")
"""Heads whose numbers and sides are part of their meaning, so that nothing is picked from them."""


def in_order(pieces: list[list[Tile]]) -> list[list[Tile]]:
    """Pieces from left to right, or from top to bottom if they lie above each other."""
    rows, _, columns, _ = zip(*map(extent, pieces), strict=True)
    across = max(columns) - min(columns) >= max(rows) - min(rows)
    return sorted(pieces, key=lambda piece: extent(piece)[2 if across else 0])


def runs(tiles: Tiles, level: bool) -> list[Tile] | None:
    """The tiles that share their row, or column, with at least two of the others; None if there are none."""
    numbers = [number_of("row" if level else "column", tile) for tile in tiles]
    counts = Counter(numbers)
    return [tile for tile, number in zip(tiles, numbers, strict=True) if counts[number] > 2] or None


def looks_like(head: str, piece: Tiles) -> bool:
    """Whether a connected piece can be called a ring, a line, ..."""
    top, bottom, left, right = extent(piece)
    match head:
        case "ring":
            return bool(g.enclosed(piece))
        case "line" | "stem" | "diagonal":
            inside = set(piece)
            thin = sum(sum(other in inside for other in neighbors(tile)) > 2 for tile in piece) == 0
            return len(piece) > 1 and (thin or top == bottom or left == right)
        case "flower" | "hexagon":
            inside = set(piece)
            return any(all(other in inside for other in g.around(tile)) for tile in piece) or bool(g.enclosed(piece))
        case "box":
            return len(piece) > 3 and len(piece) >= (bottom - top + 1) * (right - left + 1) * 0.9
        case "triangle" | "diamond":
            return len(piece) >= 3 and not g.enclosed(piece)
        case "snake" | "zigzag" | "stairs":
            return len(piece) > 3
        case _:
            return len(piece) > 1


def picked(phrase: Phrase, tiles: list[Tile], scene: DrawingScene) -> list[Tile]:
    """The first five, the last, every second, the upper two of some tiles; or of the pieces that they form."""
    if phrase.head in WHOLE or (phrase.head == "all" and not phrase.every):
        return tiles
    pieces = scene.pieces(tiles) if tiles and phrase.head in ("thing", "", *SHAPES) and phrase.head != "tile" else []
    start = max(phrase.ordinals[0] - 1, 0) if phrase.ordinals else 0
    if len(pieces) > 1 and phrase.every:
        return flat(in_order(pieces)[start :: phrase.every])
    if len(pieces) > 1 and phrase.marks & {"largest", "least"}:
        return max(pieces, key=len) if "largest" in phrase.marks else min(pieces, key=len)
    if len(pieces) > 1 and (phrase.sides or phrase.ordinals or phrase.count):
        return _picked_pieces(phrase, pieces)
    if phrase.every:
        return tiles[start :: phrase.every]
    if phrase.head == "tile" and len(phrase.sides) == 1 and phrase.ordinals:
        return _ordinals(_outermost(tiles, phrase.sides[0], len(tiles)), phrase)
    if phrase.sides and phrase.head in ("tile", "thing", ""):
        if phrase.count and phrase.count > 1:
            return _outermost(tiles, phrase.sides[0], phrase.count)
        return regions.at_sides(tiles, phrase.sides)
    if phrase.ordinals and tiles and not (scene.bars and phrase.head in ("line", "thing")):
        return _ordinals(tiles, phrase)
    return tiles


def _outermost(tiles: list[Tile], side: str, count: int) -> list[Tile]:
    keys = {**regions.OUTWARD, "middle": lambda t: distance(t, g.middle(tiles))}
    return sorted(tiles, key=keys.get(side, lambda t: 0))[:count]


def _ordinals(tiles: list[Tile], phrase: Phrase) -> list[Tile]:
    ordinal = phrase.ordinals[0]
    if len(phrase.ordinals) > 1:
        return [tiles[number - 1] for number in phrase.ordinals if 0 < number <= len(tiles)]
    if ordinal < 0:
        return tiles[ordinal * (phrase.count or 1) :] if ordinal == -1 else tiles[ordinal : ordinal + 1]
    return tiles[ordinal - 1 : ordinal - 1 + (phrase.count or 1)]


def _picked_pieces(phrase: Phrase, pieces: list[list[Tile]]) -> list[Tile]:
    """`the left one`, `the first two flowers`: the tiles of the chosen pieces."""
    pieces = in_order(pieces)
    count = phrase.count or 1
    middle = [g.middle(piece) for piece in pieces]
    for side in phrase.sides:
        if side == "middle":
            return pieces[len(pieces) // 2]
        several = (phrase.plural and not phrase.count) or side != phrase.sides[-1]
        kept = set(regions.at_sides(middle, [side]) if several else _outermost(middle, side, count))
        pieces = [piece for piece, at in zip(pieces, middle, strict=True) if at in kept]
        middle = [g.middle(piece) for piece in pieces]
    if phrase.ordinals:
        first = phrase.ordinals[0]
        pieces = pieces[first:] if first < 0 else pieces[first - 1 : first - 1 + count]
    elif not phrase.sides and phrase.count and phrase.count < len(pieces) and not phrase.plural:
        pieces = pieces[: phrase.count]
    return flat(pieces)
