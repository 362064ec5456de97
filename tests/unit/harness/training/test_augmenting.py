"""Items that differ in every epoch."""

from __future__ import annotations

from typing import Any

import pytest

from harness.corpora import load
from harness.corpora.item import Item
from harness.training.recipe import Augment
from harness.training.steps import vary_by


def shown(items: list[Item], augment: Augment, seed: int, epoch: int) -> list[Any]:
    vary = vary_by(augment, seed)
    assert vary
    return [vary(item, epoch) for item in items]


@pytest.mark.parametrize("augment", ["colors", "all"])
@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_what_is_shown_depends_on_the_seed_the_epoch_and_the_game(task: str, augment: Augment) -> None:
    items = load(task, "train")
    first = shown(items, augment, 7, 0)
    assert shown(items, augment, 7, 0) == first
    assert shown(items[5:], augment, 7, 0) == first[5:]
    assert shown(items, augment, 8, 0) != first
    assert shown(items, augment, 7, 1) != first
    assert [item.id for item in first] == [item.id for item in items]
