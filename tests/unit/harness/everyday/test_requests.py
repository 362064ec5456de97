from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from harness.corpora import corpus_of, load
from harness.corpora.item import new_turns
from harness.errors import DataError
from harness.everyday.judge import is_right
from harness.everyday.requests import Right, read_program
from serialization.formats.program import run, state_of

EVERYDAY = ("everyday-hexagons", "everyday-minecraft")


@pytest.mark.parametrize("task", EVERYDAY)
def test_every_right_answer_is_judged_right_and_nothing_is_not(task: str) -> None:
    for item in load(task):
        assert is_right(item, item.actions), item.id
        assert is_right(item, ()) == (not item.actions), item.id
        for one in item.meta["right"]:
            outcome = run(read_program(Right.model_validate(one).gold), state_of(item))
            assert outcome.error is None, item.id


@pytest.mark.parametrize("task", EVERYDAY)
def test_no_request_occurs_twice(task: str) -> None:
    requests: dict[str, list[str]] = {}
    for item in load(task):
        requests.setdefault(item.cluster, []).append(" ".join(re.findall(r"\w+", new_turns(item)[-1].text.lower())))
    first = Counter(texts[0] for texts in requests.values())
    assert [text for text, count in first.items() if count > 1] == []


REQUEST = "it:\n  kind: figure\n  turns:\n  - say: it\n    right: {}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not YAML"),
        ("it: {kind: figures, turns: []}", "it.kind: String should match pattern '^(whole|border"),
        (REQUEST.format("red 3;4"), "it.turns.0.right.0"),
        (REQUEST.format("{up_to: shift, holds: is(red), example: 'red 3:4'}"), "up_to needs a program"),
        (REQUEST.format("red 3:40"), "it: turn 1: 'red 3:40'"),
        (REQUEST.format("red is(blue)"), "it: turn 1: the first right answer changes nothing"),
        (REQUEST.format("nothing").replace("turns", "start: red 33:1\n  turns"), "it: start"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "hexagons-dev.yaml").write_text(text)
    with pytest.raises(DataError) as raised:
        list(corpus_of("everyday-hexagons").items(tmp_path, ["dev"]))
    assert str(raised.value).startswith(f"{tmp_path / 'hexagons-dev.yaml'}: it" if "it" in text else str(tmp_path))
    assert message in str(raised.value)
