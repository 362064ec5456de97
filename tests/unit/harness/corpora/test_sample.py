from __future__ import annotations

import pytest

from harness.corpora import SPLITS, load, locate
from harness.corpora.item import HexagonsItem
from harness.tasks.registry import get_task


@pytest.mark.parametrize(("task", "counts"), [("hexagons", [18, 7, 7]), ("minecraft", [18, 8, 9]), ("iglu", [10, 4, 4])])
def test_the_sample_is_found_without_data_and_has_items_in_every_split(task: str, counts: list[int]) -> None:
    assert locate(task).kind == "sample"
    assert [len(load(task, split)) for split in SPLITS[task]] == counts


@pytest.mark.parametrize("task", SPLITS)
def test_gold_is_feasible_and_leads_to_the_state_after_and_no_target_is_in_two_splits(task: str) -> None:
    for item in load(task):
        if isinstance(item, HexagonsItem):
            assert item.before.apply(item.actions) == (item.after, ()), item.id
        else:
            assert item.before.apply(item.actions, limited=not get_task(task).judged) == (item.after, ()), item.id
    groups = [{item.group for item in load(task, split)} for split in SPLITS[task]]
    assert sum(map(len, groups)) == len(set().union(*groups))
