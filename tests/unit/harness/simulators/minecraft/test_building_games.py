"""Building games: the words match the actions, and a game ends in its target."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import groupby, pairwise, product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.item import Executed, MinecraftItem, new_turns
from harness.corpora.wording import NUMBERS
from harness.simulators.minecraft import orders
from harness.simulators.minecraft.architects import BlockStructures, ShapeStructures
from harness.simulators.minecraft.figures import KINDS, compose, difference, distance, moved
from harness.simulators.minecraft.game import play
from harness.simulators.minecraft.scene import NEAR, UNIT, Cell, Relation, Voice
from harness.worlds.minecraft import FACES, Structure, in_region
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
def test_a_composition_is_joined_and_on_the_ground_and_its_shapes_are_the_papers(seed: int, kinds: list[str]) -> None:
    made = compose(Random(seed), kinds)
    cells = [cell for figure in made for cell in figure.cells]
    assert [figure.kind for figure in made] == kinds
    assert len(set(cells)) == len(cells)
    assert all(in_region(*cell) for cell in cells)
    assert min(y for _, y, _ in made[0].cells) == 1
    assert joined(set(cells))
    for figure in made:
        long, short = max(figure.sizes), min(figure.sizes)
        assert (long, short) >= {"plane": (3, 2), "L": (2, 2), "T": (3, 2), "U": (3, 2)}.get(figure.kind, (3, 3))
        # 11.4: vertical T- and U-shapes point up or down.
        assert not {"T": figure.directions[0], "U": figure.directions[-2:][0]}.get(figure.kind, (0, 0, 0))[1]


def played(simulator: str, seed: int) -> tuple[BlockStructures | ShapeStructures, list[MinecraftItem]]:
    rng = Random(seed)
    architect = ARCHITECTS[simulator](rng)
    return architect, list(play(rng, architect, Voice(rng, architect.frames), f"minecraft-{simulator}/train/0", "train"))


@pytest.mark.parametrize("simulator", ARCHITECTS)
def test_a_game_ends_in_its_target_without_a_mistake(simulator: str) -> None:
    for seed in range(80):
        architect, items = played(simulator, seed)
        assert (items[0].before, items[-1].after) == (Structure(), architect.target)
        for before, after in pairwise(items):
            assert after.before == before.after
            assert after.history[: len(before.history) + 1] == (*before.history, Executed(before.actions, before.pose))
            assert set(before.after.blocks()) <= set(architect.target.blocks())


ASKED = {"color": r"color", "size": r"^how ", "direction": r"^(which|what) (direction|way)\b", "place": r"^(where|at which)\b"}


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_what_is_said_is_true_complete_and_seen(simulator: str) -> None:
    for item in many(simulator):
        done = check_world(item)
        check_words(item, done)
        check_pose(item, done)
        texts = [turn.text for turn in new_turns(item)]
        words = re.sub(r"(\d)x(\d)", r"\1 x \2", " ".join(texts).lower())
        for size in item.meta.get("sizes", [item.meta["count"]] if item.meta.get("count", 1) > 1 else []):
            assert re.search(rf"\b({size}|{NUMBERS[size]})\b", words), words
        for text in texts:
            assert text == text.strip()
            assert not re.search(r"[\[\]{}|]|  |None|\ba orange\b| [,.?]|,,|\?,|^,|\b(the|a|with|from|you) \1\b", text), text
        if omitted := item.meta.get("omitted"):
            assert [part for part, pattern in ASKED.items() if re.search(pattern, texts[-2].lower())] == [omitted]


def test_everything_occurs() -> None:
    assert metas("random", "frame") == {"first", "place", "remove", "remove last"}
    assert metas("random", "relation") >= {*UNIT[1], *UNIT[2], (2, 0, 0), (0, 0, -2)}
    assert metas("random", "by") >= {"last", "removed", "ellipsis", "color", "highest", "leftmost", "nearest", "farthest"}
    assert metas("blocks", "frame") == {"first", "place"}
    assert metas("blocks", "count") >= {1, 2, 3, 4}
    assert metas("shapes", "shape") == {"row", "diagonal", "plane"}
    assert metas("random", "omitted") == metas("blocks", "omitted") == {None, "color", "place"}
    assert metas("shapes", "omitted") == {None, *orders.PARTS}


# --- the paper's definitions (sections 5 and 11) ---

WHERE = r"\b(middle|center|corner|edge|left|right|behind|front|side)\b"


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_first_order_names_no_place_on_the_ground(simulator: str) -> None:
    first = [item for item in many(simulator) if not item.before.blocks()]
    assert len({item.actions[0].cell for item in first}) > 25
    for item in first:
        text = re.sub(r"(to )?(the left|the right|your left|your right) ?(of you)?", "", new_turns(item)[1].text.lower())
        assert "on the ground" in text
        assert not re.search(WHERE, text), text
        assert "reference" not in item.meta


@pytest.mark.parametrize("simulator", ["random", "blocks"])
def test_the_reference_is_the_closest_block_and_the_last_one_wins_ties(simulator: str) -> None:
    far = 0
    for before, item in pairwise(many(simulator)):
        if "reference" not in item.meta:
            continue
        reference, last = tuple(item.meta["reference"]), [a for a in before.actions if a in check_world(before)][-1]
        cell = Relation(*item.meta["relation"]).from_(reference, item.pose.quarter)
        assert cell in {action.cell for action in check_world(item)}
        closest = min(distance(cell, block[:3]) for block in item.before.blocks() if block[:3] != cell)
        # The next closest is the reference where no words identify the closest.
        far += distance(cell, reference) > closest
        if distance(cell, last.cell) == closest:
            assert reference == last.cell
        if reference == last.cell:
            assert item.meta["by"] in ({"removed"} if last.kind == "remove" else {"last", "ellipsis"})
        else:
            colors = [block.color for block in item.before.blocks()]
            assert (item.meta["by"] == "color") == (colors.count(item.before.color_at(*reference) or "") == 1)
    assert far < 0.12 * len(many(simulator))


def test_one_order_in_ten_removes_a_block_after_four_placements() -> None:
    removals = later = 0
    for _, items in groupby(many("random"), lambda item: item.cluster):
        for n, item in enumerate(items):
            removed = item.meta["frame"].startswith("remove")
            assert not removed or n >= 4
            later, removals = later + (n >= 4), removals + removed
            cells = {block[:3] for block in item.after.blocks()}
            assert joined(cells)
            assert any(y == 1 for _, y, _ in cells)
    assert 0.07 < removals / later < 0.13


def test_several_blocks_are_placed_as_far_as_the_line_goes() -> None:
    counts = Counter[int]()
    for seed in range(40):
        architect, items = played("blocks", seed)
        assert isinstance(architect, BlockStructures)
        for item in items[1:]:
            placed = {action.cell for action in check_world(item)}
            counts[len(placed)] += 1
            reference = tuple(item.meta["reference"])
            cell = Relation(*item.meta["relation"]).from_(reference, item.pose.quarter)
            step = difference(reference, cell)
            assert placed == {moved(cell, step, n) for n in range(len(placed))}
            figure = next(figure for figure in architect.figures if cell in figure.cells)
            there = {block[:3] for block in item.after.blocks()}
            assert step not in NEAR or moved(cell, step, len(placed)) not in {*figure.cells} - there
    assert counts.total() - counts[1] > 0.3 * counts.total()


def bottom_corners(cells: Sequence[Cell]) -> list[Cell]:
    """Of the lowest cells, those that are outermost along all axes."""
    low = [cell for cell in cells if cell[1] == min(y for _, y, _ in cells)]
    ends = [{min(axis), max(axis)} for axis in zip(*low, strict=True)]
    return [cell for cell in low if all(a in end for a, end in zip(cell, ends, strict=True))]


def test_a_shape_starts_in_a_bottom_corner_by_the_last_block() -> None:
    for seed in range(60):
        _, (one, two) = played("shapes", seed)
        first, second = ([action.cell for action in item.actions if action in check_world(item)] for item in (one, two))
        assert first[0] == tuple(one.meta["start"])
        corners = bottom_corners(first)
        apart = {cell: min(distance(cell, other) for other in second) for cell in corners}
        assert first[0] in corners
        assert apart[first[0]] == max(apart.values())
        assert tuple(two.meta["reference"]) == first[-1]
        corners = bottom_corners(second)
        start = tuple(two.meta["start"])
        assert start in corners
        assert distance(start, first[-1]) == min(distance(cell, first[-1]) for cell in corners)


def test_directions_of_shapes_have_the_builder_as_their_anchor_and_planes_are_built_in_several_orders() -> None:
    paths = set[tuple[bool, bool]]()
    for item in many("shapes"):
        ways = [Relation(*way) for way in item.meta["directions"]]
        text = " ".join(turn.text for turn in new_turns(item)).lower()
        if any(way.left for way in ways):
            assert re.search(r"\b(to the (left|right) of you|to your (left|right))\b", text), text
        if item.meta["shape"] == "plane":
            placed = [action.cell for action in item.actions if action in check_world(item)]
            steps = [difference(*pair) for pair in pairwise(placed)]
            along = ways[0].from_((0, 0, 0), item.pose.quarter)
            paths.add((steps[0] == along, all(step in FACES for step in steps)))
    assert paths == set(product((False, True), repeat=2))


# --- words ---


def test_words_name_the_way() -> None:
    for seed in range(10):
        voice = Voice(Random(seed), "shapes")
        for way, it in itertools.product(WAYS, ("it", "")):
            text = voice.where(way, it)
            assert named_way(text) == way, text
        for way in itertools.chain(*UNIT.values()):
            assert way.up < 0 or named_way(voice.go(way)) == way
