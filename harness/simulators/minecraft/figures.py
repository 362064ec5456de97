"""The six elementary shapes of BAP v2 (section 11.4), targets composed of them, and the pieces in which a target is described.

Names, smallest sizes and orientations are the paper's, which leaves the largest sizes open. A vertical row is a column or tower;
a plane is a filled rectangle, flat or upright.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from harness.corpora.item import MinecraftItem
from harness.simulators.minecraft.scene import NEAR, Cell, Relation
from harness.worlds.minecraft import COLORS, FACES, INVENTORY, SIDE, Structure, in_region, touching

KINDS = ("row", "diagonal", "plane", "L", "T", "U")
SIZES: dict[str, tuple[tuple[int, ...], ...]] = {
    "row": ((3, 4, 5, 6),),
    "diagonal": ((3, 4, 5),),
    "plane": ((3, 4), (2, 3, 4)),
    "L": ((2, 3, 4), (2, 3, 4)),
    "T": ((3, 5), (2, 3)),
    "U": ((2, 3), (3, 4)),
}
"""The possible sizes of each figure, in blocks. The arms of an L and the arms and base of a U include the block in their
corner; the stem of a T does not include the block of its bar. A U's second arm is as long as its first."""
_LEVEL = tuple(step for step in FACES if not step[1])


def moved(cell: Cell, step: Cell, times: int = 1) -> Cell:
    return cell[0] + step[0] * times, cell[1] + step[1] * times, cell[2] + step[2] * times


def difference(start: Cell, end: Cell) -> Cell:
    """The step from `start` to `end`."""
    return moved(end, start, -1)


def distance(a: Cell, b: Cell) -> int:
    """The Manhattan distance, in cells."""
    return sum(map(abs, difference(a, b)))


class PlacedFigure(NamedTuple):
    """A figure at a place: its kind, and its cells in building order, each next to an earlier one.

    `sizes` count blocks along each of the `directions`, which are steps in world axes; a diagonal's step goes along two axes.
    Neighbors in a figure share a face; in a diagonal, an edge. The first cell is the end of an arm or the corner of a plane.
    """

    kind: str
    sizes: tuple[int, ...]
    directions: tuple[Cell, ...]
    cells: tuple[Cell, ...]

    def at(self, by: Cell) -> "PlacedFigure":
        """The figure with every cell moved by `by`."""
        return self._replace(cells=tuple(moved(cell, by) for cell in self.cells))


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


def draw(rng: Random, kind: str) -> PlacedFigure:
    """A figure of a kind with its first cell at (0, 0, 0), in a random size and orientation."""
    # The bar of a T and the base of a U are level, so vertical ones point up or down.
    first = rng.choice(_LEVEL if kind == "T" else FACES)
    axes = _LEVEL if kind == "U" else FACES
    second = rng.choice([axis for axis in axes if not any(a * b for a, b in zip(first, axis, strict=True))])
    sizes = [rng.choice(choice) for choice in SIZES[kind]]
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


def building_order(rng: Random, it: PlacedFigure) -> tuple[Cell, ...]:
    """The cells as a builder places them, from the first one on: a plane by rows or by columns, half of the time in a zigzag.
    The paper gives no shares."""
    if it.kind != "plane":
        return it.cells
    way = it if rng.random() < 0.5 else figure(it.kind, it.sizes[::-1], it.directions[::-1], it.cells[0])
    length, back = way.sizes[0], rng.choice((1, -1))
    lines = (way.cells[n : n + length] for n in range(0, len(way.cells), length))
    return tuple(cell for n, line in enumerate(lines) for cell in line[:: back if n % 2 else 1])


def compose(rng: Random, kinds: Sequence[str]) -> tuple[PlacedFigure, ...]:
    """A figure of each kind, all in the region and without shared cells: the first on the ground (y = 1), each other one joined
    to an earlier one by a face or an edge (5.3.1)."""
    figures: list[PlacedFigure] = []
    taken: set[Cell] = set()
    while len(figures) < len(kinds):
        guest = draw(rng, kinds[len(figures)])
        if figures:
            host = rng.choice(figures)
            guest = guest.at(difference(rng.choice(guest.cells), moved(rng.choice(host.cells), rng.choice(NEAR))))
        else:
            guest = guest.at((rng.randint(-SIDE, SIDE), 1 - min(y for _, y, _ in guest.cells), rng.randint(-SIDE, SIDE)))
        if all(in_region(*cell) and cell not in taken for cell in guest.cells):
            figures.append(guest)
            taken.update(guest.cells)
    return tuple(figures)


def colors(rng: Random, figures: Sequence[PlacedFigure]) -> tuple[str, ...]:
    """A color for each figure, so that no color needs more than the 20 blocks of the inventory."""
    while True:
        drawn = tuple(rng.choice(COLORS) for _ in figures)
        used = Counter(color for color, one in zip(drawn, figures, strict=True) for _ in one.cells)
        if max(used.values()) <= INVENTORY:
            return drawn


class StructurePiece(NamedTuple):
    """Blocks in the order in which they are described; `figure` if they are described as one shape, in one color."""

    blocks: tuple[tuple[Cell, str], ...]
    figure: PlacedFigure | None = None

    def moved(self, by: Cell) -> "StructurePiece":
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
            return not rests, cell[1], distance(cell, last), cell

        start = min(left, key=cost)
        run = max((_run(left, start, step) for step in FACES[::2]), key=len)
        # A run starts from the end nearer to the last run's end; a vertical one goes upward.
        if run[0][1] == run[-1][1] and distance(run[-1], last) < distance(run[0], last):
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
