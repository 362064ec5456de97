"""Building games: the same items in every version, and a game ends in its target."""

import hashlib
import json
from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from harness.corpora.item import Executed, MinecraftItem
from harness.corpora.records import to_full_record
from harness.simulators.minecraft.architects import BlockStructures, ShapeStructures
from harness.simulators.minecraft.game import play
from harness.simulators.minecraft.levels import level_1
from harness.simulators.minecraft.scene import Voice
from harness.worlds.minecraft import Structure
from tests.helpers.scored import first_items

ARCHITECTS: dict[str, type[BlockStructures | ShapeStructures]] = {"blocks": BlockStructures, "shapes": ShapeStructures}


@pytest.mark.parametrize(
    ("simulator", "seed", "split", "digest"),
    [
        ("random", 0, "train", "4b5dcd7369cb4e83387f92003da4cb7a"),
        ("blocks", 0, "train", "fd4c34f849a81da176b3eaf9a86f6121"),
        ("shapes", 0, "train", "9204e694bf3aeb5fc1ad5b1d953bd13f"),
        ("level-1", 3, "test", "d9e6fc992da07ab8f41acf6bd06b74ff"),
        ("level-2", 3, "test", "25ad38cb142d493e0b662c60ed845ebd"),
    ],
)
def test_a_seed_gives_the_same_items_in_every_version(simulator: str, seed: int, split: str, digest: str) -> None:
    lines = (json.dumps(to_full_record(item), ensure_ascii=False) for item in first_items(simulator, seed, 300, split))
    assert hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:32] == digest


def played(simulator: str, seed: int) -> tuple[BlockStructures | ShapeStructures, list[MinecraftItem]]:
    rng = Random(seed)
    architect = ARCHITECTS[simulator](rng)
    return architect, list(play(rng, architect, Voice(rng, architect.frames), f"minecraft-{simulator}/train/0", "train"))


@pytest.mark.parametrize("simulator", ARCHITECTS)
def test_a_game_ends_in_its_target_without_a_mistake(simulator: str) -> None:
    for seed in range(80):
        architect, items = played(simulator, seed)
        assert (items[0].before, items[-1].after) == (Structure(), architect.target)
        for before, after in pairwise(items):
            assert after.before == before.after
            assert after.history[: len(before.history) + 1] == (*before.history, Executed(before.actions, before.pose))
            assert set(before.after.blocks()) <= set(architect.target.blocks())
        assert all(item.before.apply(item.actions) == (item.after, ()) for item in items)


def test_level_1_has_nebulas_counts() -> None:
    counts = {"tower": 504, "square": 216, "diagonal": 168, "row": 168, "diamond": 144, "rectangle": 144, "cube": 24}
    assert Counter(item.meta["shape"] for item in level_1(0)) == counts
