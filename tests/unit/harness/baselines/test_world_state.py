"""The world as the classic Builder models see it, compared with the released code's numbers and the world's own rules."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.world_state import (
    CELLS,
    NOWHERE,
    STOP,
    action_label,
    before_codes,
    carry_out,
    cell_index,
    feasible,
    gold_grids,
    gold_labels,
    history_weights,
    label_action,
    perspective,
    recent_cells,
)
from harness.corpora import load
from harness.corpora.item import Executed, MinecraftItem, Utterance
from harness.worlds.minecraft import COLORS, Action, Pose, Structure
from tests.helpers.scored import place, remove

POSE = Pose(0.5886874795971726, 1.0, -1.0011516958180822, -5.3999987, 37.500008)


def item(before: Any = (), actions: Any = (), after: Any = (), done: Any = (), **meta: Any) -> MinecraftItem:
    history = [turn for run in done for turn in (Executed(tuple(run)), Utterance("Architect", "go on"))]
    structures = Structure.of(before), Structure.of(after)
    return MinecraftItem("i", "train", tuple(history), structures[0], POSE, tuple(actions), structures[1], "C1", "g", meta)


@pytest.mark.parametrize(
    ("action", "label"),
    [(place("red", 0, 1, 0), 3501), (remove(-5, 1, -5), 6), (place("yellow", 5, 9, 5), 7621), (remove(5, 9, 5), 7622)],
)
def test_labels_are_those_of_the_released_code(action: Action, label: int) -> None:
    assert action_label(action) == label
    assert label_action(label) == action
    assert [action_label(label_action(label)) for label in range(STOP)] == list(range(7623))


def test_perspective_is_that_of_the_released_code_from_the_cell_s_true_place() -> None:
    made = perspective([Pose(0, 1, 0, 90, 0), POSE])
    assert made.shape == (2, 3, CELLS)
    np.testing.assert_allclose(made[1, :, cell_index(-5, 1, -5)] * 10, (-5.1875599199, -2.7437145026, -3.5756773219), rtol=2e-6)


def test_the_last_five_actions_weigh_five_to_one_wherever_they_were() -> None:
    far = place("red", 9, 1, 0)
    done = [[place("red", x, 1, 0) for x in (-5, -4, -3)], [far, remove(-4, 1, 0)]]
    places = {x: cell_index(x, 1, 0) for x in (-5, -4, -3)}
    assert recent_cells(item(done=done)) == [places[-5], places[-4], places[-3], NOWHERE, places[-4]]
    weights = history_weights(np.array([recent_cells(item(done=done)), recent_cells(item())]))
    assert [int(weights[0, place]) for place in places.values()] == [1, 5, 3]
    assert weights.sum(1).tolist() == [9, 0]


blocks = st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 9), st.integers(-5, 5), st.sampled_from(COLORS)), max_size=12).map(
    Structure.of
)


@given(blocks)
def test_feasible_is_the_worlds_rule(structure: Structure) -> None:
    possible = feasible(before_codes([item(structure.blocks()), item()]))
    assert possible.shape == (2, STOP + 1)
    assert possible[0, :STOP].tolist() == [structure.feasible(label_action(label)) for label in range(STOP)]
    assert possible[:, STOP].all()


@given(blocks, st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 3), st.integers(-5, 5), st.integers(0, 6)), max_size=8))
def test_labels_are_carried_out_as_the_world_does(structure: Structure, chosen: list[tuple[int, int, int, int]]) -> None:
    labels = [7 * cell_index(*cell) + kind for *cell, kind in chosen]
    codes, recent = before_codes([item(structure.blocks())]), np.full((1, 5), NOWHERE)
    for label in [*labels, STOP]:
        carry_out(codes, recent, np.array([label]))
    applied = structure.apply(label_action(label) for label in labels)
    np.testing.assert_array_equal(codes, before_codes([item(applied.structure.blocks())]))
    done = []
    for label in labels:
        if structure.feasible(label_action(label)):
            done.append(label // 7)
            structure = structure.apply([label_action(label)]).structure
    assert recent[0].tolist() == ([NOWHERE] * 5 + done)[-5:]


@pytest.mark.data
def test_a_published_item_has_the_released_codes_channel_sums() -> None:
    found = next(i for i in load("minecraft") if i.id.endswith("/B44-A42-C142-1524179027697/51") and isinstance(i, MinecraftItem))
    assert gold_labels(found) == [2438, 1745, 1752, 1749, 2442, 7623]
    sums = gold_grids([found]).channels().sum(2)
    assert sums[0].tolist() == [12, 9, 3, 0, 0, 0, 1065, 12]
    assert sums[-1].tolist() == [12, 9, 4, 0, 0, 0, 1064, 12]
