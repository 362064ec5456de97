"""The action format `program`: answers are run on their item's state."""

from dataclasses import replace
from typing import Any

import pytest

from harness.corpora.item import Executed
from harness.worlds.hexagons import Paint
from harness.worlds.minecraft import Action, Pose
from prompts.messages import read_answer
from prompts.probe import PROBES
from prompts.spec import PromptSpec
from serialization.formats import get_format, reader
from serialization.program.parse import parse

ITEM: Any = PROBES["hexagons"][0]
"""A board with black 5:1-3, which its second step drew."""
BUILDER: Any = PROBES["minecraft"][0]
"""Red at (0, 1, 2) with green on top, both placed earlier; the builder stands at about (0, -3) and looks along -x."""


def test_an_answer_is_run_on_the_items_board_and_steps() -> None:
    fmt = get_format("hexagons", "program")
    parsed = fmt.read("red shift(step(2),right 2)\nblue is(black)&5:3; black 5:1", ITEM)
    assert parsed.actions == (Paint(0, 6, "red"), Paint(1, 6, "red"), Paint(2, 4, "blue"), Paint(2, 6, "red"))
    assert parsed.discarded == ()
    assert reader([ITEM])("program", "hexagons", "black all", ITEM.id) == fmt.read("black all", ITEM).actions
    assert len(fmt.read("black all", ITEM).actions) == 177


@pytest.mark.parametrize(
    ("text", "actions", "discarded"),
    [
        ("none", 0, []),
        ("```program\nred 1:1\nblue 2:2\n```\n", 2, []),
        ("<think>red 9:9</think>\nAnswer:\n- red 1:1\n- blue 2:2", 2, [("red 9:9", "thought")]),
        (
            "Sure!\n\nred 1:1\nblu 2:2",
            1,
            [("Sure!", "not a statement"), ("blu 2:2", "line 4, column 1: blu does not begin a statement")],
        ),
        ("red 1:1; blue rng(2:2)", 1, [("rng(2:2)", "line 1, column 15: no function rng (did you mean ring?)")]),
        ("I would paint it red.", 0, [("I would paint it red.", "line 1, column 1: I does not belong here")]),
    ],
)
def test_errors_keep_what_came_before_and_are_discarded(text: str, actions: int, discarded: list[tuple[str, str]]) -> None:
    for parsed in (get_format("hexagons", "program").read(text, ITEM), get_format("hexagons", "program").parse(text)):
        assert len(parsed.actions) == actions
        assert [piece.text for piece in parsed.discarded] == [piece for piece, _ in discarded]
        assert all(found.reason.startswith(why) for found, (_, why) in zip(parsed.discarded, discarded, strict=True)), parsed


def test_a_builders_answer_is_in_the_builders_frame() -> None:
    spec = PromptSpec.make("minecraft", format="program", frame="builder")
    turned = replace(BUILDER, pose=Pose(3.5, 1.0, 2.5, 90.0, 20.0))
    # For a builder who looks along -x, behind the red block is further along -x, and left is +z.
    assert read_answer("blue behind(is(red)); red left(0,1,2)", BUILDER, spec).discarded == ()
    (behind,) = read_answer("blue behind(is(red))", turned, spec).actions
    assert behind == Action("place", "blue", -1, 1, 2)
    (left,) = read_answer("blue left(last)", replace(turned, history=(*turned.history, Executed(()))), spec).actions
    assert left == Action("place", "blue", 0, 2, 3)
    world = PromptSpec.make("minecraft", format="program")
    assert read_answer("blue behind(is(red))", turned, world).actions == (behind,)
    assert read_answer("blue behind(last); yellow step(-1,red)", turned, world).actions == (behind._replace(y=2),)


GRAMMATICAL = {
    "hexagons": [
        "none", "red 3,5:1-10", "blue 3:4+6:1-2 - 6:2", "red ray(3:2,down-right,6)",
        "red,blue by column 1-18/2", "copy shift(step(-1),right 4 down) with red=blue",
        "repeat 3 right 4{red 3:4;blue 3:5}", "if is(red)&3:1{red 3} else{if not count(f)>3{blue 3}}",
        "for n in 1-4{red at(2*n+1,1..n)}", "red shift((3,5:1-10),grid right 4)", "red near(f-3:1)-f&ring(5:4,2)",
        "red until(12:10,left,is(blue,red))&touch(all,5,2)", "n=3-count(it)\nred at(-1,-n)",
        "red 3:4..-3,-1", "red -3,2:1+4..-2:1", "red top(-4,4)+near(-4:-3)-(-1:1)", "red,none*2 all--4:2",
        "red triangle(3:2-5,right)+to(step(2-6),-5)+between(is(red),is(blue))", "replace end(all,left,2) with red",
    ],
    "minecraft": [
        "none", "red 0,1,0", "red -5..-2,1-3,0", "facing west\nred east(last,2)", "blue tower(last,3)",
        "remove left(0,1,0)", "blue box((0,1,0)+(1,1,1),-1,1,0)", "red ushape(0,1,0,right,3,up,3)&all-on(last,2)",
        "copy shift(it,left 3 up) with red=blue", "move shift(end(is(red),up left),up)", "replace step(-3..-1) with blue*2,none",
        "red next(ring(all,2),up,2,1)+until(nth(is(red),left,2),down)-corners(floor)",
        "repeat up 2{red,blue by layer at(0,1..3,0)}",
    ],
}  # fmt: skip
UNGRAMMATICAL = {
    "hexagons": ["rod 3", "red 19", "red 3:11", "red ring()", "red ring(3:1,2,3)", "red tower(3:1,2)", "facing north",
                 "red 3:4-6:2", "red  3"],
    "minecraft": ["white 0,1,0", "red 6,1,0", "red 0,0,0", "red 3:4", "red flower(0,1,0)", "facing up",
                  "red row(0,1,0,up-left,3)"],
}  # fmt: skip


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_the_grammar_for_decoding(task: str) -> None:
    accepts = pytest.importorskip("xgrammar.testing")._is_grammar_accept_string
    constraint = get_format(task, "program").constraint()
    assert constraint.kind == "grammar"
    for text in GRAMMATICAL[task]:
        assert accepts(constraint.value, text), text
        assert text == "none" or parse(text).statements
    for text in UNGRAMMATICAL[task]:
        assert not accepts(constraint.value, text), text
