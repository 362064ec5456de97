"""One framework for the three simulators of the collaborative building task (BAP v2, section 5.1.2).

A turn of a game: the Architect chooses the next goal; the builder moves to where it can see the place; the Architect describes
the goal from the builder's point of view, perhaps leaving out something for which the builder asks; the builder acts in a
feasible order, with temporary supports, and perhaps confirms that it is done.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, Protocol

from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.simulators.minecraft.scene import SMALL, Cell, GameScene, Voice, facing
from harness.worlds.minecraft import COLORS, INVENTORY, Action, bridge, held, in_region

_QUARTERS = (46, 16, 20, 18)
"""The shares of the real games' test items in which the builder looks along +z, -x, -z, +x, in percent; the paper gives none."""
_TRIES = 50
_LEADS = ("and ", "now", "then ", "next", "the next")
"""Beginnings of orders that allow no lead such as "next" before them."""


class Goal(NamedTuple):
    """The Architect's next goal: blocks to place, in order, and blocks to remove."""

    placed: tuple[tuple[Cell, str], ...] = ()
    removed: tuple[Cell, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        return (*(cell for cell, _ in self.placed), *self.removed)


class SpokenOrder(NamedTuple):
    """A goal in words: the message, a question and its answer if the message leaves something out, and facts for the item.

    `meta` becomes the item's `meta`: "frame", "relation" [left, up, away] with its "reference" cell, "omitted", ...
    """

    text: str
    meta: dict[str, Any]
    question: str | None = None
    answer: str | None = None


class Architect(Protocol):
    """One simulator's planner and speaker, for one game."""

    def plan(self, scene: GameScene) -> Goal | None:
        """The next goal; None when the structure is finished."""

    def say(self, scene: GameScene, goal: Goal) -> SpokenOrder | None:
        """The order as seen from the scene's pose; None if no words are unambiguous, in which case another goal is tried."""


def play(rng: Random, architect: Architect, voice: Voice, game: str, split: str) -> Iterator[MinecraftItem]:
    """The items of one game, in order, with ids `<game>/<i>`; i is the index of the world state at the first action."""
    scene = opening(rng, voice)
    failures = 0
    while failures < _TRIES and (goal := architect.plan(scene)) is not None:
        failures += 1
        if (actions := gold_actions(scene, goal)) is None:
            continue
        scene.face(goal.cells, actions, any_quarter(rng))
        if (order := architect.say(scene, goal)) is None:
            continue
        failures = 0
        speak(scene, order, lead=bool(scene.last))
        yield _act(scene, actions, goal, order, game, split)
        if rng.random() < SMALL:
            scene.say("Builder", "confirm")


def gold_actions(scene: GameScene, goal: Goal) -> tuple[Action, ...] | None:
    """Removals, then placements with their supports; None if they are infeasible."""
    removed = (Action("remove", scene.blocks[cell], *cell) for cell in goal.removed)
    left = {cell: color for cell, color in scene.blocks.items() if cell not in goal.removed}
    placed = placements(scene.rng, left, goal.placed) if goal.placed else ()
    return None if placed is None else (*removed, *placed)


def any_quarter(rng: Random) -> int:
    return rng.choices(range(4), _QUARTERS)[0]


def opening(rng: Random, voice: Voice) -> GameScene:
    """An empty region, and the first line of every game."""
    scene = GameScene(rng, voice, facing(rng, [(0, 1, 0)], {}, any_quarter(rng)))
    scene.turns.append(Utterance("Builder", voice.draw("started")))
    return scene


def speak(scene: GameScene, order: SpokenOrder, lead: bool) -> None:
    """Says the order, perhaps with a `lead` such as "now", and the builder's question and its answer, if it has them."""
    voice, text = scene.voice, order.text
    if lead and scene.rng.random() < 0.3 and not text.startswith(_LEADS):
        text = f"{voice.draw('lead')} {text}"
    for speaker, words in (("Architect", text), ("Builder", order.question), ("Architect", order.answer)):
        if words is not None:
            scene.turns.append(Utterance(speaker, voice.sentence(words)))


def _act(scene: GameScene, actions: tuple[Action, ...], goal: Goal, order: SpokenOrder, game: str, split: str) -> MinecraftItem:
    before, history = scene.structure(), tuple(scene.turns)
    scene.carry_out(actions)
    scene.turns.append(Executed(actions, scene.pose))
    wanted = set(goal.cells)
    scene.last = tuple(action.cell for action in actions if action.cell in wanted)
    return MinecraftItem(
        item_id(game, history), split, history, before, scene.pose, actions, scene.structure(), game, game, order.meta
    )


def item_id(game: str, history: Sequence[Turn]) -> str:
    """The id of the item after a history, by the index of its world state: state 0 is the initial one, and each utterance and
    each action adds one."""
    return f"{game}/{1 + sum(len(turn.actions) if isinstance(turn, Executed) else 1 for turn in history)}"


def placements(rng: Random, blocks: Mapping[Cell, str], wanted: Sequence[tuple[Cell, str]]) -> tuple[Action, ...] | None:
    """Actions that place the `wanted` blocks, in the given order as far as possible, and then remove the supports they needed.

    None if a cell is filled or outside the region, if no supports can reach a block, or if a color needs more than the
    inventory of 20 blocks.
    """
    blocks_now = dict(blocks)
    todo = list(wanted)
    if any(cell in blocks_now or not in_region(*cell) for cell, _ in todo) or len({cell for cell, _ in todo}) < len(todo):
        return None
    actions: list[Action] = []
    supports: list[Action] = []
    while todo:
        n = next((n for n, (cell, _) in enumerate(todo) if held(cell, blocks_now)), None)
        if n is None:
            way = bridge([todo[0][0]], {cell for cell, _ in todo}, blocks_now)
            if not way:
                return None
            color = _spare(rng, blocks_now, todo, len(way))
            for cell in way:
                blocks_now[cell] = color
                supports.append(Action("place", color, *cell))
            actions += supports[-len(way) :]
            continue
        cell, color = todo.pop(n)
        blocks_now[cell] = color
        actions.append(Action("place", color, *cell))
    actions += [support._replace(kind="remove") for support in reversed(supports)]
    return tuple(actions) if max(Counter(blocks_now.values()).values(), default=0) <= INVENTORY else None


def _spare(rng: Random, there: Mapping[Cell, str], todo: Sequence[tuple[Cell, str]], count: int) -> str:
    """The color of `count` supports: mostly the supported block's color, but always one with enough blocks left, if any."""
    color = todo[0][1] if rng.random() < 0.7 else rng.choice(COLORS)
    used = Counter([*there.values(), *(its for _, its in todo)])
    return color if used[color] + count <= INVENTORY else min(COLORS, key=lambda one: used[one])
