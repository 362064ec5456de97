"""The games of a simulator: the n-th game of a split depends only on the simulator, the seed, the split and n.

A game belongs to the split of its target structure, which the target's sha256 determines: 8 of 10 targets are for training, 1
for validation, 1 for test. No target is therefore in two splits, whatever the seeds and the numbers of games.
BAP v2 gives the sizes of its splits (Table 3); how targets are divided is our choice.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count, islice
from pkgutil import resolve_name
from random import Random
from typing import TYPE_CHECKING, Literal

from harness.corpora import SPLITS
from harness.corpora.item import Item
from harness.simulators import ARCHITECTS, LEVELS, SIMULATORS
from harness.simulators.minecraft.game import play
from harness.simulators.minecraft.scene import Voice
from harness.util.hashing import short_hash
from harness.util.registry import choose
from harness.worlds.minecraft import Structure

if TYPE_CHECKING:
    EndlessName = str
else:
    # The known names as a type at run time, as for `harness.tasks.registry.TaskName`.
    EndlessName = Literal[tuple(ARCHITECTS)]
"""The name of a simulator without a limit on the number of items."""

PAPER = {
    "random": {"train": 15_825, "val": 1_161, "test": 1_089},
    "blocks": {"train": 9_890, "val": 1_186, "test": 1_181},
    "shapes": {"train": 11_868, "val": 1_000, "test": 1_000},
}
"""The numbers of items by simulator and split in BAP v2, Table 3."""


def simulator_splits(simulator: str) -> tuple[str, ...]:
    return ("test",) if simulator in LEVELS else SPLITS["minecraft"]


def digest(target: Structure) -> str:
    """16 hexadecimal digits of the sha256 of a target's cells. A turned or shifted target has another digest."""
    return short_hash([target.cells.tobytes()])


def target_split(target: str) -> str:
    """The split of a target, given by its digest."""
    train, validation, test = SPLITS["minecraft"]
    return {8: validation, 9: test}.get(int(target, 16) % 10, train)


def game(simulator: str, seed: int, split: str, n: int) -> tuple[Item, ...]:
    """The items of the n-th game (n counts from 0), in order; none if its target belongs to another split.

    Every item's `group` is the target's digest, which keeps examples with the same target out of prompts. Raises UsageError
    for an unknown simulator.
    """
    if simulator in LEVELS:
        return level(simulator, seed)[n : n + 1]
    make = resolve_name(ARCHITECTS[choose("simulator", simulator, SIMULATORS)])
    rng = Random(f"{seed}/{simulator}/{split}/{n}")
    architect = make(rng)
    target = digest(architect.target) if hasattr(architect, "target") else ""
    if target and target_split(target) != split:
        return ()
    items = list(play(rng, architect, Voice(rng, architect.frames), f"minecraft-{simulator}/{split}/{n}", split))
    # Without a target, the final structure is it.
    target = target or digest(items[-1].after)
    return tuple(replace(item, group=target) for item in items) if target_split(target) == split else ()


def simulated(simulator: str, seed: int, split: str) -> Iterator[Item]:
    """The items of a split, game after game, without end; those of `LEVELS` end. Raises UsageError for an unknown simulator."""
    numbers = range(len(level(simulator, seed))) if simulator in LEVELS else count()
    return chain.from_iterable(game(simulator, seed, split, n) for n in numbers)


def validation_items(source: str, size: int) -> list[Item]:
    """`size` validation items of the building games whose ids begin with `source`, made with seed 0; none for other items."""
    names = {f"minecraft-{name}": name for name in ARCHITECTS}
    if not (name := names.get(source)):
        return []
    return list(islice(simulated(name, 0, simulator_splits(name)[1]), size))


@lru_cache(maxsize=1)
def level(simulator: str, seed: int) -> tuple[Item, ...]:
    """All items of a simulator in `LEVELS`; each item is a separate game whose target is the structure after it."""
    return tuple(replace(item, group=digest(item.after)) for item in resolve_name(LEVELS[simulator])(seed))
