"""Where a block is from another one as the builder sees it: 6 relations along one axis, 12 along two, 8 along three.

BAP v2, section 5.1.2. In the builder's frame `left`, `up` and `away` count cells to the left, upward and away from the builder.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from harness.worlds.minecraft import turn

Cell = tuple[int, int, int]


class Relation(NamedTuple):
    """Cells from a reference to a target in the builder's frame; negative is right, down, toward the builder."""

    left: int
    up: int
    away: int

    @property
    def axes(self) -> int:
        """Along how many axes the two differ: 1, 2 or 3 (0 for the reference itself)."""
        return sum(bool(part) for part in self)

    def from_(self, cell: Cell, quarter: int) -> Cell:
        """The target of a reference, for a builder who looks in a direction (`Pose.quarter`). It may lie outside the region."""
        x, z = turn(self.left, self.away, quarter)
        return cell[0] + int(x), cell[1] + self.up, cell[2] + int(z)

    def times(self, count: int) -> Relation:
        return Relation(self.left * count, self.up * count, self.away * count)


def relation(reference: Cell, target: Cell, quarter: int) -> Relation:
    """The relation that `Relation.from_` turns into `target`."""
    left, away = turn(target[0] - reference[0], target[2] - reference[2], -quarter)
    return Relation(int(left), target[1] - reference[1], int(away))


UNIT = {
    axes: tuple(r for r in itertools.starmap(Relation, itertools.product((-1, 0, 1), repeat=3)) if r.axes == axes)
    for axes in (1, 2, 3)
}
"""The relations of distance 1 along each axis: 6, 12 and 8."""
