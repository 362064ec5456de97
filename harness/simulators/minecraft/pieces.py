"""A target structure as the pieces it is told in: those of a simulated game, or straight runs of one color."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from harness.corpora.item import MinecraftItem
from harness.simulators.minecraft.carpentry import touching
from harness.simulators.minecraft.figures import AXES, PlacedFigure, difference, figure, moved
from harness.simulators.minecraft.relations import Cell, Relation
from harness.worlds.minecraft import Structure


class StructurePiece(NamedTuple):
    """Blocks in the order in which they are told; `figure` if they are told as one shape, in one color."""

    blocks: tuple[tuple[Cell, str], ...]
    figure: PlacedFigure | None = None

    def moved(self, by: Cell) -> StructurePiece:
        """The same, each block moved by so much."""
        return StructurePiece(tuple((moved(cell, by), color) for cell, color in self.blocks), self.figure and self.figure.at(by))


def cells_of(structure: Structure) -> dict[Cell, str]:
    return {block[:3]: block.color for block in structure.blocks()}


def of_game(items: Iterable[MinecraftItem], target: Structure) -> list[StructurePiece]:
    """A piece for each order of a simulated game, without what the game takes away again."""
    wanted, pieces = cells_of(target), list[StructurePiece]()
    for item in items:
        placed = dict.fromkeys(action.cell for action in item.actions if action.kind == "place")
        own = [cell for cell in placed if cell in wanted and item.after.color_at(*cell) == wanted[cell]]
        if own:
            pieces.append(StructurePiece(tuple((cell, wanted.pop(cell)) for cell in own), _shape(item, own)))
    return pieces


def _shape(item: MinecraftItem, cells: Collection[Cell]) -> PlacedFigure | None:
    """The figure that a game's order names, from the cell on where it says that it starts."""
    if "shape" not in item.meta:
        return None
    ways = [Relation(*way).from_((0, 0, 0), item.pose.quarter) for way in item.meta["directions"]]
    named = figure(item.meta["shape"], item.meta["sizes"], ways, tuple(item.meta["start"]))
    return named if set(named.cells) == set(cells) else None


def in_runs(target: Structure) -> list[StructurePiece]:
    """Straight runs of one color, from the ground up, each near the one before as far as that can be."""
    left, built, pieces = cells_of(target), set[Cell](), list[StructurePiece]()
    last: Cell = (0, 1, 0)
    while left:

        def cost(cell: Cell, last: Cell = last) -> tuple[object, ...]:
            rests = cell[1] == 1 or any(other in built for other in touching(cell))
            return not rests, cell[1], sum(map(abs, difference(cell, last))), cell

        start = min(left, key=cost)
        run = max((_run(left, start, step) for step in AXES[::2]), key=len)
        # From the end that is nearer to what was told last; upward, if it stands.
        if run[0][1] == run[-1][1] and sum(map(abs, difference(run[-1], last))) < sum(map(abs, difference(run[0], last))):
            run.reverse()
        pieces.append(StructurePiece(tuple((cell, left.pop(cell)) for cell in run)))
        built.update(run)
        last = run[-1]
    return pieces


def _run(left: Mapping[Cell, str], cell: Cell, step: Cell) -> list[Cell]:
    """The blocks of one color through a cell along an axis."""
    run = [cell]
    for way, place in ((step, len), (moved((0, 0, 0), step, -1), lambda _: 0)):
        end = cell
        while left.get(end := moved(end, way)) == left[cell]:
            run.insert(place(run), end)
    return run
