"""Orders of the random simulator say what is done."""

from __future__ import annotations

import pytest

from harness.simulators.minecraft.relations import Relation
from tests.helpers.simulated import SEEDS, check_pose, check_words, check_world, hangs, left_alone, simulated


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_said_is_what_is_done(seed: int) -> None:
    for item in simulated("random", seed, 250):
        done = check_world(item)
        (action,) = done
        check_words(item, done)
        assert hangs(item, done) == left_alone(item)
        if "relation" in item.meta:
            assert Relation(*item.meta["relation"]).from_(item.meta["reference"], item.pose.quarter) == action.cell


@pytest.mark.parametrize("seed", SEEDS)
def test_the_builder_sees_what_it_does_and_stands_in_no_block(seed: int) -> None:
    for item in simulated("random", seed, 250):
        check_pose(item, check_world(item))


def test_all_relations_and_references_come_up() -> None:
    items = [item for seed in SEEDS for item in simulated("random", seed, 250)]
    relations = {tuple(item.meta["relation"]) for item in items if "relation" in item.meta}
    assert len({r for r in relations if max(map(abs, r)) == 1}) == 26
    assert {r for r in relations if max(map(abs, r)) > 1} >= {(2, 0, 0), (-2, 0, 0), (0, 0, 2), (0, 0, -2), (0, 2, 0)}
    assert {item.meta["frame"] for item in items} == {"first", "place", "ellipsis", "remove"}
    assert {item.meta.get("by") for item in items} >= {"last", "only", "color", "highest", "leftmost", "nearest", "farthest"}
    assert any(item.meta.get("omitted") for item in items)
    assert {item.pose.quarter for item in items} == {0, 1, 2, 3}
