"""Files of items are read line by line, within a size limit; any fault of a line is one error with its place."""

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.corpus import Corpus
from harness.corpora.records import from_record, load_items, read_items, to_full_record
from harness.errors import DataError, UsageError
from harness.simulators.games import game
from harness.tasks.registry import TASKS
from harness.util import files
from harness.worlds.minecraft import Pose
from tests.helpers import cases

CASES = cases(__file__)

pytestmark = pytest.mark.usefixtures("empty_folder")

LINE = to_full_record(next(item for n in range(99) for item in game("random", 0, "train", n)))
STEP = {
    "id": "hexagons-synthetic/train/0/2",
    "history": ["Paint it."],
    "executed": [[[0, 0, "red"]]],
    "instruction": "Now blue.",
    "before": "4" + "0" * 179,
    "actions": [[0, 1, "blue"]],
    "after": "45" + "0" * 178,
}


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_that_unpacks_to_too_much_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_LINE", 1_000)
    line = b'"' + b"a" * 1_001
    path = tmp_path / name
    path.write_bytes(gzip.compress(line) if name.endswith("gz") else line)
    with pytest.raises(DataError, match=rf"{name}:1: the line has more than 1,000 bytes"):
        load_items(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\xff\xfe", "Invalid JSON"),
        (LINE | {"id": "minecraft/train"}, "id: String should match pattern"),
        (LINE | {"before": [[0, 10, 0, "red"]]}, "before[0][1]: Input should be less than or equal to 9, not 10; docs/data.md"),
        (LINE | {"actions": [["place", None, 0, 1, 0]]}, "actions[0]: a block that is placed has a color"),
        (LINE | {"actions": [["put", "red", 0, 1, 0]]}, "actions[0][0]: Input should be 'place' or 'remove', not \"put\"; docs"),
        (LINE | {"pose": LINE["pose"] | {"x": float("nan")}}, "pose.x: Input should be a finite number, not NaN;"),
        (LINE | {"history": [{"speaker": "Instructor", "text": "hi"}]}, "history[0].speaker: Input should be 'Architect' or"),
        (LINE | {"history": [{"actions": [["place", "red", 0, 1]]}]}, "history[0].actions[0][4]: Field required;"),
        (b'{"id": ', "Invalid JSON: EOF while parsing a value at column 6;"),
        (STEP | {"executed": []}, "executed: actions of 0 steps, but history has 1"),
    ],
)
def test_a_bad_line_is_one_error_with_its_place(line: Any, message: str) -> None:
    raw = line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
    Path("items.jsonl").write_bytes(json.dumps(LINE).encode() + b"\n" + raw + b"\n")
    with pytest.raises(DataError) as caught:
        list(read_items(Path("items.jsonl")))
    assert str(caught.value).startswith("items.jsonl:2: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(
    st.text(max_size=60)
    | st.recursive(st.none() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v))
)
def test_no_line_whatever_raises_anything_else(value: Any) -> None:
    for line in (value if isinstance(value, str) else json.dumps(value), json.dumps(LINE | {"history": value, "actions": value})):
        try:
            item = from_record(line.encode("utf-8", "replace"), "here")
        except DataError as error:
            assert str(error).startswith("here: ")  # noqa: PT017
        else:
            assert value == [] == list(item.history)


def test_files_that_cannot_be_read() -> None:
    Path("a.jsonl.gz").write_bytes(b"no gzip")
    Path("c.jsonl").touch()
    Path("d.jsonl.gz").write_bytes(gzip.compress(f"{json.dumps(LINE)}\n".encode() * 5)[:-30])
    Path("e").mkdir()
    for name in ("a.jsonl.gz", "c.jsonl", "d.jsonl.gz", "e", "none.jsonl"):
        with pytest.raises(DataError, match=f"^{name}"):
            load_items(Path(name))


def test_items_twice_or_of_another_task_are_refused() -> None:
    Path("a.jsonl").write_text(f"{json.dumps(LINE)}\n" * 2)
    Path("b.jsonl").write_text(f"{json.dumps(LINE)}\n{json.dumps(STEP)}\n")
    with pytest.raises(DataError, match="occurs twice"):
        load_items(Path("a.jsonl"))
    for task in (None, "hexagons"):
        with pytest.raises(UsageError, match=r"is an item of (hexagons|minecraft), but --task is"):
            load_items(Path("b.jsonl"), task)


@pytest.mark.parametrize(("change", "message"), CASES["drawing"])
def test_a_corpus_in_lines_agrees_with_its_task_and_itself(tmp_path: Path, change: dict[str, Any], message: str | None) -> None:
    line = {"id": "hexagons-toy/dev/0/1", "history": [], "instruction": "one red tile", "actions": [[0, 0, "red"]]}
    (tmp_path / "dev.jsonl").write_text(json.dumps({**line, "before": "0" * 180, "after": "4" + "0" * 179, **change}))
    corpus = Corpus(replace(TASKS["hexagons"], name="hexagons-toy"))
    if message is None:
        assert len(list(corpus.items(tmp_path, ["dev"]))) == 1
        return
    with pytest.raises(DataError, match=re.escape("dev.jsonl:1: ") + ".*" + re.escape(message)):
        list(corpus.items(tmp_path, ["dev"]))


@pytest.mark.parametrize(("change", "message"), CASES["building"])
def test_a_building_corpus_names_the_first_fault(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    line: dict[str, Any] = {
        "id": "minecraft-toy/dev/0/1",
        "history": [{"speaker": "Architect", "text": "a red block"}],
        "before": [],
    }
    line |= {"pose": dict.fromkeys(Pose._fields, 0.0), "actions": [["place", "red", 0, 1, 0]], "after": [[0, 1, 0, "red"]]}
    (tmp_path / "dev.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(line | {'id': 'minecraft-toy/dev/0/2'} | change)}\n")
    corpus = Corpus(replace(TASKS["minecraft"], name="minecraft-toy"))
    with pytest.raises(DataError, match=re.escape("dev.jsonl:2: ") + ".*" + re.escape(message)):
        list(corpus.items(tmp_path, ["dev"]))
