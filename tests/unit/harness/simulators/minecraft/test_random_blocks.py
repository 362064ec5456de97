"""Orders of the random simulator mean exactly what is done: they are read back by a reader that knows only what was said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.worlds.minecraft import Action, Pose, Structure
from tests.helpers.relations_reader import Unclear, order_of, read
from tests.helpers.simulated import SEEDS, check_pose, check_world, hangs, left_alone, simulated

Blocks = list[tuple[int, int, int, str]]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_said_is_what_is_done(seed: int) -> None:
    for item in simulated("random", seed, 250):
        done, reading = check_world(item), read(item)
        assert reading.actions == done, order_of(item)
        assert len(done) == 1
        assert reading.floats == hangs(item, done) == left_alone(item), order_of(item)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_builder_sees_what_it_does_and_stands_in_no_block(seed: int) -> None:
    for item in simulated("random", seed, 250):
        check_pose(item, check_world(item))


def test_a_game_goes_on_where_it_was() -> None:
    for before, after in zip(items := simulated("random", 7, 300), items[1:], strict=False):
        if before.cluster == after.cluster:
            assert after.before == before.after
            assert after.history[: len(before.history) + 1] == (*before.history, Executed(before.actions, before.pose))
        else:
            assert not after.before.blocks()


@given(seed=st.integers(0, 2**40))
def test_the_same_seed_gives_the_same_items(seed: int) -> None:
    assert simulated("random", seed, 12) == simulated("random", seed, 12)


def test_all_relations_and_references_come_up() -> None:
    items = [item for seed in SEEDS for item in simulated("random", seed, 250)]
    relations = {tuple(item.meta["relation"]) for item in items if "relation" in item.meta}
    assert len({r for r in relations if max(map(abs, r)) == 1}) == 26
    assert {r for r in relations if max(map(abs, r)) > 1} >= {(2, 0, 0), (-2, 0, 0), (0, 0, 2), (0, 0, -2), (0, 2, 0)}
    assert {item.meta["frame"] for item in items} == {"first", "place", "ellipsis", "remove"}
    assert {item.meta.get("by") for item in items} >= {"last", "only", "color", "highest", "leftmost", "nearest", "farthest"}
    assert any(item.meta.get("omitted") for item in items)
    assert {item.pose.quarter for item in items} == {0, 1, 2, 3}


# --- the reader itself, by hand ---

BOARD: Blocks = [(0, 1, 0, "red"), (1, 1, 0, "blue"), (0, 2, 0, "blue")]


def asked(text: str, blocks: Blocks, yaw: float = 0.0, last: tuple[Action, ...] = ()) -> MinecraftItem:
    history: tuple[Turn, ...] = (Executed(last), Utterance("Architect", text))
    there = Structure.of(blocks)
    return MinecraftItem("g/1", "train", history, there, Pose(0.5, 1.0, -4.5, yaw, 20.0), (), there, "g", "g")


@pytest.mark.parametrize(
    ("text", "yaw", "cell"),
    [
        ("put a green block to the left of the red block", 0.0, (1, 1, 0)),
        ("put a green block to the left of the red block", 100.0, (0, 1, 1)),
        ("put a green block to the left of the red block", -90.0, (0, 1, -1)),
        ("put a green block to the left of the red block", -190.0, (-1, 1, 0)),
        ("Add a green one two spaces behind the leftmost blue one.", 0.0, (1, 1, 2)),
        ("Add a green one two spaces behind the highest blue one.", 90.0, (-2, 2, 0)),
        ("diagonally from the top blue block, right and up, place a green one", 0.0, (-1, 3, 0)),
        ("a green block on the red block", 30.0, (0, 2, 0)),
        ("a green block 1 left and 1 closer to you from the red block", 300.0, (-1, 1, -1)),
    ],
)
def test_relations_are_the_builders(text: str, yaw: float, cell: tuple[int, int, int]) -> None:
    assert read(asked(text, BOARD, yaw)).actions == {Action("place", "green", *cell)}


def test_it_is_the_block_placed_last() -> None:
    last = (Action("place", "blue", 1, 1, 0), Action("place", "red", 0, 1, 0), Action("remove", "blue", 1, 1, 0))
    board = [(0, 1, 0, "red")]
    assert read(asked("and a green one on top of it", board, last=last)).references == ((0, 1, 0),)
    with pytest.raises(Unclear):
        read(asked("and a green one on top of it", board))


@pytest.mark.parametrize(
    "text",
    [
        "put a green block to the left of the blue block",
        "put a green block to the left of the yellow block",
        "put a green block next to the red block",
        "put a green block near the red block",
        "put a green block to the left and to the right of the red block",
        "put a block to the left of the red block",
        "put a green block",
        "remove the blue block",
        "put a green block in the center",
    ],
)
def test_what_a_builder_would_have_to_guess_is_refused(text: str) -> None:
    with pytest.raises(Unclear):
        read(asked(text, BOARD))


def test_nearest_must_be_so_along_the_axis_and_in_a_straight_line() -> None:
    board = [(0, 1, -1, "red"), (5, 1, -2, "red")]
    with pytest.raises(Unclear):
        read(asked("remove the red block closest to you", board))
    assert read(asked("remove the red block closest to you", [(0, 1, -3, "red"), (5, 1, -2, "red")])).references == ((0, 1, -3),)
