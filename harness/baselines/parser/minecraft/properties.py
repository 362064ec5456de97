"""Proposals: rows of actions, and their properties as numbers: where they begin, what they touch, how they run, their color and
size."""

from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.grid import DIAGONALS, KINDS, STEPS, WAYS, XYZ, Cells, Mask
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.worlds.minecraft import SIDE

Matrix = npt.NDArray[np.float32]
"""A row per proposal, a column per property."""

ANCHORS = ("last", "group", "named")
_PLACES = (
    *("middle of the ground", "near the middle", "off the middle", "edge", "corner of the ground"),
    *("left edge", "right edge", "back edge", "front edge"),
)
NAMES = (
    *("nothing", "nothing more", "run", "each", "both sides", "figure", "copy", "mirror"),
    *("remove run", "remove all", "move", "recolor", "undo"),
    *("told place", "told remove", "told replace"),
    *(f"{way} of {anchor}" for anchor in ANCHORS for way in WAYS),
    *(f"all {way} of {anchor}" for anchor in ANCHORS[1:] for way in WAYS),
    *(f"touches {way}" for way in WAYS),
    *(f"{way} from last" for way in DIAGONALS),
    *(f"{way} beyond a gap" for way in WAYS),
    *(f"{side} of the {anchor}" for anchor in ("group's middle", "named's middle", "whole") for side in WAYS),
    *(f"held at the {side} of {anchor}" for anchor in ("named", "all") for side in WAYS),
    *(f"runs {way}" for way in WAYS),
    *(f"slants {way}" for way in DIAGONALS),
    *(f"stands {way}" for way in WAYS),
    *(f"shifts {way}" for way in WAYS),
    *("one", "runs on", "runs as before", "goes on", "steps on", "prolongs", "prolongs its color"),
    *("floats", "free", "touches two", "touches three"),
    *("level with last", "touches its color", "on the ground", "second level", *_PLACES, "empty board"),
    *("aimed at", "gaze", "gaze 5", "gaze 15", "near the builder"),
    *("mirrors over x", "mirrors over z", "fills a hole"),
    *("count many", "count size", "count some", "count later", "count unsaid", "count as before", "count less one", "one unsaid"),
    *("color new", "color there", "color later", "color as before", "color named before", "color only"),
    *("flat", "faces", "sideways", "hollow", "L", "U", "T", "plus", "size as said", "log size", "square"),
    *("of group", "of named", "of ends", "of corners", "of last", "of color", "of turns", "of all", "whole"),
    *("told first", "told fits", "told ground", "told each", "told up", "told along", "told low", "told high", "told layer"),
    *("told middle", "told between", "told around", "told copy", "told far", "told again"),
    *("once", "twice", "of top", "of bottom", "of leftmost", "of rightmost", "of nearest", "of farthest"),
)
COLUMNS = {name: n for n, name in enumerate(NAMES)}
WIDTH = len(NAMES)


def block_of(names: Iterable[str]) -> slice:
    """The columns of names that stand next to each other."""
    found = [COLUMNS[name] for name in names]
    return slice(found[0], found[-1] + 1)


BESIDE = {anchor: block_of(f"{way} of {anchor}" for way in WAYS) for anchor in ANCHORS}
ALL_BESIDE = {anchor: block_of(f"all {way} of {anchor}" for way in WAYS) for anchor in ANCHORS[1:]}
TOUCHES = block_of(f"touches {way}" for way in WAYS)
SLANTED = block_of(f"{way} from last" for way in DIAGONALS)
GAPS = block_of(f"{way} beyond a gap" for way in WAYS)
MIDDLES = [block_of(f"{way} of the {name}" for way in WAYS) for name in ("group's middle", "named's middle", "whole")]
HELD = block_of(f"held at the {way} of {name}" for name in ("named", "all") for way in WAYS)
BOARD = block_of(_PLACES)
VECTORS = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
_SLANTS = np.array(list(DIAGONALS.values()))


_NEAR, _ENDS = np.arange(3 * len(WAYS)), np.arange(2 * len(WAYS))
_POWERS = (1 << _NEAR).astype(np.float32)
OCCUPIED, GROUP, NAMED = 1, 2, 4
"""Bits of `Setting.bits`."""


