"""The Minecraft Builder world: colored blocks in an 11 x 9 x 11 build region (Jayannavar et al. 2020; BAP v2, section 2).

Coordinates are (x, y, z) with x, z in -5..5 and height y in 1..9; y = 1 lies on the ground. A block at x fills [x, x + 1).
At yaw 0 the builder looks along +z and +x is on the left; yaw grows clockwise seen from above: 90 looks along -x.
"""

from collections import deque
from collections.abc import Collection, Container, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.worlds import Cells, pieces

COLORS = ("red", "orange", "yellow", "green", "blue", "purple")
CODES = {color: code for code, color in enumerate(COLORS, start=1)}
SIDE, HEIGHT = 5, 9
SHAPE = (2 * SIDE + 1, HEIGHT, 2 * SIDE + 1)
INVENTORY = 20
FACES = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
Cell = tuple[int, int, int]
"""x, y, z"""


class Block(NamedTuple):
    x: int
    y: int
    z: int
    color: str


class Action(NamedTuple):
    """Place a block, or remove one. Its JSON form is `["place", color, x, y, z]` or `["remove", color | null, x, y, z]`."""

    kind: str
    color: str | None
    x: int
    y: int
    z: int

    @property
    def cell(self) -> tuple[int, int, int]:
        return self.x, self.y, self.z


class Pose(NamedTuple):
    """Where the builder stands (block units; y = 1 on the ground) and looks (degrees; yaw not wrapped, pitch 90 = down)."""

    x: float
    y: float
    z: float
    yaw: float
    pitch: float

    @property
    def quarter(self) -> int:
        """The builder's direction in quarter turns: 0 looks along +z, 1 along -x, 2 along -z, 3 along +x."""
        return int((self.yaw + 45.0) // 90.0) % 4

    def turned(self, quarters: int) -> "Pose":
        """Turned as `Structure.turned` turns the blocks: about the middle of cell (0, 0), which is the point (0.5, 0.5)."""
        x, z = turn(self.x - 0.5, self.z - 0.5, quarters)
        return self._replace(x=x + 0.5, z=z + 0.5, yaw=self.yaw + 90.0 * quarters)


FACING = Pose(0.0, 1.0, -4.0, 0.0, 20.0)
"""The pose of a builder of whom none is recorded: in front of the region's middle, looking at it."""


class AppliedActions(NamedTuple):
    """The structure after some actions, and the infeasible actions among them, which changed nothing."""

    structure: "Structure"
    ignored: tuple[Action, ...]


def in_region(x: int, y: int, z: int) -> bool:
    return -SIDE <= x <= SIDE and 1 <= y <= HEIGHT and -SIDE <= z <= SIDE


def turn(x: float, z: float, quarters: int) -> tuple[float, float]:
    """(x, z) turned about the vertical axis by quarters of 90 degrees, as yaw grows: one quarter is (-z, x). Exact."""
    for _ in range(quarters % 4):
        x, z = -z, x
    return x, z


def turn_action(action: Action, quarters: int) -> Action:
    x, z = turn(action.x, action.z, quarters)
    return action._replace(x=int(x), z=int(z))


def _index(x: int, y: int, z: int) -> tuple[int, int, int]:
    return x + SIDE, y - 1, z + SIDE


def _feasible(cells: npt.NDArray[np.uint8], action: Action) -> bool:
    x, y, z = action.cell
    if not in_region(x, y, z):
        return False
    here = cells[_index(x, y, z)]
    if action.kind == "remove":
        return bool(here)
    if action.kind != "place" or action.color not in CODES or here:
        return False
    return y == 1 or any(in_region(*cell) and cells[_index(*cell)] for cell in touching(action.cell))


class Structure(Cells):
    """An immutable set of blocks in the build region. Equal structures compare and hash equal."""

    __slots__ = ()

    #: uint8 array of shape (11, 9, 11), axes x, y, z from their lowest coordinate, read-only: 0 is empty, others as in CODES.
    cells: npt.NDArray[np.uint8]

    def __init__(self, cells: npt.NDArray[np.uint8] | None = None) -> None:
        """Takes codes 0..6 in shape (11, 9, 11); None gives the empty structure. Raises ValueError for other arrays."""
        frozen = np.zeros(SHAPE, np.uint8) if cells is None else np.asarray(cells, np.uint8)
        if frozen.shape != SHAPE or frozen.max() > len(COLORS):
            raise ValueError(f"a structure is an array of shape {SHAPE} with codes 0..{len(COLORS)}")
        if frozen.flags.writeable:
            frozen = frozen.copy()
            frozen.setflags(write=False)
        super().__init__(frozen)

    @classmethod
    def of(cls, blocks: Iterable[tuple[int, int, int, str]]) -> "Structure":
        """The structure of blocks (x, y, z, color). Raises ValueError for a block outside the region or of another color."""
        cells = np.zeros(SHAPE, np.uint8)
        for x, y, z, color in blocks:
            if not in_region(x, y, z) or color not in CODES:
                raise ValueError(f"no such block: {color} at ({x}, {y}, {z})")
            cells[_index(x, y, z)] = CODES[color]
        return cls(cells)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.cells))

    def __repr__(self) -> str:
        return f"Structure.of({[tuple(b) for b in self.blocks()]!r})"

    def blocks(self) -> tuple[Block, ...]:
        """The blocks, sorted by x, y, z."""
        return tuple(
            Block(int(i) - SIDE, int(j) + 1, int(k) - SIDE, COLORS[self.cells[i, j, k] - 1])
            for i, j, k in np.argwhere(self.cells)
        )

    def color_at(self, x: int, y: int, z: int) -> str | None:
        """The color at a cell, None if it is empty or outside the region."""
        code = self.cells[_index(x, y, z)] if in_region(x, y, z) else 0
        return COLORS[code - 1] if code else None

    def inventory(self) -> dict[str, int]:
        """How many blocks of each color the builder still holds: 20 minus the blocks placed, at least 0."""
        used = np.bincount(self.cells.ravel(), minlength=len(COLORS) + 1)[1:]
        return {color: max(0, INVENTORY - int(n)) for color, n in zip(COLORS, used, strict=True)}

    def feasible(self, action: Action) -> bool:
        """Whether an action can be carried out here (BAP: the rule of constrained decoding).

        A placement needs an empty cell in the region that is on the ground or touches a block by a face. A removal needs a block
        at the cell; its color is not checked.
        """
        return _feasible(self.cells, action)

    def apply(self, actions: Iterable[Action]) -> AppliedActions:
        """Carry out actions in order; an infeasible action is skipped and reported, and the rest go on."""
        cells, ignored = self.cells.copy(), []
        for action in actions:
            if _feasible(cells, action):
                cells[_index(*action.cell)] = CODES[action.color] if action.kind == "place" and action.color else 0
            else:
                ignored.append(action)
        return AppliedActions(Structure(cells), tuple(ignored))

    def floating(self) -> frozenset[Block]:
        """The blocks that are not connected to the ground through faces."""
        blocks: dict[Cell, Block] = {block[:3]: block for block in self.blocks()}
        loose = (piece for piece in pieces(blocks, touching) if all(y > 1 for _, y, _ in piece))
        return frozenset(blocks[cell] for piece in loose for cell in piece)

    def turned(self, quarters: int) -> "Structure":
        """The structure turned about the vertical axis by `turn`."""
        return Structure(np.rot90(self.cells, quarters % 4, axes=(0, 2)).copy())


