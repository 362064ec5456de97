"""Ordinary building requests: the structures that they lead to, conversations, and arbitrary texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.baselines.parser import Parser
from harness.baselines.parser.everyday.minecraft import understand
from harness.baselines.parser.everyday.minecraft.clauses import read_orders
from harness.baselines.parser.everyday.minecraft.words import known_words, tokens, unknown
from harness.corpora.item import Executed, MinecraftItem, Turn, Utterance
from harness.worlds.minecraft import FACING, Pose, Structure, in_region
from serialization.formats.program import building_state
from serialization.program.minecraft import run
from serialization.program.parse import parse


def item(said: str, before: Structure, history: tuple[Turn, ...] = (), pose: Pose = FACING) -> MinecraftItem:
    told = (*history, Utterance("Architect", said))
    return MinecraftItem("everyday-minecraft/x/1", "dev", told, before, pose, (), before, "x", "x")


def built(program: str) -> Structure:
    empty = Structure()
    return empty.apply(run(parse(program), building_state(item("", empty))).actions).structure


def conversed(start: str, *requests: str, pose: Pose = FACING) -> Structure:
    """The structure after a conversation."""
    structure = built(start)
    history: tuple[Turn, ...] = ()
    for request in requests:
        asked = item(request, structure, history, pose)
        outcome = run(parse(understand(asked).program), building_state(asked))
        assert outcome.error is None
        done = [action._replace(color=action.color or structure.color_at(*action.cell)) for action in outcome.actions]
        structure = structure.apply(done).structure
        history = (*history, Utterance("Architect", request), Executed(tuple(done), pose))
    return structure


@pytest.mark.parametrize(
    ("said", "program"),
    [
        ("Build a red tower 3 blocks high", "red tower(0,1,0,3)"),
        ("an orange wall, three wide and two high", "orange -1..1,1-2,0"),
        ("Put three red blocks in a row, from left to right", "red -1..1,1,0"),
        ("make a hollow 3x3x3 green cube", "green box(-1,1,-1,1,3,1) - 0,2,0"),
        ("a blue block in each corner of the field", "blue 5,1,5+5,1,-5+-5,1,5+-5,1,-5"),
        ("Build a green fence around the whole field", "green frame(5,1,-5,right,11,behind,11)"),
        ("a red wall, 3 wide and 3 high, with a hole in it", "red -1..1,1-3,0 - 0,2,0"),
        ("put a block at height 4, blue", "blue supports(0,4,0)"),
        ("stack 4 blocks, alternating between red and blue", "red,blue tower(0,1,0,4)"),
        ("put a yellow block on a red block", "red 0,1,0; yellow 0,2,0"),
        ("a red square of 3 by 3 with a blue border", "blue frame(1,1,-1,right,3,behind,3); red 0,1,0"),
        (
            "a red tower of 2, then a blue block on top of it and a green one left of it",
            "red tower(0,1,0,2); blue 0,3,0; green 1,3,0",
        ),
        ("make a pyramid with a 5x5 base in yellow", "yellow -2..2,1,-2..2; yellow -1..1,2,-1..1; yellow 0,3,0"),
        ("place 3 yellow blocks in a diagonal line", "yellow 1,1,-1+0,1,0+-1,1,1"),
        ("Build a wall of 5 green blocks", "green -2..2,1,0"),
        ("put down five purple blocks in a row with one gap between each", "purple 4,1,0+2,1,0+0,1,0+-2,1,0+-4,1,0"),
        ("make a square ring with 4 blocks on each side in blue", "blue frame(2,1,-2,right,4,behind,4)"),
        ("put a red block, a blue block and a green block in a row", "red 1,1,0; blue 0,1,0; green -1,1,0"),
        ("a 4 high tower, the bottom half yellow and the upper half blue", "yellow 0,1-2,0; blue 0,3-4,0"),
        ("a tower with 5 blocks, first one green, the rest red", "green 0,1,0; red 0,2-5,0"),
        ("make a red row of 5, the middle one blue", "red 2-1,1,0; blue 0,1,0; red -1..-2,1,0"),
        ("two green towers of height 4 with 3 blocks between them", "green tower(2,1,0,4); green tower(-2,1,0,4)"),
        ("a tower that has 2 red blocks at the bottom and 3 yellow blocks on top", "red 0,1-2,0; yellow 0,3-5,0"),
        ("put blue blocks in all four corners", "blue 5,1,5+5,1,-5+-5,1,5+-5,1,-5"),
        ("make a table: four legs and a top, in orange", "orange 1,1,1+1,1,-1+-1,1,1+-1,1,-1; orange -1..1,2,-1..1"),
        ("build a bridge: two towers of 2 and a beam across", "red 1,1-2,0+-1,1-2,0; red -1..1,3,0"),
        ("put a green block on each end of a red row of 5", "red -2..2,1,0; green 2,2,0+-2,2,0"),
        ("a wall that is 6 blocks long and 2 blocks high in red and blue stripes", "red -2..3,1,0; blue -2..3,2,0"),
        ("place four orange blocks in the shape of a square", "orange 0-1,1,-1-0"),
        ("build a red and a blue tower, both 3 tall", "red tower(0,1,0,3); blue tower(-2,1,0,3)"),
        ("place six yellow blocks in two rows of three", "yellow -1..1,1,-1-0"),
        ("put a red and a blue block next to each other", "red 1,1,0; blue 0,1,0"),
        ("a tower where the bottom is red, the middle is yellow and the top is green", "red 0,1,0; yellow 0,2,0; green 0,3,0"),
        ("a line of red blocks all the way across the middle", "red -5..5,1,0"),
        ("place two green blocks with a yellow one in between", "green 1,1,0+-1,1,0; yellow 0,1,0"),
        ("build a red tower of 2 and a tower twice as high next to it", "red tower(0,1,0,2); red tower(-1,1,0,4)"),
        ("a tower of 2 red blocks, 1 yellow block and 2 blue blocks", "red 0,1-2,0; yellow 0,3,0; blue 0,4-5,0"),
        ("build stairs going up to the right, 2 steps, blue", "blue 1,1,0; blue 0,1-2,0"),
        ("two rows of 4 blocks, the front one red and the back one blue", "red -1..2,1,-1; blue -1..2,1,1"),
        ("two towers of 3, the left one red and the right one green", "red tower(0,1,0,3); green tower(-2,1,0,3)"),
        ("a blue block left of the center and a red block right of the center", "blue 1,1,0; red -1,1,0"),
        ("a purple block in the upper left corner of the ground", "purple 5,1,5"),
        ("a wall of blue blocks 5 wide 2 high with a green row on top", "blue -2..2,1-2,0; green -2..2,3,0"),
        ("a blue square frame, 6x6, and put a yellow block inside", "blue frame(3,1,-3,right,6,behind,6); yellow 1,1,-1"),
        ("a red tower and a yellow tower, 2 high each, with a space between", "red tower(1,1,0,2); yellow tower(-1,1,0,2)"),
        ("three red blocks stacked up in the far right corner", "red tower(-5,1,5,3)"),
        ("a line of 6 blocks, the first three red and the last three blue", "red 3-1,1,0; blue -2..0,1,0"),
        ("put 4 red towers in the corners, each 2 high", "red 5,1-2,5+5,1-2,-5+-5,1-2,5+-5,1-2,-5"),
        ("stack 2 red, 2 blue and 2 yellow blocks", "red 0,1-2,0; blue 0,3-4,0; yellow 0,5-6,0"),
        ("a stack of 4 blocks: first two green ones, then two yellow ones above", "green 0,1-2,0; yellow 0,3-4,0"),
        ("2 towers, one red with 3 blocks, the other blue with 5", "red tower(0,1,0,3); blue tower(-2,1,0,5)"),
        ("row of 6 blocks: every third one is blue, all others red", "red,red,blue row(3,1,0,right,6)"),
        ("a yellow border along the edges of the floor", "yellow frame(5,1,-5,right,11,behind,11)"),
        ("for my doll a red block, like a little chair", "red 0,1,0"),
        ("a row of 4, alternating red and blue, starting with blue", "blue,red row(2,1,0,right,4)"),
        ("a table: green legs that are 2 high and a blue top of 5 by 3", "green -2..2/4,1-2,-1..1/2; blue -2..2,3,-1..1"),
        ("tile the floor with red", "red -5..5,1,-5..5"),
    ],
)
def test_what_is_built(said: str, program: str) -> None:
    assert conversed("", said) == built(program)


@pytest.mark.parametrize(
    ("start", "requests", "program"),
    [
        ("red 0,1,0", ["make it blue"], "blue 0,1,0"),
        ("red tower(2,1,0,2)+tower(-2,1,0,2)", ["knock the left tower down"], "red tower(-2,1,0,2)"),
        ("red 0-2,1,0; blue -3,1-2,0", ["the tower should be the same color as the row"], "red 0-2,1,0+-3,1-2,0"),
        ("red -2..2,1,0", ["green one on the row, at its left end", "one at the other end"], "red -2..2,1,0; green 2,2,0+-2,2,0"),
        ("red 0,1,0", ["put a blue block left and right of the red one"], "red 0,1,0; blue 1,1,0+-1,1,0"),
        ("red 0,1,0; blue 2,1,0", ["Swap the colors."], "blue 0,1,0; red 2,1,0"),
        ("red 0,1,0; blue 2,1,0", ["move the red block on top of the blue one"], "blue 2,1,0; red 2,2,0"),
        ("red 0,1,0; blue 2,1,0", ["remove the red block", "no, the other one!"], "red 0,1,0"),
        ("red tower(0,1,0,3)", ["put a blue block to its right", "No, on the other side."], "red tower(0,1,0,3); blue 1,1,0"),
        ("red tower(0,1,0,3)", ["make it two blocks taller", "undo"], "red tower(0,1,0,3)"),
        ("red row(2,1,0,right,4)", ["make every second block yellow"], "red,yellow row(2,1,0,right,4)"),
        ("red row(2,1,0,right,3)", ["add two more", "remove both ends"], "red row(1,1,0,right,3)"),
        ("orange tower(0,1,0,2)", ["copy it to the right", "and again"], "orange tower(0,1,0,2)+tower(-1,1,0,2)+tower(-2,1,0,2)"),
        ("blue -1..1,1,0", ["take out the middle one", "put it back, but in red"], "blue 1,1,0+-1,1,0; red 0,1,0"),
        ("yellow 1,1-4,0; red -1,1,0", ["make the red one as tall as the yellow one"], "yellow 1,1-4,0; red -1,1-4,0"),
        ("green 0,1,0; red 1,1,0", ["thanks, that looks great!", "how are you?"], "green 0,1,0; red 1,1,0"),
        ("green 0,1,0", ["a pink block next to it", "a red block 30 steps to the left"], "green 0,1,0"),
        ("red tower(0,1,0,5)", ["take off the top two"], "red tower(0,1,0,3)"),
        ("red tower(0,1,0,5)", ["the top two should be blue"], "red tower(0,1,0,3); blue 0,4-5,0"),
        ("red 0,1,0", ["a blue block on it", "ctrl+z", "redo"], "red 0,1,0; blue 0,2,0"),
        ("red tower(0,1,0,5)", ["shorten it to three blocks"], "red tower(0,1,0,3)"),
        ("green 0,1,0", ["a red block left of it, leave one space free between them"], "green 0,1,0; red 2,1,0"),
        ("red row(3,1,0,right,4); blue 0,2,0", ["move the blue block to the other end"], "red row(3,1,0,right,4); blue 3,2,0"),
        ("green 2,1,0; blue 0,1,0", ["put red on green and purple on blue"], "green 2,1,0; blue 0,1,0; red 2,2,0; purple 0,2,0"),
        ("red 2,1,0; green 0,1,0; blue -2,1,0", ["remove the block between the red and the blue one"], "red 2,1,0; blue -2,1,0"),
        ("red tower(2,1,0,3)+tower(0,1,0,2)", ["take one block off the top of every tower"], "red tower(2,1,0,2)+tower(0,1,0,1)"),
        ("red 0,1,0", ["three blocks to the right in yellow"], "red 0,1,0; yellow -1..-3,1,0"),
        ("red 0,1,0", ["replace the red block with a blue tower of 3"], "blue tower(0,1,0,3)"),
        ("", ["build a wall 5 wide and 3 high in blue", "put a door in it, 1 wide and 2 high"], "blue -2..2,1-3,0 - 0,1-2,0"),
        ("", ["a row of four yellow blocks", "do the same thing behind it in green"], "yellow -1..2,1,0; green -1..2,1,1"),
        ("red tower(2,1,0,3)+tower(-2,1,0,3)", ["connect them on top with a red row"], "red 2,1-2,0+-2,1-2,0+-2..2,3,0"),
        ("yellow -1..2,1-2,0", ["swap the color to purple"], "purple -1..2,1-2,0"),
        ("", ["a 3 by 3 by 3 hollow cube, blue", "take off the roof"], "blue -1..1,1-2,-1..1 - 0,2,0"),
        ("", ["put 4 blue blocks in a 2x2 square", "add another layer on top"], "blue 0-1,1-2,-1-0"),
        ("", ["a green hedge 5 long", "leave a gap in the middle"], "green -2..2,1,0 - 0,1,0"),
        ("orange tower(0,1,0,3)", ["recolor the top one red", "and the bottom one blue"], "blue 0,1,0; orange 0,2,0; red 0,3,0"),
        ("", ["a staircase with 2 steps, yellow", "add one more step"], "yellow 1,1,0; yellow 0,1-2,0; yellow -1,1-3,0"),
        ("red 0,1,0; blue tower(0,1,2,3)", ["take the top block off and put it on the red one"], "red 0,1,0; blue 0,1-2,2+0,2,0"),
        ("", ["a square out of 9 red blocks", "change the outer ones to blue"], "blue -1..1,1,-1..1 - 0,1,0; red 0,1,0"),
        ("red tower(0,1,0,4)", ["alternate red and yellow"], "red,yellow tower(0,1,0,4)"),
        ("red 0-1,1,0", ["put 2 blue blocks on top of them"], "red 0-1,1,0; blue 0-1,2,0"),
        ("blue 2,1-3,0+0,1-3,0+-2,1-3,0", ["make the middle one yellow"], "blue 2,1-3,0+-2,1-3,0; yellow 0,1-3,0"),
        ("", ["a blue tower of 2", "give it a red top"], "blue tower(0,1,0,2); red 0,3,0"),
        ("red -1..1,1,0", ["copy it two rows further back"], "red -1..1,1,0+-1..1,1,2"),
        ("yellow -2..2,1,0", ["take away two blocks from the right end"], "yellow 0-2,1,0"),
        ("red tower(0,1,0,5)", ["remove two blocks from the top"], "red tower(0,1,0,3)"),
        ("", ["a row of 4 green blocks", "delete the first one", "put a red one there"], "red 2,1,0; green -1..1,1,0"),
        ("red tower(0,1,0,3)", ["build the same thing on the left, but green"], "red tower(0,1,0,3); green tower(1,1,0,3)"),
        ("green box(-1,1,-2,2,3,1)", ["add a red roof"], "green box(-1,1,-2,2,3,1); red -1..2,4,-2..1"),
        ("red tower(0,1,0,3)", ["swap the middle one for a green one"], "red 0,1,0; green 0,2,0; red 0,3,0"),
        ("red frame(1,1,-1,right,3,behind,3)", ["a blue tower of 2 inside the ring"], "red -1..1,1,-1..1 - 0,1,0; blue 0,1-2,0"),
    ],
)  # fmt: skip
def test_a_conversation(start: str, requests: list[str], program: str) -> None:
    assert conversed(start, *requests) == built(program)


def test_left_is_the_builders() -> None:
    turned = FACING._replace(yaw=180.0)
    assert conversed("red 0,1,0", "put a blue block left of the red one", pose=turned) == built("red 0,1,0; blue -1,1,0")


def test_an_unknown_word_is_named() -> None:
    understood = understand(item("Build a quagmire of red blocks, frobnicated", Structure()))
    assert "frobnicated" in understood.unknown
    assert understand(item("Which way is north?", Structure())).program == ""
    assert understand(item("Make a brown tower.", Structure())).question == "Which color?"


def test_what_is_long_or_skipped_is_less_sure() -> None:
    short, long, unknown_word = (
        understand(item(said, Structure())).confidence
        for said in (
            "a red tower of 2",
            "a red tower of 2 in the far left corner, and a blue tower of 3 on top of it",
            "a red tower of 2, frobnicated",
        )
    )
    assert short > long > 0
    assert short > unknown_word > 0


def test_an_order_is_read_in_parts() -> None:
    tower, block = read_orders(tokens("Two red towers, 3 high. A blue block on top of the left one."))
    assert (tower.things[0].noun, tower.things[0].count, tower.things[0].sizes) == ("tower", 2, {"high": 3})
    assert (block.places[0].relation, block.places[0].of and block.places[0].of.picks) == ("on", ["leftmost"])
    assert unknown(tokens("a red splendiferous block")) == ("splendiferous",)


_WORDS = st.lists(st.sampled_from([*sorted(known_words()), ".", ",", "999999999999", "zzz", "3", "by", "-1"]), max_size=40)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(_WORDS.map(" ".join), st.text(max_size=200)), min_size=1, max_size=3))
def test_whatever_is_said_is_answered_within_the_region(requests: list[str]) -> None:
    structure = conversed("red tower(0,1,0,3); blue -3,1,2", *requests)
    assert all(in_region(*block[:3]) for block in structure.blocks())


def test_what_is_long_is_read_in_part() -> None:
    text = ("put a red tower 999999999999 high next to the blue one and " * 60)[:2000]
    assert understand(item(text, Structure())).confidence < 0.9


def test_nested_phrases_deeper_than_the_stack_are_answered() -> None:
    request = item(f"put a red block on {'top of ' * 190}it", Structure())
    (answer,) = Parser().predictor("everyday-minecraft").predict([request])
    assert answer.stopped


def test_the_parser_answers_the_task_of_ordinary_requests() -> None:
    predictor = Parser().predictor("everyday-minecraft")
    (answer,) = predictor.predict([item("a red tower of 2", Structure())])
    assert Structure().apply(answer.actions).structure == built("red tower(0,1,0,2)")
    assert answer.notes["program"]
    assert 0 < answer.notes["confidence"] <= 1