class Setting:
    """The blocks with which the proposals of a clause are compared."""

    def __init__(self, scene: DiscourseScene, named: Cells) -> None:
        self.scene = scene
        self.blocks = scene.blocks
        self.occupied = scene.codes > 0
        self.free = grid.INSIDE & ~self.occupied
        self.group = scene.group
        self.named = named
        self.bits = self.occupied.astype(np.uint8)
        self.bits[self.group] |= GROUP
        self.bits[named] |= NAMED
        self.ends = _outermost(named) | _outermost(self.blocks) << len(WAYS)
        before = grid.REGION[:, None] - STEPS
        bits, self.near = self.bits[before], np.zeros(grid.SIZE, np.intp)
        """For each cell of the region, a bit per direction in which it lies from a block, then from one of the group, then from a
        named one."""
        touching = np.concatenate([(bits & bit) > 0 for bit in (OCCUPIED, GROUP, NAMED)], axis=1)
        self.near[grid.REGION] = touching.astype(np.float32) @ _POWERS  # exact: powers of 2 below 2 ** 24
        self.held = np.zeros(grid.SIZE, np.uint16)
        """The bits of `ends` of the blocks that a cell touches."""
        self.held[grid.REGION] = np.bitwise_or.reduce(self.ends[before], 1)
        self.going = int(self.group[-1] - self.group[-2]) if len(self.group) > 1 else 0
        """The step between the last two blocks placed, or 0."""
        others = [int(turn[-1]) for turn in scene.turns[-2:]]
        self.stepping = others[1] - others[0] if len(others) == 2 else 0
        spread = XYZ[self.blocks] if len(self.blocks) else np.zeros((1, 3), np.intp)
        self.low, self.high = spread.min(0), spread.max(0)
        self.middles = [XYZ[of].mean(0) if len(of) else None for of in (self.group, self.named, self.blocks)]


def _outermost(cells: Cells) -> npt.NDArray[np.uint16]:
    """For each cell of a set, a bit per direction in which it lies furthest."""
    found = np.zeros(grid.SIZE, np.uint16)
    if len(cells):
        along = XYZ[cells] @ VECTORS.T
        found[cells] = (along == along.max(0)) @ (1 << np.arange(len(WAYS)))
    return found


