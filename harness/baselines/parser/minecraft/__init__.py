"""Reads Minecraft's Architect: `words` splits the text into clauses, `proposals` lists what each may ask for, and `ranker`
chooses, with weights learned on train."""

from collections.abc import Sequence

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.ranker import Ranker, shipped_weights, usual_threshold
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.words import read_item
from harness.corpora.item import Item, MinecraftItem
from harness.runs.answering import Answer, Predictor
from harness.worlds.minecraft import Action
from serialization.formats.program import state_of
from serialization.program.literal import building_program
from serialization.program.minecraft import run
from serialization.program.written import write


class BuilderParser(Predictor):
    """Answers builder's turns, each independently of the others."""

    batch_size = 64
    independent = True

    def __init__(self, ranker: Ranker | None = None, task: str = "minecraft") -> None:
        self._ranker = ranker or Ranker(shipped_weights(task), usual_threshold(task))

    def predict(self, items: Sequence[Item]) -> list[Answer]:
        return [self._answer(item) for item in items if isinstance(item, MinecraftItem)]

    def _answer(self, item: MinecraftItem) -> Answer:
        scene, readings, actions = DiscourseScene(item), list[str](), list[Action]()
        expected = 0.0
        for clause in read_item(item):
            meant = self._ranker.understand(clause, scene)
            if len(meant.actions):
                readings.append(f"{clause.text}: {', '.join(meant.properties)}")
                actions += [grid.action(number, scene.pose) for number in meant.actions.tolist()]
                expected += len(meant.actions) * meant.expected
            scene.carry_out(meant.actions)
        program = building_program(actions)
        confidence = round(expected / len(actions), 3) if actions else 0.0
        notes = {"reading": readings, "program": write(program), "confidence": confidence}
        return Answer(run(program, state_of(item)).actions, True, notes)
