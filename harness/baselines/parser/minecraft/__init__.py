"""Reads Minecraft's Architect: `words` splits the text into clauses, `proposals` lists what each may ask for, and `ranker`
chooses, with weights learned on train."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.baselines.parser.minecraft.program import statements_of
from harness.baselines.parser.minecraft.ranker import Meant, Ranker, shipped_weights
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.words import ClauseInContext, read_item
from harness.corpora.item import Item, MinecraftItem
from harness.runs.answering import Answer, Predictor
from harness.tasks import get_task
from harness.worlds.minecraft import Action
from serialization.formats.program import building_state
from serialization.program import ast
from serialization.program.literal import building_program
from serialization.program.minecraft import run
from serialization.program.written import write


class UnderstoodTurn(NamedTuple):
    """How a turn was understood: its clauses with their meanings, the program, and the actions."""

    meant: tuple[tuple[ClauseInContext, Meant], ...]
    program: ast.Program
    actions: Sequence[Action]


class BuilderParser(Predictor):
    """Answers builder's turns, each independently of the others."""

    batch_size = 64
    independent = True

    def __init__(self, ranker: Ranker | None = None, task: str = "minecraft") -> None:
        self._ranker = ranker or Ranker(shipped_weights(task), get_task(task).parser_threshold)

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        return [self._answer(item) for item in items if isinstance(item, MinecraftItem)]

    def _answer(self, item: MinecraftItem) -> Answer:
        found = self.understand(item)
        done = [(clause, meant) for clause, meant in found.meant if len(meant.actions)]
        count = sum(len(meant.actions) for _, meant in done)
        notes = {
            "reading": [f"{clause.text}: {', '.join(meant.properties)}" for clause, meant in done],
            "program": write(found.program),
            "confidence": round(sum(len(meant.actions) * meant.expected for _, meant in done) / count, 3) if count else 0.0,
        }
        return Answer(found.actions, True, notes)

    def understand(self, item: MinecraftItem) -> UnderstoodTurn:
        scene, meant = DiscourseScene(item), []
        statements: list[ast.Statement] = []
        for clause in read_item(item):
            meant.append((clause, self._ranker.understand(clause, scene)))
            actions = meant[-1][1].actions
            statements += statements_of(actions, scene.last, scene.pose)
            scene.carry_out(actions)
        program, state = ast.Program(tuple(statements)), building_state(replace(item, pose=scene.pose))
        outcome = run(program, state)
        if scene.pose is not item.pose:  # The program's left and right hold for the pose of the instruction, not of the builder.
            program = building_program(outcome.actions)
        return UnderstoodTurn(tuple(meant), program, outcome.actions)
