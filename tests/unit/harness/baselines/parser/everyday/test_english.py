"""The normalization of ordinary English."""

from __future__ import annotations

import pytest

from harness.baselines.parser.everyday.english import evened, spelled


@pytest.mark.parametrize(
    ("text", "even"),
    [
        ("Two 3x3 walls, please!", "2 3 by 3 walls , please ."),
        ("rows 1-3", "rows 1 to 3"),
        ("I'd like a twenty-tile line", "i would like a 20 tile line"),
        ("don't do it", "do not do it"),
    ],
)
def test_text_is_normalized(text: str, even: str) -> None:
    assert evened(text) == even


def test_a_misspelled_word_is_corrected() -> None:
    assert spelled("colum rigth", {"column", "right"}) == "column right"


def test_a_word_with_another_first_letter_is_another_word() -> None:
    assert spelled("xater", {"after", "water"}) == "xater"
