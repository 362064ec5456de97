"""The six elementary shapes of BAP v2 (section 11.4), targets composed of them, and the pieces in which a target is described.

The names are the paper's: row, diagonal, plane, L, T, U. We chose their sizes and orientations and how figures are combined.
A vertical row is a column or tower; a plane is a filled rectangle, flat or upright.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from harness.corpora.item import MinecraftItem
from harness.simulators.minecraft.scene import NEAR, Cell, Relation, touching
from harness.worlds.minecraft import COLORS, FACES, INVENTORY, Structure, in_region

KINDS = ("row", "diagonal", "plane", "L", "T", "U")
SIZES: dict[str, tuple[tuple[int, ...], ...]] = {
    "row": ((3, 4, 5, 6),),
    "diagonal": ((3, 4, 5),),
    "plane": ((2, 3, 4), (2, 3, 4)),
    "L": ((2, 3, 4), (3, 4)),
    "T": ((3, 5), (2, 3)),
    "U": ((2, 3), (3, 4)),
}
"""The possible sizes of each figure, in blocks. The arms of an L and the arms and base of a U include the block in their
corner; the stem of a T does not include the block of its bar. A U's second arm is as long as its first."""


def moved(cell: Cell, step: Cell, times: int = 1) -> Cell:
    return cell[0] + step[0] * times, cell[1] + step[1] * times, cell[2] + step[2] * times


def difference(start: Cell, end: Cell) -> Cell:
    """The step from `start` to `end`."""
    return moved(end, start, -1)


class PlacedFigure(NamedTuple):
    """A figure at a place: its kind, and its cells in building order, each next to an earlier one.

    `sizes` count blocks along each of the `directions`, which are steps in world axes; a diagonal's step goes along two axes.
    Neighbors in a figure share a face; in a diagonal, an edge. The first cell is the end of an arm or the corner of a plane.
    """

    kind: str
    sizes: tuple[int, ...]
    directions: tuple[Cell, ...]
    cells: tuple[Cell, ...]

    def at(self, by: Cell) -> PlacedFigure:
        """The figure with every cell moved by `by`."""
        return self._replace(cells=tuple(moved(cell, by) for cell in self.cells))

    def ends(self) -> list[Cell]:
        """The ends of the arms, or the corners of a plane."""
        first = self.sizes[0]
        which = {"plane": (0, first - 1, -first, -1), "T": (0, first - 1, -1)}.get(self.kind, (0, -1))
        return [self.cells[n] for n in which]


def figure(kind: str, sizes: Sequence[int], directions: Sequence[Cell], start: Cell = (0, 0, 0)) -> PlacedFigure:
    """A figure that starts with the cell `start`. L, T and U take two directions; a U's third is opposite to its first."""
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
    """A figure of a kind with its first cell at (0, 0, 0), in a random size and orientation.

    `longest` is the maximum length of rows and diagonals, whose sizes then range from 3 up; by default `SIZES` applies.
    """
    first = rng.choice(FACES)
    second = rng.choice([axis for axis in FACES if not any(a * b for a, b in zip(first, axis, strict=True))])
    choices: Sequence[Sequence[int]] = SIZES[kind]
    if longest and kind in ("row", "diagonal"):
        choices = [range(3, longest + 1)]
    sizes = [rng.choice(choice) for choice in choices]
    if kind == "diagonal":
        return figure(kind, sizes, (moved(first, second),))
    return figure(kind, sizes, (first, second)[: len(sizes)])


