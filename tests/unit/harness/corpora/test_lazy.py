"""Items that stay on disk equal those of the file, in any order, and lazy sequences behave like lists."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.lazy import Chained, ItemFile, Mapped
from harness.corpora.records import load_items, to_full_record
from harness.errors import DataError, HarnessError
from harness.simulators import outputs
from harness.simulators.outputs import GameChunk, cached
from tests.helpers.simulated import first_items


@pytest.mark.parametrize("simulator", ["random", "shapes"])
def test_simulated_items_are_kept_and_made_once(simulator: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    items = first_items(simulator, 3, 40)
    (tmp_path / "simulated").mkdir()
    (tmp_path / "simulated/.of-a-killed-process.partial").write_text("half")
    assert list(cached(simulator, 3, 40)) == items
    monkeypatch.setattr(outputs, "game", lambda *_: pytest.fail("the games were made again"))
    kept = cached(simulator, 3, 40)
    assert [kept[n] for n in reversed(range(40))] == items[::-1]
    assert list(copy(kept)[5:9]) == items[5:9]
    assert kept[-1] == items[-1]
    assert {path.name for path in (tmp_path / "simulated").iterdir()} == {kept.path.name, ".lock"}
    with pytest.raises(IndexError):
        kept[40]


def test_no_room_for_simulated_items_is_said_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object) -> Iterator[GameChunk]:
        yield GameChunk(1, 1, b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr(outputs, "pieces", full)
    with pytest.raises(HarnessError, match=r"simulated items cannot be written: No space left .*HARNESS_CACHE"):
        cached("random", 3, 40)
    assert [path.name for path in (tmp_path / "simulated").iterdir()] == [".lock"]


def test_a_file_of_items_ends_with_or_without_a_newline(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    text = "\n".join(json.dumps(to_full_record(item)) for item in first_items("shapes", 0, 3))
    for end in ("", "\n"):
        path.write_text(text + end)
        assert list(ItemFile(path)) == load_items(path)
    path.write_text("")
    assert list(ItemFile(path)) == []


def test_a_fault_in_a_file_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    whole = json.dumps(to_full_record(first_items("shapes", 0, 1)[0])) + "\n"
    path.write_text(whole + '{"id": 3}\n' + whole[:50])
    items = ItemFile(path)
    with pytest.raises(DataError, match=r"some\.jsonl:2: "):
        items[1]
    with pytest.raises(DataError, match=r"some\.jsonl:3: an incomplete line"):
        items[2]
    with pytest.raises(DataError, match=r"missing\.jsonl: cannot be read: No such file"):
        ItemFile(tmp_path / "missing.jsonl")


@given(st.lists(st.lists(st.integers())), st.integers(-9, 9), st.integers(-9, 9), st.data())
def test_lazy_sequences_do_what_lists_do(parts: list[list[int]], start: int, stop: int, data: st.DataObject) -> None:
    whole = [number for part in parts for number in part]
    doubled = [2 * number for number in whole]
    pairs: list[tuple[Sequence[int], list[int]]] = [
        (Chained(*parts), whole),
        (Mapped(lambda number: 2 * number, whole), doubled),
        (Mapped(lambda one, other: one + other, Chained(*parts), whole), doubled),
    ]
    for lazy, plain in pairs:
        assert list(lazy) == plain
        assert len(lazy) == len(plain)
        assert list(lazy[start:stop]) == plain[start:stop]
        if plain:
            number = data.draw(st.integers(-len(plain), len(plain) - 1))
            assert lazy[number] == plain[number]
        with pytest.raises(IndexError):
            lazy[len(plain)]
