"""Minecraft's lexicon and grammar: every line is used for its example, and an invalid line is named."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from harness.baselines.parser.minecraft.words import GRAMMAR, fitting, read_words

EXAMPLES = re.findall(
    r"(?m)^([a-z]+): .+ -> [a-z]+\n +(.+)$", files("harness.baselines.parser.minecraft").joinpath("grammar.txt").read_text()
)


def test_every_line_is_used_for_its_example() -> None:
    for phrase, (category, example) in zip(GRAMMAR, EXAMPLES, strict=True):
        texts = [word.text for word in read_words(example)]
        assert phrase in [used for _, used in fitting(category, texts)], texts


def test_the_first_line_that_fits_counts() -> None:
    def roles(category: str, text: str) -> list[str]:
        return [phrase.role for _, phrase in fitting(category, [word.text for word in read_words(text)])]

    assert roles("number", "two red towers of three blocks 4 tall") == ["many", "many", "size"]
    assert roles("number", "the one up there, one more") == ["many"]
    assert roles("color", "a blue block on the red one, left of those two green ones") == ["new", "there", "there"]
    assert roles("break", "put red, then blue and a green one and up") == ["end", "end"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Bricks? Yep!", "block . yes ."),
        ("a column\nnear them", "a tower . near those"),
        ("3x4, then 3 by 4 and three by four", "N x N , then N x N and N by N"),
        ("one, a single one, two, 2nd and third", "one , a one one , N , O and O"),
        ("REDS: pink - red", "K : pink - K"),
    ],
)
def test_words_are_normalized(text: str, words: str) -> None:
    assert " ".join(word.text for word in read_words(text)) == words
