"""The scene in which a clause is carried out: the blocks, when they were placed, and where the builder looks."""

import math

import numpy as np
import numpy.typing as npt

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.compass import told_pose
from harness.baselines.parser.minecraft.grid import KINDS, Cells
from harness.baselines.parser.minecraft.words import color_told
from harness.corpora.item import Executed, MinecraftItem
from harness.tasks.registry import TASKS
from harness.worlds.minecraft import CODES, Action

EYES = 1.62
"""Height of the builder's eyes above the feet."""
REACH = 12.0


class DiscourseScene:
    """The scene of a turn; it changes with each clause."""

    def __init__(self, item: MinecraftItem) -> None:
        self.pose = told_pose(item)
        """The pose whose frame the cells are in."""
        self.codes = grid.codes(item.before, self.pose)
        self.before = self.codes.copy()
        self.turns: list[Cells] = []
        """The blocks of each turn that are still there, in the order in which they were placed; a clause is a turn of its own."""
        self.taken: Cells = np.zeros(0, np.intp)
        """The actions that would undo the last removals."""
        for turn in item.history:
            if isinstance(turn, Executed):
                self._remember([action for action in turn.actions if isinstance(action, Action)])
        self.turns = [cells for cells in (turn[self.codes[turn] > 0] for turn in self.turns) if len(cells)]
        self.named = CODES.get(color_told(item.history) or "", 0)
        """The code of the color that was named last, or 0."""
        self.emptied: Cells = np.zeros(0, np.intp)
        """The cells that were emptied by the last clause of this turn that changed anything."""
        self.has_compass = TASKS[item.task].compass
        self.done = 0
        """Clauses of this turn that placed or removed something."""
        own = item.pose.turned(-self.pose.quarter)
        self.eye = np.array([own.x, own.y + EYES, own.z])
        yaw, pitch = math.radians(own.yaw), math.radians(own.pitch)
        self.gaze = np.array([-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch)])
        self.aimed = self._aimed()
        self.angle, self.distance = self._sight()

    def _remember(self, actions: list[Action]) -> None:
        placed: dict[int, None] = {}
        taken: list[int] = []
        for action in actions:
            cell = grid.seen(action.cell, self.pose)
            if action.kind == "place":
                placed.pop(cell, None)
                placed[cell] = None
            elif cell in placed:
                del placed[cell]
            elif action.color:
                taken.append(cell * KINDS + CODES[action.color])
        if placed:
            self.turns.append(np.array(list(placed)))
        self.taken = np.array(taken, np.intp)

    def _aimed(self) -> tuple[int, int]:
        """The first block that the builder looks at, and the cell before it or above the ground; -1 for none."""
        last = -1
        for far in np.arange(0.5, REACH, 0.1):
            x, y, z = (self.eye + far * self.gaze).tolist()
            here = math.floor(x), math.floor(y), math.floor(z)
            if max(abs(here[0]), abs(here[2])) > 8 or not 0 <= here[1] <= 11:
                continue
            cell = grid.number(*here)
            if here[1] < 1 or self.codes[cell]:
                return (cell if here[1] >= 1 else -1), last
            last = cell
        return -1, -1

    @property
    def blocks(self) -> Cells:
        return grid.REGION[self.codes[grid.REGION] > 0]

    @property
    def last(self) -> int:
        """The last block that was placed, or -1."""
        return int(self.turns[-1][-1]) if self.turns else -1

    @property
    def group(self) -> Cells:
        """The blocks that are left of the last turn or clause that placed any."""
        return self.turns[-1] if self.turns else np.zeros(0, np.intp)

    def of_color(self, codes: list[int]) -> Cells:
        blocks = self.blocks
        return blocks[(self.codes[blocks][:, None] == codes).any(1)] if codes else blocks[:0]

    def carry_out(self, actions: Cells) -> None:
        placed = []
        for action in actions.tolist():
            cell, code = divmod(action, KINDS)
            self.codes[cell] = code
            if code:
                placed.append(cell)
        self.turns = [cells for cells in (turn[self.codes[turn] > 0] for turn in self.turns) if len(cells)]
        if placed:
            self.turns.append(np.array(placed))
        self.emptied = actions[actions % KINDS == 0] // KINDS if len(actions) else self.emptied
        self.done += bool(len(actions))

    def _sight(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """For each cell the cosine of the angle between the gaze and its middle, and their distance; 0 outside the region."""
        away = grid.XYZ[grid.REGION] + 0.5 - self.eye
        distance = np.maximum(np.sqrt((away * away).sum(1)), 1e-6)
        found = np.zeros((2, grid.SIZE), np.float32)
        found[0, grid.REGION], found[1, grid.REGION] = away @ self.gaze / distance, distance
        return found[0], found[1]
