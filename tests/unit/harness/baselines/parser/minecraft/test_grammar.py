from __future__ import annotations

import re

import pytest

from harness.baselines.parser.minecraft.grammar import (
    GRAMMAR,
    SYMBOLS,
    PhraseSense,
    fitting,
    read_grammar,
    read_lexicon,
)
from harness.baselines.parser.minecraft.words import read_words


@pytest.mark.parametrize("phrase", GRAMMAR, ids=lambda phrase: f"{phrase.category}-{phrase.role}-{GRAMMAR.index(phrase)}")
def test_every_line_is_used_for_its_example(phrase: PhraseSense) -> None:
    texts = [word.text for word in read_words(phrase.example)]
    assert phrase in [used for _, used in fitting(phrase.category, texts)], texts


def test_the_first_line_that_fits_counts() -> None:
    def roles(category: str, text: str) -> list[str]:
        return [phrase.role for _, phrase in fitting(category, [word.text for word in read_words(text)])]

    assert roles("number", "two red towers of three blocks 4 tall") == ["many", "many", "size"]
    assert roles("number", "the one up there, one more") == ["many"]
    assert roles("color", "a blue block on the red one, left of those two green ones") == ["new", "there", "there"]
    assert roles("break", "put red, then blue and a green one and up") == ["end", "end"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("color: COLOUR -> new", "no category and no part is called 'COLOUR'"),
        ("color: (COLOR -> new", "'(' is not closed"),
        ("color", "neither a part, a phrase, a rule nor an example"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        read_grammar(f"[phrases]\n{line}", SYMBOLS)
    assert "line 2" in str(raised.value)


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


def test_the_lexicon() -> None:
    lexicon = read_lexicon("# Things\nblock: brick\n    cube\nLETTER: l=L\n")
    assert lexicon.same == {"brick": "block", "cube": "block"}
    assert lexicon.categories == {"LETTER": {"l": "L"}}
    with pytest.raises(ValueError, match="'cube' is a spelling of both block and box"):
        read_lexicon("block: cube\nbox: cube\n")
    with pytest.raises(ValueError, match="not `NAME cost: words`"):
        read_lexicon("block\n")
