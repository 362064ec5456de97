"""Explicit orders, each read on a small structure, with the cells expected for a builder who is told to face north."""

from __future__ import annotations

import pytest

from harness.baselines.parser.minecraft import BuilderParser, grid
from harness.baselines.parser.minecraft.compass import as_if_north, told_pose
from harness.baselines.parser.minecraft.properties import Setting
from harness.baselines.parser.minecraft.ranker import Ranker
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.told import Placement, readings
from harness.baselines.parser.minecraft.words import read_item
from harness.corpora.item import MinecraftItem, Utterance
from harness.worlds.minecraft import Pose, Structure

TOWER = [(0, 1, 0, "purple"), (0, 2, 0, "purple"), (0, 3, 0, "purple"), (2, 1, 0, "yellow")]
ROW = [(-1, 1, 2, "red"), (0, 1, 2, "red"), (1, 1, 2, "red")]
GAP = [(-2, 1, 0, "blue"), (2, 1, 0, "blue")]
Cells = set[tuple[int, int, int]]


def told(text: str, blocks: list[tuple[int, int, int, str]], yaw: float = 37.0) -> MinecraftItem:
    before = Structure.of(blocks)
    said = (Utterance("Architect", text),)
    return MinecraftItem("iglu/dev/game-1", "dev", said, before, Pose(0.5, 1, 3.5, yaw, 20), (), before, "c1", "game")


def all_read(item: MinecraftItem) -> list[tuple[Placement, Cells]]:
    scene = DiscourseScene(item)
    (clause,) = read_item(item)
    found = list(readings(clause, Setting(scene, grid.REGION[:0])))
    cells = [{grid.action(cell * grid.KINDS, scene.pose).cell for cell in reading.cells} for reading in found]
    return list(zip(found, cells, strict=True))


@pytest.mark.parametrize(
    ("text", "blocks", "cells"),
    [
        ("Destroy the yellow block.", TOWER, {(2, 1, 0)}),
        ("Facing north, remove the top two purple blocks.", TOWER, {(0, 3, 0), (0, 2, 0)}),
        ("Break the purple column.", TOWER, {(0, 1, 0), (0, 2, 0), (0, 3, 0)}),
        ("Remove the westernmost red block.", ROW, {(-1, 1, 2)}),
        ("Remove the second red block from the east.", ROW, {(0, 1, 2)}),
        ("Destroy all blocks except the yellow one.", TOWER, {(0, 1, 0), (0, 2, 0), (0, 3, 0)}),
        ("Place a green block on top of the purple tower.", TOWER, {(0, 4, 0)}),
        ("Place one blue block on top of each red block.", ROW, {(-1, 2, 2), (0, 2, 2), (1, 2, 2)}),
        ("Place two green blocks to the east of the yellow block.", TOWER, {(3, 1, 0), (4, 1, 0)}),
        ("Stack three green blocks to the west of the yellow block.", TOWER, {(1, 1, 0), (1, 2, 0), (1, 3, 0)}),
        ("Place a green block in front of the yellow block.", TOWER, {(2, 1, 1)}),
        ("Place three orange blocks between the blue blocks.", GAP, {(-1, 1, 0), (0, 1, 0), (1, 1, 0)}),
        ("Put a red block in each corner.", [], {(x, 1, z) for x in (-5, 5) for z in (-5, 5)}),
        ("Stack two red blocks in the northeast corner.", [], {(5, 1, -5), (5, 2, -5)}),
        ("Build a tower of three blue blocks in the middle of the map.", [], {(0, 1, 0), (0, 2, 0), (0, 3, 0)}),
        ("Place a row of three green blocks going east in the center of the grid.", [], {(0, 1, 0), (1, 1, 0), (2, 1, 0)}),
    ],
)
def test_the_right_reading_is_among_them(text: str, blocks: list[tuple[int, int, int, str]], cells: Cells) -> None:
    assert cells in [found for _, found in all_read(told(text, blocks))]


def test_a_replacement_empties_and_fills() -> None:
    reading, cells = all_read(told("Replace the yellow block with a blue one.", TOWER))[0]
    assert (reading.gone, reading.names[0], cells) == (True, "told replace", {(2, 1, 0)})
    assert reading.color == 5


def test_without_a_direction_the_builder_faces_north() -> None:
    assert {told_pose(told("Place a block.", TOWER, yaw)).quarter for yaw in (0, 90, 180, 270)} == {2}
    other = MinecraftItem("minecraft/val/g/1", "val", (), Structure(), Pose(0, 1, 0, 91, 0), (), Structure(), "C1", "g")
    assert told_pose(other) == other.pose


@pytest.mark.parametrize(
    ("facing", "said"),
    [(180, "the north most block , south"), (0, "the south most block , north"), (-90, "the west most block , east")],
)
def test_compass_words_are_written_as_for_a_builder_who_looks_north(facing: float, said: str) -> None:
    read = as_if_north("the northern-most block, southwards", Pose(0, 1, 0, facing, 0))
    assert read.replace(",", " ,").split() == said.split()


WORDS = "place remove replace each top of between the red corner N 3 second with it"


def test_no_words_or_blocks_break_it() -> None:
    words = WORDS.split()
    for n in range(len(words) * 4):
        text = " ".join(words[(n * k) % len(words)] for k in range(1, 9))
        for blocks in ([], TOWER):
            item = told(text, blocks)
            answer = BuilderParser(Ranker({})).predict([item])[0]
            assert answer.error is None
            assert item.before.apply(answer.actions).ignored == ()


@pytest.mark.parametrize("number", ["12", "19", "99", "1089", "999999999999", pytest.param("9" * 5000, id="5000 digits")])
@pytest.mark.parametrize(
    "text",
    [
        "Place {} red blocks.",
        "Build a tower of {} blue blocks.",
        "Place a horizontal row of {} blue blocks in the center of the map going south.",
        "Stack {} blue blocks in each corner.",
        "Place {} red blocks 9 squares to the east of the yellow block.",
        "Place {} red blocks 9 squares to the west of the yellow block.",
        "Place {} red blocks on each side of the yellow block.",
        "Remove the {}th purple block from the top.",
        "Remove the top {} purple blocks.",
    ],
)
def test_counts_larger_than_the_region_are_read_within_it(text: str, number: str) -> None:
    found = all_read(told(text.format(number), TOWER))
    assert found
    assert all(grid.INSIDE[[*reading.cells]].all() for reading, _ in found)
