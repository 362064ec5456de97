"""Why an answer, or part of it, has no effect: each reason in words, and no reason if all actions were carried out."""

from collections.abc import Sequence
from typing import Any

import pytest

from harness.runs.answering import Answer
from harness.runs.reasons import why
from harness.worlds.hexagons import Paint
from tests.helpers.scored import step

X = "x"
RED, OFF = Paint(0, 0, "red"), Paint(99, 0, "red")
ITEM = step([Paint(5, 5, "blue")], [])


@pytest.mark.parametrize(
    ("actions", "notes", "told"),
    [
        ([RED], {"text": "red: 1", "discarded": [["I paint it", "explanation"]]}, None),
        ([], {"program": "", "reading": []}, "It understood nothing of it."),
        ([], {"program": "red none"}, 'It read "red none", which changes nothing here.'),
        ([Paint(5, 5, "blue")], {}, "What it did changes nothing here."),
        ([], {}, "It answered with nothing."),
        ([], {"text": 300 * X}, f'It answered "{200 * X}...", which changes nothing here.'),
        ([], {"text": "hi", "discarded": [["hi", "no action"]]}, 'Not understood of its answer: "hi" (no action).'),
        ([RED], {"discarded": 2 * [["a", "no"]]}, 'Not understood of its answer: "a" (no), and 1 piece more.'),
        ([RED, OFF], {}, "1 of its 2 actions can be carried out."),
        ([OFF], {}, "None of its 1 action can be carried out."),
    ],
)
def test_reasons(actions: Sequence[Paint], notes: dict[str, Any], told: str | None) -> None:
    assert why(ITEM, Answer(actions, notes=notes)) == told
