"""`harness program`, and the examples of docs/program.md."""

from __future__ import annotations

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from harness.cli import main
from harness.corpora import load
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


def _programs(path: Path, *lines: tuple[str, str, str | None]) -> str:
    records = ({"id": name, "program": program} | ({"mark": mark} if mark else {}) for name, program, mark in lines)
    path.write_text("\n".join(map(json.dumps, records)))
    return str(path)


def test_programs_are_checked_against_gold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tower, column = load("iglu", "train")[0].id, load("hexagons", "train")[0].id
    right = ("blue tower(middle(floor),3)", "blue bottom(4,6)")
    file = _programs(tmp_path / "right.jsonl", (tower, right[0], None), (column, right[1], None))
    assert main(["program", "check", file]) == 0
    assert capsys.readouterr().out == "2 programs: 2 as gold\n"
    file = _programs(
        tmp_path / "p.jsonl", (tower, "blue tower(1,1,0,2)", "differs"), (column, "blue bottom(4,5); red 1:1; x", None)
    )
    assert main(["program", "check", file]) == 1
    assert capsys.readouterr().err.startswith(f"Error: {file}:2: {column}: its program does not parse: line 1, column 28")
    file = _programs(
        tmp_path / "p.jsonl", (tower, "blue tower(1,1,0,2)", "differs"), (column, "blue bottom(4,5); red 1:1+x", None)
    )
    assert main(["program", "check", file]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{file}:1: {tower}: missing blue 0,1-3,0; extra blue 1,1-2,0 (marked)",
        f"{file}:2: {column}: missing blue 4:5; error line 1, column 27: x has no meaning yet",
        "2 programs: 1 differ, 1 differ as marked",
    ]
    assert main(["program", "check", _programs(tmp_path / "p.jsonl", (tower, right[0], "differs"))]) == 0
    assert "marked differs, but does what gold does" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "words", "why"),
    [
        ("hexagons/dev/0/1", [], "an item of dev: programs are for train items only"),
        ("hexagons/train/999/1", [], "no train item of the sample corpus"),
        ("lego/train/1", [], "of no task"),
        ("hexagons/train/0/1", ["--task", "iglu"], "an item of hexagons, not of iglu"),
    ],
)
def test_a_line_that_cannot_be_checked_is_named(
    name: str, words: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _programs(tmp_path / "p.jsonl", (name, "none", None))
    assert main(["program", "check", file, *words]) == 1
    assert capsys.readouterr().err.startswith(f"Error: {file}:1: {name} is {why}")


def _run(folder: Path, split: str, **records: list[str]) -> str:
    """A run over HEXAGONS items: the answers by the item's number in the first procedure."""
    folder.mkdir()
    settings = {"settings": {"task": "hexagons", "split": split, "format": "bare-program"}}
    (folder / "run.yaml").write_text(json.dumps(settings))
    drawing = load("hexagons", split)[0].id.rpartition("/")[0]
    lines = (
        {"id": f"{drawing}/{step}", "text": texts[0], "samples": texts} | {"format": "bare-program", "actions": []}
        for step, texts in records.items()
    )
    (folder / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(folder)


def test_answers_that_do_what_gold_does_are_collected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    item, out = load("hexagons", "train")[0], tmp_path / "programs.jsonl"
    step = item.id.rpartition("/")[2]
    right = ["blue bottom(4,6)", "```\nblue 4:5-10\n```", "blue 4:5-10", "blue 4:5-10; blue 4:5", "red 1:1", "blue bottom(4,"]
    run = _run(tmp_path / "run", "train", **{step: right})
    assert main(["program", "collect", run, "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith(f"{out}: 1 programs; items: 1 as gold")
    assert [json.loads(line) for line in out.read_text().splitlines()] == [{"id": item.id, "program": "blue 4:5-10"}]
    assert main(["program", "check", str(out)]) == 0
    failed = tmp_path / "run/predictions.jsonl"
    failed.write_text(json.dumps({"id": item.id, "actions": [], "error": "no answer"}) + "\n")
    assert main(["program", "collect", run, "--out", str(out)]) == 0
    assert "0 programs; items: 18 without an answer" in capsys.readouterr().out
    run = _run(tmp_path / "wrong", "train", **{step: ["red 1:1"]})
    assert main(["program", "collect", run, "--out", str(out)]) == 0
    assert out.read_text() == ""


def test_programs_of_dev_are_not_collected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = _run(tmp_path / "run", "dev", **{"1": ["red 1:1"]})
    assert main(["program", "collect", run, "--out", str(tmp_path / "p")]) == 2
    assert "its items are of dev; programs are for train items only" in capsys.readouterr().err


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.program.splitlines()[0])
def test_the_examples_of_the_manual(example: Example) -> None:
    made, picture = result(example)
    assert made == example.result, "if the change is meant: tools/program_page.py"
    if example.picture:
        assert (PAGE.parent / example.picture).read_text() == picture
