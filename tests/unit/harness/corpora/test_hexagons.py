import json
from pathlib import Path
from typing import Any

import pytest

from harness.corpora import corpus_of, hexagons
from harness.errors import DataError
from tests.helpers.corpora_files import procedure, write_hexagons


def test_a_changed_copy_that_nobody_verified_is_grouped_with_its_image(tmp_path: Path) -> None:
    row = procedure() | {"agreement_tags": "None", "agreement_scores": "None", "image_id": "P02M01T02a"}
    (item,) = hexagons.load(write_hexagons(tmp_path, train=[row]), "train")
    assert (item.meta["agreement_tag"], item.meta["agreement_scores"]) == (None, None)
    assert (item.group, item.meta["image_id"]) == ("P02M01T02", "P02M01T02a")


def broken(**changes: Any) -> str:
    return json.dumps(procedure(3) | changes)


def entries(*ids: int, cells: int = 180, color: Any = 0) -> list[Any]:
    """A drawing procedure with these ids; its last board has `cells` cells and `color` on the last tile."""
    boards: list[list[Any]] = [[0] * 180 for _ in ids]
    boards[-1] = [0] * (cells - 1) + [color]
    return [[number, "Go on." if k else "NONE", board] for k, (number, board) in enumerate(zip(ids, boards, strict=True))]


BAD = {
    "179 cells": (broken(drawing_procedure=entries(0, 1, cells=179)), "at least 180"),
    "a color 9": (broken(drawing_procedure=entries(0, 1, color=9)), "less than or equal to 7"),
    "ids in the wrong order": (broken(drawing_procedure=entries(0, 2)), "has the ids [0, 2]"),
    "a painted board first": (broken(drawing_procedure=entries(0, color=1), number_of_drawing_steps=0), "180 zeros"),
    "a wrong number of steps": (broken(number_of_drawing_steps=2), "number_of_drawing_steps covers 2 steps"),
    "an earlier index": (broken(index=1), "index 1 follows 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_named(tmp_path: Path, name: str) -> None:
    line, expected = BAD[name]
    folder = write_hexagons(tmp_path, dev=[procedure(0), procedure(1), line])
    with pytest.raises(DataError) as error:
        hexagons.load(folder, "dev")
    message = str(error.value)
    assert f"{folder / 'dev.jsonl'} line 3" in message
    assert expected in message
    assert "\n" not in message
    assert len(message) < 400


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = write_hexagons(tmp_path)
    (folder / "test.jsonl").unlink()
    with pytest.raises(DataError, match=r"test\.jsonl: cannot be read: No such file"):
        hexagons.load(folder, "test")
    with pytest.raises(DataError, match=r"test\.jsonl: No such file"):
        corpus_of("hexagons").digest(folder)
