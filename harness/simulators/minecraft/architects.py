"""The Architects of the three building games of BAP v2 (sections 5.2, 5.3 and 11). Distances are Manhattan distances.

Random blocks (D_r, 11.1): one block after another in the connected neighborhood of a block, or removed. Block structures (D_bs,
11.2): three shapes of one color each, described block by block, or several along a line. Shape structures (D_ss, 11.3): two rows,
diagonals or planes, each ordered as a whole.
"""

from collections.abc import Collection, Sequence
from itertools import chain
from random import Random

from harness.simulators.minecraft import orders
from harness.simulators.minecraft.figures import (
    KINDS,
    PlacedFigure,
    building_order,
    colors,
    compose,
    difference,
    distance,
    moved,
    starts,
)
from harness.simulators.minecraft.game import Goal, SpokenOrder
from harness.simulators.minecraft.scene import NEAR, Cell, GameScene
from harness.worlds.minecraft import COLORS, SIDE, Structure, in_region

_PLACEMENTS_FIRST = 4
_REMOVALS = 0.1
_LENGTH = 8, 20
"""The orders of a game: "a (bounded) random number", which the paper does not give."""
_GROUND = tuple((x, 1, z) for x in range(-SIDE, SIDE + 1) for z in range(-SIDE, SIDE + 1))


class RandomBlocks:
    frames = "blocks"

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        turns = rng.randint(*_LENGTH)
        self.removals = [n >= _PLACEMENTS_FIRST and rng.random() < _REMOVALS for n in range(turns)]
        self.done = 0

    def plan(self, scene: GameScene) -> Goal | None:
        if self.done == len(self.removals):
            return None
        if self.removals[self.done] and (removable := [cell for cell in scene.blocks if _stands({*scene.blocks} - {cell})]):
            return Goal(removed=(self.rng.choice(removable),))
        around = dict.fromkeys(moved(cell, step) for cell in scene.blocks for step in NEAR)
        candidates = [cell for cell in around if in_region(*cell) and cell not in scene.blocks]
        # The paper gives no weights: each candidate is as likely as any other.
        return Goal(((self.rng.choice(candidates or _GROUND), self.rng.choice(COLORS)),))

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        order: SpokenOrder | None = None
        if goal.removed:
            order = orders.remove_order(scene, goal.removed[0])
        elif not scene.blocks:
            order = orders.first_order(scene, goal.placed[0][1])
        elif it := orders.closest(scene, goal.placed[0][0]):
            order = orders.place_order(scene, it, [goal.placed[0][0]], goal.placed[0][1])
        self.done += order is not None
        return order


def _stands(cells: Collection[Cell]) -> bool:
    """Whether a structure is connected and has a block on the ground (5.2)."""
    left, todo = set(cells), [cell for cell in cells if cell[1] == 1][:1]
    while todo:
        here = todo.pop()
        near = [cell for step in NEAR if (cell := moved(here, step)) in left]
        left.difference_update(near, [here])
        todo += near
    return bool(cells) and not left


