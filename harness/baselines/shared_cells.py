"""Avoids computing a world network twice for equal cells, because the grids of successive steps differ in only a few cells.

A convolution's value at a cell depends on the cells around it. If none of them has changed since the previous step, neither has
the value. The values of all grids of a batch are therefore kept as the rows of one table, and each grid only holds the row of
each of its cells. The result is the same as for each grid separately, with a third of the arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.ndimage import binary_dilation

from harness.baselines.world_state import CELLS, RECENT, Grids
from harness.worlds.minecraft import SHAPE

Rows = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class Tables(NamedTuple):
    """Rows are counted from 1; row 0 stands for all cells outside the region. The first rows are the cells of whole grids, those
    of the items' first steps; then come the cells that differ from the grid before.

    Arrays are int32.
    """

    grids: Rows
    """The grid of each input row, as an index into the batch."""
    cells: Rows
    """The cell of each input row."""
    around: tuple[Rows, ...]
    """For each convolution, the 27 rows of the previous layer on which each row outside the whole grids depends, in the order of
    the kernel."""
    shown: Rows
    """The row of the last layer for each cell, shape (grids, 1089)."""


def _around() -> Rows:
    """The cells of each cell's neighborhood, shape (1089, 27); `CELLS` stands for cells outside the region."""
    padded = np.full([side + 2 for side in SHAPE], CELLS, np.int32)
    padded[1:-1, 1:-1, 1:-1] = np.arange(CELLS).reshape(SHAPE)
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3)).reshape(CELLS, 27)


_AROUND = _around()


def _widened(mask: Bools) -> Bools:
    """The mask, extended to all cells that touch a True cell, corners included."""
    widened: Bools = binary_dilation(mask.reshape(-1, *SHAPE), np.ones((1, 3, 3, 3)))
    return widened.reshape(mask.shape)


def share(grids: Grids, lengths: Sequence[int], convolutions: int) -> Tables:
    """The tables for `convolutions` convolutions of size 3 on grids, of which the items have `lengths` successive ones."""
    states = grids.codes.astype(np.int16) * (RECENT + 1) + grids.weights
    starts = np.cumsum([0, *lengths[:-1]])
    whole = np.zeros(states.shape, np.int32)
    whole[starts] = np.arange(1, len(starts) * CELLS + 1).reshape(-1, CELLS)
    fresh: Bools = np.diff(states, axis=0, prepend=states[:1]) != 0
    fresh[starts] = False
    shown = _numbered(fresh, whole)
    grid, cell = np.nonzero(fresh)
    around = []
    for _ in range(convolutions):
        fresh = _widened(fresh)
        rows, cells = np.nonzero(fresh)
        bordered = np.pad(shown, ((0, 0), (0, 1)))
        around.append(bordered[rows[:, None], _AROUND[cells]])
        shown = _numbered(fresh, whole)
    return Tables(
        grids=np.concatenate([np.repeat(starts, CELLS), grid]).astype(np.int32),
        cells=np.concatenate([np.tile(np.arange(CELLS), len(starts)), cell]).astype(np.int32),
        around=tuple(around),
        shown=shown,
    )


def _numbered(fresh: Bools, whole: Rows) -> Rows:
    """For each cell of each grid, the number of its last fresh row, or of its row in the item's first grid (`whole`)."""
    numbers = np.where(fresh, np.cumsum(fresh, dtype=np.int32).reshape(fresh.shape) + whole.max(), whole)
    last = np.maximum.accumulate(np.where(numbers, np.arange(len(numbers))[:, None], 0), axis=0)
    return np.take_along_axis(numbers, last, axis=0)
