"""Words for any block and any cell of any structure: those of the simulators where they are clear, else longer ones that are."""

from __future__ import annotations

from collections.abc import Sequence

from harness.simulators.framework import Order
from harness.simulators.minecraft.figures import NEAR, Figure, difference, moved
from harness.simulators.minecraft.pieces import Piece
from harness.simulators.minecraft.relations import Cell, relation
from harness.simulators.minecraft.scene import Reference, Scene, references
from harness.simulators.minecraft.shape_words import Shape
from harness.simulators.minecraft.shape_words import order as shape_order
from harness.simulators.orders import (
    CENTER,
    about,
    board_place,
    builder_order,
    first_order,
    floating,
    hangs,
    near_reference,
    place_order,
    several_order,
)
from harness.worlds.minecraft import SIDE

_BY_BUILDER = 0.3
"""How often a cell is told from the builder on where it can be."""


def picked_out(scene: Scene, cell: Cell) -> Reference:
    """A block in words that are true of it alone: of its own, by its place from another block, or from the grid's middle."""
    if candidates := list(references(scene, cell)):
        return scene.rng.choice(candidates)
    anchor = _anchor(scene, cell)
    where = from_middle(scene, cell) if anchor is None else _from(scene, anchor, cell)
    return Reference(cell, "place", scene.voice.draw("the block at", color=scene.blocks[cell], where=where))


def _anchor(scene: Scene, cell: Cell) -> Reference | None:
    """The nearest other block that has words of its own."""
    others = (other for other in scene.blocks if other != cell)
    for other in sorted(others, key=lambda other: (sum(map(abs, difference(other, cell))), other)):
        if candidates := list(references(scene, other)):
            return scene.rng.choice(candidates)
    return None


def _from(scene: Scene, it: Reference, cell: Cell) -> str:
    return scene.voice.where(relation(it.cell, cell, scene.pose.quarter), it.text, diagonal=False)


def from_middle(scene: Scene, cell: Cell) -> str:
    """Where a cell is from the middle of the grid, and on which level."""
    voice, seen = scene.voice, relation(CENTER, (cell[0], CENTER[1], cell[2]), scene.pose.quarter)
    flat = voice.where(seen, voice.draw("middle"), diagonal=False) if seen.axes else f"in {voice.draw('middle')}"
    return f"{flat}, {voice.draw('level', n=voice.number(cell[1]))}" if cell[1] > 1 else f"{flat}, on the ground"


def block_order(scene: Scene, cell: Cell, color: str) -> Order:
    """An order for a block, wherever it goes."""
    if not scene.blocks:
        if cell[1] == 1 and {abs(cell[0]), abs(cell[2])} <= {0, SIDE}:
            return first_order(scene, cell, color)
        text = scene.voice.draw("first", where=from_middle(scene, cell), what=scene.voice.blocks(1, color))
        return Order(text, None, None, {"frame": "first"})
    if scene.rng.random() < _BY_BUILDER and (order := builder_order(scene, cell, color)):
        return order
    if near := near_reference(scene, cell):
        return place_order(scene, cell, color, *near)
    if anchor := _anchor(scene, cell):
        return place_order(scene, cell, color, anchor, relation(anchor.cell, cell, scene.pose.quarter))
    text = scene.voice.draw("place", where=from_middle(scene, cell), what=scene.voice.blocks(1, color))
    return Order(floating(scene, text) if hangs(scene.blocks, [cell]) else text, None, None, {"frame": "middle"})


def said_at_once(scene: Scene, piece: Piece) -> tuple[tuple[Cell, str], ...]:
    """How much of a piece one order tells, given what stands: a whole figure, a run that goes on from a block, or one block."""
    cells = [cell for cell, _ in piece.blocks]
    if piece.figure and set(piece.figure.cells) == set(cells):
        return piece.blocks
    run = _going_on(scene, piece.blocks)
    return piece.blocks[:run] if run > 1 else piece.blocks[:1]


def _going_on(scene: Scene, blocks: Sequence[tuple[Cell, str]]) -> int:
    """How many of the first blocks continue, in one color, a straight line from a block that has words of its own."""
    if len(blocks) < 2 or (step := difference(blocks[0][0], blocks[1][0])) not in NEAR:
        return 1
    base = moved(blocks[0][0], step, -1)
    if base not in scene.blocks or not any(references(scene, base)):
        return 1
    alike = (n for n, (cell, color) in enumerate(blocks) if (cell, color) != (moved(blocks[0][0], step, n), blocks[0][1]))
    return next(alike, len(blocks))


def piece_order(scene: Scene, blocks: Sequence[tuple[Cell, str]], figure: Figure | None) -> Order:
    """An order for blocks that `said_at_once` gives."""
    if len(blocks) == 1:
        return block_order(scene, *blocks[0])
    color = blocks[0][1]
    if figure is None:
        cells = [cell for cell, _ in blocks]
        base = moved(cells[0], difference(cells[0], cells[1]), -1)
        return several_order(scene, picked_out(scene, base), cells, color)
    return figure_order(scene, figure, color)


def figure_order(scene: Scene, figure: Figure, color: str) -> Order:
    """A row, a diagonal or a plane as a whole."""
    start, anchor = figure.cells[0], _anchor(scene, figure.cells[0])
    if anchor:
        where, meta = _from(scene, anchor, start), about("shape", anchor)
    elif {abs(start[0]), abs(start[2])} <= {0, SIDE} and start[1] == 1:
        where, meta = board_place(scene, start), {"frame": "shape"}
    else:
        where, meta = from_middle(scene, start), {"frame": "shape"}
    ways = tuple(relation((0, 0, 0), step, scene.pose.quarter) for step in figure.directions)
    text = shape_order(scene.voice, Shape(figure.kind, figure.sizes, ways, color, where), None).text
    if hangs(scene.blocks, figure.cells):
        rests = any(not hangs(scene.blocks, [cell]) for cell in figure.cells)
        text = floating(scene, text, "no supports" if rests else "floating shape")
    return Order(text, None, None, meta)