class BlockStructures:
    frames = "blocks"

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.figures = compose(rng, [rng.choice(KINDS) for _ in range(3)])
        of_figures = zip(self.figures, colors(rng, self.figures), strict=True)
        self.color = {cell: color for figure, color in of_figures for cell in figure.cells}
        self.target = Structure.of((*cell, color) for cell, color in self.color.items())
        self.reference: Cell | None = None

    def plan(self, scene: GameScene) -> Goal | None:
        left = [[cell for cell in figure.cells if cell not in scene.blocks] for figure in self.figures]
        begun = [cells for cells, figure in zip(left, self.figures, strict=True) if 0 < len(cells) < len(figure.cells)]
        candidates = begun[0] if begun else list(chain.from_iterable(left))
        if not candidates:
            return None
        if not scene.blocks:
            return self._goal([self.rng.choice([cell for cell in candidates if cell[1] == 1])])
        cell = self._next(scene, candidates)
        it = orders.closest(scene, cell)
        self.reference = it and it.cell
        figure = next(figure for figure in self.figures if cell in figure.cells)
        return self._goal(_line(self.reference, cell, [other for other in figure.cells if other in candidates]))

    def _goal(self, cells: Sequence[Cell]) -> Goal:
        return Goal(tuple((cell, self.color[cell]) for cell in cells))

    def _next(self, scene: GameScene, candidates: Sequence[Cell]) -> Cell:
        """The next block, by the principles of section 11.2, whose heuristics the paper does not give.

        Connected to the structure; in the last block's neighborhood and color, by a face rather than an edge; with the longest
        line to place at once; without supports.
        """
        last = scene.last[-1]

        def cost(cell: Cell) -> tuple[float, ...]:
            apart = not any(moved(cell, step) in scene.blocks for step in NEAR)
            follows = difference(last, cell) in NEAR and self.color[cell] == self.color[last]
            far = distance(last, cell) if follows else len(NEAR)
            return apart, far, -len(_line(last, cell, candidates)), orders.hangs(scene.blocks, [cell]), self.rng.random()

        return min(candidates, key=cost)

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        cells, color = [cell for cell, _ in goal.placed], goal.placed[0][1]
        if self.reference is None:
            return orders.first_order(scene, color)
        it = scene.reference(self.reference)
        return it and orders.place_order(scene, it, cells, color)


def _line(reference: Cell | None, cell: Cell, left: Collection[Cell]) -> list[Cell]:
    """A block, and the longest sequence of others after it in the same direction from a neighboring reference block."""
    line = [cell]
    while reference and (step := difference(reference, cell)) in NEAR and (following := moved(line[-1], step)) in left:
        line.append(following)
    return line


_KINDS = ("row", "diagonal", "plane")


class ShapeStructures:
    frames = "shapes"

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        made = compose(rng, [rng.choice(_KINDS) for _ in range(2)])
        self.todo = list(zip(made, colors(rng, made), strict=True))
        self.target = Structure.of((*cell, color) for figure, color in self.todo for cell in figure.cells)

    def plan(self, scene: GameScene) -> Goal | None:
        if not self.todo:
            return None
        ready = [n for n, (figure, _) in enumerate(self.todo) if self._ready(scene, figure)]
        self.n = self.rng.choice(ready)
        figure, color = self.todo[self.n]
        self.next = self._from(scene, figure)
        return Goal(tuple((cell, color) for cell in building_order(self.rng, self.next)))

    def _ready(self, scene: GameScene, figure: PlacedFigure) -> bool:
        """Whether a shape can be the next: on the ground as the first, joined to the structure later on."""
        if not scene.blocks:
            return any(cell[1] == 1 for cell in figure.cells)
        return any(moved(cell, step) in scene.blocks for cell in figure.cells for step in NEAR)

    def _from(self, scene: GameScene, figure: PlacedFigure) -> PlacedFigure:
        """The shape from a bottom corner: the first shape's is the farthest from the others, later ones' the closest to the last
        block. The height of a wall is its second size, as in "3 long and 4 tall"."""
        ways = [way for way in starts(figure) if all(step[1] >= 0 for step in way.directions)]
        ways = [way for way in ways if way.kind != "plane" or not way.directions[0][1]]
        others = [cell for n, (other, _) in enumerate(self.todo) if n != self.n for cell in other.cells]

        def cost(way: PlacedFigure) -> tuple[float, ...]:
            start = way.cells[0]
            far = distance(start, scene.last[-1]) if scene.last else -min((distance(start, one) for one in others), default=0)
            return far, self.rng.random()

        return min(ways, key=cost)

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        it = scene.reference(scene.last[-1]) if scene.last else None
        order = orders.figure_order(scene, self.next, goal.placed[0][1], it)
        self.todo.pop(self.n)
        return order
