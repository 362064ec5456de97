"""Exchanging colors: all parts of an item change together, and the inverse restores the item."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.augmentation.colors import COLORS, permute_colors, random_colors, recolor_text
from harness.corpora import load
from harness.corpora.item import MinecraftItem, Utterance
from prompts.probe import PROBES

CYCLE = dict(zip(COLORS["minecraft"], (*COLORS["minecraft"][1:], COLORS["minecraft"][0]), strict=True))


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
@given(seed=st.integers(0, 10_000))
def test_the_inverse_gives_the_item_back(task: str, seed: int) -> None:
    colors = random_colors(task, Random(seed))
    inverse = {new: old for old, new in colors.items()}
    for item in (*PROBES[task], *load(task, "train")[seed % 15 :][:3]):
        assert permute_colors(permute_colors(item, colors), inverse) == item


def test_states_history_and_words_go_along() -> None:
    item = PROBES["minecraft"][0]
    assert isinstance(item, MinecraftItem)
    changed = permute_colors(item, CYCLE)
    assert isinstance(changed, MinecraftItem)
    assert [turn.text for turn in changed.history if isinstance(turn, Utterance)][-1] == "now a purple one, left"
    assert [block.color for block in changed.before.blocks()] == ["orange", "blue"]
    assert (changed.id, changed.pose, changed.group) == (item.id, item.pose, item.group)


def test_only_whole_color_words_are_replaced_in_their_own_style() -> None:
    text = "Red, red and RED; reds, hundred, bored, rEd, Blue-green."
    assert recolor_text(text, CYCLE) == "Orange, orange and ORANGE; reds, hundred, bored, rEd, Purple-blue."
