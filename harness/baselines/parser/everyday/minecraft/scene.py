"""The blocks as the builder sees them, and what was done: coordinates are (right, up, away), so that left is always -x."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.worlds.minecraft import COLORS, SIDE, Action, Structure, in_region, touching, turn
from serialization.program.figure import Figure

Cell = tuple[int, int, int]
Cells = tuple[Cell, ...]

WAYS: dict[str, Cell] = {
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "front": (0, 0, -1),
    "behind": (0, 0, 1),
    "up": (0, 1, 0),
    "down": (0, -1, 0),
    "toward": (0, 0, -1),
    "away": (0, 0, 1),
    "sideways": (1, 0, 0),
}
TOWARD: dict[str, tuple[int, int]] = {
    "leftmost": (0, -1),
    "rightmost": (0, 1),
    "nearest": (2, -1),
    "farthest": (2, 1),
    "top": (1, 1),
    "bottom": (1, -1),
}
"""The axis along which a pick chooses, and whether it chooses the low (-1) or the high end (1)."""
SIDES = ("right", "left", "front", "behind")
_PAIRS = (("left", "right"), ("front", "behind"), ("up", "down"), ("on", "below"))
OPPOSITE = {way: other for pair in _PAIRS for way, other in (pair, pair[::-1])}
OF_SIDE = {"left": "leftmost", "right": "rightmost", "front": "nearest", "behind": "farthest", "up": "top", "down": "bottom"}
"""The pick for what lies on a side."""
SIDE_OF = {pick: side for side, pick in OF_SIDE.items()}


def seen(cell: Cell, quarter: int) -> Cell:
    """A cell of the world in the builder's coordinates."""
    x, z = turn(cell[0], cell[2], -quarter)
    return int(-x), cell[1], int(z)


def in_world(cell: Cell, quarter: int) -> Cell:
    x, z = turn(-cell[0], cell[2], quarter)
    return int(x), cell[1], int(z)


def moved(cell: Cell, way: Cell, count: int = 1) -> Cell:
    return cell[0] + way[0] * count, cell[1] + way[1] * count, cell[2] + way[2] * count


def with_value(cell: Cell, axis: int, value: int) -> Cell:
    """A cell with another coordinate on one axis."""
    x, y, z = (value if number == axis else old for number, old in enumerate(cell))
    return x, y, z


def fits(cells: Iterable[Cell]) -> bool:
    return all(in_region(*cell) for cell in cells)


def extent(cells: Collection[Cell]) -> tuple[Cell, Cell]:
    """The smallest and the largest coordinates; for no cells, those of the middle of the ground."""
    xs, ys, zs = zip(*(cells or ((0, 1, 0),)), strict=True)
    return (min(xs), min(ys), min(zs)), (max(xs), max(ys), max(zs))


def spans(cells: Collection[Cell]) -> Cell:
    """How wide, high and deep some cells are."""
    low, high = extent(cells)
    return high[0] - low[0] + 1, high[1] - low[1] + 1, high[2] - low[2] + 1


def box(low: Cell, high: Cell) -> Cells:
    return tuple(
        (x, y, z) for y in range(low[1], high[1] + 1) for z in range(low[2], high[2] + 1) for x in range(low[0], high[0] + 1)
    )


def together(groups: Iterable[Cells]) -> Cells:
    return tuple(cell for group in groups for cell in group)


def mirrored(cell: Cell, axis: int, total: int) -> Cell:
    """A cell with `total` minus its coordinate on one axis."""
    return with_value(cell, axis, total - cell[axis])


GROUND = box((-SIDE, 1, -SIDE), (SIDE, 1, SIDE))


def pieces(cells: Collection[Cell]) -> list[Cells]:
    """The pieces of the cells that are connected by faces."""
    return list(Figure.of(sorted(cells)).pieces(touching))


