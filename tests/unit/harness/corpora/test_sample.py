import hashlib
import json

import pytest

from harness.corpora import SPLITS, load
from harness.corpora.records import to_full_record

DIGESTS = {
    "hexagons": "311bc923de1c364d5c78243c5c4d9462",
    "minecraft": "087b140933f02c64839cbf6933ead870",
    "iglu": "b1b14e204d3dc25a34dbdea37418b94d",
    "everyday-hexagons": "8258206c0aaa59939c3c0c4ab400ebf0",
    "everyday-minecraft": "72477093ebbc8d374aa03f6dade09991",
}
"""Of all that the items hold."""


@pytest.mark.parametrize("task", SPLITS)
def test_items_are_feasible_the_same_in_every_version_and_no_target_is_in_two_splits(task: str) -> None:
    for item in load(task):
        assert item.before.apply(item.actions) == (item.after, ()), item.id  # type: ignore[arg-type]
    lines = (json.dumps(to_full_record(item)) for item in load(task))
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32] == DIGESTS[task]
    groups = [{item.group for item in load(task, split)} for split in SPLITS[task]]
    assert all(groups)
    assert sum(map(len, groups)) == len(set().union(*groups))
