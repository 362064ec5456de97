"""The games of a simulator: the n-th one of a split is a function of the simulator, the seed, the split and n alone.

A game belongs to the split that its target structure belongs to (HEXAGONS: the board it ends in), and that is decided by the
sha256 of the target: 8 of 10 targets are for training, 1 for validation, 1 for test. So no target is in two splits, whatever
the seeds and the numbers of games. BAP v2 gives the sizes of its splits (Table 3); how targets are divided is our choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pkgutil import resolve_name
from random import Random
from typing import TYPE_CHECKING, Literal

from harness.corpora import SPLITS
from harness.corpora.item import Item
from harness.simulators.minecraft.game import play
from harness.simulators.minecraft.scene import Voice
from harness.tasks import SIMULATORS, TASKS
from harness.util.hashing import short_hash
from harness.util.registry import choose
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure


def _of_kind(kind: str) -> dict[str, str]:
    return {name: one.make for name, one in SIMULATORS.items() if one.kind == kind}


ARCHITECTS = _of_kind("game")
"""Simulators of building games: their Architects, for `framework.play`."""

DRAWINGS = _of_kind("drawing")
"""Simulators of drawing procedures."""

CONVERSATIONS = _of_kind("conversation")
"""Simulators of conversations of ordinary requests, one for each world."""

LEVELS = _of_kind("level")
"""Finite sets of single orders, from the seed. All of them are test items."""

if TYPE_CHECKING:
    EndlessName = str
else:
    # As for `harness.tasks.TaskName`.
    EndlessName = Literal[(*ARCHITECTS, *DRAWINGS, *CONVERSATIONS)]
"""A simulator of as many items as are asked for."""

PAPER = {name: one.paper for name, one in SIMULATORS.items() if one.paper}
"""The items of each simulator and split in BAP v2, Table 3."""

_TASKS = {name: task.name for task in TASKS.values() for name in task.simulators}


def simulator_task(simulator: str) -> str:
    return _TASKS[simulator]


def simulator_splits(simulator: str) -> tuple[str, ...]:
    return ("test",) if simulator in LEVELS else SPLITS[simulator_task(simulator)]


def digest(target: Structure | Board) -> str:
    """16 hexadecimal digits of the sha256 of a target's cells. Targets that differ by a turn or a shift are two."""
    return short_hash([target.cells.tobytes()])


def target_split(target: str, task: str) -> str:
    """The split of a target, given by its digest."""
    train, validation, test = SPLITS[task]
    return {8: validation, 9: test}.get(int(target, 16) % 10, train)


def game(simulator: str, seed: int, split: str, n: int, parameters: tuple[tuple[str, int], ...] = ()) -> tuple[Item, ...]:
    """The items of the n-th game (n from 0), in order; none if its target belongs to another split.

    Every item's `group` is the target's digest, so that no example in a prompt shares the target. Raises UsageError for an
    unknown simulator.
    """
    if simulator in LEVELS:
        return level(simulator, seed)[n : n + 1]
    make = resolve_name(SIMULATORS[choose("simulator", simulator, SIMULATORS)].make)
    rng = Random("/".join(map(str, (seed, simulator, split, n, *chain(*parameters)))))
    if simulator not in ARCHITECTS:
        return _of_split(make(rng, n, split), split)
    architect, task = make(rng, **dict(parameters)), simulator_task(simulator)
    target = digest(architect.target) if hasattr(architect, "target") else ""
    if target and target_split(target, task) != split:
        return ()
    items = play(rng, architect, Voice(rng, architect.frames), f"{task}-{simulator}/{split}/{n}", split)
    return _of_split(list(items), split, target)


@lru_cache(maxsize=1)
def level(simulator: str, seed: int) -> tuple[Item, ...]:
    """All items of one of `LEVELS`; each is a separate game, and the structure after it is its target."""
    return tuple(replace(item, group=digest(item.after)) for item in resolve_name(LEVELS[simulator])(seed))


def _of_split(items: Sequence[Item], split: str, target: str = "") -> tuple[Item, ...]:
    """The items with their target; a game whose target is not known before is for what it ends in."""
    if not items:
        return ()
    target = target or digest(items[-1].after)
    return tuple(replace(item, group=target) for item in items) if target_split(target, items[0].task) == split else ()
