from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from harness.corpora import corpus_of, hexagons
from harness.corpora.item import Executed, HexagonsItem, Utterance
from harness.corpora.records import to_full_record
from harness.errors import DataError
from harness.worlds.hexagons import CODES, COLUMNS, ROWS, Board, Paint, Tile, neighbors
from tests.helpers.corpora_files import procedure, write_hexagons

Steps = dict[str, list[HexagonsItem]]


def test_a_procedure_becomes_its_steps(tmp_path: Path) -> None:
    steps = [(" Paint it red.\n", {20: 4}), ("Nothing. ", {}), ("White, then blue", {20: 0, 179: 5})]
    first, second, third = hexagons.load(write_hexagons(tmp_path, dev=[procedure(7, steps)]), "dev")
    assert [item.id for item in (first, second, third)] == ["hexagons/dev/7/1", "hexagons/dev/7/2", "hexagons/dev/7/3"]
    assert (first.split, first.cluster, first.group, first.task) == ("dev", "hexagons/dev/7", "P01C01T14", "hexagons")
    assert (first.instruction, first.meta["raw"]) == ("Paint it red.", " Paint it red.\n")
    assert first.before == Board()
    assert first.history == ()
    assert first.actions == (Paint(1, 2, "red"),)
    assert second.actions == ()
    assert third.actions == (Paint(1, 2, "white"), Paint(9, 17, "blue"))
    assert third.before == second.after == first.after
    assert third.history == (
        Utterance("Instructor", "Paint it red."),
        Executed((Paint(1, 2, "red"),)),
        Utterance("Instructor", "Nothing."),
        Executed(()),
    )
    expected = {"index": 7, "step": 3, "steps": 3, "category": "simple", "image_id": "P01C01T14", "annotation_round": 1}
    expected |= {"instructor_id": 2, "agreement_tag": "A", "agreement_scores": (1.0, 1.0, 1.0), "raw": "White, then blue"}
    assert third.meta == expected


def test_a_changed_copy_that_nobody_verified_is_grouped_with_its_image(tmp_path: Path) -> None:
    row = procedure() | {"agreement_tags": "None", "agreement_scores": "None", "image_id": "P02M01T02a"}
    (item,) = hexagons.load(write_hexagons(tmp_path, train=[row]), "train")
    assert (item.meta["agreement_tag"], item.meta["agreement_scores"]) == (None, None)
    assert (item.group, item.meta["image_id"]) == ("P02M01T02", "P02M01T02a")


def broken(**changes: Any) -> str:
    return json.dumps(procedure(3) | changes)


def entries(*ids: int, cells: int = 180, color: Any = 0, first: str = "NONE") -> list[Any]:
    """A drawing procedure with these ids; its last board has `cells` cells and `color` on the last tile."""
    boards: list[list[Any]] = [[0] * 180 for _ in ids]
    boards[-1] = [0] * (cells - 1) + [color]
    return [[number, first if k == 0 else "Go on.", board] for k, (number, board) in enumerate(zip(ids, boards, strict=True))]


