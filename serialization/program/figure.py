"""The sets of both worlds: ordered sets of cells that know their source cells."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Cell = tuple[Any, ...]
"""A tile (row, column), 0-based, or the cell (x, y, z) of a block. Cells may lie outside the world."""
Way = str
"""The name of a direction."""
ColorName = str


@dataclass(frozen=True, slots=True)
class Figure:
    """Distinct cells in order. `cells` maps each cell to its source: the cell of the world whose color a copy takes.

    `parts` are the figure's objects: the terms of a union or the copies of a repetition. Together they hold all cells.
    """

    cells: Mapping[Cell, Cell] = field(default_factory=dict)
    parts: tuple[tuple[Cell, ...], ...] = ()

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> Figure:
        """A figure of one part in which each cell is its own source."""
        return cls.one({cell: cell for cell in cells})

    @classmethod
    def one(cls, cells: Mapping[Cell, Cell]) -> Figure:
        return cls(cells, (tuple(cells),) if cells else ())

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __contains__(self, cell: object) -> bool:
        return cell in self.cells

    def filtered(self, test: Callable[[Cell], bool]) -> Figure:
        """The figure with only the cells that pass the test; parts that become empty are dropped."""
        cells = {cell: source for cell, source in self.cells.items() if test(cell)}
        return Figure(cells, _without_empty(self.parts, cells))

    def within(self, other: Container[Cell]) -> Figure:
        return self.filtered(lambda cell: cell in other)

    def without(self, other: Container[Cell]) -> Figure:
        return self.filtered(lambda cell: cell not in other)

    def mapped(self, to: Callable[[Cell], Cell]) -> Figure:
        """The figure with every cell moved; if two cells coincide, the first keeps its source."""
        cells: dict[Cell, Cell] = {}
        for cell, source in self.cells.items():
            cells.setdefault(to(cell), source)
        return Figure(cells, tuple(tuple(dict.fromkeys(map(to, part))) for part in self.parts))


def together(figures: Iterable[Figure]) -> Figure:
    """The union, in order; takes time linear in the number of all cells."""
    cells: dict[Cell, Cell] = {}
    parts: list[tuple[Cell, ...]] = []
    for figure in figures:
        new = {cell: source for cell, source in figure.cells.items() if cell not in cells}
        cells |= new
        parts += _without_empty(figure.parts, new)
    return Figure(cells, tuple(parts))


def _without_empty(parts: Iterable[tuple[Cell, ...]], cells: Mapping[Cell, Cell]) -> tuple[tuple[Cell, ...], ...]:
    filtered = (tuple(cell for cell in part if cell in cells) for part in parts)
    return tuple(part for part in filtered if part)
