"""The simulated Architect of a live game, which describes a target piece by piece, checks the structure after each answer, and
corrects it.

A correction concerns one thing at a time: a wrong color, a wrong place, a missing block, an extra block; or it undoes the last
actions. Carried out literally, each correction leads to the wanted structure or closer to it.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from harness.corpora.item import Executed, MinecraftItem
from harness.corpora.wording import joined
from harness.simulators.live import LiveGame
from harness.simulators.minecraft.figures import PlacedFigure, StructurePiece, cells_of, difference, moved
from harness.simulators.minecraft.game import Goal, SpokenOrder, any_quarter, gold_actions, opening, speak
from harness.simulators.minecraft.orders import picked_out, piece_order, said_at_once
from harness.simulators.minecraft.scene import Cell, GameScene, Voice, relation
from harness.tasks.registry import task_of
from harness.worlds.minecraft import Action, Structure, in_region

_MOVES = 0.3
"""The probability that the builder turns before a new step."""
_PRAISE = 0.35
"""The probability that a new step begins with praise for the one before."""


class BuildingGame(LiveGame):
    """A game with one target. The builder starts with an empty region and moves to see the place before each message.

    The builder may choose where the structure stands, which scoring also allows: a structure begun elsewhere continues there.
    """

    target: Structure

    def __init__(
        self, name: str, split: str, target: Structure, pieces: Iterable[StructurePiece], rng: Random, patience: int, group: str
    ) -> None:
        super().__init__(name, patience)
        self.split, self.target, self.group = split, target, group
        self.task = task_of(name, "minecraft")
        self._pieces = deque(pieces)
        voice = Voice(rng, "blocks", *(["shapes"] if any(piece.figure for piece in self._pieces) else []), "corrections")
        self._scene = opening(rng, voice)
        self.dialogue = self._scene.turns
        self._step: StepInProgress | None = None
        self._turn_around = self._undone = False

    @property
    def built(self) -> Structure:
        return self._scene.structure()

    def _begin(self) -> MinecraftItem | None:
        scene = self._scene
        self._turn_around = scene.rng.random() < _MOVES
        while self._pieces:
            piece = self._pieces.popleft()
            left = tuple((cell, color) for cell, color in piece.blocks if scene.blocks.get(cell) != color)
            if not left:
                continue
            told = said_at_once(scene, StructurePiece(left, piece.figure))
            taken = next(((cell, color) for cell, color in left if cell in scene.blocks), None)
            goal = Goal((taken,), (taken[0],)) if taken else Goal(told.blocks)
            # Later steps describe the blocks that this step leaves out.
            placed = {cell for cell, _ in goal.placed}
            if rest := tuple(one for one in left if one[0] not in placed):
                self._pieces.appendleft(StructurePiece(rest))
            if (actions := gold_actions(scene, goal)) is None:
                continue
            self._face(goal, actions)
            order = recoloring(scene, *taken)[1] if taken else piece_order(scene, told)
            begun = dict(scene.blocks)
            end = {cell: color for cell, color in begun.items() if cell not in goal.removed} | dict(goal.placed)
            self._undone = False
            self._step = StepInProgress(begun, goal.placed, end, begun, told.figure)
            return self._item(order, actions, "order")
        scene.say("Architect", "done")
        return None

    def _correct(self) -> MinecraftItem | None:
        assert self._step is not None
        self._turn_around = False
        if self._undone:
            # After an undo, "the last one" would be a block that was only put back.
            self._scene.last = ()
        self._face(Goal(self._step.wanted), ())
        goal, order = correction(self._scene, self._step)
        self._undone = order.meta["fault"] == "undo"
        actions = gold_actions(self._scene, goal)
        return None if actions is None else self._item(order, actions, "correction")

    def _face(self, goal: Goal, actions: Sequence[Action]) -> None:
        scene = self._scene
        scene.face(goal.cells, actions, any_quarter(scene.rng) if self._turn_around else scene.pose.quarter)

    def _item(self, order: SpokenOrder, actions: tuple[Action, ...], kind: str) -> MinecraftItem:
        scene = self._scene
        goes_well = kind == "order" and self.turns > 0 and not self.left_wrong
        if goes_well and scene.rng.random() < _PRAISE:
            scene.say("Architect", "praise")
        speak(scene, order, lead=goes_well)
        name, before, meta = f"{self.name}/{self.turns + 1}", scene.structure(), {**order.meta, "kind": kind}
        states = before, scene.pose, actions, before.apply(actions).structure
        return MinecraftItem(name, self.split, tuple(scene.turns), *states, self.group, self.name, meta)

    def _carry_out(self, actions: Sequence[Action]) -> bool:
        scene, step = self._scene, self._step
        assert step is not None
        structure, done = scene.structure(), list[Action]()
        for action in actions:
            applied = structure.apply([action])
            structure = applied.structure
            done += [] if applied.ignored else [action]
        self._step = step._replace(before=dict(scene.blocks))
        scene.blocks = cells_of(structure)
        scene.turns.append(Executed(tuple(done), scene.pose))
        placed = dict.fromkeys(action.cell for action in reversed(done) if action.kind == "place")
        scene.last = tuple(cell for cell in reversed(placed) if cell in scene.blocks)
        return scene.blocks == step.end or self._begun_elsewhere(step)

    def _begun_elsewhere(self, step: "StepInProgress") -> bool:
        """Whether the first blocks are right except for their place; if the rest of the target fits there, it moves along."""
        now = self._scene.blocks
        if step.begun or len(now) != len(step.end) or not now:
            return False
        by = difference(min(step.end), min(now))
        here = {moved(cell, by): color for cell, color in step.end.items()}
        rest = [cell for piece in self._pieces for cell, _ in piece.blocks]
        if by[1] or here != now or not all(in_region(*moved(cell, by)) for cell in rest):
            return False
        self._pieces = deque(piece.moved(by) for piece in self._pieces)
        return True

    def _leave(self) -> None:
        self._step = None


Blocks = Mapping[Cell, str]

_FARTHEST = 3
"""A correction moves blocks by at most this many cells along an axis."""
_SEVERAL = 2
"""More wrong blocks than this are not corrected one by one: the last actions are undone."""


class StepInProgress(NamedTuple):
    begun: Blocks
    """The blocks at the beginning of the step."""
    wanted: tuple[tuple[Cell, str], ...]
    """The blocks that the step places, in order."""
    end: Blocks
    """The blocks at the end of the step, if it is done right."""
    before: Blocks
    """The blocks before the builder's last actions."""
    figure: PlacedFigure | None


