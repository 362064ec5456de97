"""The confidence of answers: scores of the answers above a threshold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.report.curves import as_markdown, coverage
from eval.score_run import Benchmark, read_answers
from harness.cli import main
from harness.corpora import load
from harness.corpora.item import Item
from tests.helpers.scored import perfect, write_run

pytestmark = pytest.mark.usefixtures("empty_folder")


def write(name: str, split: str, right: Callable[[int], bool], confidence: Callable[[int], Any] | None = None) -> list[Item]:
    """A run that answers some items correctly and the others not at all, with a confidence."""
    items = load("hexagons", split)
    records = perfect(items)
    for n, record in enumerate(records):
        record |= {} if right(n) else {"actions": [[0, 0, "orange"]]}
        record |= {"confidence": confidence(n)} if confidence else {}
    write_run(name, records)
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "sure", "plain", "--as", "coverage"], "--as coverage takes one run"),
        (["export", "plain", "--as", "coverage"], "the answers of plain have no confidence"),
    ],
)
def test_what_does_not_fit_is_a_usage_error(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    write("sure", "test", lambda n: True, lambda n: 0.5)
    write("plain", "test", lambda n: True)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("value", [1.5, "high", True, [1]])
def test_a_confidence_is_a_number_from_0_to_1(capsys: pytest.CaptureFixture[str], value: object) -> None:
    write("run", "dev", lambda n: True, lambda n: 0.5 if n else value)
    assert main(["export", "run", "--as", "coverage"]) == 1
    assert '"confidence" must be a number from 0 to 1, not ' in capsys.readouterr().err
