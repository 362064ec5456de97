"""The world as the classic Builder models see it, and their action labels (Jayannavar et al. 2020, section 5).

A grid is a row of 1,089 cells, x slowest and z fastest, as (11, 9, 11) arrays lie in memory. Its state is two numbers a cell:
the block's code (0 for none, otherwise 1 + the color's index in `COLORS`) and the weight of the action history (5 for the cell
of the last action, then 4, 3, 2, 1; otherwise 0). The functions handle many grids at once.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.ndimage import binary_dilation, generate_binary_structure

from harness.corpora.item import Executed, MinecraftItem
from harness.errors import DataError
from harness.worlds.minecraft import CODES, SHAPE, SIDE, Action, Pose, in_region

Codes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

COLORS = ("orange", "red", "green", "blue", "purple", "yellow")
"""The colors in the order of labels and channels, which differs from the world's."""
CELLS = SHAPE[0] * SHAPE[1] * SHAPE[2]
KINDS = len(COLORS) + 1
"""The number of possible actions at a cell: a placement in each color, or a removal."""
STOP = KINDS * CELLS
RECENT = 5
"""The number of last actions that have a history weight."""
NOWHERE = -1
"""The cell of an action outside the build region, or of a missing action."""
VECTOR = 2 + len(COLORS) + 3
"""The length of the vector that describes an action."""

_PLACE = {color: place for place, color in enumerate(COLORS)}
_CODE = np.array([0, *(_PLACE[color] + 1 for color in CODES)], np.uint8)
"""Maps the world's color codes to the codes of this module."""
_CHANNELS = np.zeros((len(COLORS) + 1, RECENT + 1, KINDS + 1), np.float32)
"""The channels of a cell, by its code and weight."""
_CHANNELS[np.arange(KINDS), :, (np.arange(KINDS) - 1) % KINDS] = 1
_CHANNELS[:, :, KINDS] = np.arange(RECENT + 1)
_LOWEST = np.array((-SIDE, 1, -SIDE))
_AXES = np.indices(SHAPE).reshape(3, CELLS).astype(np.float64)


def cell_index(x: int, y: int, z: int) -> int:
    """The index of a cell, 0..1088, or `NOWHERE` outside the build region."""
    return int(np.ravel_multi_index((x + SIDE, y - 1, z + SIDE), SHAPE)) if in_region(x, y, z) else NOWHERE


def action_label(action: Action) -> int:
    """7 times the cell's index, plus 0..5 for a placement by color or 6 for a removal. Raises ValueError outside the region."""
    cell = cell_index(*action.cell)
    if cell == NOWHERE:
        raise ValueError(f"{action.cell} lies outside the build region")
    return KINDS * cell + (_PLACE[action.color] if action.kind == "place" and action.color else KINDS - 1)


def label_action(label: int) -> Action:
    """The action of a label other than `STOP`; a removal has no color."""
    cell, kind = divmod(label, KINDS)
    x, y, z = (int(n) for n in np.unravel_index(cell, SHAPE))
    placed = kind < len(COLORS)
    return Action("place" if placed else "remove", COLORS[kind] if placed else None, x - SIDE, y + 1, z - SIDE)


def vectors(labels: Ints) -> Floats:
    """Actions as a decoder's inputs, shape (n, 11): one-hot kind, one-hot color (zeros for a removal), x, y, z."""
    cells, kinds = np.divmod(labels, KINDS)
    inputs = np.zeros((len(labels), VECTOR), np.float32)
    placed = kinds < len(COLORS)
    inputs[np.arange(len(labels)), np.where(placed, 0, 1)] = 1
    inputs[placed, 2 + kinds[placed]] = 1
    inputs[:, 2 + len(COLORS) :] = np.stack(np.unravel_index(cells, SHAPE), axis=1) + _LOWEST
    return inputs


class Grids(NamedTuple):
    """Some grids: uint8 codes 0..6 and weights 0..5, each of shape (n, 1089)."""

    codes: Codes
    weights: Codes

    def channels(self) -> Floats:
        """The cells' channels, shape (n, 8, 1089): six colors and empty as one-hot, and the history's weight (0..5)."""
        values: Floats = _CHANNELS[self.codes, self.weights].transpose(0, 2, 1)
        return values


def before_codes(items: Sequence[MinecraftItem]) -> Codes:
    """The codes of the structures before the items' first actions, shape (n, 1089)."""
    return _CODE[np.stack([item.before.cells.ravel() for item in items])]


def recent_cells(item: MinecraftItem) -> list[int]:
    """The cells of the game's last 5 actions before the item, oldest first; `NOWHERE` stands for a missing action.

    Actions outside the region, and actions of runs that are not items, count as well.
    """
    runs = [turn for turn in item.history if isinstance(turn, Executed)]
    done: list[int] = []
    for run in reversed(runs):
        done = [cell_index(*action.cell) for action in run.actions if isinstance(action, Action)] + done
        if len(done) >= RECENT:
            break
    return ([NOWHERE] * RECENT + done)[-RECENT:]


