"""What is wrong with a builder's answer, and the words that put it right.

One thing at a time: a wrong color, a wrong place, something missing, a block too many; or all of it is undone. Carried out
literally, each correction brings the structure to the wanted one, or nearer to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from harness.simulators.minecraft.figures import PlacedFigure, difference, moved
from harness.simulators.minecraft.game import Goal, SpokenOrder
from harness.simulators.minecraft.orders import picked_out, piece_order, said_at_once
from harness.simulators.minecraft.pieces import StructurePiece
from harness.simulators.minecraft.relations import Cell, relation
from harness.simulators.minecraft.scene import GameScene
from harness.simulators.voice import Voice, relation_parts

Blocks = Mapping[Cell, str]

_FARTHEST = 3
"""How many cells along an axis a correction moves blocks."""
_SEVERAL = 2
"""More wrong blocks than this are not put right one by one: what was done last is undone."""


class StepInProgress(NamedTuple):
    """A step in progress."""

    begun: Blocks
    """What stood when it began."""
    wanted: tuple[tuple[Cell, str], ...]
    """The blocks that it places, in order."""
    end: Blocks
    """What should stand when it is done."""
    before: Blocks
    """What stood before the builder's last actions."""
    figure: PlacedFigure | None


class Correction(NamedTuple):
    goal: Goal
    order: SpokenOrder


def correction(scene: GameScene, step: StepInProgress) -> Correction:
    """What is said of a structure that is not the wanted one."""
    now, voice = scene.blocks, scene.voice
    extra = {cell: color for cell, color in now.items() if step.end.get(cell) != color}
    missing = {cell: color for cell, color in step.end.items() if now.get(cell) != color}
    if shift := _shift(scene, step):
        placed = tuple((moved(cell, shift), now[cell]) for cell in scene.last)
        words = "move it" if len(placed) == 1 else "move them"
        ways = _ways(voice, shift, scene.pose.quarter)
        return _correction(Goal(placed, scene.last), voice.draw(words, ways=ways), "place")
    recolored = [cell for cell in extra if cell in missing]
    right, was = set(missing.values()), set(extra.values())
    if set(recolored) == {*extra, *missing} == {*scene.last} and len(right) == len(was) == 1:
        words = "color it" if len(scene.last) == 1 else "color them"
        placed = tuple((cell, missing[cell]) for cell in scene.last)
        return _correction(Goal(placed, scene.last), voice.draw(words, color=right.pop(), was=was.pop()), "color")
    if len(extra) + len(missing) > _SEVERAL and extra and (goal := _undone(scene, step.before)):
        return _correction(goal, voice.draw("undo"), "undo")
    if recolored:
        return recoloring(scene, recolored[0], missing[recolored[0]], "color of")
    if extra:
        cell = min(extra, key=lambda one: (one not in scene.last, one))
        return _correction(Goal(removed=(cell,)), voice.draw("take away", it=picked_out(scene, cell).text), "extra")
    return _missing(scene, step, missing)


def recoloring(scene: GameScene, cell: Cell, color: str, section: str = "recolor") -> Correction:
    """A block of a wrong color takes another."""
    text = scene.voice.draw(section, it=picked_out(scene, cell).text, color=color)
    return _correction(Goal(((cell, color),), (cell,)), text, "color")


def _missing(scene: GameScene, step: StepInProgress, missing: Blocks) -> Correction:
    """The order again, or one for the part that is missing."""
    left = [(cell, color) for cell, color in step.wanted if cell in missing]
    # Blocks that the builder took away come first: others may be told by them.
    piece = StructurePiece(tuple(left), step.figure) if len(left) == len(missing) else StructurePiece(tuple(missing.items())[:1])
    blocks = said_at_once(scene, piece)
    figure = piece.figure if piece.figure and len(blocks) == len(piece.figure.cells) else None
    order = piece_order(scene, blocks, figure)
    fault = "nothing" if scene.blocks == step.before else "missing"
    section = "nothing" if fault == "nothing" else "again" if scene.blocks == step.begun else "missing"
    text = scene.voice.draw(section, order=order.text)
    return Correction(Goal(blocks), order._replace(text=text, meta=order.meta | {"fault": fault}, amends=True))


def _correction(goal: Goal, text: str, fault: str) -> Correction:
    return Correction(goal, SpokenOrder(text, None, None, {"fault": fault}, amends=True))


def _shift(scene: GameScene, step: StepInProgress) -> Cell | None:
    """The way by which the blocks that were placed last have to be moved, if that is all that is wrong."""
    now, last = scene.blocks, scene.last
    rest = {cell: color for cell, color in now.items() if cell not in last}
    lacking = {cell: color for cell, color in step.end.items() if rest.get(cell) != color}
    if not last or len(lacking) != len(last) or any(step.end.get(cell) != color for cell, color in rest.items()):
        return None
    shift = difference(min(last), min(lacking))
    fits = all(lacking.get(moved(cell, shift)) == now[cell] for cell in last)
    return shift if fits and any(shift) and max(map(abs, shift)) <= _FARTHEST else None


def _ways(voice: Voice, shift: Cell, quarter: int) -> str:
    """How far something has to be moved, as the builder sees it: "one further left and 2 higher"."""
    parts = sorted(relation_parts(relation((0, 0, 0), shift, quarter)))
    words = [voice.draw(f"{way} shift", n=voice.number(n), s="s" if n > 1 else "") for way, n in parts]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _undone(scene: GameScene, before: Blocks) -> Goal | None:
    """What takes back the builder's last actions; None if they changed nothing."""
    removed = tuple(cell for cell, color in scene.blocks.items() if before.get(cell) != color)
    placed = tuple((cell, color) for cell, color in before.items() if scene.blocks.get(cell) != color)
    return Goal(placed, removed) if removed or placed else None
