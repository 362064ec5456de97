"""From the blocks that are wanted to the builder's actions: an order that can be carried out, with temporary supports.

The low-level planning of BAP v2, section 5.1.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import cast

from harness.simulators.minecraft.relations import Cell
from harness.worlds.minecraft import COLORS, INVENTORY, Action, in_region
from harness.worlds.ordering import FACES, bridge, held


def touching(cell: Cell) -> list[Cell]:
    """The up to six cells of the region that share a face with a cell."""
    around = ((cell[0] + dx, cell[1] + dy, cell[2] + dz) for dx, dy, dz in FACES)
    return [neighbor for neighbor in around if in_region(*neighbor)]


def placements(rng: Random, blocks: Mapping[Cell, str], wanted: Sequence[tuple[Cell, str]]) -> tuple[Action, ...] | None:
    """Place `wanted` blocks, in the order given as far as that can be, then take away the supports this needed.

    None if a cell is taken or outside the region, if there is no free way to support a block, or if the inventory of 20 a
    color would not do.
    """
    blocks_now = dict(blocks)
    todo = list(wanted)
    if any(cell in blocks_now or not in_region(*cell) for cell, _ in todo) or len({cell for cell, _ in todo}) < len(todo):
        return None
    actions: list[Action] = []
    supports: list[tuple[Cell, str]] = []
    while todo:
        n = next((n for n, (cell, _) in enumerate(todo) if held(cell, blocks_now)), None)
        if n is None:
            way = bridge([todo[0][0]], {cell for cell, _ in todo}, blocks_now)
            if not way:
                return None
            color = _spare(rng, blocks_now, todo, len(way))
            for cell in cast("list[Cell]", way):
                blocks_now[cell] = color
                supports.append((cell, color))
                actions.append(Action("place", color, *cell))
            continue
        cell, color = todo.pop(n)
        blocks_now[cell] = color
        actions.append(Action("place", color, *cell))
    actions += [Action("remove", color, *cell) for cell, color in reversed(supports)]
    return tuple(actions) if _in_stock(blocks_now) else None


def removals(blocks: Mapping[Cell, str], cells: Sequence[Cell]) -> tuple[Action, ...] | None:
    """Remove blocks in order; None if one is not there."""
    return tuple(Action("remove", blocks[c], *c) for c in cells) if all(c in blocks for c in cells) else None


def _spare(rng: Random, there: Mapping[Cell, str], todo: Sequence[tuple[Cell, str]], count: int) -> str:
    """The color of some supports: mostly that of the block they are for, but one that there is enough of."""
    color = todo[0][1] if rng.random() < 0.7 else rng.choice(COLORS)
    used = Counter([*there.values(), *(its for _, its in todo)])
    return color if used[color] + count <= INVENTORY else min(COLORS, key=lambda one: used[one])


def _in_stock(there: Mapping[Cell, str]) -> bool:
    used = dict.fromkeys(COLORS, 0)
    for color in there.values():
        used[color] += 1
    return max(used.values()) <= INVENTORY
