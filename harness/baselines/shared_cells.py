"""Avoids computing a world network twice for the same cells: grids of neighboring steps differ in a few.

A convolution's value at a cell depends on the cells around it. Where nothing around it has changed since the step before, the
value is that of the step before. So the values of all grids of a batch are kept as one table of rows, and each grid only
says which row shows which of its cells. The result is the same as that of every grid by itself, for a third of the arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.baselines.world_state import CELLS, RECENT, Grids
from harness.worlds.minecraft import SHAPE

Rows = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class Tables(NamedTuple):
    """Rows are counted from 1; row 0 is what lies outside the region. First come the cells of some whole grids, which are
    those of the items' first steps or the one of the empty world; then those that are not as in the grid before.

    Arrays are int32.
    """

    whole: int
    """How many whole grids there are."""
    grids: Rows
    """The grid of each input row, as an index into the batch; -1 is the empty world."""
    cells: Rows
    """The cell of each input row."""
    around: tuple[Rows, ...]
    """For each convolution and each of its rows that are of no whole grid: the 27 rows of the layer before that it looks at,
    in a kernel's order."""
    shown: Rows
    """Shape (grids, 1089): which row of the last layer shows a cell."""


def _around() -> Rows:
    """Shape (1089, 27): the cells of each cell's neighborhood, `CELLS` outside the region."""
    padded = np.full([side + 2 for side in SHAPE], CELLS, np.int32)
    padded[1:-1, 1:-1, 1:-1] = np.arange(CELLS).reshape(SHAPE)
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3)).reshape(CELLS, 27)


_AROUND = _around()


def _widened(mask: Bools) -> Bools:
    """True also beside, above and below what is true, corners included."""
    widened = mask.reshape(-1, *SHAPE).copy()
    for axis in (1, 2, 3):
        old = widened.copy()
        ahead, behind = [slice(None)] * 4, [slice(None)] * 4
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        widened[tuple(ahead)] |= old[tuple(behind)]
        widened[tuple(behind)] |= old[tuple(ahead)]
    return widened.reshape(mask.shape)


def share(grids: Grids, lengths: Sequence[int], convolutions: int, *, apart: bool) -> Tables:
    """The tables of some grids, of which each item has `lengths` successive ones, for a number of convolutions of size 3.

    `apart`: items have cells of their own, as with a builder's perspective. Otherwise all share those of the empty world.
    """
    states = grids.codes.astype(np.int16) * (RECENT + 1) + grids.weights
    starts = np.concatenate([[0], np.cumsum(lengths)])
    before = np.zeros_like(states)
    before[1:] = states[:-1]
    before[starts[:-1]] = states[starts[:-1]] if apart else 0
    whole = starts[:-1] if apart else np.array([-1])
    fresh: Bools = states != before
    shown = _numbered(fresh, starts, apart)
    grid, cell = np.nonzero(fresh)
    around = []
    for _ in range(convolutions):
        fresh = _widened(fresh)
        rows, cells = np.nonzero(fresh)
        bordered = np.pad(shown, ((0, 0), (0, 1)))
        around.append(bordered[rows[:, None], _AROUND[cells]])
        shown = _numbered(fresh, starts, apart)
    return Tables(
        whole=len(whole),
        grids=np.concatenate([np.repeat(whole, CELLS), grid]).astype(np.int32),
        cells=np.concatenate([np.tile(np.arange(CELLS), len(whole)), cell]).astype(np.int32),
        around=tuple(around),
        shown=shown,
    )


def _numbered(fresh: Bools, starts: npt.NDArray[np.int64], apart: bool) -> Rows:
    """For each cell of each grid the number of the last fresh row there, or of the whole grid that the item begins with."""
    items = len(starts) - 1
    numbers = np.where(fresh, np.cumsum(fresh).reshape(fresh.shape) + CELLS * (items if apart else 1), 0).astype(np.int32)
    first = np.arange(1, CELLS + 1, dtype=np.int32)
    for item, (start, end) in enumerate(pairwise(starts)):
        numbers[start] = np.maximum(numbers[start], first + (CELLS * item if apart else 0))
        np.maximum.accumulate(numbers[start:end], axis=0, out=numbers[start:end])
    return numbers
