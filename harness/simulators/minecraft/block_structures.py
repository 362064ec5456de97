"""Block structures (D_bs of BAP v2, section 11.2): three elementary shapes, told block by block and never named.

The Architect continues the current figure, if possible straight on from the last block; a new figure starts at
its block nearest to what is there. Several blocks along one line may be told at once. How often that is, and how often the
Architect says something wrong and has it removed, is our choice, as is one color for each figure.
"""

from __future__ import annotations

from random import Random

from harness.simulators.minecraft.figures import KINDS, NEAR, PlacedFigure, colors, compose, difference, moved
from harness.simulators.minecraft.game import Goal, SpokenOrder
from harness.simulators.minecraft.orders import (
    about,
    block_there,
    first_cell,
    first_order,
    floating,
    hangs,
    left_out,
    near_reference,
    place_order,
    several_order,
)
from harness.simulators.minecraft.relations import UNIT, Cell, Relation, relation
from harness.simulators.minecraft.scene import GameScene, Reference, references
from harness.worlds.minecraft import COLORS, Structure, in_region

_FIGURES = 3
_SEVERAL = 0.6
_MISTAKES = 0.04
_ONE_MORE = 0.4
_APART = 3
"""Smallest squared distance of cells that share neither a face (1) nor an edge (2)."""


