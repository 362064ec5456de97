from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.annotation import Annotation, Judgment, clean_set, our_annotation, read_annotation
from harness.corpora import load
from harness.corpora.item import MinecraftItem, builder_turns
from harness.errors import DataError
from tests.helpers import cases
from tests.helpers.scored import turn, write_lines

CODES = {"c": ("unique", True), "i": ("unique", False), "x": ("unclear", None), "m": ("multiple", True)}


def judged(codes: str) -> tuple[list[MinecraftItem], Annotation]:
    """Items of one game, each on an empty board, and their judgments; item n ends with n + 1 blocks in a row."""
    items = [turn([], [(x - 5, 1, 0, "red") for x in range(n + 1)], n) for n in range(len(codes))]
    judgments = {item.id: Judgment(*CODES[code]) for item, code in zip(items, codes, strict=True)}
    return items, Annotation("test", judgments)


@pytest.mark.parametrize(("codes", "expected"), cases(__file__)["steps"])
def test_an_incorrect_run_takes_the_structure_of_the_correct_item_right_after_it(codes: str, expected: dict[int, int]) -> None:
    clean, _ = clean_set(*judged(codes))
    assert {int(item.id.rpartition("/")[2]): len(item.after) for item in clean} == expected


@given(st.text("cixm", max_size=11))
def test_every_item_is_clean_or_unclear_or_left_out(codes: str) -> None:
    items, annotation = judged(codes)
    clean, multiple = clean_set(items, annotation)
    ids = [item.id for item in clean]
    assert ids == [item.id for item in items if item.id in set(ids)]
    assert multiple == {item.id for item, code in zip(items, codes, strict=True) if code == "m"}
    assert {code for item, code in zip(items, codes, strict=True) if item.id not in ids} <= {"i", "x"}


@pytest.mark.data
def test_the_clean_set_of_our_annotation(data_dir: Path) -> None:
    items = builder_turns(load("minecraft", "test"))
    clean, multiple = clean_set(items, our_annotation(items))
    assert (len(items), len(clean), len(multiple)) == (1616, 1312, 92)
    with as_file(files("eval").joinpath("annotations", "minecraft_test_second.jsonl")) as second:
        assert len(read_annotation(second, items).judgments) == 416


ITEMS = [turn([], [], 0), turn([(0, 1, 0, "red")], [], 1)]
CLEAR = {"id": ITEMS[0].id, "context": "unique", "correct": True}

BAD = {
    "unknown item": ({**CLEAR, "id": "minecraft/test/h/1"}, "unknown item 'minecraft/test/h/1'"),
    "clear without an answer": ({**CLEAR, "correct": None}, "None is not of type 'boolean'"),
    "several on a board with blocks": ({**CLEAR, "id": ITEMS[1].id, "context": "multiple"}, '"multiple" is for items'),
}


@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=BAD)
def test_a_bad_line_is_named(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=f"a.jsonl:1: .*{message}"):
        read_annotation(write_lines(tmp_path / "a.jsonl", [line]), ITEMS)
