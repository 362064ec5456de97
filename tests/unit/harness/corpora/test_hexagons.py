from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.corpora import hexagons
from harness.corpora.item import Executed, HexagonsItem, Utterance
from harness.corpora.stats import hexagons_stats
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


def test_a_procedure_that_nobody_verified(tmp_path: Path) -> None:
    row = procedure() | {"agreement_tags": "None", "agreement_scores": "None"}
    (item,) = hexagons.load(write_hexagons(tmp_path, train=[row]), "train")
    assert item.meta["agreement_tag"] is None
    assert item.meta["agreement_scores"] is None


def test_a_changed_copy_is_grouped_with_its_image(tmp_path: Path) -> None:
    (item,) = hexagons.load(write_hexagons(tmp_path, test=[procedure() | {"image_id": "P02M01T02a"}]), "test")
    assert item.group == "P02M01T02"
    assert item.meta["image_id"] == "P02M01T02a"


def broken(**changes: Any) -> str:
    return json.dumps(procedure(3) | changes)


def entries(*ids: int, cells: int = 180, color: Any = 0, first: str = "NONE") -> list[Any]:
    """A drawing procedure with these ids; the last board has so many cells and that color on its last tile."""
    boards: list[list[Any]] = [[0] * 180 for _ in ids]
    boards[-1] = [0] * (cells - 1) + [color]
    return [[number, first if k == 0 else "Go on.", board] for k, (number, board) in enumerate(zip(ids, boards, strict=True))]


def without(key: str) -> str:
    return json.dumps({name: value for name, value in procedure(3).items() if name != key})


BAD = {
    "truncated": (json.dumps(procedure(3))[:500], "Invalid JSON"),
    "not json": ("{index: 3}", "Invalid JSON"),
    "an empty line": ("", "Invalid JSON"),
    "no object": ("[]", "object"),
    "179 cells": (broken(drawing_procedure=entries(0, 1, cells=179)), "at least 180"),
    "181 cells": (broken(drawing_procedure=entries(0, 1, cells=181)), "at most 180"),
    "a color 9": (broken(drawing_procedure=entries(0, 1, color=9)), "less than or equal to 7"),
    "a color -1": (broken(drawing_procedure=entries(0, 1, color=-1)), "greater than or equal to 0"),
    "a color in words": (broken(drawing_procedure=entries(0, 1, color="red")), "integer"),
    "a color true": (broken(drawing_procedure=entries(0, 1, color=True)), "integer"),
    "a color 4.0": (broken(drawing_procedure=entries(0, 1, color=4.0)), "integer"),
    "ids in the wrong order": (broken(drawing_procedure=entries(0, 2)), "entry 1 has the id 2"),
    "no blank board first": (broken(drawing_procedure=entries(0, 1, first="Go.")), "180 zeros"),
    "a painted board first": (broken(drawing_procedure=entries(0, color=1), number_of_drawing_steps=0), "180 zeros"),
    "no entries": (broken(drawing_procedure=[]), "at least 1"),
    "a wrong number of steps": (broken(number_of_drawing_steps=2), "number_of_drawing_steps covers 2 steps"),
    "too few tags": (broken(agreement_tags=[]), "agreement_tags covers 0 steps"),
    "too many scores": (broken(agreement_scores=[[1, 1, 1]] * 2), "agreement_scores covers 2 steps"),
    "an unknown tag": (broken(agreement_tags=["V3"]), "agreement_tags"),
    "a score above 1": (broken(agreement_scores=[[1, 1.01, 1]]), "agreement_scores"),
    "a round as text": (broken(annotation_round="1"), "annotation_round"),
    "an earlier index": (broken(index=1), "index 1 follows 1"),
    **{f"no {key}": (without(key), f"{key}: Field required") for key in procedure()},
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


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    folder = write_hexagons(tmp_path)
    (folder / "train.jsonl").write_bytes(b'{"index": "\xff\xfe"}\n')
    with pytest.raises(DataError, match=r"train\.jsonl line 1"):
        hexagons.load(folder, "train")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = write_hexagons(tmp_path)
    (folder / "test.jsonl").unlink()
    with pytest.raises(DataError, match=r"test\.jsonl: No such file"):
        hexagons.load(folder, "test")
    with pytest.raises(DataError, match=r"test\.jsonl: No such file"):
        hexagons.digest(folder)


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    one, same = write_hexagons(tmp_path / "one"), write_hexagons(tmp_path / "same")
    other = write_hexagons(tmp_path / "other", dev=[procedure(9)])
    assert hexagons.digest(one) == hexagons.digest(same) != hexagons.digest(other)


# What follows counts the official release.

SPLITS = ("train", "dev", "test")


@pytest.fixture(scope="module")
def steps(data_dir: Path) -> Steps:
    return {split: hexagons.load(data_dir / "hexagons", split) for split in SPLITS}


@pytest.fixture(scope="module")
def everything(steps: Steps) -> list[HexagonsItem]:
    return [step for split in SPLITS for step in steps[split]]


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "size", "digest"),
    [
        ("train", 2621766, "b6e8748e80f8d23ba5f48235833620c6553af5c972d58c13eaf3dd136b7b0214"),
        ("dev", 354564, "dcd21649dcff3d522cd86b772c86908d9fa3d09b508444b579a3b90033ec4d2a"),
        ("test", 356918, "6027237d7000ae991b8f1eddd0543ebdfa7391da85ce05c1d652271294287b77"),
    ],
)
def test_the_files_are_those_of_the_release(data_dir: Path, split: str, size: int, digest: str) -> None:
    data = (data_dir / "hexagons" / f"{split}.jsonl").read_bytes()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (size, digest)


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "actions", "digest"),
    [("train", 31377, "a9884b922853d8e6"), ("dev", 4155, "679874a601756cb4"), ("test", 4093, "2df1b5aab3648c05")],
)
def test_golden_digest_of_the_actions(steps: Steps, split: str, actions: int, digest: str) -> None:
    written = (",".join(f"{a.row} {a.column} {a.color}" for a in step.actions) for step in steps[split])
    assert hashlib.sha256(";".join(written).encode()).hexdigest()[:16] == digest
    assert sum(len(step.actions) for step in steps[split]) == actions


