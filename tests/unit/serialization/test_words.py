import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialization.words import tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hm.. okay", "hm .. okay"),
        ("a 3X3 square, 2x3x4 high", "a 3 x 3 square , 2 x 3 x 4 high"),
        ("*built", "* built"),
        ("orange*****", "orange*****"),
        ("we're done!! cannot", "we 're done ! ! can not"),
        ("an 'L' shape", "an ' l ' shape"),
        ('like an "n"', "like an `` n ''"),
        ("(2 empty) yes--no", "( 2 empty ) yes -- no"),
        ("an l. perfect. Now", "an l. perfect . now"),
        ("", ""),
    ],
)
def test_tokenize(text: str, tokens: str) -> None:
    assert " ".join(tokenize(text)) == tokens


@given(st.text(max_size=200))
def test_any_line_has_tokens_without_blanks(text: str) -> None:
    tokens = tokenize(text)
    assert all(token and not any(c.isspace() for c in token) for token in tokens)
    assert bool(tokens) == bool(text.split())
