"""The best alignment by its definition, trying all alignments: slow, and obviously right."""

from __future__ import annotations

import itertools

from harness.worlds.minecraft import Action, in_region, turn_action


def best_overlap(predicted: frozenset[Action], gold: frozenset[Action]) -> int:
    """The largest number of net actions in common under any of the 4 rotations and 441 translations that stay inside."""
    best = 0
    for quarters, dx, dz in itertools.product(range(4), range(-10, 11), range(-10, 11)):
        moved = {t._replace(x=t.x + dx, z=t.z + dz) for t in (turn_action(a, quarters) for a in predicted)}
        if all(in_region(*a.cell) for a in moved):
            best = max(best, len(moved & gold))
    return best
