"""Exchanging colors: everything goes along, and the inverse gives the item back."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.augmentation.colors import COLORS, permute_colors, random_colors, recolor_text
from harness.corpora.item import Executed, HexagonsItem, MinecraftItem, Utterance
from harness.worlds.minecraft import net_actions
from prompts.probe import PROBES
from tests.helpers.simulated import simple


def inverse(colors: dict[str, str]) -> dict[str, str]:
    return {new: old for old, new in colors.items()}


def cycle(task: str) -> dict[str, str]:
    colors = COLORS[task]
    return dict(zip(colors, (*colors[1:], colors[0]), strict=True))


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
@given(seed=st.integers(0, 10_000))
def test_the_inverse_gives_the_item_back(task: str, seed: int) -> None:
    colors = random_colors(task, Random(seed))
    for item in (*PROBES[task], *simple(task, 3, seed % 50)):
        assert permute_colors(permute_colors(item, colors), inverse(colors)) == item


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_actions_still_lead_from_one_state_to_the_other(task: str) -> None:
    for item in simple(task, 50, 3):
        changed = permute_colors(item, cycle(task))
        reached: object
        if isinstance(changed, HexagonsItem):
            reached = changed.before.apply(changed.actions).board
        else:
            reached = changed.before.apply(changed.actions).structure
        assert reached == changed.after
        assert len(changed.actions) == len(item.actions)


def test_states_history_and_words_go_along() -> None:
    item = PROBES["minecraft"][0]
    assert isinstance(item, MinecraftItem)
    changed = permute_colors(item, cycle("minecraft"))
    assert isinstance(changed, MinecraftItem)
    spoken = [turn.text for turn in changed.history if isinstance(turn, Utterance)]
    assert spoken[-1] == "now a purple one, left"
    done = [action.color for turn in changed.history if isinstance(turn, Executed) for action in turn.actions]
    assert done == ["orange", "blue"]
    assert [block.color for block in changed.before.blocks()] == ["orange", "blue"]
    assert len(net_actions(changed.before, changed.after)) == len(net_actions(item.before, item.after))
    assert (changed.id, changed.pose, changed.group) == (item.id, item.pose, item.group)


def test_only_whole_color_words_are_replaced_in_their_own_style() -> None:
    text = "Red, red and RED; reds, hundred, bored, rEd, Blue-green."
    assert recolor_text(text, cycle("minecraft")) == "Orange, orange and ORANGE; reds, hundred, bored, rEd, Purple-blue."


@pytest.mark.parametrize("colors", [{}, {"red": "blue"}, dict.fromkeys(COLORS["minecraft"], "red")])
def test_what_is_no_permutation_is_refused(colors: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="not a permutation"):
        permute_colors(PROBES["minecraft"][0], colors)
