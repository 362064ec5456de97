from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.corpora import SPLITS, load, locate
from harness.corpora.item import HexagonsItem, Item, drawing_steps
from harness.tasks import get_task


@pytest.mark.parametrize(("task", "counts"), [("hexagons", [18, 7, 7]), ("minecraft", [18, 8, 9]), ("iglu", [10, 4, 4])])
def test_the_sample_is_found_without_data_and_has_items_in_every_split(task: str, counts: list[int]) -> None:
    assert locate(task).kind == "sample"
    assert [len(load(task, split)) for split in SPLITS[task]] == counts


@pytest.mark.parametrize("task", SPLITS)
def test_no_image_and_no_target_is_in_two_splits(task: str) -> None:
    groups = [{item.group for item in load(task, split)} for split in SPLITS[task]]
    assert sum(map(len, groups)) == len(set().union(*groups))


@pytest.mark.parametrize("task", SPLITS)
def test_the_gold_actions_are_feasible_and_lead_to_the_state_after(task: str) -> None:
    for item in load(task):
        if isinstance(item, HexagonsItem):
            assert item.before.apply(item.actions) == (item.after, ()), item.id
        else:
            assert item.before.apply(item.actions, limited=not get_task(task).judged) == (item.after, ()), item.id


@pytest.mark.data
def test_nothing_is_copied_from_the_release(data_dir: Path) -> None:
    def words(items: list[Item]) -> set[str]:
        return {re.sub(r"\W+", " ", item.instruction.lower()).strip() for item in drawing_steps(items)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_DATA", str(data_dir))
        published = words(load("hexagons"))
        patch.delenv("HARNESS_DATA")
        common = words(load("hexagons")) & published
    # Only sentences so short that anybody might write them.
    assert all(len(text.split()) < 10 for text in common)
