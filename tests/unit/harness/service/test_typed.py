"""Players without a language model read any text that people type within bounds."""

import pytest

from harness.corpora.item import HexagonsItem, MinecraftItem, Utterance
from harness.service.workers import LONGEST_TALK, LONGEST_TEXT, MOST_TURNS, read_bounded
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Pose, Structure


def characters(item: HexagonsItem | MinecraftItem) -> int:
    return sum(len(turn.text) for turn in item.history if isinstance(turn, Utterance))


def test_a_history_is_read_from_its_last_turns_back() -> None:
    def building(*texts: str) -> MinecraftItem:
        said = tuple(Utterance("Architect", text) for text in texts)
        return MinecraftItem("iglu/dev/game-1", "dev", said, Structure(), Pose(0, 1, 3, 37, 20), (), Structure(), "c1", "game")

    item = read_bounded(building(*(f"{n} " + 500 * "a " for n in range(500))))
    assert 0 < characters(item) <= LONGEST_TALK
    assert isinstance(item.history[-1], Utterance)
    assert item.history[-1].text.startswith("499 ")
    assert len(read_bounded(building(*["a"] * 2000)).history) == MOST_TURNS


@pytest.mark.parametrize("text", [" " * 20_000 + "place", "red," * 20_000, "place" + " \n" * 20_000])
def test_a_text_is_read_without_long_blanks_and_as_far_as_any_goes(text: str) -> None:
    told = (Utterance("Instructor", text),)
    item = read_bounded(HexagonsItem("hexagons/dev/1", "dev", text, told, Board(), (), Board(), "image", "c"))
    assert len(item.instruction) <= LONGEST_TEXT
    assert "   " not in item.instruction
    assert characters(item) <= LONGEST_TEXT
