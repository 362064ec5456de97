"""Simulated drawings of simple strokes: what is said is what is painted, as the parser reads the words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.baselines.parser import Parser
from harness.corpora.item import Executed, HexagonsItem
from harness.corpora.wording import listing, ordinal_digits, phrase
from harness.simulators.strokes.words import FRAMES
from harness.worlds.hexagons import Board
from tests.helpers.simulated import simple

seeds = st.integers(0, 10**6)


@cache
def hexagons(count: int = 2000, seed: int = 0) -> list[HexagonsItem]:
    return [item for item in simple("hexagons", count, seed) if isinstance(item, HexagonsItem)]


@settings(max_examples=30)
@given(seeds)
def test_gold_actions_lead_from_the_board_before_to_the_board_after(seed: int) -> None:
    for item in hexagons(30, seed):
        assert item.before.apply(item.actions) == (item.after, ())
        assert item.actions == item.before.diff(item.after)
        assert bool(item.actions) == (set(item.meta["frame"].split("+")) != {"remark"})


@settings(max_examples=20)
@given(seeds)
def test_the_history_holds_every_earlier_turn(seed: int) -> None:
    earlier = None
    for item in hexagons(40, seed):
        done = [turn for turn in item.history if isinstance(turn, Executed)]
        assert len(done) <= 4
        if earlier is None or earlier.cluster != item.cluster:
            assert (done, item.before) == ([], Board())
        else:
            assert item.history[: len(earlier.history)] == earlier.history
            assert (done[-1], item.before) == (Executed(earlier.actions), earlier.after)
        earlier = item


def test_many_frames_all_of_them_used() -> None:
    assert sum(map(len, FRAMES.values())) >= 40
    assert {frame for item in hexagons(6000) for frame in item.meta["frame"].split("+")} == FRAMES.keys()


def test_texts_hold_no_leftover_markup() -> None:
    for item in hexagons(2000, 5):
        assert item.instruction == item.instruction.strip()
        assert not re.search(r"[\[\]{}|]|  |None|\ba orange| [,.]", item.instruction), item.instruction


READ = ("cells", "diagonal", "ring", "stack")
"""Frames that the parser, which knows nothing of this simulator, reads nearly always."""


def test_the_parser_draws_what_is_said() -> None:
    parser, drawn, asked = Parser(), Counter[str](), Counter[str]()
    for item in hexagons(2000, 11):
        if (frame := item.meta["frame"]) in READ:
            (answer,) = parser.predict([replace(item, history=())])
            drawn[frame] += set(answer.actions) == set(item.actions)
            asked[frame] += 1
    assert {frame for frame in READ if drawn[frame] >= 0.95 * asked[frame] > 30} == {*READ}, (drawn, asked)


def test_words() -> None:
    numbers = (1, 2, 3, 4, 11, 12, 13, 18)
    assert " ".join(map(ordinal_digits, numbers)) == "1st 2nd 3rd 4th 11th 12th 13th 18th"

    class First:
        """A generator whose every draw is the first, and whose every fraction is 0.9."""

        def choice(self, options: list[str]) -> str:
            return options[0]

        def random(self) -> float:
            return 0.9

    assert listing(First(), ["a"]) == "a"  # type: ignore[arg-type]
    assert listing(First(), ["a", "b", "c"]) == "a, b and c"  # type: ignore[arg-type]
    assert phrase(First(), ["[paint|color] a {color} tile [|x] ."], color="orange") == "paint an orange tile."  # type: ignore[arg-type]
