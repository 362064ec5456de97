"""The part of `parser` that reads building instructions: its grammar, Minecraft's, and IGLU's explicit orders."""

import re
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.parser.minecraft import BuilderParser, grid
from harness.baselines.parser.minecraft.compass import as_if_north, told_pose
from harness.baselines.parser.minecraft.properties import Setting
from harness.baselines.parser.minecraft.proposals import propose
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.told import Placement, readings
from harness.baselines.parser.minecraft.words import GRAMMAR, fitting, read_item, read_words
from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.worlds.minecraft import COLORS, Action, Pose, Structure, net_actions

PARSERS = {task: BuilderParser(task=task) for task in ("minecraft", "iglu")}
FRONT = Pose(0.5, 1.0, -5.5, 0.0, 20.0)
Block = tuple[str, int, int, int]


def say(*texts: str) -> list[Turn]:
    return [Utterance("Architect", text) for text in texts]


def build(*blocks: Block) -> Executed:
    return Executed(tuple(Action("place", *block) for block in blocks))


def turn(*history: Turn, pose: Pose = FRONT, task: str = "minecraft") -> MinecraftItem:
    """The builder's turn after a dialogue; the effects of all earlier actions are still there."""
    done = [a for one in history if isinstance(one, Executed) for a in one.actions if isinstance(a, Action)]
    before = Structure().apply(done).structure
    return MinecraftItem(f"{task}/dev/game/7", "dev", tuple(history), before, pose, (), before, "C1", "game")


RED = [*say("place a red block"), build(("red", 0, 1, 0))]
TOWER = [("blue", 2, 1, 1), ("blue", 2, 2, 1), ("blue", 2, 3, 1)]
BLUE = [*say("stack three blue blocks"), build(*TOWER)]


@pytest.mark.parametrize(
    ("history", "pose", "expected"),
    [
        ([*RED, *say("put a blue block on top of it")], FRONT, {("blue", 0, 2, 0)}),
        ([*RED, *say("place a green block to the left of it")], FRONT, {("green", 1, 1, 0)}),
        ([*RED, *say("place a green block to the left of it")], Pose(0.5, 1.0, 6.5, 180.0, 20.0), {("green", -1, 1, 0)}),
        ([*BLUE, *say("remove the blue blocks")], FRONT, {(None, *block[1:]) for block in TOWER}),
        (say("great!"), FRONT, set()),
        ([], FRONT, set()),
    ],
)
def test_common_instructions(history: list[Turn], pose: Pose, expected: set[tuple[object, ...]]) -> None:
    """Changes as (color, x, y, z); None as the color is a removal."""
    item = turn(*history, pose=pose)
    after = item.before.apply(PARSERS["minecraft"].predict([item])[0].actions).structure
    changes = net_actions(item.before, after)
    assert {(one.color if one.kind == "place" else None, one.x, one.y, one.z) for one in changes} == expected


