"""The best overlap of whole structures, against trying every turn and every shift."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from eval.metrics.minecraft import overlap_scores
from eval.predictions import Predictions
from eval.score import score
from harness.worlds.minecraft import Action, Structure, in_region


class Turn(NamedTuple):
    id: str
    cluster: str
    before: Structure
    after: Structure


def red(*cells: tuple[int, int, int]) -> Structure:
    return Structure.of([(*cell, "red") for cell in cells])


def place(*cells: tuple[int, int, int]) -> list[Action]:
    return [Action("place", "red", *cell) for cell in cells]


def of(before: Structure, after: Structure, actions: list[Action]) -> dict[str, float]:
    return overlap_scores([Turn("iglu/dev/a", "a", before, after)], [actions])


def test_a_structure_that_is_shifted_and_turned_is_right() -> None:
    found = of(Structure(), red((0, 1, 0), (1, 1, 0), (1, 2, 0)), place((-3, 1, 4), (-3, 1, 3), (-3, 2, 3)))
    assert (found["f1"], found["precision"], found["recall"], found["unchanged"]) == (1, 1, 1, 0)


def test_what_stood_there_before_counts() -> None:
    before = red((0, 1, 0), (0, 2, 0), (0, 3, 0))
    after = red((0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0))
    found = of(before, after, [])
    assert found["f1"] == found["unchanged"] == pytest.approx(6 / 7)
    assert (found["precision"], found["recall"]) == (1, 3 / 4)


def test_nothing_wanted_and_nothing_there_is_right_and_something_wrong() -> None:
    gone = [Action("remove", None, 0, 1, 0)]
    assert of(red((0, 1, 0)), Structure(), gone)["f1"] == 1
    assert of(red((0, 1, 0)), Structure(), [])["f1"] == 0


def slowly(built: Structure, target: Structure) -> int:
    most = 0
    there = {tuple(block) for block in built.blocks()}
    for quarters in range(4):
        blocks = target.turned(quarters).blocks()
        for dx in range(-10, 11):
            for dz in range(-10, 11):
                moved = [(b.x + dx, b.y, b.z + dz, b.color) for b in blocks]
                if all(in_region(*block[:3]) for block in moved):
                    most = max(most, len(there & set(moved)))
    return most


def test_the_same_as_trying_everything() -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        built, target = (
            Structure(rng.choice(3, (11, 9, 11), p=(0.97, 0.015, 0.015)).astype(np.uint8) * (np.arange(9) < 2)[:, None])
            for _ in range(2)
        )
        found = overlap_scores([Turn("iglu/dev/a", "a", built, target)], [[]])
        assert math.isclose(found["f1"], 2 * slowly(built, target) / (len(built) + len(target)))


def test_iglu_is_scored_by_it_beside_the_others() -> None:
    items = [Turn(f"iglu/dev/{name}", name, red((0, 1, 0)), red((0, 1, 0), (0, 2, 0))) for name in "ab"]
    answers = Predictions({item.id: (Action("place", "red", 1, 1, 0),) for item in items})
    scores = score("iglu", "dev", items, answers)
    assert scores["micro"]["overall"]["f1"] == 0
    assert scores["overlap"]["f1"] == pytest.approx(0.5)
    assert scores["overlap"]["interval"] == [0.5, 0.5]
    assert "overlap" not in score("minecraft", "dev", items, answers)