class Made(NamedTuple):
    """Something that was built, with the name that it was given."""

    word: str
    noun: str
    cells: Cells
    thing: Any = None
    """The `meaning.Thing` that it was built from, if it is a figure."""


@dataclass(slots=True)
class BuildingScene:
    blocks: dict[Cell, str] = field(default_factory=dict)
    focus: Cells = ()
    """What was built or mentioned last."""
    turn: Cells = ()
    """What was built in the last turn."""
    made: list[Made] = field(default_factory=list)
    removed: dict[Cell, str] = field(default_factory=dict)
    """What was removed last."""
    color: str = "red"
    """The color of the last block that was placed."""

    @classmethod
    def of(cls, structure: Structure, quarter: int) -> BuildingScene:
        return cls({seen(block[:3], quarter): block.color for block in structure.blocks()})

    def copy(self) -> BuildingScene:
        return BuildingScene(dict(self.blocks), self.focus, self.turn, list(self.made), dict(self.removed), self.color)

    def standing(self, cells: Iterable[Cell]) -> Cells:
        return tuple(cell for cell in cells if cell in self.blocks)

    def free(self, cells: Iterable[Cell]) -> bool:
        return not any(cell in self.blocks for cell in cells)

    def has_room(self, cells: Collection[Cell]) -> bool:
        """Whether all of the cells are free and lie in the region."""
        return fits(cells) and self.free(cells)

    def of_color(self, *colors: str) -> Cells:
        return tuple(sorted(cell for cell, color in self.blocks.items() if color in colors))

    def objects(self) -> list[Cells]:
        """What may be called one thing: connected blocks, of one color or of any, and what was built at once."""
        found = dict.fromkeys(piece for color in COLORS for piece in pieces(self.of_color(color)))
        found |= dict.fromkeys(pieces(self.blocks))
        found |= dict.fromkeys(tuple(sorted(cells)) for one in self.made if (cells := self.standing(one.cells)))
        return list(found)

    def newest(self, cells: Cells) -> int:
        """The number of the latest build that has some of the cells, from 1; 0 if none has."""
        return max((n for n, one in enumerate(self.made, start=1) if set(one.cells) & set(cells)), default=0)

    # --- changes ---

    def place(self, painted: dict[Cell, str]) -> None:
        """Places blocks in those cells of the region that are free."""
        new = {cell: color for cell, color in painted.items() if cell not in self.blocks and in_region(*cell)}
        self.blocks |= new
        if painted:
            self.focus = tuple(painted)
        if new:
            self.color = list(new.values())[-1]

    def remove(self, cells: Iterable[Cell]) -> None:
        gone = {cell: self.blocks[cell] for cell in cells if cell in self.blocks}
        for cell in gone:
            del self.blocks[cell]
        if gone:
            self.removed = gone

    def shift(self, cells: Iterable[Cell], step: Cell) -> None:
        """Moves blocks, and what was built of them with its name."""
        lifted = {cell: self.blocks.pop(cell) for cell in cells if cell in self.blocks}
        self.blocks |= {moved(cell, step): color for cell, color in lifted.items()}
        for number, one in enumerate(self.made):
            if (lifted and set(self.standing(one.cells)) <= set(lifted)) or set(one.cells) <= set(lifted):
                self.made[number] = one._replace(cells=tuple(moved(cell, step) for cell in one.cells))

    def recolor(self, painted: dict[Cell, str]) -> None:
        for cell, color in painted.items():
            if cell in self.blocks:
                self.blocks[cell] = color
        if painted:
            self.focus = tuple(painted)
            self.color = next(iter(painted.values()))


def placed_by(actions: Iterable[Action], quarter: int) -> dict[Cell, str]:
    """The blocks that some actions placed and did not remove again."""
    placed: dict[Cell, str] = {}
    for action in actions:
        cell = seen(action.cell, quarter)
        if action.kind == "place" and action.color:
            placed[cell] = action.color
        else:
            placed.pop(cell, None)
    return placed