@pytest.mark.data
def test_tables_1_2_and_6_of_the_paper(steps: Steps) -> None:
    stats = hexagons_stats(steps)
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
@pytest.mark.parametrize(
    ("split", "f1", "em"),
    [
        ("train", [90.86, 85.51, 96.22], [73.19, 59.19, 87.19]),
        ("dev", [92.77, 88.81, 96.72], [71.52, 57.62, 85.43]),
        ("test", [91.11, 85.16, 97.07], [66.89, 50.55, 83.22]),
    ],
)
def test_agreement_of_each_split(steps: Steps, split: str, f1: list[float], em: list[float]) -> None:
    agreement = hexagons_stats({split: steps[split]})["agreement"]
    assert [round(100 * value, 2) for value in agreement["board_f1"]] == f1
    assert [round(100 * value, 2) for value in agreement["board_em"]] == em


@pytest.mark.data
def test_procedures_and_steps_of_each_round_and_split(steps: Steps) -> None:
    counted = {
        split: [
            (
                len({s.cluster for s in of_split if s.meta["annotation_round"] == r}),
                sum(s.meta["annotation_round"] == r for s in of_split),
            )
            for r in (0, 1, 2)
        ]
        for split, of_split in steps.items()
    }
    assert counted == {
        "train": [(119, 1024), (220, 1287), (157, 967)],
        "dev": [(2, 14), (42, 303), (18, 129)],
        "test": [(2, 7), (42, 319), (18, 127)],
    }