def starts(it: PlacedFigure) -> tuple[PlacedFigure, ...]:
    """A row or diagonal built from each of its ends (2 figures), or a plane from each corner in both orders (8 figures)."""
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
    """A figure of each kind, all in the region and without shared cells; each shares a face or an edge with an earlier one.

    `start`, a cell on the ground (y = 1), is a lowest cell of the first figure: one of its ends, if an end is that low.
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
    """A figure that shares a face, or less often an edge, with an existing figure; ends join more often than other cells."""
    taken = {cell for one in figures for cell in one.cells}
    while True:
        host, guest = rng.choice(figures), draw(rng, kind, longest)
        a = rng.choice(host.ends() if rng.random() < 0.6 else host.cells)
        b = rng.choice(guest.ends() if rng.random() < 0.6 else guest.cells)
        step = rng.choice(FACES if rng.random() < 0.75 else NEAR)
        guest = guest.at(difference(b, moved(a, step)))
        if _fits(guest, taken):
            return guest


def _fits(one: PlacedFigure, taken: Collection[Cell]) -> bool:
    return all(in_region(*cell) and cell not in taken for cell in one.cells)


def colors(rng: Random, figures: Sequence[PlacedFigure]) -> tuple[str, ...]:
    """A color for each figure, so that no color needs more than the 20 blocks of the inventory."""
    while True:
        drawn = tuple(rng.choice(COLORS) for _ in figures)
        used = Counter(color for color, one in zip(drawn, figures, strict=True) for _ in one.cells)
        if max(used.values()) <= INVENTORY:
            return drawn


# --- pieces of a simulated game, or straight runs of one color ---


class StructurePiece(NamedTuple):
    """Blocks in the order in which they are described; `figure` if they are described as one shape, in one color."""

    blocks: tuple[tuple[Cell, str], ...]
    figure: PlacedFigure | None = None

    def moved(self, by: Cell) -> StructurePiece:
        """The piece with every block moved by `by`."""
        return StructurePiece(tuple((moved(cell, by), color) for cell, color in self.blocks), self.figure and self.figure.at(by))


def cells_of(structure: Structure) -> dict[Cell, str]:
    return {block[:3]: block.color for block in structure.blocks()}


def of_game(items: Iterable[MinecraftItem], target: Structure) -> list[StructurePiece]:
    """A piece for each order of a simulated game, without blocks that the game removes again."""
    wanted, pieces = cells_of(target), list[StructurePiece]()
    for item in items:
        placed = dict.fromkeys(action.cell for action in item.actions if action.kind == "place")
        own = [cell for cell in placed if cell in wanted and item.after.color_at(*cell) == wanted[cell]]
        if own:
            pieces.append(StructurePiece(tuple((cell, wanted.pop(cell)) for cell in own), _shape(item, own)))
    return pieces


def _shape(item: MinecraftItem, cells: Collection[Cell]) -> PlacedFigure | None:
    """The figure that a game's order names, from the start that it gives; None if it names none or other cells."""
    if "shape" not in item.meta:
        return None
    ways = [Relation(*way).from_((0, 0, 0), item.pose.quarter) for way in item.meta["directions"]]
    named = figure(item.meta["shape"], item.meta["sizes"], ways, tuple(item.meta["start"]))
    return named if set(named.cells) == set(cells) else None


def in_runs(target: Structure) -> list[StructurePiece]:
    """Straight runs of one color, from the ground up, each as near as possible to the one before."""
    left, built, pieces = cells_of(target), set[Cell](), list[StructurePiece]()
    last: Cell = (0, 1, 0)
    while left:

        def cost(cell: Cell, last: Cell = last) -> tuple[object, ...]:
            rests = cell[1] == 1 or any(other in built for other in touching(cell))
            return not rests, cell[1], sum(map(abs, difference(cell, last))), cell

        start = min(left, key=cost)
        run = max((_run(left, start, step) for step in FACES[::2]), key=len)
        # A run starts from the end nearer to the last run's end; a vertical one goes upward.
        if run[0][1] == run[-1][1] and sum(map(abs, difference(run[-1], last))) < sum(map(abs, difference(run[0], last))):
            run.reverse()
        pieces.append(StructurePiece(tuple((cell, left.pop(cell)) for cell in run)))
        built.update(run)
        last = run[-1]
    return pieces


def _run(left: Mapping[Cell, str], cell: Cell, step: Cell) -> list[Cell]:
    """The run of blocks of one color through a cell along an axis."""
    run = [cell]
    while left.get(end := moved(run[-1], step)) == left[cell]:
        run.append(end)
    while left.get(end := moved(run[0], step, -1)) == left[cell]:
        run.insert(0, end)
    return run
