"""One framework for the three simulators of the collaborative building task (BAP v2, section 5.1.2).

A turn of a game: the Architect chooses what comes next; the builder moves to where it can see that place; the Architect says
it from the builder's point of view, perhaps leaves something out that the builder asks for; the builder acts; and perhaps
asks for approval.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple, Protocol

from harness.corpora.item import Executed, MinecraftItem, Utterance
from harness.simulators.minecraft.carpentry import placements, removals
from harness.simulators.minecraft.relations import Cell, facing
from harness.simulators.minecraft.scene import GameScene
from harness.simulators.voice import Voice
from harness.worlds.minecraft import Action

QUARTERS = (46, 16, 20, 18)
"""How often builders of the real games look along +z, -x, -z, +x, in percent of the test items."""
_TRIES = 50
_LEADS = ("and ", "now", "then ", "next", "the next")
"""First words of an order that take no other before them."""


class Goal(NamedTuple):
    """What the Architect wants next: blocks to place, in order, and blocks to remove."""

    placed: tuple[tuple[Cell, str], ...] = ()
    removed: tuple[Cell, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (*(cell for cell, _ in self.placed), *self.removed)


class SpokenOrder(NamedTuple):
    """How it is said: the message, a question and its answer if something was left out, and what is true of it.

    `meta` goes into the item's: "frame", "relation" [left, up, away] with its "reference" cell, "omitted", ... `amends` says
    that it puts a mistake right, so that no praise goes before it.
    """

    text: str
    question: str | None
    answer: str | None
    meta: dict[str, Any]
    amends: bool = False


class Architect(Protocol):
    """One simulator's planner and speaker, for one game."""

    def plan(self, scene: GameScene) -> Goal | None:
        """What comes next; None when the structure is done."""

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        """The order for the pose that the scene has; None if no words pick it out without doubt, and another goal is tried."""


def play(rng: Random, architect: Architect, voice: Voice, game: str, split: str) -> Iterator[MinecraftItem]:
    """The items of one game, in order, with ids `<game>/<i>`; i is the world state of the first action, as in the game's log."""
    scene = GameScene(rng, voice, facing(rng, [(0, 1, 0)], {}, rng.choices(range(4), QUARTERS)[0]))
    scene.turns += opening(voice, rng)
    failures = 0
    while failures < _TRIES and (goal := architect.plan(scene)) is not None:
        quarter = rng.choices(range(4), QUARTERS)[0] if rng.random() < 0.3 else scene.pose.quarter
        actions = gold_actions(scene, goal)
        if actions is None:
            failures += 1
            continue
        scene.pose = facing(rng, goal.cells, {*scene.blocks, *(action.cell for action in actions)}, quarter)
        order = architect.say(scene, goal)
        if order is None:
            failures += 1
            continue
        failures = 0
        speak(scene, order, first=not scene.last)
        yield _act(scene, actions, goal, order, game, split)
    scene.turns.append(Utterance("Architect", voice.sentence(voice.draw("done"))))


def gold_actions(scene: GameScene, goal: Goal) -> tuple[Action, ...] | None:
    """Removals, then placements with their supports; None if they cannot be carried out."""
    removed = removals(scene.blocks, goal.removed)
    left = {cell: color for cell, color in scene.blocks.items() if cell not in goal.removed}
    placed = placements(scene.rng, left, goal.placed) if goal.placed else ()
    return None if placed is None or removed is None else (*removed, *placed)


def opening(voice: Voice, rng: Random) -> list[Utterance]:
    """What is said before the first order."""
    turns = [Utterance("Builder", voice.draw("started"))]
    if rng.random() < 0.5:
        turns.append(Utterance("Architect", voice.sentence(voice.draw("greeting"))))
        if rng.random() < 0.6:
            turns.append(Utterance("Builder", voice.sentence(voice.draw("hello"))))
    return turns


def speak(scene: GameScene, order: SpokenOrder, first: bool) -> None:
    """The order, with the talk around it: approval asked for and given, small talk, a question answered."""
    rng, voice, turns = scene.rng, scene.voice, scene.turns
    if not first:
        if rng.random() < 0.25:
            turns.append(Utterance("Builder", voice.sentence(voice.draw("check"))))
        if rng.random() < 0.35 and not order.amends:
            turns.append(Utterance("Architect", voice.sentence(voice.draw("praise"))))
        if rng.random() < 0.03:
            turns.append(Utterance("Architect", voice.sentence(voice.draw("chat"))))
    text = order.text
    if not first and rng.random() < 0.3 and not (order.amends or text.startswith(_LEADS)):
        text = f"{voice.draw('lead')} {text}"
    turns.append(Utterance("Architect", voice.sentence(text)))
    if order.question is not None and order.answer is not None:
        turns.append(Utterance("Builder", voice.sentence(order.question)))
        turns.append(Utterance("Architect", voice.sentence(order.answer)))


def _act(scene: GameScene, actions: tuple[Action, ...], goal: Goal, order: SpokenOrder, game: str, split: str) -> MinecraftItem:
    before, history = scene.structure(), tuple(scene.turns)
    # State 0 is that before all; then there is a state for each line said and for each action.
    state = 1 + sum(len(turn.actions) if isinstance(turn, Executed) else 1 for turn in history)
    scene.carry_out(actions)
    scene.turns.append(Executed(actions, scene.pose))
    wanted = set(goal.cells)
    scene.last = tuple(action.cell for action in actions if action.cell in wanted)
    return MinecraftItem(
        id=f"{game}/{state}",
        split=split,
        history=history,
        before=before,
        pose=scene.pose,
        actions=actions,
        after=scene.structure(),
        group=game,
        cluster=game,
        meta=order.meta,
    )
