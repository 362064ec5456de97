from __future__ import annotations

import pytest

from harness.corpora import SPLITS, load


@pytest.mark.parametrize("task", SPLITS)
def test_gold_is_feasible_and_leads_to_the_state_after_and_no_target_is_in_two_splits(task: str) -> None:
    for item in load(task):
        assert item.before.apply(item.actions) == (item.after, ()), item.id  # type: ignore[arg-type]
    groups = [{item.group for item in load(task, split)} for split in SPLITS[task]]
    assert all(groups)
    assert sum(map(len, groups)) == len(set().union(*groups))
