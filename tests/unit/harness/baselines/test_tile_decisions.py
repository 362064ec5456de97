"""From the scores of tiles to what is painted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.tile_decisions import NO_ACTION, best_temperature, decide, for_f1


def two_colors(painting: list[float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Probabilities of tiles that may be painted in color 2, now and then in color 1."""
    chance = np.array(painting, np.float32)
    return np.stack([1 - chance, chance / 4, 3 * chance / 4], axis=-1)[None]


def expected(painting: np.ndarray[tuple[int, ...], np.dtype[np.float32]], tiles: tuple[int, ...]) -> float:
    if not tiles:
        return float((1 - painting.sum(1)).prod())
    return 2 * float(painting[list(tiles)].max(1).sum()) / (len(tiles) + float(painting.sum()))


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=6))
def test_no_other_set_of_tiles_has_a_higher_expected_f1(painting: list[float]) -> None:
    probabilities = two_colors(painting)
    (labels,) = for_f1(probabilities)
    assert set(labels) <= {NO_ACTION, 2}
    chances, tiles = probabilities[0, :, 1:], range(len(painting))
    best = max(expected(chances, some) for count in range(len(painting) + 1) for some in combinations(tiles, count))
    assert expected(chances, tuple(np.flatnonzero(labels))) == pytest.approx(best, abs=1e-5)


def test_tiles_that_are_each_more_likely_left_alone_can_be_worth_painting() -> None:
    scores = np.log(two_colors([0.45, 0.45, 0.45, 0.01]))
    assert decide(scores, "likeliest", 1).tolist() == [[0, 0, 0, 0]]
    assert decide(scores, "f1", 1).tolist() == [[2, 2, 2, 0]]


def test_the_temperature_is_the_best_on_dev_and_one_if_none_is_better() -> None:
    gold = np.array([[2, 0, 0, 0]])
    scores = np.log(two_colors([0.9, 0.35, 0.35, 0.05]))
    assert decide(scores, "f1", 1).tolist() == [[2, 2, 2, 0]]
    assert best_temperature(scores, gold, "likeliest") == 1
    chosen = best_temperature(scores, gold, "f1")
    assert chosen < 1
    assert decide(scores, "f1", chosen).tolist() == gold.tolist()
    assert best_temperature(scores, np.array([[2, 2, 2, 0]]), "f1") == 1
