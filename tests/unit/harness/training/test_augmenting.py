"""Items that differ in every epoch."""

from __future__ import annotations

from typing import Any

import pytest

from harness.corpora import load
from harness.corpora.item import Item
from harness.training.recipe import Augment
from harness.training.steps import vary_by
from harness.worlds.hexagons import Paint


@pytest.fixture(params=["hexagons", "minecraft"])
def items(request: pytest.FixtureRequest) -> list[Item]:
    return load(request.param, "train")


def shown(items: list[Item], augment: Augment, seed: int, epoch: int) -> list[Any]:
    vary = vary_by(augment, seed)
    assert vary
    return [vary(item, epoch) for item in items]


@pytest.mark.parametrize("augment", ["colors", "all"])
def test_what_is_shown_depends_on_the_seed_the_epoch_and_the_game(items: list[Item], augment: Augment) -> None:
    first = shown(items, augment, 7, 0)
    assert shown(items, augment, 7, 0) == first
    assert shown(items[5:], augment, 7, 0) == first[5:]
    assert shown(items, augment, 8, 0) != first
    assert shown(items, augment, 7, 1) != first
    assert [item.id for item in first] == [item.id for item in items]


def test_other_colors_leave_the_places_as_they_are(items: list[Item]) -> None:
    for old, new in zip(items, shown(items, "colors", 7, 3), strict=True):
        places = [[action[:-1] if isinstance(action, Paint) else action.cell for action in item.actions] for item in (old, new)]
        assert places[0] == places[1]
