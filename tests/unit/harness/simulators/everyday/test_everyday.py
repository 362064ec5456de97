"""Simulated ordinary requests: programs that give the gold actions, feasible ones, and no sentence of the benchmark."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from random import Random
from typing import Any

import pytest

from harness.corpora.item import Executed, Item, Turn, Utterance, builder_turns, since_actions
from harness.corpora.wording import NUMBERS
from harness.everyday.requests import KINDS, plain, read_program, run_on, sentences
from harness.simulators.everyday import conversation
from harness.simulators.everyday.hexagons import drawing
from harness.simulators.everyday.minecraft import building
from harness.simulators.everyday.person import Person
from harness.simulators.everyday.talk import Talk, program
from harness.simulators.voice import frames
from harness.worlds.hexagons import COLORS
from serialization.program.parse import parse

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
def test_only_what_cannot_or_need_not_be_done_changes_nothing(world: str) -> None:
    for item in many(world):
        assert (item.meta["kind"] == "cannot") == (not item.actions), (said(item), item.meta)


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
def test_some_conversations_begin_with_something_and_most_are_short(world: str) -> None:
    made = talks(world, 6, 600)
    empty = type(made[0][0].before)()
    assert 0.2 < sum(talk[0].before != empty for talk in made) / 600 < 0.4
    lengths = Counter(map(len, made))
    assert 0.4 < lengths[1] / 600 < 0.65
    assert lengths[4] > 20


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


# --- an independent reading of the simplest sentences ---

_NUMBER = rf"(\d+|{'|'.join(NUMBERS)})"


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS.index(word)


def test_a_row_or_column_is_the_one_that_is_named() -> None:
    read = 0
    for item in many("hexagons"):
        found = re.search(r"\b(?:make|paint|color|turn) (row|column) (\d+)(?: in)? (\w+)( please)?$", plain(said(item)))
        if found and item.actions:
            axis, n = int(found[1] == "column"), int(found[2]) - 1
            assert {paint[axis] for paint in item.actions} == {n}
            assert {paint[2] for paint in item.actions} == {found[3]}
            assert {tile for tile in _board() if tile[axis] == n} == {
                tile
                for tile in _board()
                if item.after[tile] == found[3] and tile[axis] == n  # type: ignore[index]
            }
            read += 1
    assert read > 3


def _board() -> list[tuple[int, int]]:
    return [(row, column) for row in range(10) for column in range(18)]


def test_a_tower_is_as_high_as_it_is_said() -> None:
    read = 0
    for item in builder_turns(many("minecraft")):
        found = re.search(rf"\b(?:tower|stack|pile) of {_NUMBER} (\w+) (?:block|cube|brick)s\b(?! and)", said(item).lower())
        if found and item.meta["kind"] in ("figure", "size"):
            cells = {action.cell for action in item.actions}
            assert len(cells) == _number(found[1]) == max(y for _, y, _ in cells)
            assert {action.color for action in item.actions} == {found[2]}
            assert len({(x, z) for x, _, z in cells}) == 1
            read += 1
    assert read > 20


def test_what_is_to_the_left_has_a_greater_x() -> None:
    read = 0
    for item in builder_turns(many("minecraft")):
        found = re.search(r"\b(left|right) of (?:the|it|that)", said(item).lower())
        if found and item.meta["kind"] == "relation":
            before = [block.x for block in item.before.blocks()]
            xs = [action.x for action in item.actions]
            assert min(xs) > min(before) if found[1] == "left" else max(xs) < max(before)
            read += 1
    assert read > 3


# --- parts ---


@pytest.mark.parametrize(
    "text",
    [
        "red ring(9:5); yellow 9:5",
        "blue 1,18+:1,10",
        "yellow 1,18+:1,10 - 1,18:1,10",
        "green -5..5,1,-5..5; remove 0,1,0+1,1,0",
        "s=is(red); remove s; blue shift(s,right 2)",
        "red,blue by column 4-9",
        "black flower((1,18:1,10))",
        "for n in 1-3 {blue tower(at(0,1,n),n)}",
        "orange tower(1,1,0,3)+tower(-1,1,0,3); red -1..1,4,0",
        "",
    ],
)
def test_programs_of_parts_that_were_parsed_before(text: str) -> None:
    assert program(text) == parse(text)


def test_a_typo_leaves_colors_and_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.simulators.everyday.person._TYPOS", 1.0)
    text = "please paint the second column purple and seventeen orange hexagons yellow"
    slipped = {Person(Random(seed)).typed(text) for seed in range(60)}
    assert len(slipped) > 20
    for other in slipped:
        assert {"second", "purple", "seventeen", "orange", "yellow"} <= set(plain(other).split())


class _Fixed(Random):
    """Whose fractions are all 0."""

    def random(self) -> float:
        return 0.0


@pytest.mark.parametrize("text", ["give me a red dot", "draw a red dot"])
def test_nobody_asks_for_something_for_me_twice(text: str) -> None:
    for seed in range(40):
        person: Any = Person(_Fixed(seed))
        person.polite = 1.0
        assert person.request(text, follows=False).count(" me") <= 1


def test_colors_are_those_of_the_world() -> None:
    for world in WORLDS:
        named = {word for item in many(world) for word in item.meta["program"].split() if word in COLORS}
        assert named >= {"red", "blue", "green", "yellow", "purple", "orange"}
