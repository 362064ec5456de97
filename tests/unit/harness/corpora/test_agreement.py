"""Table 2 of the HEXAGONS paper, as far as the released scores go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.corpora import hexagons
from harness.corpora.agreement import agreement
from harness.corpora.item import HexagonsItem
from harness.corpora.stats import hexagons_stats
from tests.helpers.corpora_files import procedure, write_hexagons


def drawn(folder: Path, *scores: list[float], index: int = 0) -> list[HexagonsItem]:
    """The steps of one procedure with these agreement scores."""
    steps = [("Paint.", {number: 4}) for number in range(len(scores))]
    row = procedure(index, steps) | {"agreement_scores": list(scores)}
    return hexagons.load(write_hexagons(folder, train=[row]), "train")


def test_each_number_is_what_it_says(tmp_path: Path) -> None:
    found = agreement(drawn(tmp_path, [1, 0.5, 0.5], [0.6, 1, 1]))
    assert found["board_f1"] == pytest.approx([0.775, 0.55, 1.0])
    assert found["board_em"] == [0.5, 0.0, 1.0]
    assert (found["verifiers_f1"], found["verifiers_em"]) == (0.75, 0.5)


@pytest.mark.parametrize(
    ("scores", "bounds"),
    [
        ([[1, 1, 1], [1, 1, 1]], [1.0, 1.0]),
        ([[1, 0.9, 0.9]], [0.5, 0.5]),
        ([[0.9, 0.9, 1], [0.9, 0.9, 1]], [0.0, 0.5]),
        ([[0.9, 0.9, 1], [1, 1, 1]], [0.0, 0.0]),
    ],
)
def test_bounds_of_action_em(tmp_path: Path, scores: list[list[float]], bounds: list[float]) -> None:
    assert agreement(drawn(tmp_path, *scores))["action_em"] == bounds


def test_nothing_verified() -> None:
    assert set(agreement([]).values()) == {None}


@pytest.fixture(scope="module")
def by_split(data_dir: Path) -> dict[str, Any]:
    folder = data_dir / "hexagons"
    stats = hexagons_stats({split: hexagons.load(folder, split) for split in hexagons.SPLITS})
    by_split: dict[str, Any] = stats["agreement_by_split"]
    assert stats["agreement"] == {name: by_split["all"][name] for name in ("board_f1", "board_em")}
    return by_split


def percent(value: Any) -> Any:
    return [percent(one) for one in value] if isinstance(value, list) else round(100 * value, 2)


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "f1", "em"),
    [
        ("train", [90.86, 85.51, 96.22], [73.19, 59.19, 87.19]),
        ("dev", [92.77, 88.81, 96.72], [71.52, 57.62, 85.43]),
        ("test", [91.11, 85.16, 97.07], [66.89, 50.55, 83.22]),
        ("all", [91.10, 85.83, 96.36], [72.32, 58.07, 86.57]),
    ],
)
def test_the_board_scores_of_the_release(by_split: dict[str, Any], split: str, f1: list[float], em: list[float]) -> None:
    assert (percent(by_split[split]["board_f1"]), percent(by_split[split]["board_em"])) == (f1, em)


@pytest.mark.data
def test_the_verifiers_with_each_other(by_split: dict[str, Any]) -> None:
    assert percent([by_split["all"]["verifiers_f1"], by_split["all"]["verifiers_em"]]) == [87.08, 59.84]


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "sure", "unknown", "paper"),
    [("all", 69.37, 19.01, 75.98), ("dev", 68.72, 20.96, 77.35), ("test", 63.58, 22.63, 72.30)],
)
def test_the_papers_action_em_lies_within_the_bounds(
    by_split: dict[str, Any], split: str, sure: float, unknown: float, paper: float
) -> None:
    low, high = by_split[split]["action_em"]
    assert percent([low, high - low]) == [sure, unknown]
    assert low <= paper / 100 <= high