def history_weights(recent: Ints) -> Codes:
    """The history's weights, shape (n, 1089), from the cells of the last 5 actions, shape (n, 5), oldest first."""
    weights = np.zeros((len(recent), CELLS + 1), np.uint8)  # The last column collects `NOWHERE`.
    rows = np.arange(len(recent))
    for age, cells in enumerate(recent.T):
        weights[rows, cells] = age + 1
    return weights[:, :CELLS]


def gold_labels(item: MinecraftItem) -> list[int]:
    """The item's actions as labels, followed by `STOP`. Raises DataError for an action outside the build region."""
    try:
        return [*(action_label(action) for action in item.actions), STOP]
    except ValueError as error:
        raise DataError(f"{item.id}: {error}, which no label covers; leave the item out") from None


def gold_grids(items: Sequence[MinecraftItem]) -> Grids:
    """The grids of all teacher-forced steps, item after item: one before each gold action, and the final one for `STOP`.

    All actions of the items must have labels (`gold_labels`). Actions that the log first shows in the same world state share
    the grid before all of them, but each has its own history weights. The final grid is the recorded structure.
    """
    rows: list[Codes] = []
    windows: list[list[int]] = []
    for item in items:
        rows += _structures(item)
        cells = [*recent_cells(item), *(cell_index(*action.cell) for action in item.actions)]
        windows += [cells[start : start + RECENT] for start in range(len(item.actions) + 1)]
    return Grids(_CODE[np.stack(rows)], history_weights(np.array(windows, np.int64)))


def _structures(item: MinecraftItem) -> Iterable[Codes]:
    """The world's color codes before each action and at the end."""
    states = item.meta.get("states")
    if not isinstance(states, list | tuple) or len(states) != len(item.actions):
        states = range(len(item.actions))
    now = item.before.cells.ravel()
    for _, group in groupby(zip(states, item.actions, strict=True), key=lambda pair: pair[0]):
        actions = [action for _, action in group]
        yield from [now] * len(actions)
        now = now.copy()
        # A recolored cell is logged as a placement and a removal, in this order.
        for action in sorted(actions, key=lambda action: action.kind == "place"):
            now[cell_index(*action.cell)] = CODES[action.color] if action.kind == "place" and action.color else 0
    yield item.after.cells.ravel()


def perspective(poses: Sequence[Pose]) -> Floats:
    """The cells' coordinates in the builder's view, divided by 10, shape (n, 3, 1089).

    The coordinates go to the builder's left, upward from the axis of the gaze, and forward along it. The released code takes the
    cells' indices in the grid for their coordinates by mistake, which shifts all cells by (5, -1, 5).
    """
    x, y, z, yaw, pitch = np.array(poses, np.float64).reshape(-1, 5).T
    right, up, far = (_AXES + _LOWEST[:, None])[:, None] - np.stack([x, y, z])[:, :, None]
    sin_g, cos_g = np.sin(np.radians(yaw))[:, None], np.cos(np.radians(yaw))[:, None]
    sin_p, cos_p = np.sin(np.radians(pitch))[:, None], np.cos(np.radians(pitch))[:, None]
    level = -sin_g * right + cos_g * far
    left = cos_g * right + sin_g * far
    turned = np.stack([left, cos_p * up + sin_p * level, -sin_p * up + cos_p * level], axis=1)
    return (turned / 10).astype(np.float32)


def feasible(codes: Codes) -> Bools:
    """Which of the 7,624 labels are feasible, shape (n, 7624); `STOP` always is.

    As in `Structure.feasible`, a placement needs an empty cell on the ground or next to a block, a removal needs a block.
    """
    filled = codes.reshape(-1, *SHAPE) > 0
    near = binary_dilation(filled, generate_binary_structure(3, 1)[None])
    near[:, :, 0] = True
    kinds = np.repeat((near & ~filled).reshape(len(codes), CELLS, 1), KINDS, axis=2)
    kinds[:, :, -1] = filled.reshape(len(codes), CELLS)
    return np.concatenate([kinds.reshape(len(codes), STOP), np.ones((len(codes), 1), np.bool_)], axis=1)


def carry_out(codes: Codes, recent: Ints, labels: Ints) -> None:
    """Apply one label to each grid and its last actions' cells, in place; infeasible labels change nothing."""
    rows = np.arange(len(labels))
    done = feasible(codes)[rows, labels] & (labels != STOP)
    cells, kinds = np.divmod(labels[done], KINDS)
    codes[done, cells] = np.where(kinds < len(COLORS), kinds + 1, 0)
    recent[done] = np.concatenate([recent[done, 1:], cells[:, None]], axis=1)
