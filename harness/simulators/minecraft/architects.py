"""The Architects of the three building games of BAP v2 (section 11).

Random blocks (D_r, 11.1): no shape, one block after another, each near an existing one. The first four actions place a block;
after that, one in ten removes one. A new block shares a face or an edge with an existing block (one of 18 cells), so the
structure stays connected in this sense.

Block structures (D_bs, 11.2): three elementary shapes, described block by block and never named. The Architect continues the
current figure, if possible in a straight line from the last block; a new figure starts with its block nearest to the structure.
One message may describe several blocks along a line. We chose the shares of such messages and of the Architect's mistakes, which
the Architect then has removed, and one color for each figure.

Shape structures (D_ss, 11.3): two rows, diagonals or planes, each ordered as a whole in one message. An order gives the color,
the sizes, the place of the first cell and the direction of the shape from there, as the builder sees it. Some orders leave out a
part, for which the builder asks. We chose their share.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from harness.simulators.minecraft import orders
from harness.simulators.minecraft.figures import KINDS, PlacedFigure, colors, compose, difference, moved, starts
from harness.simulators.minecraft.game import Goal, SpokenOrder
from harness.simulators.minecraft.orders import hangs
from harness.simulators.minecraft.scene import NEAR, UNIT, Cell, GameScene, Reference, Relation, relation, sight, touching
from harness.worlds.minecraft import COLORS, Structure, in_region

_PLACEMENTS_FIRST = 4
_REMOVALS = 0.1
_LENGTH = 8, 20
_NEAR = (*UNIT[1], *UNIT[2])


class RandomBlocks:
    frames = "random"

    def __init__(self, rng: Random, turns: int | None = None) -> None:
        self.rng = rng
        self.left = turns or rng.randint(*_LENGTH)
        self.done = 0

    def plan(self, scene: GameScene) -> Goal | None:
        if self.done >= self.left:
            return None
        if not scene.blocks:
            return Goal(((orders.first_cell(self.rng), self.rng.choice(COLORS)),))
        if self.done >= _PLACEMENTS_FIRST and self.rng.random() < _REMOVALS:
            cell = self.rng.choice(list(scene.blocks))
            if len(scene.blocks) > 1 and not _needed(scene, cell):
                return Goal(removed=(cell,))
        rng, cells = self.rng, list(scene.blocks)
        while True:
            base = scene.last[-1] if scene.last and scene.last[-1] in scene.blocks and rng.random() < 0.6 else rng.choice(cells)
            cell = moved(base, rng.choice(_NEAR))
            if in_region(*cell) and cell not in scene.blocks:
                return Goal(((cell, rng.choice(COLORS)),))

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        order: SpokenOrder | None = None
        if not scene.blocks:
            order = orders.first_order(scene, *goal.placed[0])
        elif not goal.removed:
            order = orders.builder_order(scene, *goal.placed[0]) or orders.near_order(scene, *goal.placed[0])
        elif it := scene.picked(goal.removed[0]):
            order = SpokenOrder(scene.voice.draw("remove", it=it.text), orders.about("remove", it))
        self.done += order is not None
        return order


def _needed(scene: GameScene, cell: Cell) -> bool:
    """Whether removing the block would leave one of its neighbors above the ground without any neighbor."""
    return any(
        other in scene.blocks and other[1] > 1 and not any(n in scene.blocks for n in touching(other) if n != cell)
        for other in touching(cell)
    )


_SEVERAL = 0.6
_MISTAKES = 0.04
_ONE_MORE = 0.4
_APART = 3
"""The smallest squared distance of cells that share neither a face (1) nor an edge (2)."""


class BlockStructures:
    frames = "blocks"

    def __init__(self, rng: Random, figures: int = 3, longest: int | None = None) -> None:
        self.rng = rng
        self.start = orders.first_cell(rng)
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
        """A wrong block: the right color in a neighboring cell, or the right cell in another color."""
        around = [moved(cell, step) for step in NEAR]
        free = [other for other in around if in_region(*other) and other not in scene.blocks and other not in self.color]
        if free and self.rng.random() < 0.5:
            return self.rng.choice(free), self.color[cell]
        return cell, self.rng.choice([color for color in COLORS if color != self.color[cell]])

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        if goal.removed:
            it = next(scene.references(goal.removed[0]))
            return SpokenOrder(scene.voice.draw("mistake", it=it.text), orders.about("mistake", it), amends=True)
        if not scene.blocks:
            order = orders.first_order(scene, *goal.placed[0])
        elif len(goal.placed) == 1:
            order = self._one(scene, *goal.placed[0])
        elif candidates := self._references(scene, self.built[-1]):
            # The blocks continue in a line from the last correct block.
            cells, color = [cell for cell, _ in goal.placed], goal.placed[0][1]
            order = orders.several_order(scene, self.rng.choice(candidates), cells, color)
        else:
            return None
        if any(self.color.get(cell) != color for cell, color in goal.placed):
            order.meta["mistake"] = True
        else:
            self.built += [cell for cell, _ in goal.placed]
        return order

    def _one(self, scene: GameScene, cell: Cell, color: str) -> SpokenOrder:
        it, seen = orders.near_reference(scene, cell) or self._far_reference(scene, cell)
        if _corrected(scene):
            frame = "place instead"
        elif it.kind == "last" and scene.blocks[it.cell] == color and seen in UNIT[1] and self.rng.random() < _ONE_MORE:
            # Only for neighbors by a face, because "another one space up" would mislead.
            frame = "one more"
        else:
            return orders.place_order(scene, cell, color, it, seen)
        voice = scene.voice
        where = voice.where(seen, "" if orders.left_out(scene, it) else it.text)
        text = voice.draw(frame, where=where, color=color, what=orders.block_there(scene, color, where))
        floats = hangs(scene.blocks, [cell])
        meta = orders.about(frame, it) | {"relation": list(seen), "floats": floats}
        return SpokenOrder(orders.floating(scene, text) if floats else text, meta, amends=frame == "place instead")

    def _far_reference(self, scene: GameScene, cell: Cell) -> tuple[Reference, Relation]:
        """The nearest block that words can identify, and the cell's relation to it; the first block can always be identified."""
        for other in sorted(scene.blocks, key=lambda block: _apart(block, cell)):
            if candidates := list(self._references(scene, other)):
                return self.rng.choice(candidates), relation(other, cell, scene.pose.quarter)
        raise AssertionError("the first block is there from the first order on")

    def _references(self, scene: GameScene, cell: Cell) -> list[Reference]:
        first = [Reference(cell, "first", scene.voice.draw("first block"))] if cell == self.start else []
        return [*scene.references(cell), *first]


