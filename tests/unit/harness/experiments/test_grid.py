"""Rows of commands: run one after another, remembered, independent of each other, and compared with the first row."""

import json
import signal
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from eval.score_run import Benchmark
from harness.corpora import load
from harness.errors import HarnessError
from harness.experiments import grid as grid_module
from harness.experiments.grid import STATE_FILE, Answered, Command, Grid, Row, row_gpus, run_command
from harness.experiments.tables import as_markdown, cells, compared
from prompts.messages import gold_answer
from prompts.spec import PromptSpec
from tests.helpers import ROOT

SPEC = PromptSpec.make("hexagons")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the answers of two models, one of them right half the time. Child processes run this checkout's code."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    items = load("hexagons", "dev")
    for name, share in (("right", 1), ("half", 2)):
        lines = [{"id": item.id, "text": "" if n % share else gold_answer(item, SPEC)} for n, item in enumerate(items)]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def row(name: str) -> Row:
    words = ("prompt", "--engine", "scripted", "--model", f"{name}.jsonl", "--name", f"grid/{name}")
    answers = Path("runs/grid") / name
    command = Command(words, answers / "predictions.jsonl")
    return Row(name=name, commands=(command,), tests={"": Answered(answers, Benchmark())})


def run(*rows: Row) -> tuple[list[str], list[dict[str, object]]]:
    """The messages, and the table."""
    said: list[str] = []
    with closing(Grid(Path("runs/grid"), rows)) as grid:
        grid.run(said.append)
        return said, compared(grid, [row for row in rows if row.tests], "")


def test_rows_run_once_and_are_compared_and_one_that_fails_stops_no_other() -> None:
    rows = row("right"), row("missing"), row("half")
    said, lines = run(*rows)
    assert [line["row"] for line in lines if line["error"] is None] == ["right", "half"]
    assert "missing.jsonl" in str(lines[1]["error"])
    assert any(line.startswith("row 2 of 3, missing: failed: ") for line in said)
    assert said[-1] == "row 3 of 3, half: finished"
    assert "hexagons dev: 7 items" in Path("runs/grid/right.log").read_text()
    head, table = cells(lines)
    assert head == ["row", "action F1", "action EM", "difference", "p (Holm)"]
    assert table[0] == ["right", "100.00 [100.0, 100.0]", "100.00", "", ""]
    assert (table[1][0], table[1][3][0]) == ("half", "-")
    written = as_markdown(lines, "Points.").splitlines()
    assert written[0] == "| row | action F1 | action EM | difference | p (Holm) |"
    assert written[-1].startswith("Not run: missing (")
    Path("missing.jsonl").write_bytes(Path("right.jsonl").read_bytes())
    said, lines = run(*rows)
    assert said[0] == "row 1 of 3, right: finished before"
    assert "row 3 of 3, half: finished before" in said
    assert [line["error"] for line in lines] == [None, None, None]
    # A row that lost its answers runs again, and so does one whose files changed.
    (rows[0].tests[""].answers / "predictions.jsonl").unlink()
    with Path("half.jsonl").open("a") as file:
        file.write("\n")
    said, _ = run(*rows)
    assert "row 1 of 3, right: finished" in said
    assert "row 2 of 3, missing: finished before" in said
    assert "row 3 of 3, half: finished before" not in said


def test_a_row_with_another_test_runs_only_that_and_files_are_made_first() -> None:
    made = Path("runs/grid/data/drawn.jsonl")
    words = ("simulate", "blocks", "--items", "2", "--out", str(made), "--overwrite")
    data, right = Row(name="data-drawn", commands=(Command(words, made),)), row("right")
    said, _ = run(right, data)
    assert [line.partition(", ")[2] for line in said if line.endswith("finished")] == ["data-drawn: finished", "right: finished"]
    assert made.is_file()
    more = Path("runs/grid/right/more")
    command = Command((*right.commands[0].words[:-1], "grid/right/more", "--limit", "2"), more / "predictions.jsonl")
    both = replace(right, commands=(*right.commands, command), tests={**right.tests, "more": Answered(more, Benchmark())})
    said, _ = run(both)
    assert [line.count("--limit 2") for line in said] == [1, 0]
    said, lines = run(right, replace(row("half"), reason="left out"))
    assert said == ["row 1 of 1, right: finished before"]
    assert [line["error"] for line in lines] == [None, "left out"]


@pytest.mark.parametrize("text", ["{", "[]", '{"right": {"state": 1}}'])
def test_states_that_cannot_be_read_are_not_overwritten(text: str) -> None:
    Path("runs/grid").mkdir(parents=True)
    (Path("runs/grid") / STATE_FILE).write_text(text)
    with pytest.raises(HarnessError, match="remove it to run all again"):
        Grid(Path("runs/grid"), [])


class TestSideBySide:
    """Rows on several GPUs, which are stand-ins."""

    @pytest.fixture(autouse=True)
    def _gpus(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(grid_module, "visible_gpus", lambda: ["0", "1", "2", "3"])

    @pytest.mark.parametrize(
        ("rows", "gpus", "shares"),
        [("a", 2, []), ("ab", 1, []), ("ab", 4, ["0,1", "2,3"]), ("abc", 4, ["0", "1", "2"]), ("abcd", 4, ["0,1", "2,3"])],
    )
    def test_rows_share_the_gpus(self, rows: str, gpus: int, shares: list[str]) -> None:
        # The row d needs two.
        more = {"d": ("--vllm", "tensor_parallel_size=2")}
        asked = [Row(name=name, commands=(Command(("prompt", *more.get(name, ()))),)) for name in rows]
        assert row_gpus(asked, ["0", "1", "2", "3"][:gpus]) == shares

    def test_each_sees_its_own_gpus(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[str] = []
        together = threading.Barrier(2)

        def command(words: object, log: Path, gpus: str, stop: object) -> tuple[int, str]:
            together.wait(60)
            seen.append(gpus)
            return 1, "enough"

        monkeypatch.setattr(grid_module, "run_command", command)
        run(row("right"), row("half"))
        assert sorted(seen) == ["0,1", "2,3"]

    def test_a_command_gets_its_gpus_and_is_interrupted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        script = tmp_path / "python"
        script.write_text('#!/bin/sh\necho "on $CUDA_VISIBLE_DEVICES"\nexec sleep 60\n')
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))
        stop = threading.Event()
        stop.set()
        code, error = run_command(["prompt"], tmp_path / "log", "2,3", stop)
        assert (code, error) == (-signal.SIGINT, f"it was ended by signal {signal.SIGINT.value}")
