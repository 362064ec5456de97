"""Players without a language model read any text that people type, within bounds and without an error."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.parser import Parser
from harness.baselines.typed import LONGEST_TALK, LONGEST_TEXT, MOST_TURNS, read_bounded
from harness.corpora.item import HexagonsItem, MinecraftItem, Utterance
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Pose, Structure

PARSER = Parser()
PHRASES = (
    *("repeat steps 1 to 5", "place", "build a tower of", "999999999999", "0", "red", "blue", "blocks", "column", "next to"),
    *("the last step", "18 times", "in each corner", "3x3", ".", "\n", "   ", "facing north", "remove the top", "every other"),
)
WORDS = st.lists(st.sampled_from(PHRASES) | st.text(max_size=12), max_size=30).map(" ".join)


def drawing(*texts: str) -> HexagonsItem:
    told = tuple(Utterance("Instructor", text) for text in texts[:-1])
    return HexagonsItem("hexagons/dev/1", "dev", texts[-1], told, Board(), (), Board(), "image", "c")


def building(*texts: str) -> MinecraftItem:
    said = tuple(Utterance("Architect", text) for text in texts)
    return MinecraftItem("iglu/dev/game-1", "dev", said, Structure(), Pose(0.5, 1, 3.5, 37.0, 20), (), Structure(), "c1", "game")


def characters(item: HexagonsItem | MinecraftItem) -> int:
    return sum(len(turn.text) for turn in item.history if isinstance(turn, Utterance))


def test_a_history_is_read_from_its_last_turns_back() -> None:
    item = read_bounded(building(*(f"{n} " + 500 * "a " for n in range(500))))
    assert 0 < characters(item) <= LONGEST_TALK
    assert isinstance(item.history[-1], Utterance)
    assert item.history[-1].text.startswith("499 ")
    assert len(read_bounded(building(*["a"] * 2000)).history) == MOST_TURNS


@pytest.mark.parametrize("text", [" " * 20_000 + "place", "red," * 20_000, "place" + " \n" * 20_000])
def test_a_text_is_read_without_long_blanks_and_as_far_as_any_goes(text: str) -> None:
    found = read_bounded(drawing(text, text))
    assert len(found.instruction) <= LONGEST_TEXT
    assert "   " not in found.instruction
    assert characters(found) <= LONGEST_TEXT


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_the_parsers_answer_whatever_is_typed(texts: list[str]) -> None:
    (answer,) = PARSER.predict([drawing(*texts)])
    assert all(0 <= paint.row < 10 and 0 <= paint.column < 18 for paint in answer.actions)
    for task in ("minecraft", "iglu"):
        item = replace(building(*texts), id=f"{task}/dev/game-1")
        assert len([*PARSER.predictor(task).predict([item])]) == 1