def _corrected(scene: GameScene) -> bool:
    """Whether the last order removed a wrong block."""
    return bool(scene.last) and scene.last[-1] not in scene.blocks


def _apart(a: Cell, b: Cell) -> int:
    x, y, z = difference(a, b)
    return x * x + y * y + z * z


_KINDS = ("row", "diagonal", "plane")
_OMITTED = 0.3
_ANY_START = 0.15
"""The share of shapes that start from any of their ends or corners instead of one near the structure."""


class ShapeStructures:
    frames = "shapes"

    def __init__(self, rng: Random, figures: int = 2, longest: int | None = None) -> None:
        self.rng = rng
        self.start = orders.first_cell(rng)
        target = compose(rng, [rng.choice(_KINDS) for _ in range(figures)], self.start, longest)
        self.todo = list(zip(target, colors(rng, target), strict=True))
        self.target = Structure.of((*cell, color) for figure, color in self.todo for cell in figure.cells)
        self.built: PlacedFigure | None = None

    def plan(self, scene: GameScene) -> Goal | None:
        if not self.todo:
            return None
        figure, color = self.todo[0]
        self.next = self._from(figure)
        return Goal(tuple((cell, color) for cell in self.next.cells))

    def _from(self, figure: PlacedFigure) -> PlacedFigure:
        """The figure built from one of its ends or corners: mostly one near the last figure, and preferably not downward."""
        # The height of a wall comes second, as in "3 wide and 4 high".
        ways = [way for way in starts(figure) if figure.kind != "plane" or not way.directions[0][1]]
        if self.built is None:
            return self.rng.choice([way for way in ways if way.cells[0] == self.start])
        if self.rng.random() < _ANY_START:
            return self.rng.choice(ways)
        ends = self.built.ends()

        def cost(way: PlacedFigure) -> tuple[float, ...]:
            far = min(sum(map(abs, relation(end, way.cells[0], 0))) for end in ends)
            return far, any(step[1] < 0 for step in way.directions), self.rng.random()

        return min(ways, key=cost)

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        figure, color, start = self.next, goal.placed[0][1], self.next.cells[0]
        if (placed := self._placed(scene, start)) is None:
            return None
        where, meta = placed
        ways = orders.directions(scene, figure)
        omitted = self.rng.choice(orders.PARTS) if self.rng.random() < _OMITTED else None
        if omitted == "color" and color in where:
            omitted = None
        words = orders.shape_order(scene.voice, orders.Shape(figure.kind, figure.sizes, ways, color, where), omitted)
        text, answer = words.text, words.answer
        if floats := orders.hanging(scene, figure):
            # The answer mentions that the shape floats, so that the order reveals nothing about the part that it leaves out.
            if omitted in ("direction", "start") and answer:
                answer = orders.floating(scene, answer, floats)
            else:
                text = orders.floating(scene, text, floats)
        meta |= {"shape": figure.kind, "sizes": list(figure.sizes), "directions": [list(way) for way in ways]}
        meta |= {"start": list(start), "floats": bool(floats)} | ({"omitted": omitted} if omitted else {})
        self.built = figure
        self.todo.pop(0)
        return SpokenOrder(text, meta, words.question, answer)

    def _placed(self, scene: GameScene, cell: Cell) -> tuple[str, dict[str, Any]] | None:
        """The place of a shape's first cell: on the ground, or by its relation to a mark of the previous shape."""
        quarter = scene.pose.quarter
        if self.built is None:
            return orders.board_place(scene, cell), {"frame": "shape", "location": list(relation(orders.CENTER, cell, quarter))}
        around = [(mark, relation(mark, cell, quarter)) for mark in _marks(self.built)]
        self.rng.shuffle(around)
        around.sort(key=lambda pair: 0 if orders.is_near(pair[1]) else sum(map(abs, pair[1])))
        for mark, seen in around:
            if candidates := list(_references(scene, self.built, mark)):
                it = self.rng.choice(candidates)
                return scene.voice.where(seen, it.text, diagonal=False), orders.about("shape", it) | {"relation": list(seen)}
        return None


