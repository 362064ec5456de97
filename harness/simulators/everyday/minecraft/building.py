"""A conversation with a block builder, and the places of things.

The builder stands in front of the middle of the ground and looks along +z: its left is +x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from random import Random
from typing import Any, NamedTuple

from harness.corpora.item import MinecraftItem, Turn, Utterance
from harness.simulators import Impossible
from harness.simulators.everyday.talk import Request, Revision, Talk, program
from harness.worlds.minecraft import FACING, SIDE, Action, Structure
from serialization.program import ast, minecraft
from serialization.program.figure import Cell
from serialization.program.literal import building_program
from serialization.program.machine import ProgramResult
from serialization.program.written import write

_SITES = 8
"""The number of attempts to find free ground."""


Site = tuple[str, int, int]
"""A piece of ground: its name ("" for anywhere), its leftmost x and its nearest z."""


class BuildingTalk(Talk):
    name = "minecraft"
    palette = {"red": 22, "blue": 20, "green": 17, "yellow": 16, "orange": 12, "purple": 13}
    lacking = ("black", "white")
    common = ("tower", "block", "wall", "row", "house", "cube", "table")
    standing = "all"
    speaker = "Architect"
    cell_of = attrgetter("cell")
    pose = FACING

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.state = Structure()
        piece = rng.choices(("block", "cube", "brick"), (88, 7, 5))[0]
        self.words = {"piece": piece, "pieces": f"{piece}s"}
        self.synonyms = {"block": (piece,), "blocks": (f"{piece}s",)}

    def item(self, name: str, text: str, history: tuple[Turn, ...], **fields: Any) -> MinecraftItem:
        return MinecraftItem(name, history=(*history, Utterance(self.speaker, text)), pose=FACING, **fields)

    def run(self, program: ast.Program) -> ProgramResult:
        return minecraft.run(program, minecraft.BuildingState(self.state, FACING, self.steps))

    def carry_out(self, actions: Sequence[Action]) -> None:
        self.state = self.state.apply(actions).structure
        colors = dict(self.colors)
        for action in actions:
            colors.pop(action.cell, None)
            if action.kind == "place" and action.color:
                colors[action.cell] = action.color
        self.colors = colors

    def restoring(self, state: Structure) -> str:
        wanted = {block[:3]: block.color for block in state.blocks()}
        gone = [cell for cell in sorted(self.colors) if wanted.get(cell) != self.colors[cell]]
        back = [cell for cell in sorted(wanted, key=lambda cell: (wanted[cell], cell)) if wanted[cell] != self.colors.get(cell)]
        actions = [Action("remove", None, *cell) for cell in gone] + [Action("place", wanted[cell], *cell) for cell in back]
        return write(building_program(actions)).replace("\n", "; ")

    def recolored(self, cells: str, color: str) -> str:
        return f"s={cells}; remove s; {color} s"

    def has_room(self, order: Request, changed: Sequence[Cell]) -> bool:
        """Whether all blocks of the order fit. A block in a filled cell is left out, so the program yields fewer actions."""
        if not super().has_room(order, changed):
            return False
        if not self.colors or "is(" in order.program or "step(" in order.program:
            return True
        return len(minecraft.run(program(order.program)).actions) == len(changed)

    def block_or_tower(self, n: int, color: str) -> str:
        return self.say("block", color=color) if n == 1 else self.say("tower", color=color, n=self.number(n))

    # --- places ---

    def site(self, width: int, depth: int = 1) -> Site:
        """A place for something `width` blocks to the right and `depth` away. Raises Impossible if no free ground is found."""
        taken = {(x, z) for x, _, z in self.colors}
        for _ in range(_SITES):
            name, x, z = self._drawn_site(width, depth)
            if taken.isdisjoint((x - k, z + j) for k in range(width) for j in range(depth)):
                return name, x, z
        raise Impossible

    def _drawn_site(self, width: int, depth: int) -> Site:
        rng, kind = self.rng, self.rng.random()
        left, near = width - 1 - SIDE, SIDE - depth + 1
        middle = (width - 1) // 2, -((depth - 1) // 2)
        if kind < 0.5:
            return "", rng.randint(max(left, -2), min(SIDE, 2 + width)), rng.randint(-3, max(-3, min(3, near)))
        if kind < 0.68:
            return "middle", *middle
        if kind < 0.8:
            x, z = middle
            sides = ("left", SIDE - 1, z), ("right", left + 1, z), ("far", x, near - 1), ("near", x, 1 - SIDE)
            name, x, z = rng.choice(sides)
            return name, max(left, x), min(near, z)
        side, way = rng.choice(("left", "right")), rng.choice(("far", "near"))
        return f"corner {way} {side}", SIDE if side == "left" else left, near if way == "far" else -SIDE

    def place(self, name: str) -> str:
        if name.startswith("corner"):
            return self.say(f"place {name.rpartition(' ')[0]}", side=name.rpartition(" ")[2])
        return self.say(f"place {name}") if name else ""


Plan = Callable[[int, int], str]
"""The program of a thing as a function of its leftmost x and its nearest z."""


class Other(NamedTuple):
    """A variant whose place is not known yet: its wording and its plan."""

    section: str
    plan: Plan
    kind: str = "size"
    slots: Mapping[str, str] = {}


def span(first: int, last: int) -> str:
    """A range of coordinates as a program writes it, from the smaller to the larger one."""
    first, last = min(first, last), max(first, last)
    return str(first) if first == last else f"{first}..{last}" if first < 0 or last < 0 else f"{first}-{last}"


def box(x: int, y: int, z: int, width: int, height: int, depth: int) -> str:
    """A box as a program writes it, from its left lower near cell to the right, up and away."""
    return f"{span(x, x - width + 1)},{span(y, y + height - 1)},{span(z, z + depth - 1)}"


def standing(x: int, z: int, n: int) -> str:
    """`n` blocks on top of each other on the ground, as a program writes them."""
    return f"{x},1,{z}" if n == 1 else f"tower({x},1,{z},{n})"


def build(
    b: BuildingTalk, kind: str, noun: str, what: str, plan: Plan, width: int, depth: int = 1, others: Sequence[Other] = ()
) -> Request:
    name, x, z = b.site(width, depth)
    variants = [Revision(other.section, other.plan(x, z), other.slots, other.kind) for other in others]
    moves = []
    for way, dx, dz in (("left", 1, 0), ("right", -1, 0), ("far", 0, 1), ("near", 0, -1)):
        k = b.some(1, 2, 2, 3)
        u, v = x + k * dx, z + k * dz
        if -SIDE + width - 1 <= u <= SIDE and -SIDE <= v <= SIDE + 1 - depth:
            moves.append(Revision(f"more {way}", plan(u, v), {"n": b.number(k), "s": "s" if k > 1 else ""}))
    if moves:
        variants.append(b.rng.choice(moves))
    text = b.ask("build", what, b.place(name))
    return Request(kind, text, plan(x, z), noun=noun, variants=variants, fresh=True)
