"""The parts of the board or of a figure that its tiles determine: rows, columns, corners, edges, halves, the middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.baselines.parser.everyday.hexagons.meaning import Phrase
from harness.baselines.parser.everyday.hexagons.scene import (
    ALL,
    DrawingScene,
    Tiles,
    common,
    extent,
    flat,
    minus,
    number_of,
    ordered,
    outline,
    rectangle,
)
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile, neighbors
from serialization.program import hexagons_geometry as g

OPPOSITE = {
    "top": "bottom",
    "bottom": "top",
    "left": "right",
    "right": "left",
    "up": "down",
    "down": "up",
    "above": "below",
    "below": "above",
    "up-left": "down-right",
    "down-right": "up-left",
    "up-right": "down-left",
    "down-left": "up-right",
    "outer": "inner",
    "inner": "outer",
    "middle": "middle",
}
OUTWARD: dict[str, Callable[[Tile], float]] = {
    "top": lambda t: t.row, "bottom": lambda t: -t.row, "left": lambda t: t.column, "right": lambda t: -t.column,
}  # fmt: skip
"""Keys that are smallest for the tiles furthest toward a side."""
SIDE_WAYS = {"top": "up", "bottom": "down", "left": "left", "right": "right", "above": "up", "below": "down"}


def line_tiles(kind: str, indexes: Sequence[int]) -> list[Tile]:
    """Whole rows or columns, by their indexes from 0, one after the other."""
    if kind == "row":
        return [Tile(row, column) for row in indexes if 0 <= row < ROWS for column in range(COLUMNS)]
    return [Tile(row, column) for column in indexes if 0 <= column < COLUMNS for row in range(ROWS)]


def lines(phrase: Phrase, owner: Tiles, from_end: bool = False) -> list[int] | None:
    """The indexes of the rows or columns of `owner` that a phrase picks: `the first two rows`, `every other column`.

    `from_end`: ordinals count from the bottom, or the right. None if the phrase picks none.
    """
    kind = phrase.head
    there = sorted({number_of(kind, tile) for tile in owner})
    if not there:
        return None
    before, after = ("top", "bottom") if kind == "row" else ("left", "right")
    backward = from_end or after in phrase.sides
    count = phrase.count or 1
    if phrase.every or phrase.marks & {"even", "odd"}:
        start = 1 if "even" in phrase.marks else phrase.ordinals[0] - 1 if phrase.ordinals else 0
        return there[max(start, 0) :: phrase.every or 2]
    if phrase.ordinals:
        return _ordinal_lines(phrase, there, backward)
    if backward or before in phrase.sides:
        return there[-count:] if backward else there[:count]
    if "outer" in phrase.sides:
        return [there[0], there[-1]]
    if "middle" in phrase.sides:
        start = (len(there) - count) // 2
        return there[start : start + count]
    if phrase.det in ("all", "each") and not phrase.links:
        return there
    return None


def _ordinal_lines(phrase: Phrase, there: list[int], backward: bool) -> list[int]:
    """`rows 2 and 3`, `the last two rows`, `the third column from the right`."""
    counted = phrase.count if len(phrase.ordinals) == 1 else None
    found: list[int] = []
    for ordinal in phrase.ordinals:
        index = ordinal - 1 if ordinal > 0 else len(there) + ordinal
        index = len(there) - 1 - index if backward and ordinal > 0 else index
        if counted and ordinal == -1:
            found += there[-counted:]
        elif counted:
            found += there[max(index, 0) : index + counted] if not backward else there[index - counted + 1 : index + 1]
        elif 0 <= index < len(there):
            found.append(there[index])
    return found


def corners(phrase: Phrase, owner: Tiles) -> list[Tile]:
    """The corners of the board or of a figure that lie toward the sides named: `the two upper corners`."""
    if len(owner) == len(ALL):
        found = [Tile(row, column) for row in (0, ROWS - 1) for column in (0, COLUMNS - 1)]
    else:
        top, bottom, left, right = extent(owner) if owner else (0, 0, 0, 0)
        inside = set(owner)
        boxed = [Tile(row, column) for row in (top, bottom) for column in (left, right)]
        if inside.issuperset(boxed):
            return at_sides(boxed, phrase.sides)
        crowd = {tile: sum(other in inside for other in neighbors(tile)) for tile in owner}
        found = [tile for tile in owner if crowd[tile] == min(crowd.values())]
    return at_sides(found, phrase.sides)


def at_sides(tiles: Tiles, sides: Sequence[str]) -> list[Tile]:
    """The tiles that lie furthest toward all the sides."""
    found = list(tiles)
    for side in sides:
        if found:
            found = _furthest(found, side)
    return found


def _furthest(tiles: list[Tile], side: str) -> list[Tile]:
    if side == "middle":
        return [min(tiles, key=lambda t: (t.row - g.middle(tiles).row) ** 2 + (t.column - g.middle(tiles).column) ** 2)]
    if side not in OUTWARD:
        return tiles
    least = min(map(OUTWARD[side], tiles))
    return [tile for tile in tiles if OUTWARD[side](tile) == least]


def edge(phrase: Phrase, owner: Tiles) -> list[Tile]:
    """The outermost tiles, on the sides named or all around, as thick as the phrase says, at most 5 tiles."""
    thick = min(phrase.sizes.get("wide", 1), 5)
    sides = [side for side in phrase.sides if side in ("top", "bottom", "left", "right")]
    bands = _bands(owner, thick, thick)
    if sides:
        return common(ordered(flat(bands[side] for side in sides)), owner)
    if len(owner) == len(ALL):
        return _clockwise(owner) if thick == 1 else common(owner, flat(bands.values()))
    return outline(owner)


def _bands(owner: Tiles, tall: int, wide: int) -> dict[str, list[Tile]]:
    """The tiles at each side of some tiles' extent."""
    top, bottom, left, right = extent(owner)
    return {
        "top": rectangle(top, top + tall - 1, left, right),
        "bottom": rectangle(bottom - tall + 1, bottom, left, right),
        "left": rectangle(top, bottom, left, left + wide - 1),
        "right": rectangle(top, bottom, right - wide + 1, right),
    }


