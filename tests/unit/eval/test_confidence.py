"""How sure answers are: what they score above a confidence, and hybrids of two runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.confidence import coverage
from eval.report.curves import as_markdown
from eval.score_run import Benchmark, read_answers
from harness.cli import main
from harness.corpora import load
from harness.corpora.item import Item
from harness.experiments.hybrid import Hybrid

pytestmark = pytest.mark.usefixtures("empty_folder")


def write(name: str, split: str, right: Callable[[int], bool], confidence: Callable[[int], Any] | None = None) -> list[Item]:
    """A run that answers items right, or not at all, with a confidence."""
    items = load("hexagons", split)
    folder = Path("runs") / name
    folder.mkdir(parents=True)
    lines = []
    for n, item in enumerate(items):
        record: dict[str, Any] = {"id": item.id, "actions": [list(a) for a in item.actions] if right(n) else [[0, 0, "orange"]]}
        lines.append(json.dumps(record | ({"confidence": confidence(n)} if confidence else {})))
    (folder / "predictions.jsonl").write_text("\n".join(lines) + "\n")
    return list(items)


def test_the_surest_answers_are_scored_alone() -> None:
    items = write("run", "train", lambda n: n < 10, lambda n: 1 - n / 100)
    assert len(items) > 10
    answers = read_answers(Path("run"))
    curve = coverage(answers, Benchmark())
    assert [point.items for point in curve.points] == [max(len(items) * step // 10, 1) for step in range(1, 11)]
    assert curve.points[0].numbers[0].value == 1.0
    assert curve.points[-1].numbers[1].value == pytest.approx(10 / len(items))
    assert f"| {len(items)} | {1 - (len(items) - 1) / 100:.3f} (100%) |" in as_markdown(curve)


def test_each_run_answers_its_part_of_a_hybrid(capsys: pytest.CaptureFixture[str]) -> None:
    items = write("sure", "train", lambda n: n % 2 == 0, lambda n: 0.9 - 0.8 * (n % 2))
    write("other", "train", lambda n: n % 2 == 1)
    both = Hybrid(read_answers(Path("sure")), read_answers(Path("other")))
    assert both.scores(0.5)["action"]["em"] == 1.0
    assert both.scores(0.0)["action"]["em"] == pytest.approx(sum(n % 2 == 0 for n in range(len(items))) / len(items))
    assert main(["hybrid", "sure", "other", "--below", "0.5", "--name", "both"]) == 0
    first, second = (sum(n % 2 == odd for n in range(len(items))) for odd in (0, 1))
    assert capsys.readouterr().out == f"runs/both: {first} answers of sure, {second} of other\n"
    assert main(["score", "both", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["action"]["em"] == 1.0
    records = [json.loads(line) for line in Path("runs/both/predictions.jsonl").read_text().splitlines()]
    assert [record["from"] for record in records[:2]] == ["sure", "other"]


def test_thresholds_are_compared_on_dev(capsys: pytest.CaptureFixture[str]) -> None:
    write("sure", "dev", lambda n: n % 2 == 0, lambda n: 0.9 - 0.8 * (n % 2))
    write("other", "dev", lambda n: n % 2 == 1)
    assert main(["hybrid", "sure", "other"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[2:]] == ["sure", "0.100", "0.900", "other"]
    assert rows[4].endswith("best")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hybrid", "plain", "plain"], "a hybrid needs two different runs"),
        (["hybrid", "plain", "sure", "--below", "0.5", "--name", "x"], "the answers of plain have no confidence"),
        (["hybrid", "sure", "plain", "--below", "0.5"], "--below and --name go together"),
        (["hybrid", "sure", "of-dev", "--below", "0.5", "--name", "x"], "sure and of-dev answer different items"),
        (["hybrid", "sure", "plain"], "a threshold is chosen on dev"),
        (["export", "sure", "plain", "--as", "coverage"], "--as coverage takes one run"),
        (["export", "plain", "--as", "coverage"], "the answers of plain have no confidence"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    write("sure", "test", lambda n: True, lambda n: 0.5)
    write("plain", "test", lambda n: True)
    write("of-dev", "dev", lambda n: True)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("value", [1.5, "high", True, [1]])
def test_a_confidence_is_a_number_from_0_to_1(capsys: pytest.CaptureFixture[str], value: object) -> None:
    write("run", "dev", lambda n: True, lambda n: 0.5 if n else value)
    assert main(["export", "run", "--as", "coverage"]) == 1
    assert '"confidence" must be a number from 0 to 1, not ' in capsys.readouterr().err
