"""Proposals: rows of actions with their properties."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from harness.baselines.parser.minecraft.grid import DIAGONALS, KINDS, WAYS, Cells, Mask
from harness.baselines.parser.minecraft.properties import COLUMNS, Matrix, Setting, block_of, placed, taken

RUNS, SLANTS = block_of(f"runs {way}" for way in WAYS), block_of(f"slants {way}" for way in DIAGONALS)
STANDS, SHIFTS = block_of(f"stands {way}" for way in WAYS), block_of(f"shifts {way}" for way in WAYS)
SENSES = list(WAYS.values())


class Proposals(NamedTuple):
    """Proposals of one kind: each is a row of actions (`grid`), padded with -1, and a row of properties."""

    actions: Cells
    properties: Matrix


class Option(NamedTuple):
    """A color or a number, and the properties of choosing it."""

    value: int
    names: tuple[str, ...]


def marked(properties: Matrix, *names: str) -> Matrix:
    for name in names:
        properties[:, COLUMNS[name]] = 1
    return properties


class Gathered:
    """Sets of cells whose properties are computed together."""

    def __init__(self) -> None:
        self.cells: list[Cells] = []
        self.columns: list[list[int]] = []

    def add(self, cells: Cells, *names: str, column: int = COLUMNS["whole"]) -> None:
        self.cells.append(cells)
        self.columns.append([column, *map(COLUMNS.__getitem__, names)])

    def sift(self, setting: Setting, whole: bool) -> list[int]:
        """Keeps the sets with free cells only (`whole`), or the free cells of sets that have at least two; returns which sets."""
        if not self.cells:
            return []
        sizes = [len(cells) for cells in self.cells]
        there = setting.free[np.concatenate(self.cells)]
        ends = list(accumulate(sizes, initial=0))
        counts = np.add.reduceat(there, ends[:-1]).tolist()
        kept = [n for n, (size, count) in enumerate(zip(sizes, counts, strict=True)) if (count == size if whole else count > 1)]
        self.cells = [self.cells[n] if counts[n] == sizes[n] else self.cells[n][there[ends[n] : ends[n + 1]]] for n in kept]
        self.columns = [self.columns[n] for n in kept]
        return kept

    def padded(self) -> Cells:
        sizes = np.array([len(cells) for cells in self.cells])
        found = np.full((len(sizes), sizes.max()), -1)
        found[np.arange(sizes.max()) < sizes[:, None]] = np.concatenate(self.cells)
        return found

    def mark(self, properties: Matrix) -> None:
        rows = np.repeat(np.arange(len(self.columns)), [len(columns) for columns in self.columns])
        properties[rows, np.concatenate(self.columns)] = 1
        properties[:, COLUMNS["log size"]] = np.log([len(cells) for cells in self.cells])

    def proposals(self, setting: Setting, color: int = 0, *, gone: bool = False) -> list[Proposals]:
        """The sets placed in a color, or removed without one; with `gone`, removed and then placed in the color."""
        if not self.cells:
            return []
        cells = self.padded()
        properties = taken(cells, setting) if gone or not color else placed(cells, setting, color)
        self.mark(properties)
        actions = np.where(cells >= 0, cells * KINDS + color, -1)
        if gone:
            actions = np.concatenate([np.where(cells >= 0, cells * KINDS, -1), actions], axis=1)
        return [Proposals(actions, properties)]


class Rows(NamedTuple):
    """Rows of cells, from each of some cells in each of some directions."""

    cells: Cells
    columns: Cells
    """The columns of the properties that name the directions."""
    steps: Cells

    def within(self, where: Mask) -> Rows:
        """The rows whose cells all lie where a mask of the grid holds."""
        rows = where[self.cells].all(axis=1)
        return Rows(self.cells[rows], self.columns[rows], self.steps[rows])

    def mark(self, properties: Matrix) -> None:
        properties[np.arange(len(self.columns)), self.columns] = 1
        properties[:, COLUMNS["log size"]] = np.log(self.cells.shape[1])


def rows(begin: Cells, count: int, slanting: bool = False) -> Rows:
    ways = [*enumerate(SENSES, RUNS.start), *(enumerate(DIAGONALS.values(), SLANTS.start) if slanting else ())]
    columns, steps = np.array(ways if count > 1 else [(COLUMNS["one"], 0)]).T
    cells = begin[:, None, None] + steps[:, None] * np.arange(count)
    return Rows(cells.reshape(-1, count), np.tile(columns, len(begin)), np.tile(steps, len(begin)))
