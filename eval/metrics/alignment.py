"""Net actions as arrays, the overlap of two sets of them, and the best alignment of one with the other (BAP v2, section 4).

Net actions of many items are one int64 array of shape (rows, 6): item, kind (0 placed, 1 removed), color code 1..6, and
x, y, z counted from the region's lowest corner (0..10, 0..8, 0..10). An alignment is one of 4 rotations about the vertical
axis and a horizontal translation. Among those that keep the predicted actions in the build region, the best has the largest
overlap and, as sizes do not change, the smallest symmetric difference. Ties go to the smallest rotation (in the sense of
`harness.worlds.minecraft.turn`), then the smallest shift in x, then in z.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.worlds.minecraft import COLORS, SHAPE, SIDE

Ints = npt.NDArray[np.int64]

ITEM, KIND, COLOR, X, Y, Z = range(6)
_SIZES: dict[int, int] = {KIND: 2, COLOR: len(COLORS) + 1, X: SHAPE[0], Y: SHAPE[1], Z: SHAPE[2]}
_REACH = 2 * SIDE
_SHIFTS = np.arange(-_REACH, _REACH + 1)


def net_rows(before: npt.NDArray[np.uint8], after: npt.NDArray[np.uint8]) -> Ints:
    """The net actions between structures stacked to shape (items, 11, 9, 11). A recolored cell is removed and placed."""
    cells = np.argwhere(before != after)
    old, new = before[tuple(cells.T)].astype(np.int64), after[tuple(cells.T)].astype(np.int64)
    parts = [
        np.column_stack([cells[here, 0], np.full(int(here.sum()), kind), colors[here], cells[here, 1:]])
        for kind, colors, here in ((0, new, new > 0), (1, old, old > 0))
    ]
    return np.concatenate(parts)


def overlap(predicted: Ints, gold: Ints, columns: Sequence[int], items: int) -> Ints:
    """The size of each item's multiset intersection, comparing `columns` only; shape (items,)."""
    sizes = [_SIZES[column] for column in columns]
    (made, made_times), (wanted, wanted_times) = (
        np.unique(
            np.ravel_multi_index([rows[:, ITEM], *(rows[:, column] for column in columns)], (items, *sizes)), return_counts=True
        )
        for rows in (predicted, gold)
    )
    common, left, right = np.intersect1d(made, wanted, assume_unique=True, return_indices=True)
    shared = np.minimum(made_times[left], wanted_times[right])
    return np.bincount(common // math.prod(sizes), weights=shared, minlength=items).astype(np.int64)


def _turned(rows: Ints, quarters: int) -> tuple[Ints, Ints]:
    x, z = rows[:, X], rows[:, Z]
    for _ in range(quarters):
        x, z = _REACH - z, x
    return x, z


def _pairs(predicted: Ints, gold: Ints, items: int) -> tuple[Ints, Ints]:
    """Indices of all pairs (predicted row, gold row) that an alignment can bring together: same item, kind, color, height."""
    columns, sizes = (ITEM, KIND, COLOR, Y), (items, _SIZES[KIND], _SIZES[COLOR], _SIZES[Y])
    wanted = np.ravel_multi_index([predicted[:, column] for column in columns], sizes)
    offered = np.ravel_multi_index([gold[:, column] for column in columns], sizes)
    order = np.argsort(offered, kind="stable")
    start = np.searchsorted(offered[order], wanted, "left")
    count = np.searchsorted(offered[order], wanted, "right") - start
    left = np.repeat(np.arange(len(wanted)), count)
    nth = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return left, order[np.repeat(start, count) + nth]


def _stays_inside(item: Ints, positions: Ints, items: int) -> npt.NDArray[np.bool_]:
    """By item, which of `_SHIFTS` keep all of its positions in 0..10; shape (items, 21)."""
    low, high = np.full(items, _REACH), np.zeros(items, np.int64)
    np.minimum.at(low, item, positions)
    np.maximum.at(high, item, positions)
    lowest, highest = -low[:, None], _REACH - high[:, None]
    return (lowest <= _SHIFTS) & (highest >= _SHIFTS)


def align(predicted: Ints, gold: Ints, items: int) -> tuple[Ints, Ints]:
    """The largest overlap of each item, shape (items,), and the predicted rows as aligned for it.

    Every pair of a predicted and a gold action votes for the one shift that brings them together, by rotation.
    """
    left, right = _pairs(predicted, gold, items)
    best, aligned = np.full(items, -1), predicted.copy()
    for quarters in range(4):
        x, z = _turned(predicted, quarters)
        shift_x, shift_z = gold[right, X] - x[left] + _REACH, gold[right, Z] - z[left] + _REACH
        votes = np.bincount(
            np.ravel_multi_index((predicted[left, ITEM], shift_x, shift_z), (items, len(_SHIFTS), len(_SHIFTS))),
            minlength=items * len(_SHIFTS) ** 2,
        ).reshape(items, len(_SHIFTS), len(_SHIFTS))
        inside_x, inside_z = (_stays_inside(predicted[:, ITEM], positions, items) for positions in (x, z))
        votes[~(inside_x[:, :, None] & inside_z[:, None, :])] = -1
        winner = votes.reshape(items, -1).argmax(axis=1)
        most = np.take_along_axis(votes.reshape(items, -1), winner[:, None], axis=1)[:, 0]
        # Strictly more, so that a tie keeps the earlier rotation; argmax already gives the first shift.
        better = most > best
        best[better] = most[better]
        rows = np.flatnonzero(better[predicted[:, ITEM]])
        move_x, move_z = np.divmod(winner[predicted[rows, ITEM]], len(_SHIFTS))
        aligned[rows, X], aligned[rows, Z] = x[rows] + move_x - _REACH, z[rows] + move_z - _REACH
    return best, aligned
