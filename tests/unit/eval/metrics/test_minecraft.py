import itertools
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics.alignment import align, net_rows
from eval.metrics.minecraft import METRICS, count, empty_boards, item_f1, overlap_scores, score
from eval.predictions import Predictions
from eval.score import Chosen
from eval.score import score as score_split
from harness.corpora import load
from harness.corpora.item import MinecraftItem
from harness.worlds.minecraft import COLORS, Action, Structure, in_region, net_actions, turn_action
from tests.helpers.scored import builder_turn, place, turn

RED = [(0, 1, 0, "red")]


def best_overlap(predicted: frozenset[Action], gold: frozenset[Action]) -> int:
    """The largest number of net actions in common under any of the 4 rotations and 441 translations that stay inside."""
    best = 0
    for quarters, dx, dz in itertools.product(range(4), range(-10, 11), range(-10, 11)):
        moved = {t._replace(x=t.x + dx, z=t.z + dz) for t in (turn_action(a, quarters) for a in predicted)}
        if all(in_region(*a.cell) for a in moved):
            best = max(best, len(moved & gold))
    return best


def counts(item: MinecraftItem, *actions: Action, fair: bool = False) -> dict[str, list[int]]:
    return dict(zip(METRICS, count([item], [actions], multiple={item.id} if fair else frozenset())[0].tolist(), strict=True))


class TestByHand:
    def test_both_empty_add_nothing_to_micro_and_one_to_macro(self) -> None:
        scores = score([turn(RED, RED)], [[]])
        assert scores["micro"]["overall"] == {"tp": 0, "fp": 0, "fn": 0, "precision": 0.0, "recall": 0.0, "f1": 0.0}
        assert scores["macro"] == dict.fromkeys(METRICS, 1.0)

    def test_fair_aligns_empty_boards_only(self) -> None:
        shifted = [place("red", 4, 1, 4)]
        found = counts(turn([], RED), *shifted, fair=True)
        assert found["overall"] == found["location"] == [1, 0, 0]
        kept = (-5, 1, -5, "blue")
        assert counts(turn([kept], [kept, *RED]), *shifted, fair=True)["overall"] == [0, 1, 1]


cells = st.tuples(st.integers(-5, 5), st.integers(1, 3), st.integers(-5, 5))
structures = st.dictionaries(cells, st.sampled_from(COLORS[:3]), max_size=6).map(
    lambda blocks: Structure.of([(*cell, color) for cell, color in blocks.items()])
)
actions = st.lists(
    st.builds(Action, st.sampled_from(["place", "remove"]), st.sampled_from(COLORS), *[st.integers(-7, 7)] * 3), max_size=8
)
turns = st.builds(builder_turn, st.just("i"), st.sampled_from("abc"), structures, structures)


