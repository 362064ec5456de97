"""Builders for live games: one that follows all messages, and one that sometimes errs, in many ways."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from harness.corpora.item import HexagonsItem, Item
from harness.simulators.live import LiveGame
from harness.worlds import hexagons
from harness.worlds.minecraft import COLORS, SIDE, Action


def wrong(rng: Random, item: Item) -> list[Any]:
    """An answer that is mostly wrong."""
    if isinstance(item, HexagonsItem):
        tiles = [(rng.randrange(10), rng.randrange(18)) for _ in range(rng.randrange(8))]
        kept = [action for action in item.actions if rng.random() < 0.5]
        return [*kept, *(hexagons.Paint(*tile, rng.choice(hexagons.COLORS)) for tile in tiles)]
    gold, stands = list(item.actions), item.before.blocks()
    ways: tuple[Callable[[], list[Any]], ...] = (
        list,
        lambda: _recolored(gold, rng.choice(COLORS)),
        lambda: _moved(gold, *rng.choice([(1, 0, 0), (-2, 0, 0), (0, 0, 1), (0, 1, 0), (1, 1, -1)])),
        lambda: gold[: len(gold) // 2],
        lambda: gold + [_anywhere(rng) for _ in range(rng.randint(1, 2))],
        lambda: [Action("remove", None, *one[:3]) for one in stands if rng.random() < 0.3] + [_anywhere(rng) for _ in range(4)],
    )
    return rng.choice(ways)()


def _recolored(gold: list[Action], color: str) -> list[Action]:
    return [action._replace(color=color) if action.kind == "place" else action for action in gold]


def _moved(gold: list[Action], x: int, y: int, z: int) -> list[Action]:
    return [action._replace(x=action.x + x, y=action.y + y, z=action.z + z) for action in gold]


def _anywhere(rng: Random) -> Action:
    return Action("place", rng.choice(COLORS), rng.randint(-SIDE, SIDE), 1, rng.randint(-SIDE, SIDE))


def play(game: LiveGame, errs: Callable[[Item], bool] = lambda item: False, seed: int = 0) -> list[Item]:
    """Play a game to its end with right answers, except for the messages where the builder errs. Returns the messages."""
    rng, asked = Random(seed), list[Item]()
    while (item := game.ask()) is not None:
        asked.append(item)
        actions: Sequence[Any] = wrong(rng, item) if errs(item) else item.actions
        game.take(actions)
    return asked
