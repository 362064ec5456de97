"""A leading thought, and nothing else, is removed from an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engines.engine import Completion, apart
from serialization.formats.thoughts import MARKS


@pytest.mark.parametrize(
    ("text", "reason", "expected"),
    [
        ("red: 1 2", "stop", ("red: 1 2", "", "stop")),
        ("<think>\nhm\n</think>\n\nred: 1 2", "stop", ("red: 1 2", "hm", "stop")),
        ("<think></think>red", "length", ("red", "", "length")),
        # The opening tag is in the prompt.
        ("hm</think>red: 1 2", "stop", ("red: 1 2", "hm", "stop")),
        ("<think>red: 5 5", "length", ("", "red: 5 5", "thinking")),
        ("<think>hm</think>", "length", ("", "hm", "thinking")),
        ("analysisWe think red: 5 5.assistantfinalred: 1 2", "stop", ("red: 1 2", "We think red: 5 5.", "stop")),
        ("analysisWe think red: 5 5.", "length", ("", "We think red: 5 5.", "thinking")),
        ("<think>a</think>red<think>b", "length", ("red", "a\nb", "length")),
        # A thought within an answer is left to the parser.
        ("red: 1 2 <think>hm</think>", "stop", ("red: 1 2 <think>hm</think>", "", "stop")),
        ("1 < 2 > 0", "stop", ("1 < 2 > 0", "", "stop")),
    ],
)
def test_a_leading_thought_is_kept_apart(text: str, reason: str, expected: tuple[str, str, str]) -> None:
    answer = apart(Completion(text, reason))
    assert (answer.text, answer.reasoning, answer.finish_reason) == expected


@given(st.text(alphabet="<>/think a\n") | st.lists(st.sampled_from([*MARKS, *MARKS.values(), "analysis", "a"])).map("".join))
def test_any_text_is_an_answer(text: str) -> None:
    once = apart(Completion(text))
    assert len(once.text) + len(once.reasoning) <= len(text)
