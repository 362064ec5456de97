"""A simulated game in progress, how its Architect and Builder talk, and words that identify one of its blocks.

BAP v2, section 5.1.2: in the builder's view there are 6 relations along one axis, 12 along two, and 8 along three. In the
builder's frame, `left`, `up` and `away` count cells to the left, upward and away from the builder.
"""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from harness.corpora.item import Turn, Utterance
from harness.corpora.wording import NUMBERS, joined, phrase
from harness.simulators import frames
from harness.worlds.minecraft import Action, Pose, Structure, turn

Cell = tuple[int, int, int]

SMALL = 0.1
"""What BAP v2 calls a small probability and does not give: of an omission, an ellipsis, a confirmation."""


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
NEAR: tuple[Cell, ...] = (*UNIT[1], *UNIT[2])
"""Steps to the connected neighborhood (11.1): the 18 cells that share a face or an edge."""

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

    def blocks(self, count: int, color: str, floating: bool = False) -> str:
        """Some blocks of a color ("" leaves it out), which "float" if they need supports."""
        number, s = (self.number(count), "s") if count > 1 else ("a", "")
        return self.draw("blocks", number=number, floating="floating" if floating else "", color=color, s=s)

    def where(self, relation: Relation, it: str) -> str:
        """A place relative to `it` in the builder's frame; "" leaves the reference out."""
        of, (*others, (name, n)) = "of" if it else "alone", relation.parts()
        if not others and n == 1:
            return self.draw(f"{name} {of}", it=it)
        if it and len(others) == 1 and max(map(abs, relation)) == 1 and self.rng.random() < 0.5:
            return self.draw("diagonal of", it=it, ways=joined([self.draw(f"{way} way") for way, _ in relation.parts()]))
        words = [self.draw(f"{way} part", n=self.number(m), s="s" if m > 1 else "") for way, m in others]
        return joined([*words, self.draw(f"{name} far {of}", it=it, n=self.number(n), s="s" if n > 1 else "")])

    def go(self, direction: Relation) -> str:
        """The direction from one block to the next, with the builder as its anchor (5.1.3): "up and to the left of you"."""
        return joined([self.draw(f"go {name}") for name, _ in reversed(direction.parts())])


class Reference(NamedTuple):
    """A block, the way in which words identify it, and these words. `kind`: "last", "removed", "color", "leftmost",
    "second top leftmost", ..."""

    cell: Cell
    kind: str
    text: str


ENDS = {
    "highest": (1, 1), "lowest": (1, -1), "leftmost": (0, 1), "rightmost": (0, -1), "nearest": (2, -1), "farthest": (2, 1),
}  # fmt: skip
"""For each extreme, the index into (left, up, away) in the builder's frame, and the sign of the extreme direction."""
_NTH = ("", "second", "third")


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
        return Structure.of((*cell, color) for cell, color in self.blocks.items())

    def carry_out(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            if action.kind == "place" and action.color:
                self.blocks[action.cell] = action.color
            else:
                del self.blocks[action.cell]

    def reference(self, cell: Cell) -> Reference | None:
        """Words for a block by the priority of section 11.1: the last action's block, the only one of its color, or by its place
        among those of its color. None if it is none of these."""
        voice = self.voice
        if self.last and self.last[-1] == cell:
            kind = "last" if cell in self.blocks else "removed"
            return Reference(cell, kind, voice.draw(kind))
        color = self.blocks[cell]
        same = [other for other, its in self.blocks.items() if its == color]
        if len(same) == 1:
            return Reference(cell, "color", voice.draw("of a color", color=color))
        # The paper names "the leftmost red block, etc."; the leftmost of a layer and the second from the left are ours.
        top, bottom = ([one for one in same if one[1] == end(y for _, y, _ in same)] for end in (max, min))
        layers = ("", same), ("top", top), ("bottom", bottom)
        ways = [(self._rank(end, cell, cells), name != "", name, end) for name, cells in layers for end in ENDS if cell in cells]
        simplest = min(way[:2] for way in ways)
        rank, _, layer, end = self.rng.choice([way for way in ways if way[:2] == simplest])
        if rank >= len(_NTH):
            return None
        text = voice.draw(f"from {end}" if rank else end, color=f"{layer} {color}", nth=_NTH[rank])
        return Reference(cell, " ".join(filter(None, (_NTH[rank], layer, end))), text)

    def _rank(self, end: str, cell: Cell, cells: Sequence[Cell]) -> int:
        """How many of the cells come before one of them from an end; more than can be told if others are as far from it."""
        axis, sign = ENDS[end]
        far = {other: sign * relation(cell, other, self.pose.quarter)[axis] for other in cells}
        before = [other for other in cells if far[other] >= 0 and other != cell]
        clear = len({far[other] for other in before} - {0}) == len(before)
        if axis == 2:
            # Near and far must also hold in a straight line from the builder's eyes.
            own = sight(self.pose, cell)
            clear = clear and all((other in before) == (sign * (sight(self.pose, other) - own) > 0) for other in cells)
        return len(before) if clear else len(_NTH)


def sight(pose: Pose, cell: Cell) -> float:
    """The distance from the builder's eyes to the middle of a cell."""
    return math.dist((pose.x, pose.y + EYES, pose.z), [part + 0.5 for part in cell])
