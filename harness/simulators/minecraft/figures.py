"""The six elementary shapes of BAP v2 (section 11.4), and targets put together from them.

The names are the paper's: row, diagonal, plane, L, T, U. Which sizes and ways to lie each has, and how figures are put together,
is our choice. A row that runs up is a column or tower; a plane is a filled rectangle, flat or upright.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from random import Random
from typing import NamedTuple

from harness.simulators.minecraft.relations import Cell
from harness.worlds.minecraft import COLORS, INVENTORY, in_region

KINDS = ("row", "diagonal", "plane", "L", "T", "U")
SIZES: dict[str, tuple[tuple[int, ...], ...]] = {
    "row": ((3, 4, 5, 6),),
    "diagonal": ((3, 4, 5),),
    "plane": ((2, 3, 4), (2, 3, 4)),
    "L": ((2, 3, 4), (3, 4)),
    "T": ((3, 5), (2, 3)),
    "U": ((2, 3), (3, 4)),
}
"""The sizes a figure is drawn with, in blocks. An L's arms and a U's arm and base all count the block in their corner; a T's
stem does not count that of its bar. A U's second arm is as long as its first."""

AXES = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
NEAR = tuple((x, y, z) for x, y, z in itertools.product((-1, 0, 1), repeat=3) if 1 <= abs(x) + abs(y) + abs(z) <= 2)
"""Steps to the 18 cells that share a face or an edge."""
_SQUARE = {(x, y, z): [axis for axis in AXES if not (x * axis[0] or y * axis[1] or z * axis[2])] for x, y, z in AXES}
"""The four axes at right angles to each."""


def moved(cell: Cell, step: Cell, times: int = 1) -> Cell:
    return cell[0] + step[0] * times, cell[1] + step[1] * times, cell[2] + step[2] * times


def difference(start: Cell, end: Cell) -> Cell:
    """The step that leads from one cell to another."""
    return moved(end, start, -1)


class PlacedFigure(NamedTuple):
    """A figure somewhere: what it is, and its cells in the order they are built, each next to an earlier one.

    `sizes` count blocks along each of the `directions`, which are steps in world axes; that of a diagonal goes along two axes.
    Neighbors in a figure share a face; in a diagonal, an edge. The first cell is the end of an arm or, of a plane, a corner.
    """

    kind: str
    sizes: tuple[int, ...]
    directions: tuple[Cell, ...]
    cells: tuple[Cell, ...]

    @property
    def upright(self) -> bool:
        return any(direction[1] for direction in self.directions)

    def at(self, by: Cell) -> PlacedFigure:
        """The same, each cell moved by so much."""
        return self._replace(cells=tuple(moved(cell, by) for cell in self.cells))

    def ends(self) -> list[Cell]:
        """The ends of the arms, the corners of a plane."""
        first = self.sizes[0]
        which = {"plane": (0, first - 1, -first, -1), "T": (0, first - 1, -1)}.get(self.kind, (0, -1))
        return [self.cells[n] for n in which]


