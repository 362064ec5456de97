"""Feasible answers: the continuations of a text, checked against the world's rule, the formats and their grammars."""

import json
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds.minecraft import COLORS, SIDE, Action, Pose, Structure
from serialization.formats import get_format
from serialization.formats.feasible import FORMATS, Feasible
from serialization.pose import as_cells
from tests.helpers.blocks import structures

NAMES = sorted(FORMATS)
CELLS = [(x, y, z) for x in range(-SIDE, SIDE + 1) for y in range(1, 10) for z in range(-SIDE, SIDE + 1)]


def walk(feasible: Feasible, seed: int, most: int) -> str:
    """A random feasible answer of about `most` characters, built from pieces as long as a model's tokens."""
    rng, text = random.Random(seed), ""
    while following := sorted(feasible.continuations(text, rng.randint(1, 6))):
        if feasible.whole(text) and (len(text) > most or rng.random() < 0.05):
            break
        text += rng.choice(following)
    return text


@pytest.mark.parametrize("name", NAMES)
@given(structures, st.integers(0, 10_000))
def test_whatever_is_admitted_can_be_carried_out(name: str, structure: Structure, seed: int) -> None:
    feasible = Feasible(name, structure)
    text = walk(feasible, seed, 60)
    assert feasible.whole(text)
    parsed = get_format("minecraft", name).parse(text)
    assert parsed.discarded == ()
    assert structure.apply(parsed.actions).ignored == ()
    constraint = get_format("minecraft", name).constraint()
    if constraint.kind == "regex":
        assert re.fullmatch(constraint.value, text)


@pytest.mark.parametrize("name", NAMES)
@given(structures, st.lists(st.tuples(st.sampled_from(CELLS), st.sampled_from([*COLORS, None])), max_size=4))
def test_what_can_be_carried_out_is_admitted_and_nothing_else(
    name: str, structure: Structure, asked: list[tuple[tuple[int, int, int], str | None]]
) -> None:
    actions = [Action("place" if color else "remove", color, *cell) for cell, color in asked]
    text = get_format("minecraft", name).write(actions)
    possible = structure.apply(actions).ignored == ()
    assert Feasible(name, structure).whole(text) == possible
    if possible:
        assert all(
            any(text[end:].startswith(after) for after in Feasible(name, structure).continuations(text[:end], 1))
            for end in range(len(text))
        )


def stated(**changes: Any) -> str:
    """A state as JSON, with other values."""
    return json.dumps({**json.loads(Feasible("lines", Structure()).to_json()), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", "5", '{"format": "lines"}', "[" * 10_000,
        stated(format="program"), stated(format=["lines"]), stated(quarter=1),
        stated(blocks=[1]), stated(blocks=[[0, 1, 0, "red"]] * 1090), stated(blocks=[[6, 1, 0, "red"]]),
        stated(blocks=[{}] * 9_000),
        stated(opening=" " * 65), stated(opening="red"), stated(opening=1), stated(pose=[0, 1, 0, 0]), stated(extra="a" * 50_000),
        5, stated(pose=[0, 1, 0, "yaw", 0]), stated(pose="P").replace('"P"', "[0, 1, 0, 1e400, 0]"),
        stated(pose=[0, 1, 0, float("nan"), 0]), stated(pose=[1e6, 1, 0, 0, 0]),
    ],
)  # fmt: skip
def test_an_invalid_state_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match=r"^not a state: .{1,200}$"):
        Feasible.from_json(text)


def test_an_answer_ends_after_the_most_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serialization.formats.feasible.MOST_PIECES", 4)
    feasible, pieces = Feasible("lines", Structure()), ["place red 0 1 0", "pick 0 1 0"]
    assert feasible.continuations("\n".join(pieces + pieces[:1]), 1) == {"\n"}
    assert feasible.continuations("\n".join(pieces * 2), 1) == set()
    assert feasible.whole("\n".join(pieces * 2))


def test_an_answer_begins_with_the_blanks_that_training_put_before_it() -> None:
    feasible = Feasible("lines", Structure(), opening=" ")
    assert all(text.startswith(" ") for text in feasible.continuations("", 6))
    assert feasible.whole(" place red 0 1 0")
    assert feasible.whole(" none")
    assert not feasible.whole("place red 0 1 0")
    assert Feasible.from_json(feasible.to_json()).continuations("", 6) == feasible.continuations("", 6)
    grammar = get_format("minecraft", "lines").constraint().after(" ").value
    assert re.fullmatch(grammar, " place red 0 1 0\npick 0 1 0")
    assert not re.fullmatch(grammar, "place red 0 1 0")


@given(structures, st.integers(0, 10_000), st.floats(-4, 4), st.floats(-180, 180))
def test_answers_seen_from_the_builder_can_be_carried_out(structure: Structure, seed: int, x: float, yaw: float) -> None:
    pose = Pose(x, 1.0, 0.3, yaw, 0.0)
    feasible = Feasible.from_json(Feasible("lines", structure, pose=pose).to_json())
    text = walk(feasible, seed, 60)
    parsed = get_format("minecraft", "lines").parse(as_cells(text, pose))
    assert parsed.discarded == ()
    assert structure.apply(parsed.actions).ignored == ()
