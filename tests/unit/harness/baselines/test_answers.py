"""A baseline's answers as a run: waves over its own boards, kills, and unsupported options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.corpora.item import Item, drawing_steps
from harness.runs.answering import Answer, answer_items
from harness.runs.folder import Run
from tests.helpers.procedures import ITEMS
from tests.helpers.slow_baseline import Slow

pytestmark = pytest.mark.usefixtures("empty_folder")


def steps(run: Run) -> list[str]:
    return [record["id"].removeprefix("hexagons/dev/") for record in run.records]


def test_what_rolls_out_sees_the_boards_that_its_answers_drew_in_waves() -> None:
    model, run = Slow(0), Run(Path("run"), {})
    answer_items(run, ITEMS, model)
    run.close()
    assert steps(run) == ["0/1", "1/1", "2/1", "0/2", "1/2", "2/2", "0/3", "2/3", "2/4"]
    # One tile after the first step, two after the second: the boards are those of the answers, not the gold ones.
    assert [len(record["actions"]) for record in run.records] == [1, 1, 1, 2, 2, 2, 3, 3, 4]
    assert [len(item.before.painted()) for item in drawing_steps(model.seen)] == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert [item.id for item in model.seen] == [record["id"] for record in run.records]


@pytest.mark.parametrize("lines", [0, 4, 8])
def test_wherever_it_was_killed_it_ends_with_the_same_bytes(lines: int) -> None:
    whole = Run(Path("whole"), {})
    answer_items(whole, ITEMS, Slow(0))
    whole.close()
    written = whole.predictions.read_bytes().splitlines(keepends=True)
    Run(Path("killed"), {}).close()
    Path("killed/predictions.jsonl").write_bytes(b"".join(written[:lines]) + b'{"id": "hexa')
    killed, model = Run(Path("killed"), {}), Slow(0)
    told: list[str] = []
    answer_items(killed, ITEMS, model, told.append)
    killed.close()
    assert killed.predictions.read_bytes() == whole.predictions.read_bytes()
    again = len(ITEMS) if lines < 3 else 6 if lines < 6 else 3 if lines < 8 else 1 if lines < 9 else 0
    assert len(model.seen) == again
    assert told == ([f"{9 - again} items are already answered; continuing with the rest"] if again < 9 else [])


def test_an_items_error_is_kept_and_only_that_item_is_asked_again_if_answers_are_independent() -> None:
    class Failing(Slow):
        def predict(self, items: Sequence[Item]) -> list[Answer]:
            answers = super().predict(items)
            return [replace(a, error="lost") if item.id == ITEMS[5].id else a for item, a in zip(items, answers, strict=True)]

    run = Run(Path("run"), {})
    for model, asked in ((Failing(0), len(ITEMS)), (Slow(0), 1), (Slow(0), 0)):
        model.rolls_out, model.independent = False, True
        answer_items(run, ITEMS, model)
        assert len(model.seen) == asked
        assert [record.get("error") for record in run.records].count("lost") == (asked == len(ITEMS))
    run.close()
    assert [record["id"] for record in run.records] == [item.id for item in ITEMS]
