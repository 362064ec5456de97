"""Sets of cells as arrays, in the builder's frame: x grows to the left, y upward, z away from the builder.

A cell is one number, its place in a grid that is larger than the build region, so that a step never wraps around. An action is
the number of its cell times `KINDS`, plus the code of the color that is placed, or 0 to remove a block.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from harness.worlds.minecraft import CODES, COLORS, HEIGHT, SIDE, Action, Pose, Structure, turn

MARGIN = 12
EDGE = 2 * (SIDE + MARGIN) + 1
SIZE = EDGE**3
KINDS = 1 + len(COLORS)
LEFT, UP, BEHIND = EDGE * EDGE, EDGE, 1
WAYS = {"left": LEFT, "right": -LEFT, "up": UP, "down": -UP, "behind": BEHIND, "front": -BEHIND}
STEPS = np.array(list(WAYS.values()))
DIAGONALS = {
    f"{one} {two}": WAYS[one] + WAYS[two]
    for pair in (("left right", "up down"), ("left right", "behind front"), ("behind front", "up down"))
    for one in pair[0].split()
    for two in pair[1].split()
}

Cells = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


def number(x: Any, y: Any, z: Any) -> Any:
    """The cell, or cells, at some coordinates."""
    return ((x + EDGE // 2) * EDGE + y + MARGIN) * EDGE + z + EDGE // 2


def _coordinates() -> npt.NDArray[np.intp]:
    cells = np.arange(SIZE)
    return np.stack([cells // LEFT - EDGE // 2, cells // UP % EDGE - MARGIN, cells % EDGE - EDGE // 2], axis=-1)


XYZ = _coordinates()
"""The coordinates of each cell."""


def mask(cells: Cells) -> Mask:
    found = np.zeros(SIZE, bool)
    found[cells] = True
    return found


def _region() -> Cells:
    xs, ys, zs = np.meshgrid(np.arange(-SIDE, SIDE + 1), np.arange(1, HEIGHT + 1), np.arange(-SIDE, SIDE + 1), indexing="ij")
    found: Cells = number(xs, ys, zs).ravel()
    return found


REGION = _region()
INSIDE = mask(REGION)
GROUND = REGION[XYZ[REGION, 1] == 1]
AROUND = np.array([x * LEFT + y * UP + z for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z])
NEARBY = np.array([x * LEFT + y * UP + z for x in range(-2, 3) for y in range(-2, 3) for z in range(-2, 3)])
FAR = np.concatenate([STEPS * k for k in (2, 3, 4)])


def codes(structure: Structure, pose: Pose) -> npt.NDArray[np.intp]:
    """The codes of the colors of all cells, 0 where there is no block."""
    found = np.zeros(SIZE, np.intp)
    found[REGION] = structure.turned(-pose.quarter).cells.ravel()
    return found


def seen(cell: tuple[int, int, int], pose: Pose) -> int:
    """The number of a world cell in the builder's frame."""
    x, z = turn(cell[0], cell[2], -pose.quarter)
    found: int = number(int(x), cell[1], int(z))
    return found


def action(told: int, pose: Pose) -> Action:
    """The world's action for the number of an action in the builder's frame."""
    x, y, z = XYZ[told // KINDS].tolist()
    x, z = turn(x, z, pose.quarter)
    code = told % KINDS
    return Action("place" if code else "remove", COLORS[code - 1] if code else None, int(x), y, int(z))


def told(change: Action, pose: Pose) -> int:
    """The number of a world action in the builder's frame."""
    code = CODES[change.color] if change.kind == "place" and change.color else 0
    return seen(change.cell, pose) * KINDS + code
