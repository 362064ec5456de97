from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.corpora import SPLITS, load, locate
from harness.corpora.item import Executed, HexagonsItem, Item, MinecraftItem, builder_turns, drawing_steps
from harness.tasks import get_task
from harness.worlds.hexagons import COLORS
from harness.worlds.minecraft import INVENTORY, Pose, Structure

KEYS = [
    *("index", "annotation_round", "category", "image_id", "instructor_id", "number_of_drawing_steps", "agreement_tags"),
    *("agreement_scores", "drawing_procedure"),
]


@pytest.fixture(autouse=True)
def _sample(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


def procedures() -> dict[str, list[dict[str, Any]]]:
    folder = locate("hexagons").path
    return {
        split: [json.loads(line) for line in (folder / f"{split}.jsonl").read_text().splitlines()] for split in SPLITS["hexagons"]
    }


def logs() -> dict[str, list[dict[str, Any]]]:
    """The world states of the games, by target."""
    paths = (locate("minecraft").path / "data" / "logs").glob("data-*/logs/*/postprocessed-observations.json")
    return {path.parent.name.split("-")[2]: json.loads(path.read_text())["WorldStates"] for path in paths}


def structure(state: dict[str, Any]) -> Structure:
    found = [(block["AbsoluteCoordinates"], re.search("_([a-z]+)_rn$", block["Type"])) for block in state["BlocksInGrid"]]
    return Structure.of((at["X"], at["Y"], at["Z"], kind[1]) for at, kind in found if kind)


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
            assert item.before.apply(item.actions, limited=not get_task(task).judged) == (item.after, ()), item.id


def test_a_run_in_a_history_has_the_pose_of_its_own_item() -> None:
    items = [item for item in load("minecraft") if isinstance(item, MinecraftItem)]
    place = {(item.cluster, len(item.history)): item for item in items}
    poses = set()
    for item in items:
        for n, turn in enumerate(item.history):
            if isinstance(turn, Executed):
                own = place[item.cluster, n]
                assert turn == Executed(own.actions, own.pose)
                poses.add(turn.pose)
    assert len(poses) > 10


def test_the_steps_cover_what_is_hard_to_do_without_the_history() -> None:
    items = drawing_steps(load("hexagons"))
    assert [item.instruction for item in items if not item.actions] == [
        "Check that the board is as before, two blue posts and one orange beam."
    ]
    colorless = [item for item in items if item.actions and not any(color in item.instruction.lower() for color in COLORS)]
    assert len(colorless) >= 4
    assert all(item.history for item in colorless)


def test_procedures_have_the_schema_of_the_release() -> None:
    everything = [record for records in procedures().values() for record in records]
    assert [record["index"] for record in everything] == list(range(9))
    for record in everything:
        assert list(record) == KEYS
        assert re.fullmatch(r"P\d\dC\d\dT\d\d", record["image_id"])
        steps = record["drawing_procedure"]
        assert steps[0] == [0, "NONE", [0] * 180]
        assert [number for number, _, _ in steps] == list(range(len(steps)))
        assert all(len(board) == 180 and set(board) <= set(range(8)) for _, _, board in steps)
        assert 3 <= record["number_of_drawing_steps"] == len(steps) - 1 <= 5
        assert record["agreement_tags"] == ["A"] * (len(steps) - 1)


def test_chats_grow_and_one_thing_happens_in_a_world_state() -> None:
    for target, states in logs().items():
        assert states[0]["ChatHistory"] == ["<Builder> Mission has started."]
        for before, after in pairwise(states):
            said = len(after["ChatHistory"]) - len(before["ChatHistory"])
            assert after["ChatHistory"][: len(before["ChatHistory"])] == before["ChatHistory"]
            old, new = set(structure(before).blocks()), set(structure(after).blocks())
            assert said + len(old ^ new) == 1, target
            assert before["Timestamp"] < after["Timestamp"]


def test_the_inventory_is_what_is_not_built() -> None:
    for states in logs().values():
        for state in states:
            held = {entry["Type"].split("_")[2]: entry["Quantity"] for entry in state["BuilderInventory"]}
            assert held == {color: count for color, count in structure(state).inventory().items() if count}
            assert max(held.values()) <= INVENTORY


def test_the_builder_stands_outside_the_blocks_and_sees_the_build_region() -> None:
    for states in logs().values():
        for state in states:
            pose = Pose(*(state["BuilderPosition"][key] for key in ("X", "Y", "Z", "Yaw", "Pitch")))
            assert structure(state).color_at(int(pose.x // 1), int(pose.y // 1), int(pose.z // 1)) is None
            # The builder's quarter turn points from where it stands toward the middle: -z for a builder at +z, and so on.
            ahead = {0: -pose.z, 1: pose.x, 2: pose.z, 3: -pose.x}[pose.quarter]
            assert ahead > 2
            assert -10 < pose.pitch < 30


def test_a_gold_configuration_is_what_the_game_ends_in() -> None:
    folder = locate("minecraft").path / "data" / "gold-configurations"
    for target, states in logs().items():
        blocks = [ElementTree.fromstring(line).attrib for line in (folder / f"{target}.xml").read_text().splitlines()]
        built = {(int(b["x"]) - 100, int(b["y"]), int(b["z"]) - 100, b["type"].split("_")[2]) for b in blocks}
        assert built == {tuple(block) for block in structure(states[-1]).blocks()}


def test_some_blocks_float() -> None:
    assert sum(bool(item.after.floating() - item.before.floating()) for item in builder_turns(load("minecraft"))) >= 3


@pytest.mark.data
def test_nothing_is_copied_from_the_release(data_dir: Path) -> None:
    def words(items: list[Item]) -> set[str]:
        return {re.sub(r"\W+", " ", item.instruction.lower()).strip() for item in drawing_steps(items)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_DATA", str(data_dir))
        published = words(load("hexagons"))
    common = words(load("hexagons")) & published
    # Sentences so short that anybody writes them.
    assert all(len(text.split()) < 10 for text in common)
