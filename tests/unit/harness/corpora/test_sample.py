from __future__ import annotations

import pytest

from harness.corpora import SPLITS, load
from harness.corpora.item import HexagonsItem
from harness.tasks.registry import get_task


@pytest.mark.parametrize("task", SPLITS)
def test_gold_is_feasible_and_leads_to_the_state_after_and_no_target_is_in_two_splits(task: str) -> None:
    for item in load(task):
        if isinstance(item, HexagonsItem):
            assert item.before.apply(item.actions) == (item.after, ()), item.id
        else:
            assert item.before.apply(item.actions, limited=not get_task(task).judged) == (item.after, ()), item.id
    groups = [{item.group for item in load(task, split)} for split in SPLITS[task]]
    assert all(groups)
    assert sum(map(len, groups)) == len(set().union(*groups))
