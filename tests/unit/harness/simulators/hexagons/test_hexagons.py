"""Simulated drawing procedures: programs that give the gold actions, in whole sentences."""

from __future__ import annotations

import re
from functools import cache
from random import Random
from typing import Any

import pytest

from harness.corpora.item import Executed, HexagonsItem, Turn, Utterance
from harness.simulators import frames
from harness.simulators.hexagons import procedures
from harness.simulators.hexagons.voice import SpeakerVoice
from harness.worlds.hexagons import Board
from serialization.formats.program import drawing_state
from serialization.program.hexagons import run
from serialization.program.parse import parse

FILES = ("hexagons", "hexagons-cells", "hexagons-figures", "hexagons-patterns")


@cache
def many() -> list[list[HexagonsItem]]:
    return [procedures(Random(f"many/{number}"), number, "train") for number in range(250)]


def test_programs_lead_from_board_to_board() -> None:
    for items in many():
        board = Board()
        history: tuple[Turn, ...] = ()
        for step, item in enumerate(items, start=1):
            assert (item.before, item.history) == (board, history)
            assert item.before.apply(item.actions) == (item.after, ())
            assert bool(item.actions) == (item.meta["kind"] != "remark")
            assert (item.meta["level"] in range(4), item.meta["step"]) == (True, step)
            outcome = run(parse(item.meta["program"]), drawing_state(item))
            assert (outcome.error, outcome.actions) == (None, item.actions), (item.instruction, item.meta["program"])
            board = item.after
            history = (*history, Utterance("Instructor", item.instruction), Executed(item.actions))


def test_all_sections_of_the_frames_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    used = set[str]()
    say = SpeakerVoice.say

    def noted(self: SpeakerVoice, section: str, **slots: Any) -> Any:
        used.add(section)
        return say(self, section, **slots)

    monkeypatch.setattr(SpeakerVoice, "say", noted)
    sections = {section for name in FILES for section in frames(name)}
    for number in range(4000):
        procedures(Random(f"frames/{number}"), number, "train")
        if used >= sections:
            break
    assert sections - used == set()
    assert sum(len(frames(name)) for name in FILES) == len(sections)


def test_texts_hold_no_leftover_markup() -> None:
    for item in (item for items in many() for item in items):
        text = item.instruction
        assert text == text.strip()
        assert not re.search(r"[\[\]{}|]|  |None|\b[Aa] (?i:orange)|\b[Aa]n (?!X|[aeiouAEIOU])", text), text
        assert not re.search(r" [,.;:]|\(\)|\b(\w+) \1\b|\b1 (tiles|hexes|cells)", text), text