class BlockStructures:
    """The Architect of one game."""

    frames = "blocks"

    def __init__(self, rng: Random, figures: int = _FIGURES, longest: int | None = None) -> None:
        self.rng = rng
        self.start = first_cell(rng)
        self.figures = compose(rng, [rng.choice(KINDS) for _ in range(figures)], self.start, longest)
        of_figures = zip(self.figures, colors(rng, self.figures), strict=True)
        self.color = {cell: color for figure, color in of_figures for cell in figure.cells}
        self.target = Structure.of((*cell, color) for cell, color in self.color.items())
        self.built: list[Cell] = []

    def plan(self, scene: GameScene) -> Goal | None:
        wrong = tuple(cell for cell, color in scene.blocks.items() if self.color.get(cell) != color)
        if wrong:
            return Goal(removed=wrong)
        run = self._run(scene) if scene.blocks else [self.start]
        if _corrected(scene):
            run = run[:1]
        elif len(self.built) > 1 and len(run) == 1 and self.rng.random() < _MISTAKES:
            return Goal((self._mistake(scene, run[0]),))
        return Goal(tuple((cell, self.color[cell]) for cell in run)) if run else None

    def _run(self, scene: GameScene) -> list[Cell]:
        """The next block, and perhaps more of its figure in the same direction; [] at the end."""
        figure = self._figure(scene)
        if figure is None:
            return []
        left = [cell for cell in figure.cells if cell not in scene.blocks]
        run = [self._next(scene, figure, left)]
        step = difference(self.built[-1], run[0])
        while step in NEAR and (cell := moved(run[-1], step)) in left:
            run.append(cell)
        axes = sum(map(abs, step))
        if len(run) == 1 or axes > (2 if figure.kind == "diagonal" else 1) or self.rng.random() > _SEVERAL:
            return run[:1]
        return run if self.rng.random() < 0.6 else run[: self.rng.randint(2, len(run))]

    def _figure(self, scene: GameScene) -> PlacedFigure | None:
        """The current figure, or the one nearest to the existing blocks."""
        left = [figure for figure in self.figures if any(cell not in scene.blocks for cell in figure.cells)]
        begun = [figure for figure in left if any(cell in scene.blocks for cell in figure.cells)]
        nearest = [min(_apart(cell, other) for cell in figure.cells for other in scene.blocks) for figure in left if not begun]
        return begun[0] if begun else left[nearest.index(min(nearest))] if left else None

    def _next(self, scene: GameScene, figure: PlacedFigure, left: list[Cell]) -> Cell:
        blocks, last = scene.blocks, self.built[-1]
        there = [cell for cell in figure.cells if cell in blocks]
        if not there:
            return min(left, key=lambda cell: (min(_apart(cell, b) for b in blocks), _apart(cell, last), self.rng.random()))
        straight = moved(last, difference(self.built[-2], last)) if len(self.built) > 1 else None

        def cost(cell: Cell) -> tuple[float, ...]:
            after_last = min(_apart(cell, last), _APART)
            return after_last, min(_apart(cell, b) for b in there), cell != straight, hangs(blocks, [cell]), self.rng.random()

        return min(left, key=cost)

    def _mistake(self, scene: GameScene, cell: Cell) -> tuple[Cell, str]:
        """Another color, or another place near that which is meant."""
        around = [moved(cell, step) for step in NEAR]
        free = [other for other in around if in_region(*other) and other not in scene.blocks and other not in self.color]
        if free and self.rng.random() < 0.5:
            return self.rng.choice(free), self.color[cell]
        return cell, self.rng.choice([color for color in COLORS if color != self.color[cell]])

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        if goal.removed:
            return self._remove(scene, goal.removed[0])
        if not scene.blocks:
            order: SpokenOrder | None = first_order(scene, *goal.placed[0])
        elif len(goal.placed) > 1:
            order = self._several(scene, [cell for cell, _ in goal.placed], goal.placed[0][1])
        else:
            order = self._one(scene, *goal.placed[0])
        if order is None:
            return None
        if any(self.color.get(cell) != color for cell, color in goal.placed):
            order.meta["mistake"] = True
        else:
            self.built += [cell for cell, _ in goal.placed]
        return order

    def _remove(self, scene: GameScene, cell: Cell) -> SpokenOrder:
        it = next(references(scene, cell))
        return SpokenOrder(scene.voice.draw("mistake", it=it.text), None, None, about("mistake", it), amends=True)

    def _one(self, scene: GameScene, cell: Cell, color: str) -> SpokenOrder:
        it, seen = near_reference(scene, cell) or self._far_reference(scene, cell)
        if _corrected(scene):
            frame = "place instead"
        elif it.kind == "last" and scene.blocks[it.cell] == color and seen in UNIT[1] and self.rng.random() < _ONE_MORE:
            # Only next to it: "another one space up" would mislead.
            frame = "one more"
        else:
            return place_order(scene, cell, color, it, seen)
        voice = scene.voice
        where = voice.where(seen, "" if left_out(scene, it) else it.text)
        text = voice.draw(frame, where=where, color=color, what=block_there(scene, color, where))
        floats = hangs(scene.blocks, [cell])
        meta = about(frame, it) | {"relation": list(seen), "floats": floats}
        return SpokenOrder(floating(scene, text) if floats else text, None, None, meta, amends=frame == "place instead")

    def _far_reference(self, scene: GameScene, cell: Cell) -> tuple[Reference, Relation]:
        """The nearest block that can be picked out; the first one always can."""
        for other in sorted(scene.blocks, key=lambda block: _apart(block, cell)):
            if candidates := list(self._references(scene, other)):
                return self.rng.choice(candidates), relation(other, cell, scene.pose.quarter)
        raise AssertionError("the first block is there from the first order on")

    def _references(self, scene: GameScene, cell: Cell) -> list[Reference]:
        first = [Reference(cell, "first", scene.voice.draw("first block"))] if cell == self.start else []
        return [*references(scene, cell), *first]

    def _several(self, scene: GameScene, cells: list[Cell], color: str) -> SpokenOrder | None:
        """Blocks in a line from the last right one on."""
        candidates = self._references(scene, self.built[-1])
        if not candidates:
            return None
        return several_order(scene, self.rng.choice(candidates), cells, color)


def _corrected(scene: GameScene) -> bool:
    """Whether the last thing done was to remove a wrong block."""
    return bool(scene.last) and scene.last[-1] not in scene.blocks


def _apart(a: Cell, b: Cell) -> int:
    x, y, z = difference(a, b)
    return x * x + y * y + z * z
