"""`harness program`, and the examples of docs/program.md."""

from __future__ import annotations

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from harness.cli import main
from tools.program_page import PAGE, Example, examples, result

EXAMPLES = list(examples(PAGE.read_text()))


def test_a_program_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ring.txt"
    file.write_text("blue ring(5:4)\n")
    assert main(["program", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    # Two lines a row; row 3 is the third.
    assert lines[0].split() == [str(column) for column in range(1, 19)]
    assert lines[5].split()[:5] == ["3", "·", "·", "[B]", "·"]
    assert lines[-1] == "6 actions: blue 4,6:3,4+5:3,5"


def test_a_program_of_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tower.txt"
    file.write_text("red tower(0,1,0,2)")
    assert main(["program", str(file), "--task", "minecraft"]) == 0
    out = capsys.readouterr().out
    assert "y=2" in out
    assert out.splitlines()[-1] == "2 actions: red 0,1-2,0"


def test_json_of_a_typed_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"red 1:1; blue rng(2:2); green 3:3")))
    assert main(["program", "-", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {
        "actions": [[0, 0, "red"]],
        "error": {"line": 1, "column": 15, "problem": "no function rng (did you mean ring?)"},
    }
    assert captured.err == "Error: line 1, column 15: no function rng (did you mean ring?)\n"


def test_a_program_on_an_item(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.corpora import load

    item = next(item for item in load("hexagons", "dev") if item.before.painted())  # type: ignore[union-attr]
    file = tmp_path / "program.txt"
    file.write_text("white painted")
    assert main(["program", str(file), "--item", item.id, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["actions"]) == len(item.before.painted()) > 0  # type: ignore[union-attr]
    assert main(["program", str(file), "--item", item.id, "--task", "minecraft"]) == 2
    assert f"--task minecraft: {item.id} is an item of hexagons" in capsys.readouterr().err


def test_files_that_are_not_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "program.txt"
    file.write_bytes(b"\xff\xfe")
    assert main(["program", str(file)]) == 2
    assert "cannot be read as text (not UTF-8)" in capsys.readouterr().err
    assert main(["program", str(tmp_path / "nothing")]) == 2
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.program.splitlines()[0])
def test_the_examples_of_the_manual(example: Example) -> None:
    made, picture = result(example)
    assert made == example.result, "if the change is meant: tools/program_page.py"
    if example.picture:
        assert (PAGE.parent / example.picture).read_text() == picture
