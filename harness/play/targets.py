"""The targets of live games, from the simulators or the corpora."""

import itertools
from collections.abc import Sequence
from random import Random

from harness.corpora import load, load_targets, split_name
from harness.corpora.item import Item, builder_turns, drawing_steps
from harness.errors import UsageError
from harness.simulators import ARCHITECTS
from harness.simulators.drawing_game import DrawingGame
from harness.simulators.games import game
from harness.simulators.live import LiveGame
from harness.simulators.minecraft.figures import in_runs, of_game
from harness.simulators.minecraft.live import BuildingGame
from harness.tasks.registry import PLAYED, TASKS, world_of
from harness.util.registry import choose

USUAL = 20
"""How many games are played unless the number is given."""


def sources(task: str) -> tuple[str, ...]:
    """Where a task's targets may come from, the default first."""
    return ("corpus",) if TASKS[task].targets == "corpus" else ("simulated", "corpus")


def live_games(
    task: str,
    count: int | None,
    seed: int,
    split: str,
    patience: int,
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
        return _of_corpus(task, count, seed, part, patience)
    name = choose(f"simulator of {task}", simulator or TASKS[task].targets, ARCHITECTS)
    # The games that `harness simulate` makes from the same seed.
    made = filter(None, (game(name, seed, part, n) for n in itertools.count()))
    return [_live(items, seed, patience) for items in itertools.islice(made, count or USUAL)]


def _live(items: Sequence[Item], seed: int, patience: int) -> LiveGame:
    name = items[0].cluster
    if steps := drawing_steps(items):
        return DrawingGame(name, steps, patience)
    rng = Random(f"{seed}/live/{name}")
    turns = builder_turns(items)
    last = turns[-1]
    return BuildingGame(name, last.split, last.after, of_game(turns, last.after), rng, patience, last.group)


def _of_corpus(task: str, count: int | None, seed: int, split: str, patience: int) -> list[LiveGame]:
    """Drawing procedures with the instructions that people wrote; building games with the targets that people were given."""
    games: list[LiveGame]
    if world_of(task) == "hexagons":
        procedures: dict[str, list[Item]] = {}
        for item in load(task, split):
            procedures.setdefault(item.cluster, []).append(item)
        games = [_live(items, seed, patience) for items in procedures.values()]
    else:
        games = []
        for target, end in load_targets(task, split).items():
            name = f"{task}-target/{split}/{target}"
            games.append(BuildingGame(name, split, end, in_runs(end), Random(f"{seed}/live/{name}"), patience, target))
    # Shuffled, so that the first few are not all of one kind.
    Random(f"{seed}/targets").shuffle(games)
    if count and count > len(games):
        raise UsageError(f"--games {count}: {task} {split} has {len(games)} targets; take fewer")
    return games[: count or USUAL]
