from __future__ import annotations

import pytest

from harness.corpora.item import Executed, HexagonsItem, MinecraftItem, Utterance
from harness.corpora.surface import Spread, new_turns, surface
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Pose, Structure
from tests.helpers.simulated import simulated


def step(text: str, actions: int, procedure: str = "0") -> HexagonsItem:
    painted = tuple(Paint(k // 18, k % 18, "red") for k in range(actions))
    return HexagonsItem("x", "train", text, (), Board(), painted, Board().apply(painted).board, "g", procedure)


def test_words_actions_and_sequences_are_counted() -> None:
    found = surface([step("Paint it red.", 0), step("Red, now!", 1), step("one", 5, "1"), step("two words", 101, "1")])
    assert (found.items, found.utterances) == (4, 4)
    assert found.words == Spread(2, 3, 3, 2.0)
    assert found.actions == {"0": 0.25, "1": 0.25, "2-5": 0.25, "6-10": 0, "11-20": 0, "21-50": 0, "51-100": 0, "101+": 0.25}
    assert found.mean_actions == pytest.approx(107 / 4)
    assert found.sequence == Spread(2, 2, 2, 2.0)
    assert found.type_token_ratio is None


def test_the_type_token_ratio_is_the_mean_over_parts_of_the_same_size() -> None:
    texts = ["Red red", "RED tile", "a b", "c ."]  # tokens: red red red tile | a b c .
    assert surface([step(text, 1) for text in texts], tokens=4).type_token_ratio == pytest.approx((2 / 4 + 4 / 4) / 2)
    assert surface([step(text, 1) for text in (*texts, "rest")], tokens=4).type_token_ratio == pytest.approx(0.75)


def test_what_was_said_since_the_last_actions_is_new() -> None:
    action = Action("place", "red", 0, 1, 0)
    history = (Utterance("Architect", "old"), Executed((action,)), Utterance("Architect", "new"), Utterance("Builder", "ok"))
    item = MinecraftItem("x", "train", history, Structure(), Pose(0, 1, 0, 0, 0), (), Structure(), "g", "c")
    assert [turn.text for turn in new_turns(item)] == ["new", "ok"]
    items = simulated("random", 0, 50)
    said = {turn for item in items for turn in item.history if isinstance(turn, Utterance)}
    assert {turn.text for item in items for turn in new_turns(item)} == {turn.text for turn in said}