WORDS = """
    place put red blue green block blocks a two 3 row tower left right of the on top
    next to that remove other side same 3x3 square L u plus diagonal ground corner middle and then between replace with second
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


@given(TURNS, POSES, st.sampled_from(sorted(PARSERS)))
def test_any_talk_is_answered_with_what_can_be_built(history: list[Turn], pose: Pose, task: str) -> None:
    item = turn(*history, pose=pose, task=task)
    (answer,) = PARSERS[task].predict([item])
    assert not item.before.apply(answer.actions).ignored
    assert 0 <= answer.notes["confidence"] <= 1
    assert PARSERS[task].predict([item])[0] == answer
    scene = DiscourseScene(item)
    for one in [one for clause in read_item(item) for one in propose(clause, scene)]:
        assert grid.INSIDE[one.actions[one.actions >= 0] // grid.KINDS].all()
        assert len(one.properties) == len(one.actions)
        assert np.isfinite(one.properties).all()


def told(text: str, *blocks: Block, yaw: float = 37.0) -> list[tuple[Placement, set[tuple[int, ...]]]]:
    """The readings of an order of IGLU, with their cells in the world."""
    item = turn(build(*blocks), *say(text), pose=Pose(0.5, 1, 3.5, yaw, 20), task="iglu")
    scene = DiscourseScene(item)
    (clause,) = read_item(item)
    found = list(readings(clause, Setting(scene, grid.REGION[:0])))
    return [(one, {grid.action(cell * grid.KINDS, scene.pose).cell for cell in one.cells}) for one in found]


PURPLE = [("purple", 0, 1, 0), ("purple", 0, 2, 0), ("purple", 0, 3, 0), ("yellow", 2, 1, 0)]
ROW = [("red", -1, 1, 2), ("red", 0, 1, 2), ("red", 1, 1, 2)]
GAP = [("blue", -2, 1, 0), ("blue", 2, 1, 0)]


@pytest.mark.parametrize(
    ("text", "blocks", "cells"),
    [
        ("Facing north, remove the top two purple blocks.", PURPLE, {(0, 3, 0), (0, 2, 0)}),
        ("Remove the second red block from the east.", ROW, {(0, 1, 2)}),
        ("Place one blue block on top of each red block.", ROW, {(-1, 2, 2), (0, 2, 2), (1, 2, 2)}),
        ("Place two green blocks to the east of the yellow block.", PURPLE, {(3, 1, 0), (4, 1, 0)}),
        ("Place a green block in front of the yellow block.", PURPLE, {(2, 1, 1)}),
        ("Place three orange blocks between the blue blocks.", GAP, {(-1, 1, 0), (0, 1, 0), (1, 1, 0)}),
        ("Put a red block in each corner.", [], {(x, 1, z) for x in (-5, 5) for z in (-5, 5)}),
    ],
)
def test_the_right_reading_of_an_order_is_among_them(text: str, blocks: list[Block], cells: set[tuple[int, ...]]) -> None:
    assert cells in [found for _, found in told(text, *blocks)]


def test_a_replacement_empties_and_fills() -> None:
    reading, cells = told("Replace the yellow block with a blue one.", *PURPLE)[0]
    assert (reading.gone, reading.names[0], reading.color, cells) == (True, "told replace", 5, {(2, 1, 0)})


@pytest.mark.parametrize(
    ("facing", "said"),
    [(180, "the north most block , south"), (0, "the south most block , north"), (-90, "the west most block , east")],
)
def test_compass_words_are_written_as_for_a_builder_who_looks_north(facing: float, said: str) -> None:
    assert told_pose(turn(*say("Place a block."), pose=Pose(0, 1, 0, facing, 0), task="iglu")).quarter == 2
    read = as_if_north("the northern-most block, southwards", Pose(0, 1, 0, facing, 0))
    assert read.replace(",", " ,").split() == said.split()


@pytest.mark.parametrize("number", ["12", "99", "1089", pytest.param("9" * 5000, id="5000 digits")])
@pytest.mark.parametrize(
    "text",
    [
        "Place a horizontal row of {} blue blocks in the center of the map going south.",
        "Place {} red blocks on each side of the yellow block.",
        "Remove the {}th purple block from the top.",
    ],
)
def test_counts_larger_than_the_region_are_read_within_it(text: str, number: str) -> None:
    found = told(text.format(number), *PURPLE)
    assert found
    assert all(grid.INSIDE[[*reading.cells]].all() for reading, _ in found)


EXAMPLES = re.findall(
    r"(?m)^([a-z]+): .+ -> [a-z]+\n +(.+)$", files("harness.baselines.parser.minecraft").joinpath("grammar.txt").read_text()
)


def test_every_line_is_used_for_its_example() -> None:
    for phrase, (category, example) in zip(GRAMMAR, EXAMPLES, strict=True):
        texts = [word.text for word in read_words(example)]
        assert phrase in [used for _, used in fitting(category, texts)], texts


def test_the_first_line_that_fits_counts() -> None:
    def roles(category: str, text: str) -> list[str]:
        return [phrase.role for _, phrase in fitting(category, [word.text for word in read_words(text)])]

    assert roles("number", "two red towers of three blocks 4 tall") == ["many", "many", "size"]
    assert roles("number", "the one up there, one more") == ["many"]
    assert roles("color", "a blue block on the red one, left of those two green ones") == ["new", "there", "there"]
    assert roles("break", "put red, then blue and a green one and up") == ["end", "end"]
