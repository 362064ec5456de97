"""Building games: the words match the actions, and a game ends in its target."""

from __future__ import annotations

import itertools
import re
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.item import Executed, MinecraftItem, new_turns
from harness.corpora.wording import NUMBERS
from harness.simulators.minecraft import figures, orders
from harness.simulators.minecraft.architects import BlockStructures, ShapeStructures
from harness.simulators.minecraft.figures import KINDS, PlacedFigure, compose, difference, moved
from harness.simulators.minecraft.game import SpokenOrder, play
from harness.simulators.minecraft.scene import NEAR, UNIT, Cell, Relation, Voice
from harness.worlds.minecraft import Structure, in_region
from tests.helpers.directions import named_way
from tests.helpers.simulated import check_pose, check_words, check_world, first_items

ARCHITECTS: dict[str, type[BlockStructures | ShapeStructures]] = {"blocks": BlockStructures, "shapes": ShapeStructures}
SIMULATORS = ("random", *ARCHITECTS)
WAYS = [Relation(*way) for way in itertools.product((-3, -2, -1, 0, 1, 2), repeat=3) if any(way)]
seeds = st.integers(0, 2**40)


@cache
def many(simulator: str) -> list[MinecraftItem]:
    return first_items(simulator, 0, 1000)


def metas(simulator: str, key: str) -> set[Any]:
    found = [item.meta.get(key) for item in many(simulator)]
    return {tuple(value) if isinstance(value, list) else value for value in found}


def joined(cells: set[Cell]) -> bool:
    """Whether all cells are connected by faces and edges."""
    todo = [next(iter(cells))]
    left = cells - {todo[0]}
    while todo:
        here = todo.pop()
        found = {cell for cell in left if difference(here, cell) in NEAR}
        left -= found
        todo += found
    return not left


@given(seeds, st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
def test_a_composition_is_joined_and_on_the_ground(seed: int, kinds: list[str]) -> None:
    start = (5, 1, -5)
    made = compose(Random(seed), kinds, start)
    cells = [cell for figure in made for cell in figure.cells]
    assert [figure.kind for figure in made] == kinds
    assert len(set(cells)) == len(cells)
    assert all(in_region(*cell) for cell in cells)
    assert start in made[0].cells
    assert all(figure.cells[0] in figure.ends() for figure in made)
    assert joined(set(cells))


@pytest.mark.parametrize("simulator", ARCHITECTS)
def test_a_game_ends_in_its_target_and_mistakes_are_corrected(simulator: str) -> None:
    mistakes = 0
    for seed in range(80):
        rng = Random(seed)
        architect = ARCHITECTS[simulator](rng)
        items = list(play(rng, architect, Voice(rng, architect.frames), f"minecraft-{simulator}/train/0", "train"))
        assert (items[0].before, items[-1].after) == (Structure(), architect.target)
        for before, after in pairwise(items):
            assert after.before == before.after
            assert after.history[: len(before.history) + 1] == (*before.history, Executed(before.actions, before.pose))
        wanted = set(architect.target.blocks())
        for n, item in enumerate(items):
            placed = set(item.after.blocks()) - set(item.before.blocks())
            assert (not placed <= wanted) == item.meta.get("mistake", False)
            if item.meta["frame"] == "mistake":
                mistakes += 1
                assert items[n - 1].meta["mistake"]
                assert (items[n - 1].before, items[n + 1].meta["frame"]) == (item.after, "place instead")
    assert (mistakes > 10) == (simulator == "blocks")


ASKED = {"color": r"color", "size": r"^how ", "direction": r"^(which|what) (direction|way)\b", "start": r"^where\b"}


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_what_is_said_is_true_complete_and_seen(simulator: str) -> None:
    for item in many(simulator):
        done = check_world(item)
        check_words(item, done)
        check_pose(item, done)
        texts = [turn.text for turn in new_turns(item)]
        words = re.sub(r"(\d)x(\d)", r"\1 x \2", " ".join(texts).lower())
        for size in (item.meta["count"],) if "count" in item.meta else item.meta.get("sizes", ()):
            assert re.search(rf"\b({size}|{NUMBERS[size]})\b", words), words
        for text in texts:
            assert text == text.strip()
            assert not re.search(r"[\[\]{}|]|  |None|\ba orange\b| [,.?]|,,|\?,|^,|\b(the|a|with|from|you) \1\b", text), text
        if omitted := item.meta.get("omitted"):
            assert [part for part, pattern in ASKED.items() if re.search(pattern, texts[-2].lower())] == [omitted]
        if simulator == "random" and "relation" in item.meta:
            (action,) = done
            assert Relation(*item.meta["relation"]).from_(item.meta["reference"], item.pose.quarter) == action.cell


def test_everything_occurs() -> None:
    assert metas("random", "frame") == {"first", "place", "ellipsis", "remove"}
    assert metas("random", "relation") >= {*UNIT[1], *UNIT[2], (2, 0, 0), (0, 0, -2)}
    assert metas("random", "by") >= {"last", "only", "color", "highest", "leftmost", "nearest", "farthest", "builder"}
    frames_of_blocks = {"first", "place", "ellipsis", "one more", "several", "several ellipsis", "mistake", "place instead"}
    assert metas("blocks", "frame") == frames_of_blocks
    assert metas("blocks", "direction") >= {*UNIT[1]}
    assert metas("shapes", "shape") == {"row", "diagonal", "plane"}
    assert metas("shapes", "by") >= {None, "last", "end", "corner", "middle", "highest", "leftmost", "nearest"}
    assert metas("shapes", "omitted") == {None, *orders.PARTS}


# --- words ---


def test_words_name_the_way() -> None:
    for seed in range(10):
        voice = Voice(Random(seed), "blocks")
        for way, it in itertools.product(WAYS, ("it", "")):
            text = voice.where(way, it)
            assert named_way(text) == way, text
        for way in itertools.chain(*UNIT.values()):
            assert named_way(voice.go(way)) == way


SHAPES = st.builds(lambda seed, kind: figures.draw(Random(seed), kind), seeds, st.sampled_from(["row", "diagonal", "plane"]))


def in_words(seed: int, figure: PlacedFigure, color: str, where: str, omitted: str | None) -> SpokenOrder:
    voice = Voice(Random(seed), "shapes")
    ways = tuple(Relation(*step) for step in figure.directions)
    return orders.shape_order(voice, orders.Shape(figure.kind, figure.sizes, ways, color, where), omitted)


def differing(figure: PlacedFigure, omitted: str) -> tuple[PlacedFigure, str, str]:
    """A figure, color and start that differ only in the omitted part."""
    if omitted == "size":
        return figures.figure(figure.kind, [size + 1 for size in figure.sizes], figure.directions), "red", "in the center"
    if omitted == "direction":
        ways = [moved((0, 0, 0), (y, z, x), -1) for x, y, z in figure.directions]
        return figures.figure(figure.kind, figure.sizes, ways), "red", "in the center"
    color, where = ("blue", "in the center") if omitted == "color" else ("red", "on top of the green block")
    return figure, color, where


@given(seeds, SHAPES, st.sampled_from(orders.PARTS))
def test_an_order_reveals_nothing_about_its_omitted_part_and_the_answer_gives_it(
    seed: int, figure: PlacedFigure, omitted: str
) -> None:
    words = in_words(seed, figure, "red", "in the center", omitted)
    others = in_words(seed, *differing(figure, omitted), omitted)
    assert words.text == others.text
    assert words.answer is not None
    assert words.answer != others.answer
    assert in_words(seed, figure, "red", "in the center", None).question is None
