"""The action format `program`: answers are run on their item's state."""

from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.corpora.item import Executed
from harness.worlds.hexagons import Paint
from harness.worlds.minecraft import Action, Pose
from prompts.messages import read_answer
from prompts.probe import PROBES
from prompts.spec import PromptSpec
from serialization.formats import get_format
from serialization.program.parse import parse

CASES = yaml.safe_load(Path(__file__).with_name("programs.yaml").read_text())

ITEM: Any = PROBES["hexagons"][0]
"""A board with black 5:1-3, which its second step drew."""
BUILDER: Any = PROBES["minecraft"][0]
"""Red at (0, 1, 2) with green on top, both placed earlier; the builder stands at about (0, -3) and looks along -x."""


def test_an_answer_is_run_on_the_items_board_and_steps() -> None:
    fmt = get_format("hexagons", "program")
    parsed = fmt.read("red shift(step(2),right 2)\nblue is(black)&5:3; black 5:1", ITEM)
    assert parsed.actions == (Paint(0, 6, "red"), Paint(1, 6, "red"), Paint(2, 4, "blue"), Paint(2, 6, "red"))
    assert parsed.discarded == ()
    assert len(fmt.read("black all", ITEM).actions) == 177


@pytest.mark.parametrize("case", CASES["errors"], ids=itemgetter("text"))
def test_errors_keep_what_came_before_and_are_discarded(case: dict[str, Any]) -> None:
    text, discarded = case["text"], case["discarded"]
    for parsed in (get_format("hexagons", "program").read(text, ITEM), get_format("hexagons", "program").parse(text)):
        assert len(parsed.actions) == case["actions"]
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


@pytest.mark.parametrize("task", ["hexagons", "minecraft"])
def test_the_grammar_for_decoding(task: str) -> None:
    accepts = pytest.importorskip("xgrammar.testing")._is_grammar_accept_string
    constraint = get_format(task, "program").constraint()
    assert constraint.kind == "grammar"
    for text in CASES["grammatical"][task]:
        assert accepts(constraint.value, text), text
        assert text == "none" or parse(text).statements
    for text in CASES["ungrammatical"][task]:
        assert not accepts(constraint.value, text), text
