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
from harness.simulators.everyday.hexagons import drawing
from harness.simulators.everyday.minecraft import building
from harness.simulators.everyday.person import Person
from harness.simulators.everyday.talk import Talk

WORLDS = {"hexagons": drawing, "minecraft": building}
CONVERSATIONS = 1500


def talks(world: str, seed: int, count: int) -> list[list[Item]]:
    return [WORLDS[world](Random(f"{seed}/{n}"), n, "train") for n in range(count)]


@cache
def many(world: str) -> list[Item]:
    return [item for talk in talks(world, 0, CONVERSATIONS) for item in talk]


def said(item: Item) -> str:
    return item.instruction if item.world == "hexagons" else since_actions(item.history)[-1].text  # type: ignore[union-attr]


@pytest.mark.parametrize("world", WORLDS)
def test_the_program_gives_the_actions_which_are_feasible(world: str) -> None:
    assert len(many(world)) > 2000
    for item in many(world):
        outcome = run_on(item, read_program(item.meta["program"]))
        assert (outcome.error, outcome.actions) == (None, item.actions), item.meta
        assert item.before.apply(item.actions) == (item.after, ())  # type: ignore[arg-type]
        assert bool(item.actions) == bool(item.meta["program"])


@pytest.mark.parametrize("world", WORLDS)
def test_every_turn_follows_the_one_before(world: str) -> None:
    for talk in talks(world, 1, 200):
        assert 1 <= len(talk) <= 4
        state: Any = talk[0].before
        history: tuple[Turn, ...] = ()
        for number, item in enumerate(talk, start=1):
            assert re.fullmatch(rf"{world}-everyday/train/\d+/{number}", item.id)
            own = (Utterance("Architect", said(item)),) if world == "minecraft" else ()
            assert (item.before, item.history) == (state, (*history, *own))
            assert item.task == world
            speaker, pose = ("Architect", item.pose) if item.world == "minecraft" else ("Instructor", None)  # type: ignore[union-attr]
            state, history = item.after, (*history, Utterance(speaker, said(item)), Executed(item.actions, pose))


@pytest.mark.parametrize("world", WORLDS)
def test_the_same_seed_gives_the_same_conversations(world: str) -> None:
    assert talks(world, 2, 60) == talks(world, 2, 60) != talks(world, 3, 60)


@pytest.mark.parametrize("world", WORLDS)
def test_no_sentence_of_the_benchmark_occurs(world: str) -> None:
    assert len(sentences()) > 200
    assert not {plain(said(item)) for item in many(world)} & sentences()


@pytest.mark.parametrize("world", WORLDS)
def test_sentences_of_the_benchmark_are_refused(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {plain(said(item)) for talk in talks(world, 4, 200) for item in talk}
    monkeypatch.setattr(conversation, "sentences", lambda: known)
    again = [item for talk in talks(world, 4, 200) for item in talk]
    assert len(again) > 200
    assert not {plain(said(item)) for item in again} & known


@pytest.mark.parametrize("world", WORLDS)
def test_nobody_says_the_same_twice_in_a_conversation(world: str) -> None:
    for talk in talks(world, 5, 300):
        assert len({plain(said(item)) for item in talk}) == len(talk)


@pytest.mark.parametrize("world", WORLDS)
def test_all_kinds_occur_often(world: str) -> None:
    kinds = Counter(item.meta["kind"] for item in many(world))
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) > 0.01 * kinds.total()
    assert kinds["cannot"] < 0.15 * kinds.total()


@pytest.mark.parametrize("world", WORLDS)
def test_texts_are_short_and_without_markup(world: str) -> None:
    for item in many(world):
        text = said(item)
        assert text == text.strip()
        assert len(text.split()) <= 45
        assert not re.search(r"[\[\]{}|]|  |None|\ba orange|[,:] ?[,:]|\bit it\b|\bthat that\b|\.\.\.\.", text), text


@pytest.mark.parametrize("world", WORLDS)
def test_all_frames_are_used(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    say = Talk.say

    def noted(talk: Talk, section: str, **slots: str) -> str:
        used.add(section)
        return say(talk, section, **slots)

    monkeypatch.setattr(Talk, "say", noted)
    talks(world, 7, 4000)
    own = {"verbs", "lead", "wish", "greeted", "polite", "polite for me", "polite tail"}
    assert {*frames("everyday"), *frames(f"everyday-{world}")} - own == used


# --- parts ---


def test_a_typo_leaves_colors_and_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.simulators.everyday.person._TYPOS", 1.0)
    text = "please paint the second column purple and seventeen orange hexagons yellow"
    slipped = {Person(Random(seed)).typed(text) for seed in range(60)}
    assert len(slipped) > 20
    for other in slipped:
        assert {"second", "purple", "seventeen", "orange", "yellow"} <= set(plain(other).split())
