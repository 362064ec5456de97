import pytest
from hypothesis import given
from hypothesis import strategies as st

from serialization.words import tokenize
from tests.helpers import cases

CASES = cases(__file__)


@pytest.mark.parametrize(("text", "tokens"), CASES["tokens"])
def test_tokenize(text: str, tokens: str) -> None:
    assert " ".join(tokenize(text)) == tokens


@given(st.text(max_size=200))
def test_any_line_has_tokens_without_blanks(text: str) -> None:
    tokens = tokenize(text)
    assert all(token and not any(c.isspace() for c in token) for token in tokens)
    assert bool(tokens) == bool(text.split())