def _clockwise(owner: Tiles) -> list[Tile]:
    """The border of a rectangle, clockwise from its top left corner."""
    top, bottom, left, right = extent(owner)
    down, across = range(top + 1, bottom + 1), range(right - 1, left - 1, -1)
    path = [Tile(top, c) for c in range(left, right + 1)] + [Tile(r, right) for r in down]
    return path + [Tile(bottom, c) for c in across] + [Tile(r, left) for r in range(bottom - 1, top, -1)]


def half(sides: Sequence[str], owner: Tiles, parts: int = 2) -> list[Tile]:
    """The left half of some tiles, the lower third, the upper right quarter."""
    if not owner:
        return []
    top, bottom, left, right = extent(owner)
    tall, wide = (bottom - top + 1) // parts, (right - left + 1) // parts
    bands = {**_bands(owner, tall, wide), "middle": rectangle(top, bottom, left + wide, right - wide)}
    found = list(owner)
    for side in sides:
        found = common(found, bands.get(side, owner))
    return found


def ends(owner: Tiles) -> list[Tile]:
    """The tiles at the ends of a line, whichever way it runs."""
    inside = set(owner)
    found = [tile for tile in owner if sum(other in inside for other in neighbors(tile)) <= 1]
    if len(found) == 2:
        return found
    top, bottom, left, right = extent(owner)
    return [
        tile for tile in owner if (tile.column in (left, right) if right - left >= bottom - top else tile.row in (top, bottom))
    ]


def beyond(end: Tile, owner: Tiles) -> Tile:
    """The tile that makes a line longer at one of its ends."""
    others = [tile for tile in owner if tile != end]
    before = min(others, key=lambda t: abs(t.row - end.row) + abs(t.column - end.column)) if others else end
    if before.row == end.row and len({tile.row for tile in owner}) == 1:
        return Tile(end.row, 2 * end.column - before.column)
    way = next((way for way in DIRECTIONS if g.next_tile(before, way) == end), "up")
    return g.next_tile(end, way)


def between(first: Tiles, second: Tiles) -> list[Tile]:
    """The tiles that lie between two things: columns between columns, rows between rows, a line between two tiles."""
    if len(first) == len(second) == 1:
        return g.path([first[0], second[0]])[1:-1]
    a, b = extent(first), extent(second)
    if a[3] < b[2] or b[3] < a[2]:
        left, right = sorted([(a[2], a[3]), (b[2], b[3])])
        return rectangle(min(a[0], b[0]), max(a[1], b[1]), left[1] + 1, right[0] - 1)
    upper, lower = sorted([(a[0], a[1]), (b[0], b[1])])
    return rectangle(upper[1] + 1, lower[0] - 1, min(a[2], b[2]), max(a[3], b[3]))


def side_of(tiles: Tiles, relation: str) -> list[Tile]:
    """Everything on the board above, below, left or right of some tiles."""
    top, bottom, left, right = extent(tiles)
    spans = {
        "above": (0, top - 1, 0, COLUMNS - 1),
        "below": (bottom + 1, ROWS - 1, 0, COLUMNS - 1),
        "left": (0, ROWS - 1, 0, left - 1),
        "right": (0, ROWS - 1, right + 1, COLUMNS - 1),
    }
    return rectangle(*spans[relation])


def next_to(tiles: Tiles, relation: str, count: int = 1) -> list[Tile]:
    """The tiles `count` further above, below, left or right of some tiles: beyond each column's or row's last one."""
    if "-" in relation:
        return minus([g.next_tile(tile, relation, count) for tile in tiles], tiles)
    across = relation in ("left", "right")
    sign = 1 if relation in ("below", "right") else -1
    groups: dict[int, list[Tile]] = {}
    for tile in tiles:
        groups.setdefault(tile.row if across else tile.column, []).append(tile)
    found = []
    for group in groups.values():
        last = max(group, key=lambda t: sign * (t.column if across else t.row))
        found.append(Tile(last.row, last.column + sign * count) if across else Tile(last.row + sign * count, last.column))
    return found


def inside(scene: DrawingScene, owner: Tiles) -> list[Tile]:
    """What a figure encloses, alone or with everything painted; if nothing, the tiles within its outline."""
    return g.enclosed(owner) or minus(g.enclosed(scene.painted), owner) or minus(owner, outline(owner))
