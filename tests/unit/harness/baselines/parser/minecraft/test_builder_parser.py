"""The part of `parser` that reads the Minecraft Architect's messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.parser.minecraft import BuilderParser, grid
from harness.baselines.parser.minecraft.proposals import propose
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.words import read_turn
from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.worlds.minecraft import COLORS, Action, Pose, Structure, net_actions

PARSER = BuilderParser()
FRONT = Pose(0.5, 1.0, -5.5, 0.0, 20.0)


def say(*texts: str) -> list[Turn]:
    return [Utterance("Architect", text) for text in texts]


def build(*blocks: tuple[str, int, int, int]) -> Executed:
    return Executed(tuple(Action("place", *block) for block in blocks))


def turn(*history: Turn, pose: Pose = FRONT) -> MinecraftItem:
    """The builder's turn after a dialogue; the effects of all earlier actions are still there."""
    done = [a for one in history if isinstance(one, Executed) for a in one.actions if isinstance(a, Action)]
    before = Structure().apply(done).structure
    return MinecraftItem("minecraft/dev/game/7", "dev", tuple(history), before, pose, (), before, "C1", "game")


def answered(item: MinecraftItem) -> set[tuple[object, ...]]:
    """The net actions of the answer as (color, x, y, z); None as the color is a removal."""
    after = item.before.apply(PARSER.predict([item])[0].actions).structure
    changes = net_actions(item.before, after)
    return {(one.color if one.kind == "place" else None, one.x, one.y, one.z) for one in changes}


RED = build(("red", 0, 1, 0))
TOWER = build(("blue", 2, 1, 1), ("blue", 2, 2, 1), ("blue", 2, 3, 1))


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([*say("place a red block in the middle"), RED, *say("put a blue block on top of it")], {("blue", 0, 2, 0)}),
        ([*say("place a red block"), RED, *say("stack two red blocks on top of that")], {("red", 0, 2, 0), ("red", 0, 3, 0)}),
        ([*say("place a red block"), RED, *say("place a green block to the left of it")], {("green", 1, 1, 0)}),
        ([*say("place a red block"), RED, *say("place a green block to the right of it")], {("green", -1, 1, 0)}),
        ([*say("stack three blue blocks"), TOWER, *say("put an orange block on top of the blue ones")], {("orange", 2, 4, 1)}),
        ([*say("stack three blue blocks"), TOWER, *say("remove the blue blocks")], {(None, 2, y, 1) for y in (1, 2, 3)}),
    ],
)  # fmt: skip
def test_common_instructions(history: list[Turn], expected: set[tuple[object, ...]]) -> None:
    assert answered(turn(*history)) == expected


def test_left_is_the_builders_left() -> None:
    talk = (*say("place a red block"), RED, *say("place a green block to the left of it"))
    behind = Pose(0.5, 1.0, 6.5, 180.0, 20.0)
    assert answered(turn(*talk, pose=behind)) == {("green", -1, 1, 0)}


@pytest.mark.parametrize("history", [[], say("great!"), say("hello builder")])
def test_talk_asks_for_nothing(history: list[Turn]) -> None:
    assert answered(turn(*history)) == set()


WORDS = """
    place put red blue green block blocks a two 3 row tower left right of the on top
    next to that remove other side same 3x3 square L u plus diagonal ground corner middle and then
    , . ? not move it one another each both ends behind front fill mirror 0 11 99
"""
TEXTS = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
CELLS = st.tuples(st.sampled_from(COLORS), st.integers(-5, 5), st.integers(1, 3), st.integers(-5, 5))
TURNS = st.lists(
    st.one_of(
        st.builds(Utterance, st.sampled_from(("Architect", "Builder")), TEXTS),
        st.lists(CELLS, min_size=1, max_size=4, unique_by=lambda cell: cell[1:]).map(lambda cells: build(*cells)),
    ),
    max_size=6,
)
POSES = st.builds(Pose, st.floats(-9, 9), st.floats(1, 9), st.floats(-9, 9), st.floats(-360, 360), st.floats(-90, 90))


@given(TURNS, POSES)
def test_any_talk_is_answered_with_what_can_be_built(history: list[Turn], pose: Pose) -> None:
    item = turn(*history, pose=pose)
    (answer,) = PARSER.predict([item])
    assert not item.before.apply(answer.actions).ignored
    assert 0 <= answer.notes["confidence"] <= 1
    assert PARSER.predict([item])[0] == answer


@given(TURNS, POSES)
def test_proposals_stay_in_the_region(history: list[Turn], pose: Pose) -> None:
    item = turn(*history, pose=pose)
    scene = DiscourseScene(item)
    for clause in read_turn(item.history):
        for one in propose(clause, scene):
            cells = one.actions[one.actions >= 0] // grid.KINDS
            assert grid.INSIDE[cells].all()
            assert len(one.properties) == len(one.actions)
            assert np.isfinite(one.properties).all()
