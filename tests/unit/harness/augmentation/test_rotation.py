"""Instructions for the turned board: every word is swapped or kept, or the whole instruction is left out."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from harness.augmentation.rotation import OPPOSITES, turn_words
from harness.corpora import load
from harness.corpora.item import HexagonsItem


@pytest.mark.parametrize(
    ("text", "turned"),
    [
        ("Paint the top left tile red.", "Paint the bottom right tile red."),
        ("Paint the leftmost column blue", "Paint the rightmost column blue"),
        (
            "In the 3rd column from the left, paint the 2nd tile from the top.",
            "In the 3rd column from the right, paint the 2nd tile from the bottom.",
        ),
        ("Color the 3rd tile down in the left-most column", "Color the 3rd tile up in the rightmost column"),
        ("Paint column 4 red", "Paint column 15 red"),
        ("Paint columns 1, 2 and 17 red", "Paint columns 18, 17 and 2 red"),
        ("Paint the first and 18th columns red", "Paint the last and 1st columns red"),
        ("Paint column four red", "Paint column fifteen red"),
        ("Make an upward line", "Make a downward line"),
        ("Go diagonally up and to the right", "Go diagonally down and to the left"),
        ("from left to right, top to bottom", "from right to left, bottom to top"),
        ("Paint the 3 tiles under the blue tile green", "Paint the 3 tiles above the blue tile green"),
        ("BOTTOM right corner", "TOP left corner"),
        ("Surround it with a ring of six red tiles", "Surround it with a ring of six red tiles"),
        ("Repeat step 3 in columns 2 and 4", "Repeat step 3 in columns 17 and 15"),
        ("Paint the next two tiles below it red", "Paint the next two tiles above it red"),
    ],
)
def test_swapped(text: str, turned: str) -> None:
    assert turn_words(text, frozenset(range(18))) == turned


@pytest.mark.parametrize(
    "text",
    [
        "Make a V shape in the center", "Paint the 3rd tile of column 4", "Paint the first tile red",
        "First, paint the top tile red", "Paint every other tile in the top row", "Paint every third column red",
        "Paint the next column red", "Paint the tiles that are left red", "the tile right above it",
        "the tile on top of the red one", "Paint the top row red, blue, red", "Paint tiles 3 and 4 of the top row",
        "Paint row 3 red", "Paint columns 3 through 7 red", "Paint the odd columns red", "an upside down triangle",
        "Skip a column and paint the top tile", "go up to the edge", "the 4th column over from the left",
        "the 3rd column on the left", "In the third column from the leftmost side, paint the top tile",
        "Paint the middle column red", "5 tiles, starting at 3",
    ],
)  # fmt: skip
def test_left_out(text: str) -> None:
    assert turn_words(text, frozenset(range(18))) is None


def test_a_bare_column_is_turned_only_if_the_step_paints_in_it() -> None:
    assert turn_words("Paint column 4 red", frozenset({3})) == "Paint column 15 red"
    assert turn_words("Paint column 4 red", frozenset({4})) is None


@pytest.mark.data
def test_on_the_corpus_sides_are_exchanged_and_nothing_else_is_touched() -> None:
    turned = 0
    for item in load("hexagons", "train"):
        assert isinstance(item, HexagonsItem)
        columns = frozenset(paint.column for paint in item.actions)
        text = turn_words(item.instruction, columns)
        if text is None:
            continue
        turned += 1
        old, new = _words(item.instruction), _words(text)
        sides = {word for pair in OPPOSITES.items() for word in pair} | {"a", "an", "first", "last"}
        assert Counter(OPPOSITES.get(word, word) for word in old if word in OPPOSITES) == Counter(
            word for word in new if word in OPPOSITES
        )
        assert [w for w in old if w not in sides and not _counts(w)] == [w for w in new if w not in sides and not _counts(w)]
        back = turn_words(text, frozenset(17 - column for column in columns))
        if not {"under", "underneath", "beneath"} & set(old):
            assert back is not None
            assert _words(back) == old
    assert turned > 600


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", re.sub(r"\b(left|right|top|bottom)[ -]most", r"\1most", text.lower()))


def _counts(word: str) -> bool:
    """Whether a word is written in digits, or is a cardinal or ordinal up to eighteen."""
    return word[0].isdigit() or bool(
        re.fullmatch(r"(?:\w+teen|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w*th|second|third)", word)
    )
