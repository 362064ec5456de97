"""A run folder of an earlier version, which has no asked.jsonl: what can be done with it, and what cannot."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.report.facts import cost_facts, prompt_notes, prompt_text
from eval.score_run import read_answers
from harness.cli import main
from harness.corpora import load
from harness.errors import UsageError
from harness.runs.answering import answer_items
from harness.runs.folder import Run
from tests.helpers import ROOT
from tests.helpers.slow_baseline import Slow

OLD = ROOT / "tests" / "old_run"
"""Three steps of the sample, two answers drawn for each, in a run that came to its end."""


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def old() -> Path:
    return Path(shutil.copytree(OLD, "runs/old"))


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]


def settings(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "run.yaml").read_text())["settings"]
    return found


def test_it_is_scored_compared_exported_and_imported(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(old, "runs/other")
    assert main(["score", "old", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["items"], scores["missing"], scores["errors"]) == (3, 0, 0)
    assert scores["action"]["em"] == pytest.approx(1 / 3)
    assert main(["compare", "old", "other"]) == 0
    assert main(["export", "old", "--as", "csv"]) == 0
    assert main(["export", "old", "--as", "coverage"]) == 0
    assert main(["hybrid", "old", "other", "--below", "0.95", "--name", "both"]) == 0
    assert [record["from"] for record in lines(Path("runs/both"))] == ["old", "other", "old"]
    assert main(["import", "runs/old/predictions.jsonl", "--name", "again"]) == 0
    assert [record["actions"] for record in lines(Path("runs/again"))] == [record["actions"] for record in lines(old)]
    for made in ("both", "again"):
        assert main(["score", made]) == 0


def test_a_report_leaves_out_what_it_does_not_know_and_reads_no_log(old: Path) -> None:
    answers = read_answers(old)
    cost = cost_facts(answers, {})
    assert cost["seconds"] == ""
    assert cost["completion tokens"] == "294 (98 an answer)"
    assert cost["answers cut at the length limit"] == "1"
    assert cost["turns of history left out"] == "2 in 1 prompts"
    assert prompt_notes(answers, {}) == ["Its prompts are unknown: the run does not hold them."]
    assert prompt_text(lines(old)[0], None) == (None, "The prompt was not recorded.")
    assert main(["report", "old"]) == 0
    page = (old / "report.html").read_text()
    assert "Its prompts are unknown: the run does not hold them." in page
    assert "items a second" not in page


def test_one_that_is_done_stays_as_it_is(old: Path) -> None:
    before, model = (old / "predictions.jsonl").read_bytes(), Slow(0)
    run = Run(old, settings(old))
    answer_items(run, load("hexagons", "dev")[:3], model)
    run.close()
    assert not model.seen
    assert (old / "predictions.jsonl").read_bytes() == before


@pytest.mark.parametrize("independent", [True, False])
def test_a_half_finished_one_says_that_it_cannot_go_on_and_loses_nothing(old: Path, independent: bool) -> None:
    file, model = old / "predictions.jsonl", Slow(0)
    before = b"".join(file.read_bytes().splitlines(keepends=True)[:2]) + b'{"id": "hexa'
    file.write_bytes(before)
    model.independent = independent
    run = Run(old, settings(old))
    with pytest.raises(
        UsageError, match=r"^runs/old was begun by an earlier version and cannot be continued; choose another --name"
    ):
        answer_items(run, load("hexagons", "dev")[:3], model)
    run.close()
    assert not model.seen
    assert file.read_bytes() == before


def test_the_command_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["baseline", "predict", "rules", "--name", "mine"]
    assert main(words) == 0
    folder = Path("runs/mine")
    described = yaml.safe_load((folder / "run.yaml").read_text())
    del described["records"]
    (folder / "run.yaml").write_text(yaml.safe_dump(described))
    (folder / "asked.jsonl").unlink()
    (folder / "predictions.jsonl").write_text("".join(json.dumps(record) + "\n" for record in lines(folder)[:2]))
    capsys.readouterr()
    assert main(words) == 2
    assert "runs/mine was begun by an earlier version" in capsys.readouterr().err.splitlines()[-1]


def test_one_in_which_nothing_was_answered_begins_anew(old: Path) -> None:
    file = old / "predictions.jsonl"
    file.write_text("".join(json.dumps({"id": record["id"], "actions": [], "error": "429"}) + "\n" for record in lines(old)))
    for _ in range(2):
        run = Run(old, settings(old))
        answer_items(run, load("hexagons", "dev")[:3], Slow(0))
        run.close()
    assert [record["finish_reason"] for record in lines(old)] == ["stop"] * 3
    assert len((old / "asked.jsonl").read_text().splitlines()) == 3
