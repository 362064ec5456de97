"""`harness annotate`: the loop with scripted keys, its file, agreement, and a real pseudo-terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from eval.agreement import agreement
from eval.annotation import Annotation, Judgment, read_annotation
from harness.annotation.judging import JudgingLoop
from harness.annotation.loop import AnnotationFile, keys
from harness.annotation.loop import open_annotation as open_file
from harness.cli import main
from harness.corpora import load
from harness.corpora.item import MinecraftItem, Utterance
from harness.errors import HarnessError, UsageError
from tests.helpers import ROOT
from tests.helpers.corpora_files import state, write_log, write_splits

SHIPPED = ROOT / "eval" / "annotations"
GAMES = ["B1-A2-C3-1522432776975", "B2-A2-C3-1522432776976"]
FIRST, SECOND, THIRD, FOURTH = IDS = [f"minecraft/test/{game}/{n}" for game in GAMES for n in (2, 4)]
CLEAR: dict[str, Any] = {"context": "unique", "correct": True}
UNCLEAR: dict[str, Any] = {"context": "unclear", "correct": None}


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


def items() -> list[MinecraftItem]:
    return [item for item in load("minecraft", "test") if isinstance(item, MinecraftItem)]


def open_annotation(path: Path) -> AbstractContextManager[AnnotationFile[Judgment]]:
    return open_file(path, items(), lambda path: read_annotation(path, items(), partial=True).judgments, Judgment.as_json)


def write(path: Path, judgments: dict[str, dict[str, Any]], end: str = "", **fields: str) -> Path:
    path.write_text("".join(json.dumps({"id": item, **judged, **fields}) + "\n" for item, judged in judgments.items()) + end)
    return path


def written(path: Path) -> dict[str, tuple[Any, ...]]:
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return {record["id"]: (record["context"], record["correct"], record.get("reason", "")) for record in records}


def judge(
    typed: str, path: Path = Path("a.jsonl"), *, lines: str = "", again: bool = False, width: int = 100, **more: Any
) -> str:
    """Type these keys into the loop over all items, then close the terminal. Returns the output."""
    shown = io.StringIO()
    console = Console(file=shown, width=width, highlight=False, markup=False, emoji=False)
    asked = iter(lines.split("\n"))
    following = [Utterance("Architect", f"later {n}") for n in range(10)]
    with open_annotation(path) as file:
        read_key = keys(iter([*typed, ""]).__next__)
        loop = JudgingLoop(items(), file, "me", console, read_key, lambda item: following, lambda ask: next(asked), **more)
        loop.run(again=again)
    return shown.getvalue()


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["annotate", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_each_item_takes_one_or_two_keys() -> None:
    shown = judge("myxuNx")
    assert written(Path("a.jsonl")) == dict(
        zip(IDS, [("multiple", True, ""), ("unclear", None, ""), ("unique", False, ""), ("unclear", None, "")], strict=True)
    )
    assert '"annotator": "me"' in Path("a.jsonl").read_text()
    assert "item 3 of 4, 50.0% judged, game 2 of 2" in shown
    assert shown.endswith("4 of 4 judged\na.jsonl\n")


def test_it_resumes_at_the_first_item_without_a_judgment() -> None:
    assert "2 of 4 judged; 2 left: the same command continues with them" in judge("suyx")
    assert list(written(Path("a.jsonl"))) == [SECOND, THIRD]
    shown = judge("x")
    assert FIRST in shown
    assert SECOND not in shown
    judge("x")
    # An item that was skipped and judged later is in its place once all are judged.
    assert list(written(Path("a.jsonl"))) == IDS


@pytest.mark.parametrize("end", ['{"id": "minecraft/te', f'{{"id": "{SECOND}", "context": "unique", "correct": true}}'])
def test_a_last_line_without_its_end_is_repaired(end: str) -> None:
    path = write(Path("a.jsonl"), {FIRST: UNCLEAR}, end)
    judge("x")
    assert list(written(path)) == [FIRST, SECOND, THIRD][: 2 if end.endswith("te") else 3]


def test_back_changes_an_answer() -> None:
    shown = judge("xbubmnunbbq")
    assert "judged before: me: unclear" in shown
    assert written(Path("a.jsonl")) == {FIRST: ("multiple", False, ""), SECOND: ("unique", False, "")}
    assert list(Path().glob(".a.jsonl.[0-9]*")) == []


def test_a_reason_is_kept_until_it_is_changed() -> None:
    judge("rurn", lines="first\n why\x1b\udc80 not ")
    assert written(Path("a.jsonl"))[FIRST] == ("unique", False, "why\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} not")
    assert "(why" in judge("x", again=True)
    assert written(Path("a.jsonl"))[FIRST][2].startswith("why")
    judge("rx", lines="", again=True)
    assert written(Path("a.jsonl"))[FIRST] == ("unclear", None, "")


def test_what_is_shown() -> None:
    shown = judge("xfff?hzuz")
    assert "no blocks" in shown
    assert "\x1b" not in shown
    assert "later 7" in shown
    assert shown.count("later 9") == 1
    assert "2 more turns follow: f shows them" in shown
    assert shown.count("the game ends here") == 2
    assert "What comes afterwards does not count." in shown
    assert "z is not a key here" in shown
    assert "Builder    > place red 4 1 4" in shown
    assert "builder at (3.5, 1.0, 2.5), yaw 45" in shown
    assert "The builder did 1 action: place blue 4 2 4" in shown
    before, after = next(line for line in shown.splitlines() if line.startswith("Before  ")).split()
    assert (before, after) == ("Before", "After")


def test_keys_typed_ahead_and_escape_sequences() -> None:
    read = keys(iter(["uy", "\x1b[A", "x", "\x04"]).__next__)
    assert [read() for _ in range(4)] == ["u", "y", "\x1b[A", "x"]
    with pytest.raises(EOFError):
        read()


def test_one_loop_a_file() -> None:
    with (
        open_annotation(Path("a.jsonl")),
        pytest.raises(HarnessError, match="being written by another harness annotate; end that one"),
        open_annotation(Path("a.jsonl")),
    ):
        pass
    judge("x")


def test_a_file_that_cannot_be_written() -> None:
    with open_annotation(Path("new", "a.jsonl")) as file:
        Path("new", "a.jsonl").mkdir()
        with pytest.raises(HarnessError, match=r"a\.jsonl: cannot be written: Is a directory"):
            file.record(Judgment(FIRST, "unclear", None))


class Terminal:
    """The command in a real pseudo-terminal."""

    def __init__(self, *arguments: str) -> None:
        self.screen, inner = pty.openpty()
        command = [sys.executable, "-m", "harness.cli", "annotate", *arguments]
        self.process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, env=os.environ | {"PYTHONPATH": str(SHIPPED.parents[1])}
        )
        os.close(inner)

    def until(self, text: str) -> str:
        seen = ""
        while text not in seen:
            assert select.select([self.screen], [], [], 60)[0], seen
            seen += os.read(self.screen, 4096).decode()
        return seen

    def press(self, key: str) -> None:
        """Press a key once the loop waits for it; keys typed earlier are discarded."""
        while termios.tcgetattr(self.screen)[3] & termios.ICANON:
            time.sleep(0.01)
        os.write(self.screen, key.encode())


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(*arguments))
        return opened[-1]

    yield start
    for one in opened:
        one.process.kill()
        one.process.wait()
        os.close(one.screen)


def test_a_killed_loop_loses_the_item_in_flight_only(terminal: Callable[..., Terminal]) -> None:
    first = terminal("label", "--annotator", "me")
    assert "minecraft/test: 4 items of the official corpus; annotations/me.jsonl" in first.until("Context before?")
    first.press("x")
    first.until("Context before?")
    first.press("u")
    first.until("Structure after?")
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    path = Path("annotations", "me.jsonl")
    assert list(written(path)) == [FIRST]
    second = terminal("label", "--annotator", "me")
    assert "item 2 of 4" in second.until("Context before?")
    second.press("r")
    second.until("Reason: ")
    os.write(second.screen, b"because\n")
    second.until("Context before?")
    second.press("x")
    second.until("Context before?")
    second.press("\x03")
    second.until("Interrupted.")
    assert second.process.wait() == 130
    assert written(path)[SECOND] == ("unclear", None, "because")
    third = terminal("label", "--annotator", "me")
    third.until("Context before?")
    third.press("\x04")
    third.until("2 of 4 judged")
    assert third.process.wait() == 0


def at_the_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.getchar", iter([*typed, ""]).__next__)


def test_the_first_games_or_one_item(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    at_the_terminal(monkeypatch, "xx")
    code, out, _ = run(capsys, "label", "--annotator", "me", "--games", 1, "--out", "a.jsonl")
    assert (code, list(written(Path("a.jsonl")))) == (0, [FIRST, SECOND])
    assert "2 of 2 judged" in out
    at_the_terminal(monkeypatch, "fuy")
    code, out, _ = run(capsys, "label", "--annotator", "me", "--item", SECOND, "--out", "a.jsonl")
    assert (code, written(Path("a.jsonl"))[SECOND]) == (0, ("unique", True, ""))
    assert "Architect  no, green" in out


A = {FIRST: CLEAR, SECOND: CLEAR, THIRD: UNCLEAR}


def made(name: str, *labels: str) -> Annotation:
    """An annotation of items 0, 1, ...: u unique and correct, w unique and wrong, m multiple, x unclear, a dot: no judgment."""
    words = {"u": ("unique", True), "w": ("unique", False), "m": ("multiple", True), "x": ("unclear", None)}
    codes = "".join(labels)
    return Annotation(name, {str(n): Judgment(str(n), *words[code]) for n, code in enumerate(codes) if code != "."})


def test_agreement_by_hand() -> None:
    found = agreement(made("a", "uuxxwm."), made("b", "uxxxumu"))
    assert (found["items"], found["only_first"], found["only_second"]) == (6, 0, 1)
    # 5 of 6 equal; by chance (3 * 2 + 1 * 1 + 2 * 3) / 36
    assert found["context"]["equal"] == pytest.approx(5 / 6)
    assert found["context"]["kappa"] == pytest.approx((5 / 6 - 13 / 36) / (1 - 13 / 36))
    # Observed disagreement 2 of 12; expected (144 - 25 - 4 - 25) / 132
    assert found["context"]["alpha"] == pytest.approx(1 - (2 / 12) / (90 / 132))
    assert found["context"]["confusion"]["unique"] == {"unique": 2, "multiple": 0, "unclear": 1}
    assert found["correct"]["items"] == 3
    assert found["correct"]["equal"] == pytest.approx(2 / 3)
    assert found["correct"]["kappa"] == 0
    assert [item["id"] for item in found["differ"]] == ["1", "4"]


def test_agreement_that_cannot_be_corrected_for_chance() -> None:
    found = agreement(made("a", "uu"), made("b", "uu"))
    assert (found["context"]["equal"], found["context"]["kappa"], found["context"]["alpha"]) == (1.0, None, None)
    assert found["context"]["note"] == 'kappa and alpha are not defined: every label is "unique"'
    found = agreement(made("a", "xx"), made("b", "xu"))
    assert found["context"]["kappa"] == 0
    assert (found["correct"]["items"], found["correct"]["equal"]) == (0, None)
    assert found["correct"]["note"] == "kappa and alpha are not defined: there is no item to compare"
    with pytest.raises(UsageError, match="a and b have no item in common"):
        agreement(made("a", "u."), made("b", ".u"))


def test_the_two_passes_that_ship(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "agreement", "--json")
    found = json.loads(out)
    assert (code, found["items"], found["only_first"], found["only_second"]) == (0, 416, 1200, 0)
    assert found["context"]["equal"] == pytest.approx(0.962, abs=5e-4)
    assert found["context"]["kappa"] == pytest.approx(0.892, abs=5e-4)
    assert found["context"]["alpha"] == pytest.approx(0.892, abs=5e-4)
    assert (found["correct"]["items"], len(found["differ"])) == (343, 17)
    assert found["correct"]["equal"] == pytest.approx(0.997, abs=5e-4)
    code, out, _ = run(capsys, "agreement")
    rows = [line.split()[-2:] for line in out.splitlines() if line.startswith(("context  ", "correct, if"))]
    assert rows == [["0.892", "0.892"], ["0.992", "0.992"]]
    same = [SHIPPED / "minecraft_test_second.jsonl"] * 2
    assert json.loads(run(capsys, "agreement", *same, "--json")[1])["context"]["kappa"] == 1


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Path("a.jsonl"), A, end='{"id')
    code, out, _ = run(capsys, "stats", path)
    assert code == 0
    assert "a.jsonl; games left out because they are not fully judged: 1" in out
    counts = json.loads(run(capsys, "stats", path, "--json")[1])
    assert {key: counts[key] for key in ("games", "items", "clear", "clean", "multiple")} == {
        "games": 1,
        "items": 2,
        "clear": 2,
        "clean": 2,
        "multiple": 0,
    }


@pytest.mark.data
def test_counts_of_our_annotation(capsys: pytest.CaptureFixture[str], data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(data_dir))
    counts = json.loads(run(capsys, "stats", "--json")[1])
    names = ("games", "items", "unclear", "clear", "incorrect", "repaired", "left_out", "clean", "clean_multiple")
    assert [counts[name] for name in names] == [137, 1616, 269, 1347, 252, 217, 35, 1312, 92]


LABEL = ["label", "--annotator", "me", "--out", "a.jsonl"]
BAD = {
    "an unknown item": ({"minecraft/test/x/1": CLEAR}, LABEL, 1, "a.jsonl:1: unknown item 'minecraft/test/x/1'"),
    "another annotator's file": ({FIRST: CLEAR | {"annotator": "you"}}, LABEL, 2, "holds annotations of 'you'"),
    "a name with a slash": ({}, ["label", "--annotator", "a/b"], 2, "--annotator 'a/b': a file is named after it"),
    "no such item": ({}, [*LABEL, "--item", FIRST + "9"], 2, f"no item '{FIRST}9'"),
    "an item of the other task": ({}, [*LABEL, "--item", "hexagons/dev/1/1"], 2, "no item 'hexagons/dev/1/1'"),
    "an item of another task": (
        {},
        [*LABEL, "--item", "hexagons/dev/5/1"],
        2,
        "only items of minecraft are annotated in this way",
    ),
    "an item and games": ({}, [*LABEL, "--item", FIRST, "--games", "1"], 2, "--item names one item"),
    "no such split": ({}, [*LABEL, "--split", "tset"], 2, "did you mean test?"),
    "a split without items": ({}, [*LABEL, "--split", "val"], 2, "there are no items of minecraft/val"),
    "one file to compare": ({FIRST: CLEAR}, ["agreement", "a.jsonl"], 2, "agreement compares two files"),
    "no file": ({}, ["agreement", "a.jsonl", "none.jsonl"], 1, "none.jsonl: cannot be read"),
    "an empty file": ({}, ["stats", "a.jsonl"], 2, "a.jsonl holds no judgments"),
    "no game to its end": ({FIRST: CLEAR}, ["stats", "a.jsonl"], 2, "no game is fully judged"),
}


@pytest.mark.parametrize(("judgments", "arguments", "code", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_an_error_of_one_line_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    judgments: dict[str, Any],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    at_the_terminal(monkeypatch, "")
    write(Path("a.jsonl"), judgments)
    found, _, err = run(capsys, *arguments)
    assert (found, err.count("\n")) == (code, 1)
    assert message in err


def test_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "label", "--annotator", "me")
    assert (code, err.count("\n")) == (2, 1)
    assert "stdin is not a terminal: run it without a pipe" in err
    assert not Path("annotations").exists()