class TestProperties:
    @given(turns, actions)
    def test_strict_counts_are_those_of_the_definition(self, item: MinecraftItem, predicted: list[Action]) -> None:
        made = net_actions(item.before, item.before.apply(predicted).structure)
        gold = net_actions(item.before, item.after)
        found = counts(item, *predicted)
        parts: dict[str, Callable[[Action], object]] = {
            "overall": lambda a: a,
            "type": lambda a: a.kind,
            "color": lambda a: (a.kind, a.color),
            "location": lambda a: a.cell,
        }
        for name, part in parts.items():
            hits = (Counter(map(part, made)) & Counter(map(part, gold))).total()
            assert found[name] == [hits, len(made) - hits, len(gold) - hits]

    @given(turns, structures)
    def test_shape_is_the_best_of_all_alignments(self, item: MinecraftItem, reached: Structure) -> None:
        predicted, wanted = (net_rows(item.before.cells[None], s.cells[None]) for s in (reached, item.after))
        best, aligned = align(predicted, wanted, 1)
        gold = {tuple(row) for row in wanted.tolist()}
        assert best[0] == best_overlap(net_actions(item.before, reached), net_actions(item.before, item.after))
        assert len({tuple(row) for row in aligned.tolist()} & gold) == best[0]
        assert (aligned[:, 3:] >= 0).all()
        assert (aligned[:, 3:] <= [10, 8, 10]).all()

    @given(st.lists(st.tuples(turns, actions), min_size=1, max_size=6))
    def test_bounds_and_sums(self, pairs: list[tuple[MinecraftItem, list[Action]]]) -> None:
        items, predicted = [p[0] for p in pairs], [p[1] for p in pairs]
        together, fair = count(items, predicted), count(items, predicted, multiple=empty_boards(items))
        apart = np.concatenate([count([item], [actions]) for item, actions in pairs])
        assert (together == apart).all()
        assert (together >= 0).all()
        strict, typed, color, location, shape = (together[:, i, 0] for i in range(5))
        assert ((typed >= color) & (color >= strict) & (location >= strict) & (shape >= strict) & (color >= shape)).all()
        assert (fair[:, 0, 0] >= strict).all()
        micro = score(items, predicted)["micro"]
        for i, name in enumerate(METRICS):
            assert [micro[name][key] for key in ("tp", "fp", "fn")] == together[:, i].sum(axis=0).tolist()


# --- the best overlap of whole structures, compared with trying every turn and shift ---


def test_the_same_as_trying_everything() -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        built, target = (
            Structure(rng.choice(3, (11, 9, 11), p=(0.97, 0.015, 0.015)).astype(np.uint8) * (np.arange(9) < 2)[:, None])
            for _ in range(2)
        )
        found = overlap_scores([builder_turn("iglu/dev/a", "a", built, target)], [[]])
        common = best_overlap(*(net_actions(Structure(), state) for state in (target, built)))
        assert math.isclose(found["f1"], 2 * common / (len(built) + len(target)))


def test_iglu_is_scored_by_it_in_addition_to_the_others() -> None:
    items = [turn(RED, [*RED, (0, 2, 0, "red")], game=name) for name in "ab"]
    answers = Predictions({item.id: (place("red", 1, 1, 0),) for item in items})
    scores = score_split("iglu", "dev", Chosen(items), answers)
    assert scores["micro"]["overall"]["f1"] == 0
    assert scores["overlap"]["f1"] == pytest.approx(0.5)
    assert scores["overlap"]["interval"] == [0.5, 0.5]
    assert "overlap" not in score_split("minecraft", "dev", Chosen(items), answers)


REFERENCE = {
    "overall": (947, 1639, 3617, 0.264895, 0.134972),
    "type": (2522, 64, 2042, 0.705455, 0.534407),
    "color": (2456, 130, 2108, 0.686993, 0.518318),
    "location": (966, 1620, 3598, 0.27021, 0.137126),
    "fair": (1193, 1393, 3371, 0.333706, 0.193114),
    "shape": (2440, 146, 2124, 0.682517, 0.515455),
}
"""TP, FP, FN, micro and macro F1 of the gold actions of val, shifted by one cell along x."""


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("metric", REFERENCE)
def test_reference_numbers_of_shifted_gold(data_dir: Path, metric: str) -> None:
    items = [item for item in load("minecraft", "val") if isinstance(item, MinecraftItem)]
    shifted = [[a._replace(x=a.x + 1) for a in item.actions if in_region(a.x + 1, a.y, a.z)] for item in items]
    multiple = empty_boards(items) if metric == "fair" else frozenset[str]()
    part = count(items, shifted, multiple=multiple)[:, METRICS.index("overall" if metric == "fair" else metric)][:, None]
    tp, fp, fn = part.sum(axis=(0, 1)).tolist()
    micro, macro = 2 * tp / (2 * tp + fp + fn), item_f1(part).mean()
    assert (tp, fp, fn, micro, macro) == pytest.approx(REFERENCE[metric], abs=5e-7)