Correction = tuple[Goal, SpokenOrder]


def correction(scene: GameScene, step: StepInProgress) -> Correction:
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
    """Gives a block of a wrong color the right one."""
    text = scene.voice.draw(section, it=picked_out(scene, cell).text, color=color)
    return _correction(Goal(((cell, color),), (cell,)), text, "color")


def _missing(scene: GameScene, step: StepInProgress, missing: Blocks) -> Correction:
    left = [(cell, color) for cell, color in step.wanted if cell in missing]
    # Blocks that the builder removed come first, because they may serve as references for others.
    piece = StructurePiece(tuple(left), step.figure) if len(left) == len(missing) else StructurePiece(tuple(missing.items())[:1])
    told = said_at_once(scene, piece)
    order = piece_order(scene, told)
    fault = "nothing" if scene.blocks == step.before else "missing"
    section = "nothing" if fault == "nothing" else "again" if scene.blocks == step.begun else "missing"
    text = scene.voice.draw(section, order=order.text)
    return Goal(told.blocks), order._replace(text=text, meta=order.meta | {"fault": fault})


def _correction(goal: Goal, text: str, fault: str) -> Correction:
    return goal, SpokenOrder(text, {"fault": fault})


def _shift(scene: GameScene, step: StepInProgress) -> Cell | None:
    """The step by which the blocks placed last must be moved, if that corrects everything; None otherwise."""
    now, last = scene.blocks, scene.last
    rest = {cell: color for cell, color in now.items() if cell not in last}
    lacking = {cell: color for cell, color in step.end.items() if rest.get(cell) != color}
    if not last or len(lacking) != len(last) or any(step.end.get(cell) != color for cell, color in rest.items()):
        return None
    shift = difference(min(last), min(lacking))
    fits = all(lacking.get(moved(cell, shift)) == now[cell] for cell in last)
    return shift if fits and any(shift) and max(map(abs, shift)) <= _FARTHEST else None


def _ways(voice: Voice, shift: Cell, quarter: int) -> str:
    """A shift in words, as the builder sees it: "one further left and 2 higher"."""
    parts = sorted(relation((0, 0, 0), shift, quarter).parts())
    words = [voice.draw(f"{way} shift", n=voice.number(n), s="s" if n > 1 else "") for way, n in parts]
    return joined(words)


def _undone(scene: GameScene, before: Blocks) -> Goal | None:
    """The goal that undoes the builder's last actions; None if they changed nothing."""
    removed = tuple(cell for cell, color in scene.blocks.items() if before.get(cell) != color)
    placed = tuple((cell, color) for cell, color in before.items() if scene.blocks.get(cell) != color)
    return Goal(placed, removed) if removed or placed else None
