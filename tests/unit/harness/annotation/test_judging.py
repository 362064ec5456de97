"""`harness annotate`: the loop with scripted keys, its file, and agreement."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.agreement import agreement
from eval.annotation import Judgment
from harness.annotation.loop import open_annotation
from tests.helpers import Command
from tests.helpers.corpora_files import state, write_log, write_splits

GAMES = ["B1-A2-C3-1522432776975", "B2-A2-C3-1522432776976"]
FIRST, SECOND, THIRD, FOURTH = IDS = [f"minecraft/test/{game}/{n}" for game in GAMES for n in (2, 4)]
CLEAR: dict[str, Any] = {"context": "unique", "correct": True}
UNCLEAR: dict[str, Any] = {"context": "unclear", "correct": None}

Judge = Callable[..., str]


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two games of two items in the test split: the first on an empty board, the second on the placed block."""
    data = tmp_path / "data"
    chat = [
        "<Architect> a red block\x1b[31m anywhere",
        "<Builder> done",
        "<Architect> a blue one on top",
        "<Architect> no, green",
    ]
    red, blue = (4, 1, 4, "red"), (4, 2, 4, "blue")
    states = [
        state(),
        state(chat[:1]),
        state(chat[:1], [red], (3.5, 1.0, 2.5, 45.0, 20.0)),
        state(chat[:3], [red], (3.5, 1.0, 2.5, 45.0, 20.0)),
        state(chat[:3], [red, blue]),
        state(chat, [red, blue]),
    ]
    write_splits(data / "minecraft", test=["C3"])
    for game in GAMES:
        write_log(data / "minecraft", states, game)
    monkeypatch.setenv("HARNESS_DATA", str(data))
    monkeypatch.delenv("COLUMNS")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return data


def write(path: Path, judgments: dict[str, dict[str, Any]], **fields: str) -> Path:
    path.write_text("".join(json.dumps({"id": item, **judged, **fields}) + "\n" for item, judged in judgments.items()))
    return path


def written(path: Path = Path("a.jsonl")) -> dict[str, tuple[Any, ...]]:
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return {record["id"]: (record["context"], record["correct"]) for record in records}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, command: Command) -> Judge:
    """Types these keys into `harness annotate label`, then closes the terminal. Returns the output."""

    def run(typed: str) -> str:
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("click.getchar", iter([*typed, ""]).__next__)
        code, out, err = command(*LABEL)
        assert (code, err) == (0, "")
        return out

    return run


LABEL = ["annotate", "label", "--annotator", "me", "--out", "a.jsonl"]


def test_each_item_takes_one_or_two_keys(judge: Judge) -> None:
    shown = judge("myxuNx")
    answers = [("multiple", True), ("unclear", None), ("unique", False), ("unclear", None)]
    assert written() == dict(zip(IDS, answers, strict=True))
    assert '"annotator": "me"' in Path("a.jsonl").read_text()
    assert "item 3 of 4, 50.0% judged" in shown
    assert shown.endswith("4 of 4 judged\na.jsonl\n")


def test_it_resumes_at_the_first_item_without_a_judgment(judge: Judge) -> None:
    assert "2 of 4 judged; 2 left: the same command continues with them" in judge("suyx")
    assert list(written()) == [SECOND, THIRD]
    shown = judge("x")
    assert FIRST in shown
    assert SECOND not in shown
    judge("x")
    assert list(written()) == IDS


def test_back_changes_an_answer(judge: Judge) -> None:
    shown = judge("xbubmnunbbq")
    assert "judged before: me: unclear" in shown
    assert written() == {FIRST: ("multiple", False), SECOND: ("unique", False)}


def test_what_is_shown(judge: Judge) -> None:
    shown = judge("xf?hzuz")
    for text in (
        "no blocks",
        "What comes afterwards does not count.",
        "z is not a key here",
        "Builder    > place red 4 1 4",
        "builder at (3.5, 1.0, 2.5), yaw 45",
        "What was done, 1 action: place blue 4 2 4",
        "Architect  no, green",
    ):
        assert text in shown
    assert "\x1b" not in shown


