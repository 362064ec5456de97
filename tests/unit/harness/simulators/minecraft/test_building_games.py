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
from tests.helpers import cases
from tests.helpers.scored import first_items

ARCHITECTS: dict[str, type[BlockStructures | ShapeStructures]] = {"blocks": BlockStructures, "shapes": ShapeStructures}


@pytest.mark.parametrize(("simulator", "seed", "split", "digest"), cases(__file__)["digests"])
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
