"""Simulated ordinary requests: programs that give the gold actions, feasible ones, and no sentence of the benchmark."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from random import Random
from typing import Any

import pytest

from harness.corpora.item import Executed, Item, Turn, Utterance, since_actions
from harness.everyday.requests import KINDS, plain, read_program, run_on, sentences
from harness.simulators import frames
from harness.simulators.everyday import conversation
from harness.simulators.everyday.person import Person
from harness.simulators.everyday.talk import Talk

WORLDS = {"hexagons": conversation.drawing, "minecraft": conversation.building}


@cache
def many(world: str) -> list[list[Item]]:
    return [WORLDS[world](Random(f"0/{n}"), n, "train") for n in range(500)]


def said(item: Item) -> str:
    return item.instruction if item.world == "hexagons" else since_actions(item.history)[-1].text  # type: ignore[union-attr]


@pytest.mark.parametrize("world", WORLDS)
def test_every_turn_follows_the_one_before_and_its_program_gives_the_actions(world: str) -> None:
    kinds = Counter[str]()
    for talk in many(world):
        assert 1 <= len(talk) <= 4
        assert len({plain(said(item)) for item in talk}) == len(talk), "nobody says the same twice"
        state: Any = talk[0].before
        history: tuple[Turn, ...] = ()
        for number, item in enumerate(talk, start=1):
            assert re.fullmatch(rf"{world}-everyday/train/\d+/{number}", item.id)
            own = (Utterance("Architect", said(item)),) if world == "minecraft" else ()
            assert (item.before, item.history) == (state, (*history, *own))
            assert item.before.apply(item.actions) == (item.after, ())  # type: ignore[arg-type]
            outcome = run_on(item, read_program(item.meta["program"]))
            assert (outcome.error, outcome.actions) == (None, item.actions), item.meta
            assert bool(item.actions) == bool(item.meta["program"])
            speaker, pose = ("Architect", item.pose) if item.world == "minecraft" else ("Instructor", None)  # type: ignore[union-attr]
            state, history = item.after, (*history, Utterance(speaker, said(item)), Executed(item.actions, pose))
            kinds[item.meta["kind"]] += 1
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) > 0.005 * kinds.total()
    assert kinds["cannot"] < 0.15 * kinds.total()


@pytest.mark.parametrize("world", WORLDS)
def test_texts_are_short_and_not_of_the_benchmark(world: str) -> None:
    assert len(sentences()) > 200
    for text in (said(item) for talk in many(world) for item in talk):
        assert text == text.strip()
        assert len(text.split()) <= 45
        assert not re.search(r"[\[\]{}|]|  |None|\ba orange|[,:] ?[,:]|\bit it\b|\bthat that\b|\.\.\.\.", text), text
        assert plain(text) not in sentences()


@pytest.mark.parametrize("world", WORLDS)
def test_sentences_of_the_benchmark_are_refused(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {plain(said(item)) for talk in many(world)[:100] for item in talk}
    monkeypatch.setattr(conversation, "sentences", lambda: known)
    again = [item for n in range(100) for item in WORLDS[world](Random(f"0/{n}"), n, "train")]
    assert len(again) > 100
    assert not {plain(said(item)) for item in again} & known


@pytest.mark.parametrize("world", WORLDS)
def test_all_frames_are_used(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"verbs", "lead", "wish", "greeted", "polite", "polite for me", "polite tail"}
    sections, used, say = {*frames("everyday"), *frames(f"everyday-{world}")} - own, set[str](), Talk.say

    def noted(talk: Talk, section: str, **slots: str) -> str:
        used.add(section)
        return say(talk, section, **slots)

    monkeypatch.setattr(Talk, "say", noted)
    for n in range(4000):
        WORLDS[world](Random(f"7/{n}"), n, "train")
        if used >= sections:
            break
    assert sections == used


def test_a_typo_leaves_colors_and_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.simulators.everyday.person._TYPOS", 1.0)
    text = "please paint the second column purple and seventeen orange hexagons yellow"
    slipped = {Person(Random(seed)).typed(text) for seed in range(60)}
    assert len(slipped) > 20
    for other in slipped:
        assert {"second", "purple", "seventeen", "orange", "yellow"} <= set(plain(other).split())
