"""The blocks of a build region as a few parts that an answer can refer to: towers, rows, walls, floors and boxes of one color.

Parts are computed in the builder's view, to quarter turns, so that they are the same in every frame and with any colors. The
part nearest to the last action's cell is A, the next one B. `A` is the part's top left front cell, `A end` the opposite one:
the top and the bottom of a tower, the left and the right end of a row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from math import floor
from typing import NamedTuple

from harness.corpora.item import Executed, Item, MinecraftItem
from harness.worlds.minecraft import HEIGHT, SIDE, Action, Pose, Structure, in_region, turn

Cell = tuple[int, int, int]

LETTERS = "ABCDE"
"""The names of the parts that are listed; further parts are too far away to be worth their tokens."""

AHEAD = "ahead"
"""The name of the cell on the ground in front of the builder."""

_KINDS = {"": "", "d": "tower", "r": "row", "b": "row", "rd": "wall", "db": "wall", "rb": "floor", "rdb": "box"}
"""The names of parts, by the initials of the directions in which they are longer than one block: right, down, behind."""


class Box(NamedTuple):
    """A box of blocks of one color, with the cells of two opposite corners: `first` is top left front, `end` the other one."""

    color: str
    name: str
    """`tower 3`, `row 4 right`: its kind and its length from the top left front cell; empty for a single block."""
    first: Cell
    end: Cell


def last_cell(item: Item) -> Cell | None:
    """The cell of the last action before the item's turn; None before the first action."""
    done = [a for said in item.history if isinstance(said, Executed) for a in said.actions if isinstance(a, Action)]
    return done[-1].cell if done else None


def ahead(pose: Pose) -> Cell:
    """The cell on the ground in front of the builder."""
    x, z = turn(0, 1, pose.quarter)
    return floor(pose.x) + int(x), 1, floor(pose.z) + int(z)


def anchors(item: MinecraftItem) -> dict[str, Cell]:
    """The cells from which a line of an answer to the item may start, by name."""
    named = {AHEAD: ahead(item.pose)} if in_region(*ahead(item.pose)) else {}
    for letter, part in zip(LETTERS, parts(item), strict=False):
        named[letter] = part.first
        if part.end != part.first:
            named[f"{letter} end"] = part.end
    return named


def parts(item: MinecraftItem) -> tuple[Box, ...]:
    """The parts of the structure before the item's turn, nearest first."""
    return _parts(item.before, last_cell(item) or ahead(item.pose), item.pose.quarter)


# Cached because an item's prompt and its answer need the same parts.
@lru_cache(maxsize=64)
def _parts(structure: Structure, near: Cell, quarter: int) -> tuple[Box, ...]:
    seen = {_turned(block[:3], -quarter): block.color for block in structure.blocks()}
    middle = _turned(near, -quarter)
    boxes = sorted(_boxes(seen), key=lambda box: (_distance(box[0], box[1], middle), box))
    return tuple(_part(seen[low], low, high, quarter) for low, high in boxes)


def _turned(cell: Cell, quarters: int) -> Cell:
    x, z = turn(cell[0], cell[2], quarters)
    return int(x), cell[1], int(z)


def _boxes(seen: Mapping[Cell, str]) -> Iterator[tuple[Cell, Cell]]:
    """The blocks as boxes of one color, by lowest and highest cell: at each step the largest box of the blocks that are left."""
    blocks: dict[str, set[Cell]] = defaultdict(set)
    for cell, color in seen.items():
        blocks[color].add(cell)
    boxes = [(low, high, cells) for same in blocks.values() for low in same for high, cells in _from(low, same)]
    free = set(seen)
    for low, high, cells in sorted(boxes, key=lambda box: (-len(box[2]), box[0][1] - box[1][1], box[:2])):
        if free >= cells:
            free -= cells
            yield low, high


def _from(low: Cell, same: set[Cell]) -> Iterator[tuple[Cell, set[Cell]]]:
    """All boxes within a set of cells that have the given lowest cell: each box's highest cell and its cells."""
    x, y, z = low
    for top in range(y, HEIGHT + 1):
        if (x, top, z) not in same:
            return
        for left in range(x, SIDE + 1):
            if not same >= set(_cells(low, (left, top, z))):
                break
            for back in range(z, SIDE + 1):
                cells = set(_cells(low, (left, top, back)))
                if not same >= cells:
                    break
                yield (left, top, back), cells


def _cells(low: Cell, high: Cell) -> Iterator[Cell]:
    x, y, z = (range(a, b + 1) for a, b in zip(low, high, strict=True))
    return product(x, y, z)


def _distance(low: Cell, high: Cell, cell: Cell) -> int:
    """The distance from a box to a cell, in steps; 0 for a cell of the box."""
    return sum(max(a - c, c - b, 0) for a, b, c in zip(low, high, cell, strict=True))


def _part(color: str, low: Cell, high: Cell, quarter: int) -> Box:
    sizes = {"right": high[0] - low[0] + 1, "down": high[1] - low[1] + 1, "behind": high[2] - low[2] + 1}
    long = {way: n for way, n in sizes.items() if n > 1}
    kind = _KINDS["".join(way[0] for way in long)]
    size = " ".join(f"{n}" if kind == "tower" else f"{n} {way}" for way, n in long.items())
    first, end = (high[0], high[1], low[2]), (low[0], low[1], high[2])
    return Box(color, f"{kind} {size}".rstrip(), _turned(first, quarter), _turned(end, quarter))


def write(item: MinecraftItem, place: Callable[[Cell], str], *, named: bool) -> str:
    """`last at 0 3 0; ahead front 3; A red tower 3, here; B blue row 4 right, left 2`: the cell of the last action, the cell
    in front of the builder, and the parts. `place` writes a cell's position; `named`: parts get letters, which answers use."""
    last = last_cell(item)
    told = [] if last is None else ["last at {} {} {}".format(*last)]
    told.append(f"{AHEAD} {place(ahead(item.pose))}")
    for letter, part in zip(LETTERS, parts(item), strict=False):
        said = " ".join(filter(None, (letter if named else "", part.color, part.name)))
        told.append(f"{said}, {place(part.first)}")
    return "; ".join(told)
