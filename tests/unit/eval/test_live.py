"""Scores of live games, compared with numbers computed by hand."""

from typing import Any

import pytest

from eval.live import outcome, score_games
from harness.worlds.minecraft import Structure

L = [(0, 1, 0, "red"), (1, 1, 0, "red"), (1, 1, 1, "blue"), (1, 2, 1, "blue")]


def building(built: Any, target: Any = L, error: str | None = None, **counts: int) -> dict[str, Any]:
    name = f"minecraft-own/val/{len(built)}-{counts}"
    usual = {"turns": 4, "corrections": 1, "steps": 3, "at_once": 2, "left_wrong": 0}
    return {"id": name, "target": target, "built": built, "error": error, **usual, **counts}


def turned(quarters: int, dx: int = 0, dz: int = 0) -> list[tuple[int, int, int, str]]:
    return [(x + dx, y, z + dz, color) for x, y, z, color in Structure.of(L).turned(quarters).blocks()]


@pytest.mark.parametrize(
    ("built", "aligned"),
    [
        (L, 1),
        (turned(2, 3, -2), 1),
        (turned(3, 0, 4), 1),
        (L[:3], 6 / 7),
        ([*L, (5, 1, 5, "red")], 8 / 9),
        ([(x, y + 1, z, color) for x, y, z, color in L], 0.25),  # A shift upward does not count; one blue block fits.
        ([(-x, y, z, color) for x, y, z, color in L], 0.75),  # Nor is a mirror image.
        ([], 0.0),
    ],
)
def test_a_structure_succeeds_up_to_turns_and_shifts(built: Any, aligned: float) -> None:
    told = outcome("minecraft", L, built)
    assert (told["success"], told["exact"]) == (aligned == 1, built == L)
    assert told["f1_aligned"] == pytest.approx(aligned)
    assert told["f1"] <= told["f1_aligned"]


def test_games_are_averaged_and_those_with_errors_counted_apart() -> None:
    played = [
        building(L),
        building(L[:3], turns=8, corrections=5, steps=5, at_once=1, left_wrong=3),
        building([], error="no connection"),
    ]
    scores = score_games("minecraft", played)
    assert (scores["games"], scores["errors"]) == (3, 1)
    assert scores["success"] == scores["exact"] == 0.5
    assert scores["f1"] == pytest.approx((1 + 6 / 7) / 2)
    assert (scores["turns"], scores["corrections"]) == (6.0, 3.0)
    assert scores["at_once"] == pytest.approx(3 / 8)
    assert scores["mended"] == pytest.approx(2 / 5)
    assert scores["intervals"]["success"] == [0.0, 1.0]
    assert scores["intervals"]["turns"] == [4.0, 8.0]
