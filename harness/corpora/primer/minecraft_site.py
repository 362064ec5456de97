"""A building game in the making: what the primer's Architect knows of the structure, of the builder and of what was said.

Directions are the builder's own at the time: right, up and away from the builder, turned into the world by the pose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from harness.corpora.item import Utterance
from harness.corpora.primer.minecraft_words import EXTREMES, RELATIONS, Voice
from harness.worlds.minecraft import COLORS, SIDE, Action, Pose, Structure, turn

Cell = tuple[int, int, int]
# (right, up, away) of one step in each direction, and how often dialogues use it.
DIRECTIONS = {
    "right": (1, 0, 0), "left": (-1, 0, 0), "top": (0, 1, 0), "below": (0, -1, 0), "front": (0, 0, -1), "behind": (0, 0, 1),
}  # fmt: skip
_SHARES = (20, 18, 34, 8, 14, 9)
ACROSS = ("right", "left", "front", "behind")


@dataclass(frozen=True, slots=True)
class Order:
    """A builder's turn: what is said by whom, the actions, and the cells of the figure it built (none for a removal)."""

    frame: str
    lines: tuple[Utterance, ...]
    actions: tuple[Action, ...]
    figure: tuple[Cell, ...] = ()


@dataclass(slots=True)
class Site:
    """A game in the making: its voice, the structure, the builder's pose and the figure built last, in order."""

    rng: Random
    voice: Voice
    pose: Pose
    structure: Structure = field(default_factory=Structure)
    figure: tuple[Cell, ...] = ()

    def at(self, cell: Cell, right: int = 0, up: int = 0, away: int = 0) -> Cell:
        """The cell some steps from another in the builder's directions; it may lie outside the region."""
        x, z = turn(-right, away, self.pose.quarter)
        return cell[0] + int(x), cell[1] + up, cell[2] + int(z)

    def beside(self, cell: Cell, direction: str, count: int = 1) -> Cell:
        right, up, away = DIRECTIONS[direction]
        return self.at(cell, count * right, count * up, count * away)

    def seen(self, cell: Cell) -> Cell:
        """A cell as (right, up, away) from the builder's direction of view."""
        x, z = turn(cell[0], cell[2], -self.pose.quarter)
        return int(-x), cell[1], int(z)

    def color(self, *others: str) -> str:
        return self.rng.choice([color for color in COLORS if color not in others])

    def direction(self) -> str:
        return self.rng.choices(tuple(DIRECTIONS), _SHARES)[0]

    def of_color(self, color: str) -> list[Cell]:
        return [block[:3] for block in self.structure.blocks() if block.color == color]

    def reference(self) -> tuple[Cell, str] | None:
        """A block that is there and words that name it alone."""
        rng, voice = self.rng, self.voice
        if len(self.figure) == 1 and rng.random() < 0.6:
            return self.figure[0], voice.draw(
                f"[it|that|that one|that {voice.block}|the last {voice.block}|the {voice.block} you just placed]"
            )
        present = sorted({block.color for block in self.structure.blocks()})
        if not present:
            return None
        color = rng.choice(present)
        cells = self.of_color(color)
        if len(cells) == 1:
            return cells[0], voice.draw(f"the {color} [{voice.block}|{voice.block}|one]")
        way = rng.choice(tuple(EXTREMES))
        axis, sign = next((i, d) for i, d in enumerate(DIRECTIONS[way]) if d)
        furthest = max(sign * self.seen(cell)[axis] for cell in cells)
        found = [cell for cell in cells if sign * self.seen(cell)[axis] == furthest]
        if len(found) > 1:
            return None
        extreme = voice.draw(EXTREMES[way])
        if way in ("front", "behind"):
            return found[0], f"the {color} {voice.block} {extreme} {'to' if way == 'front' else 'from'} you"
        return found[0], f"the {extreme} {color} {voice.block}"

    def order(self, frame: str, figure: list[Cell], color: str, text: str, *answers: Utterance) -> Order:
        """An order that only places blocks of one color, in order."""
        actions = tuple(Action("place", color, *cell) for cell in figure)
        return Order(frame, (Utterance("Architect", text), *answers), actions, tuple(figure))

    def anchor(self, ground: str = "on the ground") -> tuple[Cell, str]:
        """A cell on the ground and words for it: the center, a corner or an edge, or some spaces from a block."""
        rng, voice, kind = self.rng, self.voice, self.rng.random()
        if len(self.structure) and kind < 0.85:
            found, way, k = self.reference(), rng.choice(ACROSS), rng.randint(2, 3)
            if found:
                x, _, z = self.beside(found[0], way, k)
                spaces = f"leaving {voice.number(k - 1)} empty [{'space' if k == 2 else 'spaces'}|{voice.block}{'s' * (k > 2)}]"
                return (x, 1, z), voice.draw(f"{ground} {RELATIONS[way]}, {spaces} between", it=found[1])
        if kind < 0.7:
            return (0, 1, 0), voice.draw(
                "[in|at] the [center|middle] [of the grid|of the board|on the ground|]", "[near|towards] the [center|middle]"
            )
        side, depth = rng.choice((-1, 0, 1)), rng.choice((-1, 0, 1))
        cell = self.at((0, 1, 0), SIDE * side, 0, SIDE * depth)
        across = {-1: "left", 0: "", 1: "right"}[side]
        along = {-1: "[closest to|nearest to] you", 0: "", 1: "[farthest|furthest] from you"}[depth]
        if not side and not depth:
            return cell, voice.draw("[anywhere|wherever you like|anywhere you want]")
        if side and depth:
            return cell, voice.draw(f"in the {across} corner {along}")
        return cell, voice.draw(f"in the middle of the {across} edge {along}")
