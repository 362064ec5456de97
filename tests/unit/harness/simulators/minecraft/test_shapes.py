"""Block structures and shape structures: what is said is what is done, and a game ends in its target."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.item import Executed, MinecraftItem
from harness.corpora.wording import NUMBERS
from harness.simulators.minecraft import figures, shape_words
from harness.simulators.minecraft.block_structures import BlockStructures
from harness.simulators.minecraft.figures import KINDS, NEAR, SIZES, PlacedFigure, compose, difference, moved
from harness.simulators.minecraft.game import play
from harness.simulators.minecraft.relations import UNIT, Cell, Relation
from harness.simulators.minecraft.shape_structures import ShapeStructures
from harness.simulators.voice import Voice, frames
from harness.worlds.minecraft import INVENTORY, Structure, in_region
from tests.helpers.simulated import SEEDS, check_pose, check_words, check_world, said, simulated

ARCHITECTS: dict[str, type[BlockStructures | ShapeStructures]] = {"blocks": BlockStructures, "shapes": ShapeStructures}
SIMULATORS = list(ARCHITECTS)
seeds = st.integers(0, 2**40)


def a_game(simulator: str, seed: int) -> tuple[Structure, list[MinecraftItem]]:
    rng = Random(seed)
    architect = ARCHITECTS[simulator](rng)
    target = architect.target
    return target, list(play(rng, architect, Voice(rng, architect.frames), f"minecraft-{simulator}/train/0", "train"))


# --- figures ---


def adjacent(a: Cell, b: Cell, kind: str) -> bool:
    step = difference(a, b)
    return step in NEAR and sum(map(abs, step)) == (2 if kind == "diagonal" else 1)


def blocks_of(kind: str, sizes: tuple[int, ...]) -> int:
    a, b = sizes[0], sizes[-1]
    return {"plane": a * b, "L": a + b - 1, "T": a + b, "U": 2 * a + sizes[len(sizes) // 2] - 2}.get(kind, a)


@given(seeds, st.sampled_from(KINDS))
def test_a_figure_is_what_it_says(seed: int, kind: str) -> None:
    figure = figures.draw(Random(seed), kind)
    assert len(set(figure.cells)) == len(figure.cells) == blocks_of(kind, figure.sizes)
    assert all(size in choice for size, choice in zip(figure.sizes, SIZES[kind], strict=False))
    assert len(figure.sizes) == len(figure.directions)
    assert figure.cells[0] in figure.ends()
    for n, cell in enumerate(figure.cells[1:], start=1):
        assert any(adjacent(cell, earlier, kind) for earlier in figure.cells[:n])
    assert figure.upright == (len({cell[1] for cell in figure.cells}) > 1)


def joined(cells: set[Cell]) -> bool:
    """Whether one can go from any cell to any other by faces and edges."""
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
    assert joined(set(cells))


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_targets_are_joined_on_the_ground_and_in_stock(simulator: str) -> None:
    for seed in range(400):
        blocks = ARCHITECTS[simulator](Random(seed)).target.blocks()
        assert joined({(x, y, z) for x, y, z, _ in blocks})
        assert any(block.y == 1 for block in blocks)
        assert max(Counter(block.color for block in blocks).values()) <= INVENTORY


# --- games ---


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_game_ends_in_its_target(simulator: str) -> None:
    for seed in range(150):
        target, items = a_game(simulator, seed)
        assert items[-1].after == target
        assert items[0].before == Structure()
        for item in items:
            assert item.before.apply(item.actions, limited=True) == (item.after, ())
        for before, after in pairwise(items):
            assert after.before == before.after
            assert after.history[: len(before.history) + 1] == (*before.history, Executed(before.actions, before.pose))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_builder_sees_what_it_does_and_stands_in_no_block(simulator: str, seed: int) -> None:
    for item in simulated(simulator, seed, 250):
        check_pose(item, check_world(item))


# --- what is said ---


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_words_are_true_of_what_is_done(simulator: str, seed: int) -> None:
    for item in simulated(simulator, seed, 250):
        check_words(item, check_world(item))
        words = re.sub(r"(\d)x(\d)", r"\1 x \2", " ".join(turn.text for turn in said(item)).lower())
        for size in (item.meta["count"],) if "count" in item.meta else item.meta.get("sizes", ()):
            assert re.search(rf"\b({size}|{NUMBERS[size]})\b", words), words


def test_everything_comes_up() -> None:
    blocks = [item.meta for seed in SEEDS for item in simulated("blocks", seed, 1000)]
    assert {meta["frame"] for meta in blocks} == {
        *("first", "place", "ellipsis", "one more", "several", "several ellipsis", "mistake", "place instead")
    }
    directions = {tuple(meta["direction"]) for meta in blocks if "count" in meta}
    assert directions >= {*UNIT[1]}
    assert len(directions & {*UNIT[2]}) >= 8
    assert {meta.get("count") for meta in blocks} >= {2, 3, 4}
    assert {meta.get("by") for meta in blocks} >= {"last", "color", "first", "highest", "leftmost", "nearest", "only"}
    shapes = [item.meta for seed in SEEDS for item in simulated("shapes", seed, 500)]
    assert {meta["shape"] for meta in shapes} == {"row", "diagonal", "plane"}
    assert {meta.get("by") for meta in shapes} >= {None, "last", "end", "corner", "middle", "highest", "leftmost", "nearest"}
    assert {meta.get("omitted") for meta in shapes} == {None, *shape_words.PARTS}
    assert {meta["floats"] for meta in shapes} == {False, True}


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_many_frames_all_of_them_in_use(simulator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [name for name in frames(simulator) if name.startswith(("place", "one more", "mistake", "several", "shape"))]
    assert sum(len(frames(simulator)[name]) for name in sentences) >= 40
    drawn, draw = set[str](), Voice.draw

    def spy(voice: Voice, section: str, **slots: str) -> str:
        drawn.add(section)
        return draw(voice, section, **slots)

    monkeypatch.setattr(Voice, "draw", spy)
    for seed in range(1500):
        a_game(simulator, seed)
        if drawn >= frames(simulator).keys():
            break
    assert drawn >= frames(simulator).keys()


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_messages_hold_no_leftovers(simulator: str) -> None:
    for item in simulated(simulator, 9, 1500):
        for turn in said(item):
            text = turn.text
            assert text == text.strip()
            assert not re.search(r"[\[\]{}|]|  |None|\ba orange\b| [,.?]|,,|\?,|^,|\b(the|a|with|from|you) \1\b", text), text


# --- mistakes, and what is left out ---


def test_what_is_removed_was_ordered_wrongly_the_turn_before() -> None:
    mistakes = 0
    for seed in range(300):
        target, items = a_game("blocks", seed)
        wanted = set(target.blocks())
        for n, item in enumerate(items):
            placed = set(item.after.blocks()) - set(item.before.blocks())
            assert (not placed <= wanted) == item.meta.get("mistake", False)
            if item.meta["frame"] == "mistake":
                mistakes += 1
                assert items[n - 1].meta["mistake"]
                assert items[n - 1].before == item.after
                assert items[n + 1].meta["frame"] == "place instead"
            elif n:
                assert not items[n - 1].meta.get("mistake")
    assert mistakes > 50


ASKED = {"color": r"color", "size": r"^how ", "direction": r"^(which|what) (direction|way)\b", "start": r"^where\b"}


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_what_is_left_out_is_asked_for(simulator: str) -> None:
    for item in simulated(simulator, 6, 1000):
        if omitted := item.meta.get("omitted"):
            order, question, answer = said(item)[-3:]
            assert [turn.speaker for turn in (order, question, answer)] == ["Architect", "Builder", "Architect"]
            asked = [part for part, pattern in ASKED.items() if re.search(pattern, question.text.lower())]
            assert asked == [omitted]
            if omitted == "color":
                (color,) = {str(action.color) for action in check_world(item)}
                assert color in answer.text.lower()
                # Block by block, the order may go by a block of that color; so may not that of a shape.
                assert simulator == "blocks" or color not in order.text.lower()


SHAPES = st.builds(lambda seed, kind: figures.draw(Random(seed), kind), seeds, st.sampled_from(["row", "diagonal", "plane"]))


def in_words(seed: int, figure: PlacedFigure, color: str, where: str, omitted: str | None) -> shape_words.Words:
    voice = Voice(Random(seed), "shapes")
    ways = tuple(Relation(*step) for step in figure.directions)
    return shape_words.order(voice, shape_words.Shape(figure.kind, figure.sizes, ways, color, where), omitted)


def differing(figure: PlacedFigure, omitted: str) -> tuple[PlacedFigure, str, str]:
    """A figure, color and start that differ in what is left out alone."""
    if omitted == "size":
        return figures.figure(figure.kind, [size + 1 for size in figure.sizes], figure.directions), "red", "in the center"
    if omitted == "direction":
        ways = [tuple(-part for part in moved((0, 0, 0), (y, z, x))) for x, y, z in figure.directions]
        return figures.figure(figure.kind, figure.sizes, [(a, b, c) for a, b, c in ways]), "red", "in the center"
    color, where = ("blue", "in the center") if omitted == "color" else ("red", "on top of the green block")
    return figure, color, where


@given(seeds, SHAPES, st.sampled_from(shape_words.PARTS))
def test_an_order_says_nothing_of_what_it_leaves_out(seed: int, figure: PlacedFigure, omitted: str) -> None:
    words = in_words(seed, figure, "red", "in the center", omitted)
    others = in_words(seed, *differing(figure, omitted), omitted)
    assert words.text == others.text
    assert words.answer is not None
    assert in_words(seed, figure, "red", "in the center", None).question is None


@given(seeds, SHAPES, st.sampled_from(shape_words.PARTS))
def test_the_answer_tells_it(seed: int, figure: PlacedFigure, omitted: str) -> None:
    words = in_words(seed, figure, "red", "in the center", omitted)
    assert words.answer != in_words(seed, *differing(figure, omitted), omitted).answer
