"""The file with the shares of requests that players solve, and the runs that `tools/solved_shares.py` accepts and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.corpora import load
from harness.errors import UsageError
from harness.everyday.solved import shares
from tools.solved_shares import record


def predictions(file: Path, split: str, drop: int = 0) -> Path:
    """A file of empty answers."""
    items = load("everyday-hexagons", split)
    file.write_text("".join(json.dumps({"id": item.id, "actions": []}) + "\n" for item in items[drop:]))
    return file


def test_a_run_adds_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "solved.json"
    record([f"rules={predictions(tmp_path / 'p.jsonl', 'test')}"], file)
    assert json.loads(file.read_text())["rules"]["hexagons"] < 0.1
    assert json.loads(file.read_text())["t5"] == shares()["t5"]


@pytest.mark.parametrize(
    ("split", "drop", "form", "told"),
    [
        ("test", 0, "{}", "write PLAYER=RUN"),
        ("dev", 0, "rules={}", "take a run over the test split"),
        ("test", 1, "rules={}", "does not answer all"),
    ],
)
def test_a_run_that_does_not_fit_is_refused(split: str, drop: int, form: str, told: str, tmp_path: Path) -> None:
    file = predictions(tmp_path / "p.jsonl", split, drop)
    with pytest.raises(UsageError, match=told):
        record([form.format(file)], tmp_path / "solved.json")
    assert not (tmp_path / "solved.json").exists()
