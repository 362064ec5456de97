"""Everyday requests: right answers are judged right, and faults of a file are named."""

from pathlib import Path
from typing import Any

import pytest

from harness.corpora import corpus_of, load
from harness.corpora.item import Item
from harness.corpora.rollout import Rollout
from harness.errors import DataError
from harness.everyday.judge import as_judged, is_right
from harness.everyday.requests import Right, read_program
from harness.worlds.minecraft import Action
from serialization.formats.program import run, state_of
from tests.helpers import cases


def turns(tmp_path: Path, world: str, text: str) -> list[Item]:
    (tmp_path / f"{world}-dev.yaml").write_text(text)
    return list(corpus_of(f"everyday-{world}").items(tmp_path, ["dev"]))


def one(tmp_path: Path, world: str, right: str, start: str = "nothing") -> Item:
    return turns(tmp_path, world, f"it:\n  kind: figure\n  start: '{start}'\n  turns:\n  - say: it\n    right: {right}\n")[0]


def done(item: Item, program: str) -> Any:
    return run(read_program(program), state_of(item)).actions


ANSWERS = [(world, *row) for world, rows in cases(__file__).items() for row in rows]


@pytest.mark.parametrize(("world", "right", "answer", "passes"), ANSWERS)
def test_an_answer_is_right_or_not(tmp_path: Path, world: str, right: str, answer: str, passes: bool) -> None:
    item = one(tmp_path, world, right)
    assert is_right(item, done(item, answer)) == passes
    assert not is_right(item, ())


def test_a_removed_block_is_among_the_changes_and_its_color_is_known(tmp_path: Path) -> None:
    right = "{holds: [count(change) = 1, not change - red_before, not is(red)], example: 'remove is(red)'}"
    item = one(tmp_path, "minecraft", right, start="red 0,1,0; blue 2,1,0")
    assert is_right(item, [Action("remove", None, 0, 1, 0)])
    assert not is_right(item, [Action("remove", None, 2, 1, 0)])


CONVERSATION = """
wall:
  kind: recolor
  turns:
  - say: a red row of two
    right: {program: "red row(0,1,0,right,2)", up_to: turn}
  - say: make it blue
    right: "remove step(-1); blue step(-1)"
"""


def test_a_later_turn_means_what_the_player_built(tmp_path: Path) -> None:
    first, second = turns(tmp_path, "minecraft", CONVERSATION)
    rollout = Rollout([first, second])
    answer = done(first, "red row(3,1,3,behind,2)")
    rollout.add(first.id, answer)
    met = rollout.before(second)
    assert met.before == first.before.apply(answer)[0]
    blue = done(met, "remove 3,1,3+3,1,4; blue 3,1,3+3,1,4")
    assert is_right(met, blue)
    assert not is_right(second, blue)
    judged = as_judged([first, second], {first.id: answer, second.id: blue})
    assert [item.meta["solved"] for item in judged] == [True, True]
    assert judged[1].after == met.before.apply(blue)[0]


@pytest.mark.parametrize("task", ["everyday-hexagons", "everyday-minecraft"])
def test_every_right_answer_is_judged_right_and_nothing_is_not(task: str) -> None:
    for item in load(task):
        assert is_right(item, item.actions), item.id
        assert is_right(item, ()) == (not item.actions), item.id
        for one in item.meta["right"]:
            outcome = run(read_program(Right.model_validate(one).gold), state_of(item))
            assert outcome.error is None, item.id


REQUEST = "it:\n  kind: figure\n  turns:\n  - say: it\n    right: {}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not YAML"),
        ("it: {kind: figures, turns: []}", "it.kind: String should match pattern '^(whole|border"),
        (REQUEST.format("red 3;4"), "it.turns.0.right.0"),
        (REQUEST.format("{up_to: shift, holds: is(red), example: 'red 3:4'}"), "up_to needs a program"),
        (REQUEST.format("red 3:40"), "it: turn 1: 'red 3:40'"),
        (REQUEST.format("red is(blue)"), "it: turn 1: the first right answer changes nothing"),
        (REQUEST.format("nothing").replace("turns", "start: red 33:1\n  turns"), "it: start"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as raised:
        turns(tmp_path, "hexagons", text)
    assert str(raised.value).startswith(f"{tmp_path / 'hexagons-dev.yaml'}: it" if "it" in text else str(tmp_path))
    assert message in str(raised.value)
