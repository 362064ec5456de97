"""A leading thought, and nothing else, is removed from an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engines.engine import Completion, apart
from serialization.formats.thoughts import MARKS
from tests.helpers import cases

CASES = cases(__file__)


@pytest.mark.parametrize(("text", "reason", "expected"), CASES["thoughts"])
def test_a_leading_thought_is_kept_apart(text: str, reason: str, expected: list[str]) -> None:
    answer = apart(Completion(text, reason))
    assert [answer.text, answer.reasoning, answer.finish_reason] == expected


@given(st.text(alphabet="<>/think a\n") | st.lists(st.sampled_from([*MARKS, *MARKS.values(), "analysis", "a"])).map("".join))
def test_any_text_is_an_answer(text: str) -> None:
    once = apart(Completion(text))
    assert len(once.text) + len(once.reasoning) <= len(text)
