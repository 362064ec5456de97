"""The scripted engine replays a file, and names the line that it cannot read."""

from pathlib import Path

import pytest

from harness.engines.engine import Completion, Sampling
from harness.engines.scripted import ScriptedEngine
from harness.errors import DataError
from prompts.rendered import Rendered


def test_answers_follow_the_prompts_not_the_file(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"id": "a", "text": "1\\n\u2028", "seconds": 2}\n{"id": "b", "error": "timed out"}\n', encoding="utf-8")
    answers = ScriptedEngine(script).generate([Rendered(name, (), "?", ()) for name in "bac"], Sampling())
    assert answers[:2] == [Completion(error="timed out"), Completion("1\n\u2028")]
    assert str(script) in (answers[2].error or "")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        *((line, "not a JSON object") for line in ("{", "", "[1]", '{"id": 3, "text": "x"}', "[" * 100_000)),
        ('{"id": "a", "text": "y"}', "the id a appears twice"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, fault: str) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(f'{{"id": "a", "text": "x"}}\n{line}\n{{"id": "c", "text": "x"}}\n')
    with pytest.raises(DataError, match=f"script.jsonl, line 2: {fault}"):
        ScriptedEngine(script)
