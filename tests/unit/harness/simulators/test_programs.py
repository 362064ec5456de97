"""Simulated drawings and conversations: programs yield the gold actions, sentences are complete, none is the benchmark's."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from random import Random
from typing import Any

import pytest

from harness.corpora.item import Executed, Item, Turn, new_turns
from harness.everyday.requests import KINDS, plain, read_program, run_on, sentences
from harness.simulators.everyday import conversation
from harness.simulators.everyday.person import Person
from harness.simulators.hexagons import procedures

CONVERSATIONS = {"everyday-hexagons": conversation.drawing, "everyday-minecraft": conversation.building}
MAKERS: dict[str, Any] = {"hexagons": procedures, **CONVERSATIONS}
LEFTOVERS = {
    "hexagons": r"\b[Aa] (?i:orange)|\b[Aa]n (?!X|[aeiouAEIOU])| [,.;:]|\(\)|\b(\w+) \1\b|\b1 (tiles|hexes|cells)",
    **dict.fromkeys(CONVERSATIONS, r"\ba orange|[,:] ?[,:]|\bit it\b|\bthat that\b|\.\.\.\."),
}


@cache
def many(simulator: str) -> list[list[Item]]:
    return [MAKERS[simulator](Random(f"0/{n}"), n, "train") for n in range(250 if simulator == "hexagons" else 500)]


def said(item: Item) -> str:
    return new_turns(item)[-1].text


@pytest.mark.parametrize("simulator", MAKERS)
def test_every_turn_follows_the_one_before_and_its_program_gives_the_actions(simulator: str) -> None:
    for items in many(simulator):
        state: Any = items[0].before
        history: tuple[Turn, ...] = ()
        assert simulator != "hexagons" or not state.painted()
        for item in items:
            (own,) = new_turns(item)
            assert own.speaker == ("Instructor" if item.world == "hexagons" else "Architect")
            assert (item.before, item.history) == (state, (*history, own) if item.world == "minecraft" else history)
            assert item.before.apply(item.actions) == (item.after, ())  # type: ignore[arg-type]
            outcome = run_on(item, read_program(item.meta["program"]))
            assert (outcome.error, outcome.actions) == (None, item.actions), item.meta
            state, history = item.after, (*history, own, Executed(item.actions, getattr(item, "pose", None)))


def test_what_is_known_of_a_drawing_step() -> None:
    for items in many("hexagons"):
        assert [item.meta["step"] for item in items] == [*range(1, len(items) + 1)]
        assert all(bool(item.actions) == (item.meta["kind"] != "remark") for item in items)
        assert {item.meta["level"] for item in items} <= {*range(4)}


@pytest.mark.parametrize("simulator", CONVERSATIONS)
def test_a_conversation_is_short_and_of_every_kind(simulator: str) -> None:
    kinds = Counter[str]()
    world = simulator.removeprefix("everyday-")
    for talk in many(simulator):
        assert 1 <= len(talk) <= 4
        assert len({plain(said(item)) for item in talk}) == len(talk), "nobody says the same twice"
        assert all(re.fullmatch(rf"{world}-everyday/train/\d+/{n}", item.id) for n, item in enumerate(talk, start=1))
        assert all(bool(item.actions) == bool(item.meta["program"]) for item in talk)
        assert all(len(said(item).split()) <= 45 for item in talk)
        kinds.update(item.meta["kind"] for item in talk)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) > 0.005 * kinds.total()
    assert kinds["cannot"] < 0.15 * kinds.total()


@pytest.mark.parametrize("simulator", MAKERS)
def test_texts_hold_no_leftover_markup(simulator: str) -> None:
    for text in (said(item) for items in many(simulator) for item in items):
        assert text == text.strip()
        assert not re.search(rf"[\[\]{{}}|]|  |None|{LEFTOVERS[simulator]}", text), text


@pytest.mark.parametrize("simulator", CONVERSATIONS)
def test_sentences_of_the_benchmark_are_refused(simulator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(sentences()) > 200
    known = {plain(said(item)) for talk in many(simulator)[:100] for item in talk}
    monkeypatch.setattr(conversation, "sentences", lambda: known)
    again = [item for n in range(100) for item in MAKERS[simulator](Random(f"0/{n}"), n, "train")]
    assert len(again) > 100
    assert not {plain(said(item)) for item in again} & known


def test_a_typo_leaves_colors_and_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.simulators.everyday.person._TYPOS", 1.0)
    text = "please paint the second column purple and seventeen orange hexagons yellow"
    slipped = {Person(Random(seed)).typed(text) for seed in range(60)}
    assert len(slipped) > 20
    for other in slipped:
        assert {"second", "purple", "seventeen", "orange", "yellow"} <= set(plain(other).split())
