"""The targets of live games, from the simulators or the corpora, and the requests of the everyday benchmark."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from harness.corpora import load, load_targets, split_name
from harness.corpora.item import Executed, HexagonsItem, Item, Turn, Utterance, builder_turns, drawing_steps
from harness.corpora.rollout import Rollout
from harness.errors import UsageError
from harness.everyday.judge import is_right
from harness.simulators import ARCHITECTS
from harness.simulators.drawing_game import DrawingGame
from harness.simulators.games import game
from harness.simulators.live import LiveGame, Manner
from harness.simulators.minecraft.figures import in_runs, of_game
from harness.simulators.minecraft.live import BuildingGame
from harness.tasks.registry import PLAYED, get_task, world_of
from harness.util.registry import choose


class RequestGame(LiveGame):
    """An everyday request as a game. Nothing is corrected: a wrong answer is left as it is, and the next turn is asked.

    `target` is the state after right answers to all turns, one of many. The items' `meta` has the request's "kind".
    """

    def __init__(self, turns: Sequence[Item]) -> None:
        super().__init__(turns[0].cluster, Manner(patience=0))
        self.task, self.target, self.built = turns[0].task, turns[-1].after, turns[0].before
        self._left = iter(turns)
        self._rollout = Rollout(turns)
        self._asked = turns[0]
        self._dialogue: tuple[Turn, ...] = ()

    def _begin(self) -> Item | None:
        turn = next(self._left, None)
        if turn is None:
            return None
        item = self._asked = self._rollout.before(turn)
        said = (Utterance("Instructor", item.instruction),) if isinstance(item, HexagonsItem) else ()
        self._dialogue = (*item.history, *said)
        return item

    def _carry_out(self, actions: Sequence[Any]) -> bool:
        item = self._asked
        self._rollout.add(item.id, actions)
        self.built, ignored = item.before.apply(actions)
        done = tuple(action for action in actions if action not in ignored)
        self._dialogue = (*self._dialogue, Executed(done, None if isinstance(item, HexagonsItem) else item.pose))
        return is_right(item, actions)

    @property
    def dialogue(self) -> tuple[Turn, ...]:
        return self._dialogue

    def _correct(self) -> None:
        return None

    def _leave(self) -> None:
        pass


def request_games(items: Sequence[Item]) -> Iterator[RequestGame]:
    """A game for each request, in the order of the items, which must be the turns of whole requests."""
    for _, turns in itertools.groupby(items, lambda item: item.cluster):
        yield RequestGame(list(turns))


USUAL = 20
"""How many games are played unless the number is given."""


def sources(task: str) -> tuple[str, ...]:
    """Where a task's targets may come from, the default first."""
    return ("corpus",) if get_task(task).targets == "corpus" else ("simulated", "corpus")


def live_games(
    task: str,
    count: int | None,
    seed: int,
    split: str,
    manner: Manner,
    *,
    source: str | None = None,
    simulator: str | None = None,
) -> list[LiveGame]:
    """`count` games that have not begun, by default `USUAL` or as many as the corpus has; the same arguments give the same games.

    Raises UsageError for an unknown task or simulator and if there are fewer targets, and DataError as the corpora do.
    """
    choose("task that is played", task, PLAYED)
    part = split_name(task, split)
    if choose(f"source of {task}'s targets", source or sources(task)[0], sources(task)) == "corpus":
        if simulator:
            raise UsageError(f"--simulator {simulator}: targets of the corpus need no simulator; leave it out")
        return _of_corpus(task, count, seed, part, manner)
    name = choose(f"simulator of {task}", simulator or get_task(task).targets, ARCHITECTS)
    # The games that `harness simulate` makes from the same seed.
    made = filter(None, (game(name, seed, part, n) for n in itertools.count()))
    return [_live(items, seed, manner) for items in itertools.islice(made, count or USUAL)]


def everyday_games(task: str, count: int | None, split: str) -> list[LiveGame]:
    """The first `count` requests of a split of an everyday task; None stands for all. Raises UsageError if there are fewer."""
    part = split_name(task, split)
    games = list(request_games(load(task, part)))
    return _first(games, len(games) if count is None else count, f"{task} {part}", "requests; take fewer")


def _live(items: Sequence[Item], seed: int, manner: Manner) -> LiveGame:
    name = items[0].cluster
    if steps := drawing_steps(items):
        return DrawingGame(name, steps, manner)
    rng = Random(f"{seed}/live/{name}")
    turns = builder_turns(items)
    last = turns[-1]
    return BuildingGame(name, last.split, last.after, of_game(turns, last.after), rng, manner, last.group)


def _of_corpus(task: str, count: int | None, seed: int, split: str, manner: Manner) -> list[LiveGame]:
    """Drawing procedures with the instructions that people wrote; building games with the targets that people were given."""
    games: list[LiveGame]
    if world_of(task) == "hexagons":
        procedures: dict[str, list[Item]] = {}
        for item in load(task, split):
            procedures.setdefault(item.cluster, []).append(item)
        games = [_live(items, seed, manner) for items in procedures.values()]
    else:
        games = []
        for target, end in load_targets(task, split).items():
            name = f"{task}-target/{split}/{target}"
            games.append(BuildingGame(name, split, end, in_runs(end), Random(f"{seed}/live/{name}"), manner, target))
    # Shuffled, so that the first few are not all of one kind.
    Random(f"{seed}/targets").shuffle(games)
    return _first(games, count or min(USUAL, len(games)), f"{task} {split}", "targets; take fewer")


def _first(games: Sequence[LiveGame], count: int, where: str, what: str) -> list[LiveGame]:
    if count > len(games):
        raise UsageError(f"--games {count}: {where} has {len(games)} {what}")
    return list(games[:count])
