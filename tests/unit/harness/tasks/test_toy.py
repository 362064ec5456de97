"""A task of another package works in the whole harness with only its module, its data and its entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
TOY = ROOT / "tests" / "helpers" / "toy"


@pytest.fixture(scope="module")
def items() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TOY / "dev.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, tiny_base: Path, items: list[dict[str, Any]]) -> dict[str, Any]:
    """The output of `session.py`."""
    folder = tmp_path_factory.mktemp("toy")
    first = {item["id"]: item["actions"][0] for item in items}
    answers = ({"id": name, "text": f"{color}: {column + 1} 1-10"} for name, (_, column, color) in first.items())
    (folder / "script.jsonl").write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
    commands = [
        ["data", "list"],
        ["data", "stats", "toy"],
        ["data", "items", "toy", "--split", "dev"],
        ["prompt", "--task", "toy", "--model", str(tiny_base), "--preview"],
        ["prompt", "--task", "toy", "--engine", "scripted", "--model", "script.jsonl", "--name", "run"],
        ["score", "run"],
        ["finetune", "llama-lora", "--task", "toy", "--base", str(tiny_base), "--dry-run"],
        ["play", "--task", "toy", "--model", "parser", "--games", "2"],
        ["plugins", "lm-eval"],
    ]
    paths = os.pathsep.join(map(str, (ROOT, TOY)))
    known = {key: value for key, value in os.environ.items() if key != "HARNESS_DATA"}
    environment = {**known, "PYTHONPATH": paths, "HARNESS_CACHE": str(folder / "cache"), "COLUMNS": "200"}
    words = [sys.executable, str(TOY / "session.py"), json.dumps(commands)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("data list", "toy "),
        ("data stats toy", "toy: splits"),
        ("data items toy --split dev", '"instruction": "Paint column 18 black."'),
        ("prompt --task toy --model", "1. Paint column 18 black."),
        ("prompt --task toy --engine scripted", "toy/dev"),
        ("score run", "toy/dev"),
        ("finetune llama-lora", "Paint column"),
        ("play --task toy", "Over 2 games"),
        ("plugins lm-eval", "lm_eval"),
    ],
)
def test_commands(session: dict[str, Any], command: str, part: str) -> None:
    (printed,) = (text for words, text in session["printed"].items() if words.startswith(command))
    assert part in printed


def test_the_task_api(session: dict[str, Any]) -> None:
    assert session["execute"]["task"] == "toy"
    assert session["execute"]["board"][0] == "4"


def test_lm_eval(session: dict[str, Any], items: list[dict[str, Any]]) -> None:
    assert [row["id"] for row in session["documents"]["dev"]] == [item["id"] for item in items]
    folder = Path(session["printed"]["plugins lm-eval"].strip())
    assert "!function harness.plugins.lm_eval.toy\n" in (folder / "harness_toy_dev.yaml").read_text()


@pytest.mark.parametrize(
    ("ours", "theirs", "problem"),
    [
        # The beginning of an id determines its task.
        ('name="toy"', 'name="iglu-toy"', "the name iglu-toy begins like iglu"),
        ('world="hexagons"', 'world="chess"', "there is no world 'chess'; there are hexagons and minecraft"),
    ],
)
def test_a_task_that_cannot_be_used_is_refused(tmp_path: Path, ours: str, theirs: str, problem: str) -> None:
    (tmp_path / "toy_task.py").write_text((TOY / "toy_task.py").read_text().replace(ours, theirs))
    paths = os.pathsep.join(map(str, (ROOT, tmp_path, TOY)))
    words = [sys.executable, "-m", "harness.cli", "data", "list"]
    done = subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