@pytest.mark.data
def test_indices_rounds_and_categories(steps: Steps, everything: list[HexagonsItem]) -> None:
    firsts = [step.meta for step in everything if step.meta["step"] == 1]
    assert sorted(meta["index"] for meta in firsts) == list(range(620))
    by_round = {r: {meta["index"] for meta in firsts if meta["annotation_round"] == r} for r in (0, 1, 2)}
    assert by_round[0] == {*range(497, 620)}
    assert by_round[1] == {*range(303), 492}
    assert by_round[2] == {*range(303, 492), *range(493, 497)}
    assert Counter(meta["category"] for meta in firsts) == {
        "NONE": 193,
        "bounded iteration": 107,
        "conditional iteration": 80,
        "recursion": 74,
        "conditions": 65,
        "symmetry": 36,
        "simple": 24,
        "composed objects": 23,
        "other": 18,
    }
    assert {split: len({s.meta["instructor_id"] for s in of_split}) for split, of_split in steps.items()} == {
        "train": 38,
        "dev": 18,
        "test": 19,
    }
    assert (min(meta["steps"] for meta in firsts), max(meta["steps"] for meta in firsts)) == (1, 54)


@pytest.mark.data
def test_images(steps: Steps, everything: list[HexagonsItem]) -> None:
    images = {split: {s.meta["image_id"] for s in of_split} for split, of_split in steps.items()}
    assert {split: len(ids) for split, ids in images.items()} == {"train": 140, "dev": 20, "test": 20}
    assert len(set().union(*images.values())) == 180
    changed = {s.meta["index"]: s.meta["image_id"] for s in everything if s.meta["image_id"] != s.group}
    assert changed == {492: "P01C03T07a", 493: "P02M01T02a", 494: "P02M04T05a", 495: "P02M07T06a", 496: "P02M11T01a"}
    groups = {split: {s.group for s in of_split} for split, of_split in steps.items()}
    assert groups["train"] & groups["dev"] == {"P02M01T02", "P02M11T01"}
    assert not groups["test"] & (groups["train"] | groups["dev"])


@pytest.mark.data
def test_tags_follow_from_the_scores(everything: list[HexagonsItem]) -> None:
    verified = [step.meta for step in everything if step.meta["agreement_tag"]]
    assert len(verified) == 4124
    assert {step.meta["index"] for step in everything if not step.meta["agreement_tag"]} == {617, 618, 619}
    assert Counter(meta["agreement_tag"] for meta in verified) == {"A": 2395, "V1": 661, "V2": 514, "F": 481, "VV": 73}
    for meta in verified:
        first, second, both = (score == 1 for score in meta["agreement_scores"])
        assert meta["agreement_tag"] == (
            "A" if first and second else "V1" if first else "V2" if second else "VV" if both else "F"
        )


@pytest.mark.data
def test_instructions_as_written(everything: list[HexagonsItem]) -> None:
    raw = [step.meta["raw"] for step in everything]
    assert [(s.meta["index"], s.meta["step"]) for s in everything if not s.meta["raw"]] == [(596, 10)]
    assert sum("\n" in text for text in raw) == 219
    assert sum("\n" in step.instruction for step in everything) == 1
    assert sum(text != text.strip() for text in raw) == 490
    assert Counter(c for text in raw for c in {*text} if not c.isascii()) == {"‘": 3, "’": 2}


@pytest.mark.data
def test_repeated_instructions(steps: Steps, everything: list[HexagonsItem]) -> None:
    assert len({step.instruction.lower() for step in everything}) == 3933
    repeats = adjacent = 0
    for _, procedure_steps in itertools.groupby(everything, key=lambda step: step.cluster):
        texts = [step.instruction.lower() for step in procedure_steps]
        repeats += len(texts) - len({*texts})
        adjacent += sum(a == b for a, b in itertools.pairwise(texts))
    assert (repeats, adjacent) == (193, 16)
    texts_of = {split: {step.instruction.lower() for step in of_split} for split, of_split in steps.items()}
    overlap = [len(texts_of[a] & texts_of[b]) for a, b in (("dev", "train"), ("test", "train"), ("dev", "test"))]
    assert overlap == [12, 5, 1]


