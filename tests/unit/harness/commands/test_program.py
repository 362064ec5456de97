"""`harness program`, and the examples of docs/program.md."""

import json
import re
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from harness.corpora import load
from tests.helpers import Command
from tests.helpers.program_page import PAGE, examples, result
from tests.helpers.scored import write_lines, write_run

pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.fixture
def run(command: Command) -> Command:
    return partial(command, "program")


def test_a_typed_program_is_drawn_up_to_its_error(monkeypatch: pytest.MonkeyPatch, run: Command) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"red 1:1; blue rng(2:2); green 3:3")))
    code, out, err = run("-")
    assert out.endswith("1 action: red 1:1\n")
    assert (code, err) == (1, "Error: line 1, column 15: no function rng (did you mean ring?)\n")


def test_a_program_on_an_item(run: Command) -> None:
    item: Any = next(item for item in load("hexagons", "dev") if item.before.painted())  # type: ignore[union-attr]
    file = "program.txt"
    Path(file).write_text("white painted")
    assert f"\n{len(item.before.painted())} actions: white" in run(file, "--item", item.id)[1]
    for words, message in (
        ([file, "--item", item.id, "--task", "minecraft"], f"--task minecraft: {item.id} is an item of hexagons"),
        (["nothing"], "No such file"),
    ):
        code, _, err = run(*words)
        assert (code, message in err) == (2, True)


def programs(*lines: tuple[str, str, str | None]) -> Path:
    return write_lines("p.jsonl", [{"id": name, "program": text, "mark": mark} for name, text, mark in lines])


def test_programs_are_checked_against_gold(run: Command) -> None:
    tower, column = load("iglu", "train")[0].id, load("hexagons", "train")[0].id
    right = ("blue tower(middle(floor),3)", "blue bottom(4,6)")
    assert run("check", programs((tower, right[0], None), (column, right[1], None)))[:2] == (0, "2 programs: 2 as gold\n")
    other = (tower, "blue tower(1,1,0,2)", "differs")
    code, out, _ = run("check", programs(other, (column, "blue bottom(4,5); red 1:1+x", None)))
    assert code == 1
    assert out.splitlines() == [
        f"p.jsonl:1: {tower}: missing blue 0,1-3,0; extra blue 1,1-2,0 (marked)",
        f"p.jsonl:2: {column}: missing blue 4:5; error line 1, column 27: x has no meaning yet",
        "2 programs: 1 differ, 1 differ as marked",
    ]
    code, out, _ = run("check", programs((tower, right[0], "differs")))
    assert (code, "marked differs, but does what gold does" in out) == (0, True)


def sampled(split: str, *texts: str, **record: object) -> Path:
    """A run over HEXAGONS items: the answers to the first item."""
    record = record or {"text": texts[0], "samples": texts, "format": "bare-program", "actions": []}
    item = load("hexagons", split)[0]
    return write_run("sampled", [{"id": item.id, **record}], task="hexagons", split=split, format="bare-program")


def test_answers_that_do_what_gold_does_are_collected(run: Command) -> None:
    item = load("hexagons", "train")[0]
    right = ["blue bottom(4,6)", "```\nblue 4:5-10\n```", "blue 4:5-10", "blue 4:5-10; blue 4:5", "red 1:1", "blue bottom(4,"]
    assert run("collect", sampled("train", *right), "--out", "out.jsonl")[1].startswith("out.jsonl: 1 programs; items: 1 as gold")
    assert json.loads(Path("out.jsonl").read_text()) == {"id": item.id, "program": "blue 4:5-10"}
    assert run("check", "out.jsonl")[0] == 0
    told = run("collect", sampled("train", actions=[], error="no answer"), "--out", "out.jsonl")[1]
    assert "0 programs; items: 18 without an answer" in told
    assert run("collect", sampled("train", "red 1:1"), "--out", "out.jsonl")[0] == 0
    assert Path("out.jsonl").read_text() == ""


def test_programs_are_collected_from_a_file_of_train_items(run: Command, command: Command) -> None:
    command("data", "items", "hexagons", "--split", "train", "--limit", "1", "--out", "items.jsonl")
    folder = sampled("train", "blue 4:5-10")
    (folder / "run.yaml").write_text(json.dumps({"settings": {"task": "hexagons", "items_file": "items.jsonl"}}))
    assert "1 programs; items: 1 as gold" in run("collect", folder, "--out", "out.jsonl")[1]


def test_programs_of_dev_are_not_collected(run: Command) -> None:
    code, _, err = run("collect", sampled("dev", "red 1:1"), "--out", "out.jsonl")
    assert (code, "its items are of dev; programs are for train items only" in err) == (2, True)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example["asked"].splitlines()[0])
def test_the_examples_of_the_manual(example: re.Match[str]) -> None:
    made, picture = result(example)
    assert made == example["result"], "if the change is meant: python -m tests.helpers.program_page"
    if example["picture"]:
        assert (PAGE.parent / example["picture"]).read_text() == picture
