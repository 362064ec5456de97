"""Orders in which changes of a structure can be carried out, and what must be placed first so that a block can be held."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Container, Sequence

from harness.worlds.minecraft import Action, Structure, in_region

Cell = tuple[int, ...]
"""x, y, z"""
FACES = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


def touching(cell: Cell) -> tuple[Cell, ...]:
    """The six cells that share a face with a cell, also those outside the region."""
    x, y, z = cell
    return tuple((x + dx, y + dy, z + dz) for dx, dy, dz in FACES)


def held(cell: Cell, blocks: Container[Cell]) -> bool:
    """Whether a block can be placed there, as far as its neighbors go."""
    return cell[1] == 1 or any(near in blocks for near in touching(cell))


def bridge(ends: Collection[Cell], closed: Container[Cell], blocks: Container[Cell]) -> list[Cell]:
    """The fewest free cells that lead from the ground or a block to next to one of `ends`, in the order to fill them; empty if
    there are none. `ends` are among the `closed` cells."""
    came: dict[Cell, Cell] = {}
    todo = deque(ends)
    while todo:
        here = todo.popleft()
        if here not in ends and held(here, blocks):
            path = [here]
            while came[path[-1]] not in ends:
                path.append(came[path[-1]])
            return path
        for near in touching(here):
            if near not in came and near not in closed and near not in blocks and in_region(near[0], near[1], near[2]):
                came[near] = here
                todo.append(near)
    return []


def feasible_order(before: Structure, changes: Sequence[Action]) -> list[Action]:
    """Those of the changes that can be carried out, each time the first one that can be."""
    done: list[Action] = []
    now, waiting = before, list(changes)
    while (possible := next((change for change in waiting if now.feasible(change)), None)) is not None:
        waiting.remove(possible)
        done.append(possible)
        now = now.apply([possible]).structure
    return done