def test_one_loop_a_file(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with open_annotation(Path("a.jsonl"), [], lambda path: {}, Judgment.as_json):
        assert "is being written by another harness annotate; end that one" in command(*LABEL)[2]


def made(labels: str) -> dict[str, Judgment]:
    """Judgments of items 0, 1, ...: u unique and correct, w unique and wrong, m multiple, x unclear, a dot: no judgment."""
    words = {"u": ("unique", True), "w": ("unique", False), "m": ("multiple", True), "x": ("unclear", None)}
    return {str(n): Judgment(str(n), *words[code]) for n, code in enumerate(labels) if code != "."}


def test_agreement_by_hand() -> None:
    result = agreement(made("uuxxwm."), made("uxxxumu"), ("a", "b"))
    assert (result["items"], result["only_first"], result["only_second"]) == (6, 0, 1)
    context, correct = result["parts"].values()
    # 5 of 6 equal; by chance (3 * 2 + 1 * 1 + 2 * 3) / 36
    assert context["equal"] == pytest.approx(5 / 6)
    assert context["kappa"] == pytest.approx((5 / 6 - 13 / 36) / (1 - 13 / 36))
    # Observed disagreement 2 of 12; expected (144 - 25 - 4 - 25) / 132
    assert context["alpha"] == pytest.approx(1 - (2 / 12) / (90 / 132))
    assert context["confusion"]["unique"] == {"unique": 2, "multiple": 0, "unclear": 1}
    assert (correct["items"], correct["equal"], correct["kappa"]) == (3, pytest.approx(2 / 3), 0)
    assert [item["id"] for item in result["differ"]] == ["1", "4"]
    context = agreement(made("uu"), made("uu"), ("a", "b"))["parts"]["context"]
    assert (context["equal"], context["kappa"], context["alpha"]) == (1.0, None, None)
    assert context["note"] == 'kappa and alpha are not defined: every label is "unique"'


def test_the_two_passes_that_ship(command: Command) -> None:
    result = json.loads(command("annotate", "agreement", "--json")[1])
    assert (result["items"], result["only_first"], result["only_second"], len(result["differ"])) == (416, 1200, 0, 17)
    context, correct = result["parts"].values()
    assert [context[key] for key in ("equal", "kappa", "alpha")] == pytest.approx([0.962, 0.892, 0.892], abs=5e-4)
    assert (correct["items"], correct["equal"]) == (343, pytest.approx(0.997, abs=5e-4))
    rows = [line.split()[-2:] for line in command("annotate", "agreement")[1].splitlines()]
    assert ["0.892", "0.892"] in rows
    assert ["0.992", "0.992"] in rows


def test_counts(command: Command) -> None:
    path = write(Path("a.jsonl"), {FIRST: CLEAR, SECOND: CLEAR, THIRD: UNCLEAR})
    assert "a.jsonl; games left out because they are not fully judged: 1" in command("annotate", "stats", path)[1]
    counts = json.loads(command("annotate", "stats", path, "--json")[1])
    assert [counts[key] for key in ("games", "items", "clear", "clean", "multiple")] == [1, 2, 2, 2, 0]


@pytest.mark.data
def test_counts_of_our_annotation(command: Command, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(data_dir))
    counts = json.loads(command("annotate", "stats", "--json")[1])
    names = ("games", "items", "unclear", "clear", "incorrect", "repaired", "left_out", "clean", "clean_multiple")
    assert [counts[name] for name in names] == [137, 1616, 269, 1347, 252, 217, 35, 1312, 92]


BAD = {
    "an unknown item": ({"minecraft/test/x/1": CLEAR}, LABEL[1:], 1, "a.jsonl:1: unknown item 'minecraft/test/x/1'"),
    "another annotator's file": ({FIRST: CLEAR | {"annotator": "you"}}, LABEL[1:], 2, "holds annotations of 'you'"),
    "a split without items": ({}, [*LABEL[1:], "--split", "val"], 2, "there are no items of minecraft/val"),
    "one file to compare": ({FIRST: CLEAR}, ["agreement", "a.jsonl"], 2, "agreement compares two files"),
    "an empty file": ({}, ["stats", "a.jsonl"], 2, "a.jsonl holds no judgments"),
    "no game to its end": ({FIRST: CLEAR}, ["stats", "a.jsonl"], 2, "no game is fully judged"),
    "no terminal": ({}, LABEL[1:], 2, "stdin is not a terminal: run it without a pipe"),
}


@pytest.mark.parametrize(("judgments", "arguments", "code", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_an_error_of_one_line_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, command: Command, judgments: dict[str, Any], arguments: list[str], code: int, message: str
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: "terminal" not in message, raising=False)
    write(Path("a.jsonl"), judgments)
    result, _, err = command("annotate", *arguments)
    assert (result, err.count("\n")) == (code, 1)
    assert message in err
