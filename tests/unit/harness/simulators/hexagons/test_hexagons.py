from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.baselines.parser import Parser
from harness.corpora.item import Executed, HexagonsItem, Turn, Utterance
from harness.simulators import frames
from harness.simulators.hexagons import procedures
from harness.simulators.hexagons.voice import SpeakerVoice
from harness.worlds.hexagons import Board, Tile, distance, line
from serialization.formats.program import drawing_state
from serialization.program.hexagons import run
from serialization.program.parse import parse

seeds = st.integers(0, 10**6)
FILES = ("hexagons", "hexagons-cells", "hexagons-figures", "hexagons-patterns")


def made(seed: int | str, number: int = 0) -> list[HexagonsItem]:
    return procedures(Random(f"{seed}/{number}"), number, "train")


@cache
def many() -> list[HexagonsItem]:
    return [item for number in range(2500) for item in made("many", number)]


def of_kind(*kinds: str) -> list[HexagonsItem]:
    found = [item for item in many() if item.meta["kind"] in kinds]
    assert len(found) > 2, kinds
    return found


def gold(item: HexagonsItem) -> dict[Tile, str]:
    return {paint.tile: paint.color for paint in item.actions}


def at(item: HexagonsItem, operation: str) -> Tile:
    """The tile that is the first argument of a function in the item's program, or follows a word."""
    found = re.search(rf"\b{operation}[( ](\d+):(\d+)", item.meta["program"])
    assert found, item.meta
    return Tile(int(found[2]) - 1, int(found[1]) - 1)


def pixel(tile: tuple[int, int]) -> tuple[float, float]:
    """The middle of a tile, in sides of a hexagon."""
    return 1.5 * tile[1], math.sqrt(3) * (tile[0] + 0.5 * (tile[1] % 2))


@settings(max_examples=60)
@given(seeds)
def test_gold_actions_lead_from_board_to_board(seed: int) -> None:
    board = Board()
    history: tuple[Turn, ...] = ()
    for step, item in enumerate(made(seed), start=1):
        assert (item.before, item.history) == (board, history)
        assert item.actions == item.before.diff(item.after)
        assert item.before.apply(item.actions) == (item.after, ())
        assert bool(item.actions) == (item.meta["kind"] != "remark")
        assert item.meta["level"] in range(4)
        assert item.meta["step"] == step
        board = item.after
        history = (*history, Utterance("Instructor", item.instruction), Executed(item.actions))


def test_all_sections_of_the_frames_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    used = set[str]()
    say = SpeakerVoice.say

    def noted(self: SpeakerVoice, section: str, **slots: Any) -> Any:
        used.add(section)
        return say(self, section, **slots)

    monkeypatch.setattr(SpeakerVoice, "say", noted)
    sections = {section: lines for name in FILES for section, lines in frames(name).items()}
    for number in range(4000):
        made("frames", number)
        if used >= sections.keys():
            break
    assert sections.keys() - used == set()
    assert sum(len(set(lines)) for lines in sections.values()) > 400
    assert sum(len(frames(name)) for name in FILES) == len(sections)


def test_texts_hold_no_leftover_markup() -> None:
    for item in many():
        text = item.instruction
        assert text == text.strip()
        assert not re.search(r"[\[\]{}|]|  |None|\b[Aa] (?i:orange)|\b[Aa]n (?!X|[aeiouAEIOU])", text), text
        assert not re.search(r" [,.;:]|\(\)|\b(\w+) \1\b|\b1 (tiles|hexes|cells)", text), text


READ = ("tile", "tiles", "colors", "cells", "picture", "spelled")
"""Kinds of single orders that the parser reads nearly always: each is spelled out."""


def test_the_parser_draws_what_is_spelled_out() -> None:
    parser, drawn, asked = Parser(), Counter[str](), Counter[str]()
    for item in many()[:900]:
        kind = item.meta["kind"].split()[0]
        # Without the steps before, the parser does not know what white covers.
        if kind in READ and "+" not in item.meta["kind"] and "white" not in gold(item).values():
            (answer,) = parser.predict([replace(item, history=())])
            drawn[kind] += set(answer.actions) == set(item.actions)
            asked[kind] += 1
    assert {kind for kind in READ if drawn[kind] >= 0.92 * asked[kind] > 10} == {*READ}, (drawn, asked)


WAY = re.compile(r"\b(upwards?|upper|up|ascending|downwards?|lower|down|descending)\b(?:-| and)?(?: to the)? ?(left|right)?")


def test_a_line_is_straight_and_runs_the_way_it_is_said_to() -> None:
    ways = Counter[tuple[int, int]]()
    for item in of_kind("line", "edge line", "line runs", "alternate line", "alternate edge line"):
        tiles = set(gold(item))
        start = at(item, "ray")
        end = max(tiles, key=lambda tile: distance(start, tile))
        assert set(line(start, end)) == tiles, item.instruction
        (x, y), (u, v) = pixel(start), pixel(end)
        angle = math.degrees(math.atan2(v - y, u - x)) % 360
        assert round(angle, 6) in (30, 90, 150, 210, 270, 330)
        text = re.sub(
            r"(tile|hexagon|hex|cell|spot|space|dot|box) down\b|from the (bottom|top)|(left|right) ?most|from the (left|right)",
            "",
            item.instruction.lower(),
        )
        if not (found := WAY.search(text)):
            continue
        vertical, sideways = -1 if found[1].startswith(("up", "asc")) else 1, {"left": -1, "right": 1, None: 0}[found[2]]
        assert (math.copysign(1, v - y), round(math.copysign(1, u - x)) if abs(u - x) > 0.1 else 0) == (vertical, sideways), text
        ways[vertical, sideways] += 1
    assert len(ways) == 6
    assert min(ways.values()) > 5


def test_programs_do_exactly_what_was_done() -> None:
    for item in many()[:1000]:
        outcome = run(parse(item.meta["program"]), drawing_state(item))
        assert (outcome.error, outcome.actions) == (None, item.actions), (item.instruction, item.meta["program"])
