"""Building games: the words match the actions, and a game ends in its target."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.item import Executed, MinecraftItem, new_turns
from harness.corpora.records import to_full_record
from harness.corpora.wording import NUMBERS
from harness.simulators.minecraft.architects import BlockStructures, ShapeStructures
from harness.simulators.minecraft.figures import KINDS, compose, difference
from harness.simulators.minecraft.game import play
from harness.simulators.minecraft.scene import NEAR, UNIT, Cell, Relation, Voice
from harness.worlds.minecraft import Structure, in_region
from tests.helpers.directions import named_way
from tests.helpers.simulated import check_pose, check_words, check_world, first_items

ARCHITECTS: dict[str, type[BlockStructures | ShapeStructures]] = {"blocks": BlockStructures, "shapes": ShapeStructures}
SIMULATORS = ("random", *ARCHITECTS)
WAYS = [Relation(*way) for way in itertools.product((-3, -2, -1, 0, 1, 2), repeat=3) if any(way)]
seeds = st.integers(0, 2**40)


def joined(cells: set[Cell]) -> bool:
    """Whether all cells are connected by faces and edges."""
    todo = [next(iter(cells))]
    left = cells - {todo[0]}
    while todo:
        here = todo.pop()
        found = {cell for cell in left if difference(here, cell) in NEAR}
        left -= found
        todo += found
    return not left


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


@given(seeds, st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
def test_a_composition_is_joined_and_on_the_ground_and_its_shapes_are_the_papers(seed: int, kinds: list[str]) -> None:
    made = compose(Random(seed), kinds)
    cells = [cell for figure in made for cell in figure.cells]
    assert [figure.kind for figure in made] == kinds
    assert len(set(cells)) == len(cells)
    assert all(in_region(*cell) for cell in cells)
    assert min(y for _, y, _ in made[0].cells) == 1
    assert joined(set(cells))
    for figure in made:
        long, short = max(figure.sizes), min(figure.sizes)
        assert (long, short) >= {"plane": (3, 2), "L": (2, 2), "T": (3, 2), "U": (3, 2)}.get(figure.kind, (3, 3))
        # 11.4: vertical T- and U-shapes point up or down.
        assert not {"T": figure.directions[0], "U": figure.directions[-2:][0]}.get(figure.kind, (0, 0, 0))[1]


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


ASKED = {"color": r"color", "size": r"^how ", "direction": r"^(which|what) (direction|way)\b", "place": r"^(where|at which)\b"}


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_what_is_said_is_true_complete_and_seen(simulator: str) -> None:
    for item in first_items(simulator, 0, 400):
        done = check_world(item)
        check_words(item, done)
        check_pose(item, done)
        texts = [turn.text for turn in new_turns(item)]
        words = re.sub(r"(\d)x(\d)", r"\1 x \2", " ".join(texts).lower())
        for size in item.meta.get("sizes", [item.meta["count"]] if item.meta.get("count", 1) > 1 else []):
            assert re.search(rf"\b({size}|{NUMBERS[size]})\b", words), words
        for text in texts:
            assert text == text.strip()
            assert not re.search(r"[\[\]{}|]|  |None|\ba orange\b| [,.?]|,,|\?,|^,|\b(the|a|with|from|you) \1\b", text), text
        if omitted := item.meta.get("omitted"):
            assert [part for part, pattern in ASKED.items() if re.search(pattern, texts[-2].lower())] == [omitted]


def test_words_name_the_way() -> None:
    for seed in range(10):
        voice = Voice(Random(seed), "shapes")
        for way, it in itertools.product(WAYS, ("it", "")):
            text = voice.where(way, it)
            assert named_way(text) == way, text
        for way in itertools.chain(*UNIT.values()):
            assert way.up < 0 or named_way(voice.go(way)) == way