BAD = {
    "truncated": (json.dumps(procedure(3))[:500], "Invalid JSON"),
    "179 cells": (broken(drawing_procedure=entries(0, 1, cells=179)), "at least 180"),
    "a color 9": (broken(drawing_procedure=entries(0, 1, color=9)), "less than or equal to 7"),
    "a color true": (broken(drawing_procedure=entries(0, 1, color=True)), "integer"),
    "ids in the wrong order": (broken(drawing_procedure=entries(0, 2)), "entry 1 has the id 2"),
    "no blank board first": (broken(drawing_procedure=entries(0, 1, first="Go.")), "180 zeros"),
    "a painted board first": (broken(drawing_procedure=entries(0, color=1), number_of_drawing_steps=0), "180 zeros"),
    "no entries": (broken(drawing_procedure=[]), "at least 1"),
    "a wrong number of steps": (broken(number_of_drawing_steps=2), "number_of_drawing_steps covers 2 steps"),
    "too few tags": (broken(agreement_tags=[]), "agreement_tags covers 0 steps"),
    "an unknown tag": (broken(agreement_tags=["V3"]), "agreement_tags"),
    "a score above 1": (broken(agreement_scores=[[1, 1.01, 1]]), "agreement_scores"),
    "an earlier index": (broken(index=1), "index 1 follows 1"),
    "no category": (json.dumps({k: v for k, v in procedure(3).items() if k != "category"}), "category: Field required"),
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


# The tests below are on the official release.

SPLITS = ("train", "dev", "test")


@pytest.fixture(scope="module")
def steps(data_dir: Path) -> Steps:
    return {split: hexagons.load(data_dir / "hexagons", split) for split in SPLITS}


@pytest.fixture(scope="module")
def everything(steps: Steps) -> list[HexagonsItem]:
    return [step for split in SPLITS for step in steps[split]]


@pytest.mark.data
def test_golden_digest_of_all_that_an_item_holds(steps: Steps) -> None:
    """The digest includes the instructions as typed, images, rounds, tags and scores."""
    lines = {split: "".join(json.dumps(to_full_record(step)) + "\n" for step in of_split) for split, of_split in steps.items()}
    assert {split: hashlib.sha256(text.encode()).hexdigest() for split, text in lines.items()} == {
        "train": "4b5cc49cb9a0792288ef6c4cf6982fa01fe6aaf9ea8dd1b3e90fba4fc03c1f7d",
        "dev": "c34adb064b7aa2baf1735fb65660f1c887adb1c1b821b4c264249717f5754437",
        "test": "9d07ab2d300b9f1f038f1d889b7e623e0fec0a3e08a1ed3f7e14efbf87f80e49",
    }


@pytest.mark.data
def test_the_splits_share_two_images_of_dev_alone(steps: Steps) -> None:
    groups = {split: {step.group for step in of_split} for split, of_split in steps.items()}
    assert groups["train"] & groups["dev"] == {"P02M01T02", "P02M11T01"}
    assert not groups["test"] & (groups["train"] | groups["dev"])


@pytest.mark.data
def test_tables_1_2_and_6_of_the_paper(steps: Steps) -> None:
    stats = hexagons.statistics(steps)
    keys = ("procedures", "steps", "gold_actions", "no_action_steps", "agreed_procedures", "agreed_steps")
    assert stats["splits"] == {
        "train": dict(zip(keys, (496, 3278, 31377, 83, 394, 2812 / 3225), strict=True)),
        "dev": dict(zip(keys, (62, 446, 4155, 4, 49, 381 / 446), strict=True)),
        "test": dict(zip(keys, (62, 453, 4093, 3, 43, 377 / 453), strict=True)),
    }
    of_round = ("procedures", "steps", "tokens", "images")
    assert stats["rounds"] == {
        "0": dict(zip(of_round, (123, 1045, 21084, 17), strict=True)),
        "1": dict(zip(of_round, (304, 1909, 42900, 101), strict=True)),
        "2": dict(zip(of_round, (193, 1223, 36241, 63), strict=True)),
    }
    total = {"procedures": 620, "steps": 4177, "tokens": 100225, "images": 175, "gold_actions": 39625, "no_action_steps": 90}
    assert stats["total"] == total | {"agreed_procedures": 486, "agreed_steps": 3570 / 4124}
    agreement = {name: [round(100 * value, 4) for value in values] for name, values in stats["agreement"].items()}
    assert agreement["board_f1"] == [91.0980, 85.8322, 96.3637]
    assert [round(value, 2) for value in agreement["board_em"]] == [72.32, 58.07, 86.57]


@pytest.mark.data
def test_the_geometry_is_odd_q(everything: list[HexagonsItem]) -> None:
    """Many sets of six tiles painted in one color in a step are rings around a tile; in even-q, none would be."""
    tiles = [Tile(row, column) for row in range(ROWS) for column in range(COLUMNS)]
    rings = {frozenset(around) for around in map(neighbors, tiles) if len(around) == 6}
    sixes = [
        six
        for step in everything
        for color in CODES
        if len(six := frozenset(a.tile for a in step.actions if a.color == color)) == 6
    ]
    assert (len(sixes), sum(six in rings for six in sixes)) == (553, 206)
