"""A simulated game in progress, how its Architect and Builder talk, and words that identify one of its blocks.

BAP v2, section 5.1.2: in the builder's view there are 6 relations along one axis, 12 along two, and 8 along three. In the
builder's frame, `left`, `up` and `away` count cells to the left, upward and away from the builder.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import numpy as np

from harness.corpora.item import Turn, Utterance
from harness.corpora.wording import NUMBERS, joined, phrase
from harness.simulators import frames
from harness.worlds.minecraft import CODES, FACES, SHAPE, SIDE, Action, Pose, Structure, in_region, turn

Cell = tuple[int, int, int]


class Relation(NamedTuple):
    """The cells from a reference to a target in the builder's frame; negative numbers are right, down, toward the builder."""

    left: int
    up: int
    away: int

    @property
    def axes(self) -> int:
        """The number of axes along which the two cells differ: 1, 2 or 3 (0 for the reference itself)."""
        return sum(bool(part) for part in self)

    def from_(self, cell: Cell, quarter: int) -> Cell:
        """The target for a reference cell and a builder's quarter turn (`Pose.quarter`). It may lie outside the region."""
        x, z = turn(self.left, self.away, quarter)
        return cell[0] + int(x), cell[1] + self.up, cell[2] + int(z)

    def parts(self) -> list[tuple[str, int]]:
        """The directions from the reference along the axes, as frames name them ("left", "up", ...), with numbers of cells."""
        names = ("left", "right"), ("up", "down"), ("behind", "front")
        return [(pair[n < 0], abs(n)) for pair, n in zip(names, self, strict=True) if n]


def relation(reference: Cell, target: Cell, quarter: int) -> Relation:
    """The relation that `Relation.from_` turns into `target`."""
    left, away = turn(target[0] - reference[0], target[2] - reference[2], -quarter)
    return Relation(int(left), target[1] - reference[1], int(away))


_NEAREST = tuple(itertools.starmap(Relation, itertools.product((-1, 0, 1), repeat=3)))
UNIT = {axes: tuple(way for way in _NEAREST if way.axes == axes) for axes in (1, 2, 3)}
"""The relations of distance 1 along each axis: 6, 12 and 8."""
NEAR: tuple[Cell, ...] = tuple(way for way in _NEAREST if way.axes in (1, 2))
"""Steps to the 18 cells that share a face or an edge."""

EYES = 1.62
"""The height of the eyes above the feet, in blocks."""
_DISTANCE = 2.5, 6.5
_SWAY = 30.0
"""The largest angle, in degrees, between the builder's gaze and the axis that defines left and right; under 45, so that this
axis is clear."""
_FARTHEST, _HIGHEST = 10.0, 8.0


def facing(rng: Random, focus: Sequence[Cell], blocks: Collection[Cell], quarter: int) -> Pose:
    """A pose from which the middle of the cells in `focus` is ahead in the direction of `quarter`.

    The pose keeps feet and head out of blocks, at most 10 blocks from the region's center along x and z, with the feet at
    height 1 (the ground) to 8.
    """
    x, y, z = (sum(cell[axis] for cell in focus) / len(focus) + 0.5 for axis in range(3))
    feet = 1.0 if y < 4 and rng.random() < 0.6 else min(_HIGHEST, max(1.0, y - EYES + rng.uniform(-1.0, 1.5)))
    yaw = 90.0 * quarter + rng.uniform(-_SWAY, _SWAY)
    ahead = -math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
    distance = rng.uniform(*_DISTANCE)
    while True:
        px, pz = x - ahead[0] * distance, z - ahead[1] * distance
        here = math.floor(px), math.floor(feet), math.floor(pz)
        if here not in blocks and (here[0], here[1] + 1, here[2]) not in blocks:
            break
        distance += 0.5
    px, pz = (min(_FARTHEST, max(-_FARTHEST, value)) for value in (px, pz))
    pitch = math.degrees(math.atan2(feet + EYES - y, distance)) + rng.uniform(-4.0, 4.0)
    # Recorded yaws are not wrapped, and some are below 0.
    yaw = yaw - 360.0 if yaw > 0 and rng.random() < 0.25 else yaw
    return Pose(round(px, 4), round(feet, 4), round(pz, 4), round(yaw, 4), round(min(90.0, max(-90.0, pitch)), 4))


def touching(cell: Cell) -> list[Cell]:
    """The cells of the region, at most six, that share a face with a cell."""
    around = ((cell[0] + dx, cell[1] + dy, cell[2] + dz) for dx, dy, dz in FACES)
    return [neighbor for neighbor in around if in_region(*neighbor)]


