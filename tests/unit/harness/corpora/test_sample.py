from __future__ import annotations

from pathlib import Path

import pytest

from harness.corpora import SPLITS, load, locate
from harness.corpora.item import HexagonsItem
from harness.worlds.tasks import JUDGED
from tests.helpers import ROOT

TOOLS = ROOT / "tools"


@pytest.fixture(autouse=True)
def _sample(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


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
            assert item.before.apply(item.actions, limited=task not in JUDGED) == (item.after, ()), item.id


def test_the_tool_writes_the_sample_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import make_sample

    make_sample.main(tmp_path)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(made) == 3 + (1 + 2 * 8) + (1 + 7 + 18)
    assert made == {name: (make_sample.SAMPLE / name).read_bytes() for name in made}
