"""The simulated Architect of a live game: tells a target piece by piece, and looks after each answer at what stands there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from random import Random

from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.simulators.live import LiveGame, Manner
from harness.simulators.minecraft.corrections import StepInProgress, correction, recoloring
from harness.simulators.minecraft.figures import difference, moved
from harness.simulators.minecraft.game import QUARTERS, Goal, SpokenOrder, gold_actions, opening, speak
from harness.simulators.minecraft.orders import piece_order, said_at_once
from harness.simulators.minecraft.pieces import StructurePiece, cells_of
from harness.simulators.minecraft.relations import facing
from harness.simulators.minecraft.scene import GameScene
from harness.simulators.voice import Voice
from harness.tasks import task_of
from harness.worlds.minecraft import Action, Structure, in_region

_MOVES = 0.3
"""How often the builder turns before a new step."""


class BuildingGame(LiveGame):
    """A game with one target. The builder has an empty region, and moves to where it sees the place before each message.

    Where the structure stands is up to the builder, as it is when its end is scored: what was begun elsewhere goes on there.
    """

    target: Structure

    def __init__(
        self, name: str, split: str, target: Structure, pieces: Iterable[StructurePiece], rng: Random, manner: Manner, group: str
    ) -> None:
        super().__init__(name, manner)
        self.split, self.target, self.group = split, target, group
        self.task = task_of(name, "minecraft")
        self._pieces = deque(pieces)
        voice = Voice(rng, "blocks", *(["shapes"] if any(piece.figure for piece in self._pieces) else []), "corrections")
        self._scene = GameScene(rng, voice, facing(rng, [(0, 1, 0)], {}, rng.choices(range(4), QUARTERS)[0]))
        self._scene.turns += opening(voice, rng)
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
            blocks = said_at_once(scene, StructurePiece(left, piece.figure))
            figure = piece.figure if piece.figure and len(blocks) == len(piece.figure.cells) else None
            taken = next(((cell, color) for cell, color in left if cell in scene.blocks), None)
            goal = Goal((taken,), (taken[0],)) if taken else Goal(blocks)
            # What this step does not tell is told by later ones.
            placed = {cell for cell, _ in goal.placed}
            if rest := tuple(one for one in left if one[0] not in placed):
                self._pieces.appendleft(StructurePiece(rest))
            if (actions := gold_actions(scene, goal)) is None:
                continue
            self._face(goal, actions)
            order = recoloring(scene, *taken).order if taken else piece_order(scene, blocks, figure)
            begun = dict(scene.blocks)
            self._undone = False
            self._step = StepInProgress(begun, goal.placed, _after(begun, goal), begun, figure)
            return self._item(order._replace(amends=bool(self.left_wrong)), actions, "order")
        scene.turns.append(Utterance("Architect", scene.voice.sentence(scene.voice.draw("done"))))
        return None

    def _correct(self) -> MinecraftItem | None:
        assert self._step is not None
        self._turn_around = False
        if self._undone:
            # "The last one" would be a block that was only put back.
            self._scene.last = ()
        self._face(Goal(self._step.wanted), ())
        goal, order = correction(self._scene, self._step)
        self._undone = order.meta["fault"] == "undo"
        actions = gold_actions(self._scene, goal)
        return None if actions is None else self._item(order, actions, "correction")

    def _face(self, goal: Goal, actions: Sequence[Action]) -> None:
        """Move the builder to where it sees what it is about, outside of all blocks."""
        scene = self._scene
        quarter = scene.rng.choices(range(4), QUARTERS)[0] if self._turn_around else scene.pose.quarter
        scene.pose = facing(scene.rng, goal.cells, {*scene.blocks, *(action.cell for action in actions)}, quarter)

    def _item(self, order: SpokenOrder, actions: tuple[Action, ...], kind: str) -> MinecraftItem:
        scene = self._scene
        speak(scene, order, first=self.turns == 0)
        before = scene.structure()
        return MinecraftItem(
            id=f"{self.name}/{self.turns + 1}",
            split=self.split,
            history=tuple(scene.turns),
            before=before,
            pose=scene.pose,
            actions=actions,
            after=before.apply(actions).structure,
            group=self.group,
            cluster=self.name,
            meta={**order.meta, "kind": kind},
        )

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

    def _begun_elsewhere(self, step: StepInProgress) -> bool:
        """Whether the first blocks are right but for where they stand: then the rest of the target goes there if it fits."""
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

    @property
    def dialogue(self) -> tuple[Turn, ...]:
        return tuple(self._scene.turns)


def _after(blocks: dict[tuple[int, int, int], str], goal: Goal) -> dict[tuple[int, int, int], str]:
    """What stands when a goal is reached."""
    return {cell: color for cell, color in blocks.items() if cell not in goal.removed} | dict(goal.placed)