class Voice:
    """A pair's habits: the word for a block, digits or words, capitals and full stops."""

    def __init__(self, rng: Random, *names: str) -> None:
        self.rng = rng
        self.frames = frames("common", *names)
        self.block = rng.choices(("block", "brick", "cube"), (80, 13, 7))[0]
        self.digits = rng.random() < 0.5
        self.formal = rng.random() < 0.2
        self.capital = rng.random() < 0.15

    def draw(self, section: str, **slots: str) -> str:
        """One of a section's frames with its slots filled; {block} is the pair's word for a block."""
        return phrase(self.rng, self.frames[section], block=self.block, **slots)

    def sentence(self, text: str) -> str:
        """A whole message as this pair writes it, with or without a capital and a full stop."""
        if self.formal or self.capital:
            text = text[:1].upper() + text[1:]
        return f"{text}." if self.formal and not text.endswith((".", "!", "?")) else text

    def number(self, n: int) -> str:
        return str(n) if self.digits else NUMBERS[n]

    def blocks(self, count: int, color: str | None) -> str:
        """Some blocks of a color, or of an unnamed color (None)."""
        if count > 1:
            return f"{self.number(count)} {color or ''} {self.block}s"
        return self.draw("a block of a color", color=color) if color else f"a {self.block}"

    def where(self, relation: Relation, it: str, *, diagonal: bool = True) -> str:
        """A place relative to `it` in the builder's frame; "" leaves the reference out. `diagonal`: that word may be used."""
        # "Away from you" comes first, so that "from it" does not directly follow "from you".
        parts = sorted(relation.parts())
        of = "of" if it else "alone"
        if len(parts) == 1:
            name, n = parts[0]
            return self.draw(f"{name} {of}" if n == 1 else f"{name} far {of}", it=it, n=self.number(n))
        words = [self.draw(f"{name} part", n=self.number(n), s="s" if n > 1 else "") for name, n in parts]
        if diagonal and all(n == 1 for _, n in parts) and self.rng.random() < 0.5:
            words = [self.draw(f"{name} way") for name, _ in parts]
            return self.draw(f"diagonal {of}", it=it, ways=joined(words))
        return self.draw(f"parts {of}", it=it, parts=joined(words))

    def go(self, direction: Relation) -> str:
        """The direction from one block to the next: "to the left" or, along two axes, "left and up"."""
        return joined([self.draw(f"go {name}") for name, _ in sorted(direction.parts())])


class Reference(NamedTuple):
    """A block, the way in which words identify it, and these words. `kind`: "last", "color", "only", an extreme's name, ..."""

    cell: Cell
    kind: str
    text: str


ENDS = {
    "highest": (1, 1), "lowest": (1, -1), "leftmost": (0, 1), "rightmost": (0, -1), "nearest": (2, -1), "farthest": (2, 1),
}  # fmt: skip
"""For each extreme, the index into (left, up, away) in the builder's frame, and the sign of the extreme direction."""


@dataclass(slots=True)
class GameScene:
    """The state: blocks by cell, the builder's pose, the turns so far, and the cells of the last order in order."""

    rng: Random
    voice: Voice
    pose: Pose
    blocks: dict[Cell, str] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    last: tuple[Cell, ...] = ()

    def say(self, speaker: str, section: str) -> None:
        self.turns.append(Utterance(speaker, self.voice.sentence(self.voice.draw(section))))

    def face(self, cells: Sequence[Cell], actions: Sequence[Action], quarter: int) -> None:
        """Move the builder to where it sees some cells, outside all blocks, including those of its next actions."""
        self.pose = facing(self.rng, cells, {*self.blocks, *(action.cell for action in actions)}, quarter)

    def structure(self) -> Structure:
        cells = np.zeros(SHAPE, np.uint8)
        for (x, y, z), color in self.blocks.items():
            cells[x + SIDE, y - 1, z + SIDE] = CODES[color]
        cells.setflags(write=False)
        return Structure(cells)

    def carry_out(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            if action.kind == "place" and action.color:
                self.blocks[action.cell] = action.color
            else:
                del self.blocks[action.cell]

    def references(self, cell: Cell) -> Iterator[Reference]:
        """The unambiguous ways to identify one block, in words of the game's voice.

        They are: the block placed last (or the last of several), the only block, the only block of its color, or the only most
        extreme block of its color in one of the builder's directions.
        """
        voice, color = self.voice, self.blocks[cell]
        if self.last and self.last[-1] == cell:
            yield Reference(cell, "last", voice.draw("last" if len(self.last) == 1 else "last of several"))
        if len(self.blocks) == 1:
            yield Reference(cell, "only", voice.draw("only"))
        same = [other for other, its in self.blocks.items() if its == color]
        if len(same) == 1:
            yield Reference(cell, "color", voice.draw("of a color", color=color))
            return
        seen = {other: relation((0, 0, 0), other, self.pose.quarter) for other in same}
        others = [other for other in same if other != cell]
        for name, (axis, sign) in ENDS.items():
            if not all(sign * seen[other][axis] < sign * seen[cell][axis] for other in others):
                continue
            # Near and far must also hold in a straight line from the builder's eyes; otherwise the words are ambiguous.
            if axis != 2 or all(sign * sight(self.pose, other) < sign * sight(self.pose, cell) for other in others):
                yield Reference(cell, name, voice.draw(name, color=color))

    def picked(self, cell: Cell) -> Reference | None:
        """A random one of the ways to identify a block; None if there is none."""
        candidates = list(self.references(cell))
        return self.rng.choice(candidates) if candidates else None


def sight(pose: Pose, cell: Cell) -> float:
    """The distance from the builder's eyes to the middle of a cell."""
    return math.dist((pose.x, pose.y + EYES, pose.z), [part + 0.5 for part in cell])