def net_actions(before: Structure, after: Structure) -> frozenset[Action]:
    """The net change as a set: blocks of `after` not in `before` placed, blocks of `before` not in `after` removed.

    A removal carries the removed block's color; a recolored cell gives both (BAP v2, section 2.3).
    """
    old, new = set(before.blocks()), set(after.blocks())
    changes = (("remove", old - new), ("place", new - old))
    return frozenset(Action(kind, block.color, *block[:3]) for kind, blocks in changes for block in blocks)


def touching(cell: Cell) -> tuple[Cell, ...]:
    """The six cells that share a face with a cell, including those outside the region."""
    x, y, z = cell
    return tuple((x + dx, y + dy, z + dz) for dx, dy, dz in FACES)


def held(cell: Cell, blocks: Container[Cell]) -> bool:
    """Whether the cell is on the ground or touches a block by a face, as a placement needs."""
    return cell[1] == 1 or any(near in blocks for near in touching(cell))


def bridge(ends: Collection[Cell], closed: Container[Cell], blocks: Container[Cell]) -> list[Cell]:
    """The shortest path of free cells from the ground or a block to a neighbor of one of `ends`, in the order in which to fill
    them; empty if there is none. `ends` are among the `closed` cells."""
    came: dict[Cell, Cell] = {}
    todo = deque(ends)
    while todo:
        here = todo.popleft()
        if here not in ends and held(here, blocks):
            path = [here]
            while came[path[-1]] not in ends:
                path.append(came[path[-1]])
            return path
        for near in touching(here):
            if near not in came and near not in closed and near not in blocks and in_region(near[0], near[1], near[2]):
                came[near] = here
                todo.append(near)
    return []


def feasible_order(before: Structure, changes: Sequence[Action]) -> list[Action]:
    """The changes in an order in which each can be carried out: at each step the first feasible one is taken. Changes that never
    become feasible are left out."""
    done: list[Action] = []
    now, waiting = before, list(changes)
    while (possible := next((change for change in waiting if now.feasible(change)), None)) is not None:
        waiting.remove(possible)
        done.append(possible)
        now = now.apply([possible]).structure
    return done
