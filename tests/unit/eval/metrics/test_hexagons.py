from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics.hexagons import MEASURES, score
from harness.corpora import load
from harness.corpora.item import HexagonsItem
from harness.worlds.hexagons import COLORS, Paint
from tests.helpers.scored import step

ONE = dict.fromkeys(MEASURES, 1.0)


def red(*columns: int) -> list[Paint]:
    return [Paint(0, column, "red") for column in columns]


def test_figure_5_of_the_paper() -> None:
    before, gold, predicted = red(0, 1), red(2, 3, 4), [*red(2), *(Paint(5, c, "blue") for c in range(4))]
    scores = score([step(before, gold)], [predicted])
    assert scores["action"] == pytest.approx({"f1": 0.25, "em": 0, "precision": 1 / 5, "recall": 1 / 3})
    assert scores["board"] == pytest.approx({"f1": 0.5, "em": 0, "precision": 3 / 7, "recall": 3 / 5})


def test_a_paint_that_changes_nothing_is_wrong_unless_only_effects_are_compared() -> None:
    scores = score([step(red(0), red(1))], [red(0, 1)])
    assert scores["action"]["precision"] == 0.5
    assert scores["effective"] == scores["board"] == ONE


def test_rollout_draws_on_the_predicted_boards_and_starts_anew_after_a_gap() -> None:
    items = [step([], red(0), 1), step(red(0), red(1), 2), step(red(0, 1, 2), red(3), 4), step([], red(5), 1, "other")]
    scores = score(items, [red(9), red(1), red(3), red(5)], rollout=True)
    assert scores["board"]["f1"] == pytest.approx((0 + 1 + 1 + 1) / 4)
    assert scores["rollout"]["f1"] == pytest.approx((0 + 0.5 + 1 + 1) / 4)
    assert "rollout" not in score(items, [[]] * 4)


def test_procedures_weigh_the_same_whatever_their_length() -> None:
    items = [step([], red(0), n, "long") for n in range(3)] + [step([], red(0), 1, "short")]
    scores = score(items, [red(0), [], [], red(0)])
    assert scores["action"]["f1"] == 0.5
    assert scores["procedure_macro"] == pytest.approx({"f1": (1 / 3 + 1) / 2, "em": (1 / 3 + 1) / 2})


def test_scores_without_the_longest_procedures() -> None:
    """Four long procedures that are all right hide that one of the other procedures' two steps is wrong."""
    long = [step([], red(0), n, name) for name, count in (("a", 5), ("b", 4), ("c", 3), ("d", 2)) for n in range(count)]
    items = [*long, step([], red(0), 1, "e"), step([], red(0), 1, "f")]
    scores = score(items, [red(0)] * (len(items) - 1) + [[]])
    assert scores["action"]["f1"] == 15 / 16
    assert scores["without_longest"] == {"f1": 0.5, "em": 0.5, "items": 2, "left_out": ["a", "b", "c", "d"]}
    assert scores["intervals"]["without_longest"] == {"f1": [0.0, 1.0], "em": [0.0, 1.0]}


paints = st.lists(st.builds(Paint, st.integers(0, 1), st.integers(0, 3), st.sampled_from(COLORS)), max_size=8)
steps = st.builds(step, paints, paints, st.just(1), st.sampled_from("abc"))


@given(steps, paints, st.randoms())
def test_agrees_with_the_definition_on_sets_in_any_order(item: HexagonsItem, predicted: list[Paint], random: object) -> None:
    made = list({p.tile: p for p in predicted}.values())
    random.shuffle(made)  # type: ignore[attr-defined]
    scores = score([item], [predicted])
    assert scores == score([item], [made])
    sets = {
        "action": (set(item.before.diff(item.after)), set(made)),
        "board": (item.after.painted(), item.before.apply(made).board.painted()),
    }
    for kind, (gold, found) in sets.items():
        f1 = 2 * len(gold & found) / (len(gold) + len(found)) if gold or found else 1.0
        assert scores[kind]["f1"] == pytest.approx(f1)
        assert scores[kind]["em"] == (gold == found)


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "nothing", "same_board", "blank"),
    [("train", 2.5320, 68.59, 0.76), ("dev", 0.8969, 70.28, 0.22), ("test", 0.6623, 73.08, 0.22)],
)
def test_empty_predictions(data_dir: Path, split: str, nothing: float, same_board: float, blank: float) -> None:
    items = [item for item in load("hexagons", split) if isinstance(item, HexagonsItem)]
    scores = score(items, [()] * len(items), rollout=True)
    assert round(100 * scores["action"]["f1"], 4) == round(100 * scores["action"]["em"], 4) == nothing
    assert round(100 * scores["board"]["f1"], 2) == same_board
    assert round(100 * scores["rollout"]["f1"], 2) == blank
