"""Carries out ordinary building requests: `Put a red tower, 3 high, in the middle.` `Now a blue one next to it.` `Undo.`"""

from __future__ import annotations

from collections.abc import Sequence

from harness.baselines.parser.everyday.conversing import Understood
from harness.baselines.parser.everyday.minecraft.conversation import Conversation, Outcome
from harness.baselines.parser.everyday.minecraft.scene import BuildingScene, Cell, in_world, placed_by
from harness.corpora.item import MinecraftItem, Turn, Utterance
from harness.worlds.minecraft import CODES, Action, Pose, Structure
from serialization.program import ast
from serialization.program.literal import building_program, propped
from serialization.program.written import write


def understand(item: MinecraftItem) -> Understood:
    """The program that carries out the item's last request, after all that was said and done before."""
    quarter = item.pose.quarter
    turns = _turns(item.history)
    states = _states(item.before, [actions for _, actions in turns[:-1]])
    conversation = Conversation(BuildingScene.of(states[0], quarter))
    for (text, actions), after in zip(turns[:-1], states[1:], strict=True):
        conversation.hear(text)
        conversation.settle(BuildingScene.of(after, quarter).blocks, placed_by(actions, quarter))
    outcome = conversation.hear(turns[-1][0])
    program = _program(item.before, conversation.scene, item.pose)
    return Understood(write(program), _confidence(outcome), outcome.unknown, outcome.question)


def _confidence(outcome: Outcome) -> float:
    """How often answers like this one were right in 254 turns for which the reader was not written: less often with more words,
    with more skipped words, and with more orders that could not be carried out."""
    if not outcome.done:
        return 0.5 if outcome.idle else 0.2 if outcome.failed else 0.0
    expected = min(0.85, 1 - 0.054 * outcome.words) * 0.6**outcome.skipped * 0.45**outcome.failed
    return round(max(0.1, expected), 3)


def _turns(history: Sequence[Turn]) -> list[tuple[str, Sequence[Action]]]:
    """What was said to the builder before each run of actions, and these actions; the last text, without any, is the request."""
    turns: list[tuple[str, Sequence[Action]]] = []
    said: list[str] = []
    for turn in history:
        if isinstance(turn, Utterance):
            if turn.speaker != "Builder":
                said.append(turn.text)
        else:
            turns.append((" . ".join(said), [action for action in turn.actions if isinstance(action, Action)]))
            said = []
    return [*turns, (" . ".join(said), ())]


def _states(now: Structure, turns: Sequence[Sequence[Action]]) -> list[Structure]:
    """The structures before each turn, and the present one, found by taking the turns back one by one."""
    states = [now]
    colors: dict[Cell, str] = {
        action.cell: action.color for actions in turns for action in actions if action.color in CODES and action.color
    }
    blocks: dict[Cell, str] = {block[:3]: block.color for block in now.blocks()}
    for actions in reversed(turns):
        for action in reversed(actions):
            if action.kind == "place":
                blocks.pop(action.cell, None)
            else:
                blocks[action.cell] = action.color or colors.get(action.cell, "red")
        states.append(Structure.of((*cell, color) for cell, color in blocks.items()))
    return states[::-1]


def _program(before: Structure, scene: BuildingScene, pose: Pose) -> ast.Program:
    """The program that turns the structure into the scene's: removals, then placements, with supports if any block floats."""
    quarter = pose.quarter
    new = {in_world(cell, quarter): color for cell, color in scene.blocks.items()}
    old: dict[Cell, str] = {block[:3]: block.color for block in before.blocks()}
    removed = [cell for cell in sorted(old) if new.get(cell) != old[cell]]
    placed = {cell: color for cell, color in new.items() if old.get(cell) != color}
    actions = [Action("remove", None, *cell) for cell in removed]
    actions += [Action("place", color, *cell) for cell, color in placed.items()]
    program = building_program(actions)
    after = Structure.of((*cell, color) for cell, color in new.items())
    floating = {block[:3] for block in after.floating()} & set(placed)
    return propped(program) if floating else program
