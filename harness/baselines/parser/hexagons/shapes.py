"""Named shapes: rings and triangles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

from harness.baselines.parser.hexagons.copies import shifted
from harness.baselines.parser.hexagons.directions import WAYS, number, run, way
from harness.baselines.parser.hexagons.meaning import Term, pieces_of
from harness.baselines.parser.hexagons.memory import Memory, NoMeaningError
from harness.baselines.parser.hexagons.places import tiles
from harness.worlds.hexagons import ROWS, Tile, distance, neighbors, on_board, step
from serialization.program.hexagons_geometry import enclosed


def ring(memory: Memory, *pieces: Term) -> None:
    """A ring of six around a tile, or beside another ring."""
    parts = pieces_of(pieces)
    color = str(parts["K"].args[0]) if "K" in parts else str(parts["Q"].args[1]) if "Q" in parts else memory.color
    if "V" in parts:
        direction, of = cast(tuple[Term, Term], parts["V"].args)
        known = tiles(of, memory)
        middle = Tile(sum(t.row for t in known) // len(known), sum(t.column for t in known) // len(known))
        towards = way(direction, memory)
        centers = run(middle, towards, 3)[-1:] if towards not in "lr" else [shifted(middle, 4 if towards == "r" else -4, 0)]
    elif "R" in parts and parts["R"].op == "inside":
        memory.paint(tiles(parts["R"], memory), color, over=False)
        return
    elif "R" in parts:
        around = parts["R"]
        centers = tiles(cast(Term, around.args[1]) if around.op == "around" else around, memory)
        if around.op == "around" and _connected(centers):
            within = {*centers, *enclosed(dict.fromkeys(centers, color))}
            memory.paint([tile for tile in _all_around(centers) if tile not in within], color, over=False)
            return
        if around.op in ("cross", "union", "tiles") and 1 < len(centers) < 60 and _close(centers):
            _petals(memory, centers, color)
            return
    else:
        raise NoMeaningError("a ring around what?")
    if "a" in parts:
        centers = [step(center, "down" if parts["a"].args[0] == "t" else "up") for center in centers]
    memory.center = centers[0]
    for center in centers[:6]:
        whole = Tile(min(max(center.row, 1 - center.column % 2), ROWS - 1 - center.column % 2), min(max(center.column, 1), 16))
        memory.paint(neighbors(whole if len(centers) == 1 else center), color, over=False)


def _close(group: Sequence[Tile]) -> bool:
    return any(0 < distance(one, other) < 3 for one in group for other in group)


def _connected(group: Sequence[Tile]) -> bool:
    """Whether several tiles hang together."""
    reached, left = {group[0]}, {*group[1:]}
    while near := {tile for tile in left if reached & {*neighbors(tile)}}:
        reached, left = reached | near, left - near
    return len(group) > 1 and not left


def _all_around(group: Sequence[Tile]) -> list[Tile]:
    return [tile for tile in dict.fromkeys(t for one in group for t in neighbors(one)) if tile not in group]


def _petals(memory: Memory, told: Sequence[Tile], color: str) -> None:
    """The rings that tiles belong to, three of each at least; else the tiles alone."""
    left, rings, inside = list(told), list[Tile](), {*told}
    while left:
        near = Counter(center for tile in left for center in neighbors(tile) if center not in inside)
        center, petals = max(near.items(), key=lambda one: one[1], default=(left[0], 0))
        if petals < 3:
            memory.paint(told, color)
            return
        rings += [tile for tile in neighbors(center) if on_board(*tile)]
        left = [tile for tile in left if tile not in neighbors(center)]
        memory.center = center
    memory.paint(list(dict.fromkeys(rings)), color)


_SIDES = {3: 2, 6: 3, 10: 4, 15: 5, 21: 6}
"""By how many tiles a triangle has in all, how many its side has."""


def triangle(memory: Memory, *pieces: Term) -> None:
    """A triangle on a vertical side, to the right or the left: a tile less in each column."""
    parts = pieces_of(pieces)
    color = str(parts["K"].args[0]) if "K" in parts else memory.color
    count = number(parts["N"].args[0]) if "N" in parts else 0
    if "Q" in parts:
        count, color = number(parts["Q"].args[0]), str(parts["Q"].args[1])
    per_side = "d" in parts or ("D" in parts and parts["D"].op == "ways")
    side = number(parts["d"].args[0]) if "d" in parts else count if per_side else _SIDES.get(count, count)
    towards = "l" if "D" in parts and not per_side and way(parts["D"], memory)[-1] == "l" else "r"
    column = set(_base(memory, parts, side))
    if len(column) < 2:
        raise NoMeaningError("a triangle on what?")
    while column:
        memory.paint(sorted(tile for tile in column if on_board(*tile)), color, over=False)
        beyond = Counter(step(tile, WAYS[vertical + towards]) for tile in column for vertical in "ud")
        column = {tile for tile, touched in beyond.items() if touched == 2}


def _base(memory: Memory, parts: dict[str, Term], side: int) -> list[Tile]:
    """The tiles of a triangle's vertical side: those that are told, or so many from a tile, or a column's end, on."""
    if "C" in parts or ("R" not in parts and memory.left_out):
        end = Term("at", ((1,), "back" if "a" in parts and parts["a"].args[0] == "b" else "fore"))
        found = tiles(Term("cross", (end, parts["C"])) if "C" in parts else Term("tiles", (end,)), memory)
    elif "R" in parts:
        told = parts["R"]
        found = tiles(cast(Term, told.args[1]) if told.op == "around" else told, memory)
    else:
        found = list(memory.last)
    found = [tile for tile in found if tile.column == found[0].column] if found else found
    if len(found) == 1 and side > 1:
        return [found[0], *run(found[0], "u" if found[0].row > ROWS / 2 else "d", side - 1)]
    return found
