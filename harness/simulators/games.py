"""The games of a simulator: the n-th game of a split depends only on the simulator, the seed, the split, n and the parameters.

A game belongs to the split of its target structure, which the target's sha256 determines: 8 of 10 targets are for training, 1
for validation, 1 for test. No target is therefore in two splits, whatever the seeds and the numbers of games.
BAP v2 gives the sizes of its splits (Table 3); how targets are divided is our choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count, islice
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
"""Simulators of building games, with the import paths of their Architects, for `minecraft.game.play`."""

LEVELS = _of_kind("level")
"""Simulators of finite sets of single orders, which depend on the seed. All of their items are test items."""

if TYPE_CHECKING:
    EndlessName = str
else:
    # The known names as a type at run time, as for `harness.tasks.TaskName`.
    EndlessName = Literal[tuple(ARCHITECTS)]
"""The name of a simulator without a limit on the number of items."""

PAPER = {name: one.paper for name, one in SIMULATORS.items() if one.paper}
"""The numbers of items by simulator and split in BAP v2, Table 3."""

_TASKS = {name: task.name for task in TASKS.values() for name in task.simulators}


def simulator_task(simulator: str) -> str:
    return _TASKS[simulator]


def simulator_splits(simulator: str) -> tuple[str, ...]:
    return ("test",) if simulator in LEVELS else SPLITS[simulator_task(simulator)]


def digest(target: Structure | Board) -> str:
    """16 hexadecimal digits of the sha256 of a target's cells. A turned or shifted target has another digest."""
    return short_hash([target.cells.tobytes()])


def target_split(target: str, task: str) -> str:
    """The split of a target, given by its digest."""
    train, validation, test = SPLITS[task]
    return {8: validation, 9: test}.get(int(target, 16) % 10, train)


def game(simulator: str, seed: int, split: str, n: int, parameters: tuple[tuple[str, int], ...] = ()) -> tuple[Item, ...]:
    """The items of the n-th game (n counts from 0), in order; none if its target belongs to another split.

    Every item's `group` is the target's digest, which keeps examples with the same target out of prompts. Raises UsageError
    for an unknown simulator.
    """
    if simulator in LEVELS:
        return level(simulator, seed)[n : n + 1]
    make = resolve_name(SIMULATORS[choose("simulator", simulator, SIMULATORS)].make)
    rng = Random("/".join(map(str, (seed, simulator, split, n, *chain(*parameters)))))
    architect, task = make(rng, **dict(parameters)), simulator_task(simulator)
    target = digest(architect.target) if hasattr(architect, "target") else ""
    if target and target_split(target, task) != split:
        return ()
    items = play(rng, architect, Voice(rng, architect.frames), f"{task}-{simulator}/{split}/{n}", split)
    return _of_split(list(items), split, target)


def validation_items(source: str, size: int) -> list[Item]:
    """`size` validation items of the building games whose ids begin with `source`, made with seed 0 and no settings; none for
    other items."""
    names = {f"{simulator_task(name)}-{name}": name for name in ARCHITECTS}
    if not (name := names.get(source)):
        return []
    validation = simulator_splits(name)[1]
    return list(islice(chain.from_iterable(game(name, 0, validation, n) for n in count()), size))


@lru_cache(maxsize=1)
def level(simulator: str, seed: int) -> tuple[Item, ...]:
    """All items of a simulator in `LEVELS`; each item is a separate game whose target is the structure after it."""
    return tuple(replace(item, group=digest(item.after)) for item in resolve_name(LEVELS[simulator])(seed))


def _of_split(items: Sequence[Item], split: str, target: str = "") -> tuple[Item, ...]:
    """The items with their target as `group`, or none if it belongs to another split; without a target, the final state is it."""
    if not items:
        return ()
    target = target or digest(items[-1].after)
    return tuple(replace(item, group=target) for item in items) if target_split(target, items[0].task) == split else ()