def _marks(figure: PlacedFigure) -> list[Cell]:
    """The ends of a row or diagonal and its middle, if it has one; the corners of a plane."""
    middle = [figure.cells[figure.sizes[0] // 2]] if figure.kind != "plane" and figure.sizes[0] % 2 else []
    return [*figure.ends(), *middle]


def _references(scene: GameScene, figure: PlacedFigure, mark: Cell) -> Iterator[Reference]:
    """The ways to identify a mark of the figure: like any block, or by its position in the figure."""
    # A builder may build a plane in another order, so its last block is not certain.
    yield from (it for it in scene.references(mark) if it.kind != "last" or figure.kind != "plane")
    voice, color = scene.voice, scene.blocks[mark]
    upward = tuple(Relation(step[0], abs(step[1]), step[2]) for step in figure.directions)
    name = voice.draw(f"noun {orders.noun(figure.kind, upward)}", form=orders.form(figure.sizes))
    way = next((way for way in starts(figure) if way.cells[0] == mark), None)
    if way is None:
        yield Reference(mark, "middle", voice.draw("middle", color=color, noun=name))
        return
    ways = orders.directions(scene, way)
    if not _told_apart(scene, way, ways):
        return
    if figure.kind == "plane":
        text = voice.draw("corner of shape", corner=orders.corner(voice, ways, after=False), color=color, noun=name)
        yield Reference(mark, "corner", text)
    else:
        yield Reference(mark, "end", voice.draw(f"end {_end(ways[0])}", color=color, noun=name))


def _end(way: Relation) -> str:
    """The end from which a row or diagonal extends in direction `way`: by height, otherwise by side, otherwise by depth."""
    axis = (0, -way.up, 0) if way.up else (-way.left, 0, 0) if way.left else (0, 0, -way.away)
    return Relation(*axis).parts()[0][0]


def _told_apart(scene: GameScene, way: PlacedFigure, ways: tuple[Relation, ...]) -> bool:
    """Whether near and far, if they name the first cell, also hold in a straight line from the builder's eyes."""
    start = way.cells[0]
    for size, step, seen in zip(way.sizes, way.directions, ways, strict=True):
        other = moved(start, step, size - 1)
        by_depth = seen.away and (way.kind == "plane" or seen.axes == 1)
        if by_depth and (sight(scene.pose, start) < sight(scene.pose, other)) != (seen.away > 0):
            return False
    return True