def sides(away: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Whether each (x, y, z) goes in each direction, by more than 0.4 cells."""
    found: npt.NDArray[np.bool_] = away @ VECTORS.T > 0.4
    return found


def placed(cells: Cells, setting: Setting, code: int) -> Matrix:
    """The properties of placements, each a row of cells padded with -1; the first cell is never -1."""
    scene, found = setting.scene, np.zeros((len(cells), WIDTH), np.float32)
    there = cells >= 0
    real = np.where(there, cells, cells[:, :1])
    start = real[:, 0]
    near = setting.near[real]
    some = np.bitwise_or.reduce(near, 1)[:, None] >> _NEAR & 1
    found[:, TOUCHES], found[:, BESIDE["group"]], found[:, BESIDE["named"]] = np.split(some, 3, axis=1)
    if cells.shape[1] > 1:
        every = np.bitwise_and.reduce(near, 1)[:, None] >> _NEAR & 1
        _, found[:, ALL_BESIDE["group"]], found[:, ALL_BESIDE["named"]] = np.split(every, 3, axis=1)
    found[:, HELD] = setting.held[start][:, None] >> _ENDS & 1
    if scene.last >= 0:
        away = (start - scene.last)[:, None]
        found[:, BESIDE["last"]] = away == STEPS
        found[:, SLANTED] = away == _SLANTS
        found[:, GAPS] = away == 2 * STEPS
        found[:, COLUMNS["level with last"]] = XYZ[start, 1] == XYZ[scene.last, 1]
    _from_middles(found, real, there, setting)
    low, free, around = XYZ[start, 1], ~some[:, : len(WAYS)].any(1), near[:, :1] >> _NEAR[: len(WAYS)] & 1
    found[:, COLUMNS["touches two"]] = around.sum(1) == 2
    found[:, COLUMNS["touches three"]] = around.sum(1) > 2
    found[:, COLUMNS["on the ground"]] = low == 1
    found[:, COLUMNS["second level"]] = low == 2
    found[:, COLUMNS["free"]] = free & (low == 1)
    found[:, COLUMNS["floats"]] = free & (XYZ[real, 1] > 1).all(1)
    found[:, COLUMNS["fills a hole"]] = (around[:, 0] & around[:, 1]) | (around[:, 4] & around[:, 5])
    found[:, BOARD] = ON_BOARD[start]
    found[:, COLUMNS["empty board"]] = not scene.turns
    _gaze(found, start, scene, scene.aimed[1])
    _symmetry(found, real, setting, code)
    touched, beyond = scene.codes[start[:, None] + STEPS], scene.codes[start[:, None] + 2 * STEPS]
    found[:, COLUMNS["touches its color"]] = (touched == code).any(1)
    found[:, COLUMNS["prolongs"]] = ((touched > 0) & (beyond > 0)).any(1)
    found[:, COLUMNS["prolongs its color"]] = ((touched == code) & (beyond == code)).any(1)
    found[:, COLUMNS["goes on"]] = (start - scene.last == setting.going) & (setting.going != 0) & (scene.last >= 0)
    found[:, COLUMNS["steps on"]] = (start - scene.last == setting.stepping) & (setting.stepping != 0) & (scene.last >= 0)
    return found


def _from_middles(found: Matrix, cells: Cells, there: npt.NDArray[np.bool_], setting: Setting) -> None:
    middle = (XYZ[cells] * there[..., None]).sum(1) / there.sum(1)[:, None]
    for columns, of in zip(MIDDLES, setting.middles, strict=True):
        if of is not None:
            found[:, columns] = sides(middle - of)


def _on_the_board() -> Matrix:
    x, y, z = XYZ.T
    ground, far = y == 1, np.maximum(abs(x), abs(z))
    corner = ground & (abs(x) == SIDE) & (abs(z) == SIDE)
    columns = [ground & (far == 0), ground & (far == 1), far / SIDE, far == SIDE, corner]
    return np.stack([*columns, x == SIDE, x == -SIDE, z == SIDE, z == -SIDE], axis=1).astype(np.float32)


ON_BOARD = _on_the_board()
"""The columns of `BOARD`, for each cell."""


def _gaze(found: Matrix, start: Cells, scene: DiscourseScene, aimed: int) -> None:
    angle = scene.angle[start]
    found[:, COLUMNS["gaze"]] = angle
    found[:, COLUMNS["gaze 5"]] = angle > 0.985
    found[:, COLUMNS["gaze 15"]] = angle > 0.94
    found[:, COLUMNS["aimed at"]] = start == aimed
    found[:, COLUMNS["near the builder"]] = scene.distance[start] / 10


def _symmetry(found: Matrix, cells: Cells, setting: Setting, code: int) -> None:
    if not len(setting.blocks):
        return
    for name, axis, unit in (("mirrors over x", 0, grid.LEFT), ("mirrors over z", 2, grid.BEHIND)):
        total = setting.low[axis] + setting.high[axis]
        mirrored = cells + unit * (total - 2 * XYZ[cells, axis])
        found[:, COLUMNS[name]] = (setting.scene.codes.take(mirrored, mode="clip") == code).all(1)


def taken(cells: Cells, setting: Setting) -> Matrix:
    """The properties of removals, each a row of cells padded with -1; the first cell is never -1."""
    scene, found = setting.scene, np.zeros((len(cells), WIDTH), np.float32)
    there = cells >= 0
    real = np.where(there, cells, cells[:, :1])
    start = real[:, 0]
    found[:, COLUMNS["of last"]] = (real == scene.last).any(1)
    every = np.bitwise_and.reduce(setting.bits[real], 1)
    found[:, COLUMNS["of group"]] = (every & GROUP) > 0
    found[:, COLUMNS["of named"]] = (every & NAMED) > 0
    found[:, HELD] = np.bitwise_and.reduce(setting.ends[real], 1)[:, None] >> _ENDS & 1
    _from_middles(found, real, there, setting)
    _gaze(found, start, scene, scene.aimed[0])
    found[:, COLUMNS["on the ground"]] = XYZ[start, 1] == 1
    touched = (setting.bits[start[:, None] + STEPS] & OCCUPIED).sum(1)
    found[:, COLUMNS["touches two"]] = touched == 2
    found[:, COLUMNS["touches three"]] = touched > 2
    if scene.last >= 0:
        found[:, BESIDE["last"]] = (start - scene.last)[:, None] == STEPS
    return found


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

    def within(self, where: Mask) -> "Rows":
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
