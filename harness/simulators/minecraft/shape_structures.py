"""Shape structures (D_ss of BAP v2, section 11.3): two rows, diagonals or planes, each ordered as a whole in one message.

An order says the color, the sizes, where the first cell goes and which way the shape goes on from there, as the builder sees
it. In some orders a part is left out, which the builder asks for. How many those are is our choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from harness.simulators.minecraft.figures import PlacedFigure, colors, compose, moved, starts
from harness.simulators.minecraft.game import Goal, SpokenOrder
from harness.simulators.minecraft.orders import CENTER, about, board_place, first_cell, floating, hangs, is_near
from harness.simulators.minecraft.relations import Cell, Relation, relation
from harness.simulators.minecraft.scene import GameScene, Reference, references, sight
from harness.simulators.minecraft.shape_words import PARTS, Shape, corner, form, noun, order
from harness.simulators.voice import relation_parts
from harness.worlds.minecraft import Structure

_KINDS = ("row", "diagonal", "plane")
_FIGURES = 2
_OMITTED = 0.3
_ANY_START = 0.15
"""How often a shape is built from any of its ends or corners, not from one near what is there."""


class ShapeStructures:
    """The Architect of one game."""

    frames = "shapes"

    def __init__(self, rng: Random, figures: int = _FIGURES, longest: int | None = None) -> None:
        self.rng = rng
        self.start = first_cell(rng)
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
        """The figure from one of its ends or corners on: mostly one that is near one of what is there, and not down."""
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
        placed = self._placed(scene, start)
        if placed is None:
            return None
        where, meta = placed
        ways = _ways(scene, figure)
        omitted = self.rng.choice(PARTS) if self.rng.random() < _OMITTED else None
        if omitted == "color" and color in where:
            omitted = None
        words = order(scene.voice, Shape(figure.kind, figure.sizes, ways, color, where), omitted)
        text, answer = words.text, words.answer
        if floats := hangs(scene.blocks, figure.cells):
            rests = any(not hangs(scene.blocks, [cell]) for cell in figure.cells)
            section = "no supports" if rests else "floating shape"
            # With the rest of the place, so that the order tells nothing of what it leaves out.
            if omitted in ("direction", "start") and answer:
                answer = floating(scene, answer, section)
            else:
                text = floating(scene, text, section)
        meta |= {"shape": figure.kind, "sizes": list(figure.sizes), "directions": [list(way) for way in ways]}
        meta |= {"start": list(start), "floats": floats} | ({"omitted": omitted} if omitted else {})
        self.built = figure
        self.todo.pop(0)
        return SpokenOrder(text, words.question, answer, meta)

    def _placed(self, scene: GameScene, cell: Cell) -> tuple[str, dict[str, Any]] | None:
        """Where a shape's first cell goes: on the board, or by its relation to a mark of the shape that is there."""
        quarter = scene.pose.quarter
        if self.built is None:
            return board_place(scene, cell), {"frame": "shape", "location": list(relation(CENTER, cell, quarter))}
        around = [(mark, relation(mark, cell, quarter)) for mark in _marks(self.built)]
        self.rng.shuffle(around)
        around.sort(key=lambda pair: 0 if is_near(pair[1]) else sum(map(abs, pair[1])))
        for mark, seen in around:
            if candidates := list(_references(scene, self.built, mark)):
                it = self.rng.choice(candidates)
                return scene.voice.where(seen, it.text, diagonal=False), about("shape", it) | {"relation": list(seen)}
        return None


def _marks(figure: PlacedFigure) -> list[Cell]:
    """The ends of a row or diagonal and its middle, if it has one; the corners of a plane."""
    middle = [figure.cells[figure.sizes[0] // 2]] if figure.kind != "plane" and figure.sizes[0] % 2 else []
    return [*figure.ends(), *middle]


def _references(scene: GameScene, figure: PlacedFigure, mark: Cell) -> Iterator[Reference]:
    """The ways to pick out a mark of the figure: as any block, or in words of the whole figure."""
    # Which block of a plane was placed last may be anything for a builder who built it another way.
    yield from (it for it in references(scene, mark) if it.kind != "last" or figure.kind != "plane")
    voice, color = scene.voice, scene.blocks[mark]
    upward = tuple(Relation(step[0], abs(step[1]), step[2]) for step in figure.directions)
    name = voice.draw(f"noun {noun(figure.kind, upward)}", form=form(figure.sizes))
    way = next((way for way in starts(figure) if way.cells[0] == mark), None)
    if way is None:
        yield Reference(mark, "middle", voice.draw("middle", color=color, noun=name))
        return
    ways = _ways(scene, way)
    if not _told_apart(scene, way, ways):
        return
    if figure.kind == "plane":
        text = voice.draw("corner of shape", corner=corner(voice, ways, after=False), color=color, noun=name)
        yield Reference(mark, "corner", text)
    else:
        yield Reference(mark, "end", voice.draw(f"end {_end(ways[0])}", color=color, noun=name))


def _ways(scene: GameScene, figure: PlacedFigure) -> tuple[Relation, ...]:
    """The figure's directions as the builder sees them."""
    return tuple(relation((0, 0, 0), step, scene.pose.quarter) for step in figure.directions)


def _end(way: Relation) -> str:
    """Which end of a row or diagonal it is that goes on in a way: by height, or else by side, or else by depth."""
    axis = (0, way.up, 0) if way.up else (way.left, 0, 0) if way.left else (0, 0, way.away)
    return relation_parts(Relation(*axis).times(-1))[0][0]


def _told_apart(scene: GameScene, way: PlacedFigure, ways: tuple[Relation, ...]) -> bool:
    """Whether near and far, where they name the first cell, are so in a straight line from the builder's eyes too."""
    start = way.cells[0]
    for size, step, seen in zip(way.sizes, way.directions, ways, strict=True):
        other = moved(start, step, size - 1)
        by_depth = seen.away and (way.kind == "plane" or seen.axes == 1)
        if by_depth and (sight(scene.pose, start) < sight(scene.pose, other)) != (seen.away > 0):
            return False
    return True