def figure(kind: str, sizes: Sequence[int], directions: Sequence[Cell], start: Cell = (0, 0, 0)) -> PlacedFigure:
    """A figure from its first cell on. L, T and U take their first two directions; a U's third is against its first."""
    first, second = sizes[0], sizes[-1]
    cells = _line(start, directions[0], first)
    if kind == "plane":
        cells = [cell for n in range(second) for cell in _line(moved(start, directions[1], n), directions[0], first)]
    elif kind == "L":
        cells += _line(cells[-1], directions[1], second)[1:]
    elif kind == "T":
        cells += _line(cells[first // 2], directions[1], second + 1)[1:]
    elif kind == "U":
        sizes, back = (first, second, first), moved((0, 0, 0), directions[0], -1)
        cells += _line(cells[-1], directions[1], second)[1:]
        cells += _line(cells[-1], back, first)[1:]
        directions = (directions[0], directions[1], back)
    return PlacedFigure(kind, tuple(sizes), tuple(directions), tuple(cells))


def _line(start: Cell, step: Cell, count: int) -> list[Cell]:
    return [moved(start, step, n) for n in range(count)]


def draw(rng: Random, kind: str, longest: int | None = None) -> PlacedFigure:
    """A figure of a kind with its first cell at (0, 0, 0), any of its sizes, lying any way.

    `longest` is the length that rows and diagonals may have instead of those of `SIZES`.
    """
    first = rng.choice(AXES)
    second = rng.choice(_SQUARE[first])
    choices: Sequence[Sequence[int]] = SIZES[kind]
    if longest and kind in ("row", "diagonal"):
        choices = [range(3, longest + 1)]
    sizes = [rng.choice(choice) for choice in choices]
    if kind == "diagonal":
        return figure(kind, sizes, (moved(first, second),))
    return figure(kind, sizes, (first, second)[: len(sizes)])


def starts(it: PlacedFigure) -> tuple[PlacedFigure, ...]:
    """A row, diagonal or plane built from each of its ends or corners: 2 figures with the same cells, or 8."""
    ways = [(False,), (True,)] if len(it.sizes) == 1 else list(itertools.product((False, True), repeat=2))
    variants = []
    for way in ways:
        start, steps = it.cells[0], []
        for back, size, step in zip(way, it.sizes, it.directions, strict=True):
            start = moved(start, step, size - 1) if back else start
            steps.append(moved((0, 0, 0), step, -1) if back else step)
        variants.append(figure(it.kind, it.sizes, steps, start))
        if len(steps) == 2:
            variants.append(figure(it.kind, it.sizes[::-1], steps[::-1], start))
    return tuple(variants)


def compose(rng: Random, kinds: Sequence[str], start: Cell, longest: int | None = None) -> tuple[PlacedFigure, ...]:
    """A figure of each kind: in the region, no two in the same cell, each next to an earlier one by a face or an edge.

    `start`, a cell on the ground (y = 1), is a lowest cell of the first figure: one of its ends, where one is that low.
    """
    while True:
        first = draw(rng, kinds[0], longest)
        low = min(cell[1] for cell in first.cells)
        feet = [cell for cell in first.ends() if cell[1] == low] or [cell for cell in first.cells if cell[1] == low]
        first = first.at(difference(rng.choice(feet), start))
        if _fits(first, ()):
            break
    figures = [first]
    for kind in kinds[1:]:
        figures.append(_joined(rng, kind, figures, longest))
    return tuple(figures)


def _joined(rng: Random, kind: str, figures: Sequence[PlacedFigure], longest: int | None) -> PlacedFigure:
    """A figure that shares a face, or less often an edge, with one of those that are there; more often with an end of it."""
    taken = {cell for one in figures for cell in one.cells}
    while True:
        host, guest = rng.choice(figures), draw(rng, kind, longest)
        a = rng.choice(host.ends() if rng.random() < 0.6 else host.cells)
        b = rng.choice(guest.ends() if rng.random() < 0.6 else guest.cells)
        step = rng.choice(AXES if rng.random() < 0.75 else NEAR)
        guest = guest.at(difference(b, moved(a, step)))
        if _fits(guest, taken):
            return guest


def _fits(one: PlacedFigure, taken: Collection[Cell]) -> bool:
    return all(in_region(*cell) and cell not in taken for cell in one.cells)


def colors(rng: Random, figures: Sequence[PlacedFigure]) -> tuple[str, ...]:
    """A color for each figure, so that no color is needed for more than the 20 blocks that there are."""
    while True:
        drawn = tuple(rng.choice(COLORS) for _ in figures)
        used = dict.fromkeys(COLORS, 0)
        for color, one in zip(drawn, figures, strict=True):
            used[color] += len(one.cells)
        if max(used.values()) <= INVENTORY:
            return drawn