@pytest.mark.data
def test_steps_without_actions(steps: Steps, everything: list[HexagonsItem]) -> None:
    idle = {split: [(s.meta["index"], s.meta["step"]) for s in of_split if not s.actions] for split, of_split in steps.items()}
    assert len(idle["train"]) == 83
    assert len({index for index, _ in idle["train"]}) == 52
    assert idle["dev"] == [(46, 1), (46, 6), (46, 9), (55, 9)]
    assert idle["test"] == [(81, 16), (147, 1), (147, 4)]
    rounds = Counter(s.meta["annotation_round"] for s in steps["train"] if not s.actions)
    assert rounds == {0: 48, 1: 32, 2: 3}
    places = Counter(
        "first" if s.meta["step"] == 1 else "last" if s.meta["step"] == s.meta["steps"] else "middle"
        for s in everything
        if not s.actions
    )
    assert places == {"first": 23, "middle": 40, "last": 27}


@pytest.mark.data
def test_repainting(steps: Steps) -> None:
    white = {(s.meta["index"], s.meta["step"]): sum(a.color == "white" for a in s.actions) for s in steps["train"]}
    white = {step: count for step, count in white.items() if count}
    assert {*white} == {(35, 6), (41, 8), (107, 6), (348, 7), (349, 5), (220, 3)}
    assert (sum(white.values()), white[220, 3]) == (27, 6)
    assert not any(a.color == "white" for split in ("dev", "test") for s in steps[split] for a in s.actions)
    recolored = {
        split: sum(any(a.color != "white" != s.before[a.tile] for a in s.actions) for s in of_split)
        for split, of_split in steps.items()
    }
    assert recolored == {"train": 16, "dev": 4, "test": 10}


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "histogram"),
    [
        ("train", [83, 428, 1093, 792, 546, 276, 56, 4]),
        ("dev", [4, 57, 143, 130, 65, 39, 7, 1]),
        ("test", [3, 105, 127, 107, 55, 49, 7, 0]),
    ],
)
def test_actions_a_step(steps: Steps, split: str, histogram: list[int]) -> None:
    upper = [0, 1, 5, 10, 20, 50, 100, 180]
    counted = Counter(next(k for k, most in enumerate(upper) if len(s.actions) <= most) for s in steps[split])
    assert [counted[k] for k in range(len(upper))] == histogram


@pytest.mark.data
def test_images_drawn_in_different_ways(everything: list[HexagonsItem]) -> None:
    """All procedures of an image end in the same board, but for three images."""
    finals: dict[str, Counter[Board]] = {}
    for step in everything:
        if step.meta["step"] == step.meta["steps"]:
            finals.setdefault(step.meta["image_id"], Counter())[step.after] += 1
    differing = {
        image: (sorted(boards.values()), [len(a.diff(b)) for a, b in itertools.combinations(boards, 2)])
        for image, boards in finals.items()
        if len(boards) > 1
    }
    assert differing == {"P01C08T04": ([1, 2], [30]), "P01C02T24": ([1, 9], [123]), "P01C03T16": ([1, 7], [1])}


@pytest.mark.data
def test_the_geometry_is_odd_q(everything: list[HexagonsItem]) -> None:
    """Of all sets of six tiles painted in one color in a step, so many are rings around a tile; in even-q there were none."""
    tiles = [Tile(row, column) for row in range(ROWS) for column in range(COLUMNS)]
    rings = {frozenset(around) for around in map(neighbors, tiles) if len(around) == 6}
    sixes = [
        six
        for step in everything
        for color in CODES
        if len(six := frozenset(a.tile for a in step.actions if a.color == color)) == 6
    ]
    assert (len(sixes), sum(six in rings for six in sixes)) == (553, 206)


@pytest.mark.data
def test_double_spaces(everything: list[HexagonsItem]) -> None:
    assert sum(bool(re.search("  ", step.meta["raw"])) for step in everything) == 139
