from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.errors import CLASSES
from eval.items import ItemScore, item_scores
from eval.predictions import Predictions
from harness.corpora.item import HexagonsItem
from harness.worlds.hexagons import COLORS, Paint
from tests.helpers.scored import place, step, turn

RED = [(0, 1, 0, "red")]


def of(item: Any, actions: Sequence[Any] | None, **known: Any) -> ItemScore:
    task = "hexagons" if isinstance(item, HexagonsItem) else "minecraft"
    predictions = Predictions({} if actions is None else {item.id: tuple(actions)})
    return item_scores(task, [item], predictions, **known)[0]


ROW = [(x, 1, 2, "blue") for x in range(3)]
WANTED = turn(RED, [*RED, *ROW])


DIAGONAL = [Paint(3, 3, "red"), Paint(4, 4, "red"), Paint(4, 5, "blue")]
DRAWN = step([], DIAGONAL)
TOWER = [(0, 1, 0, "red"), (0, 2, 0, "red")]
CASES: list[tuple[Any, list[Any], tuple[str, ...]]] = [
    (WANTED, [], ("nothing predicted",)),
    (WANTED, [place("red", 0, 1, 0)], ("nothing predicted", "infeasible")),
    (WANTED, [place("green", x, 1, 2) for x in range(3)], ("right place, wrong color",)),
    (WANTED, [place("blue", x, 1, 3) for x in range(3)], ("shifted by one", "right shape, wrong place")),
    (WANTED, [place("blue", 3, 1, z) for z in range(3)], ("right shape, wrong place",)),
    (WANTED, [place("blue", x, 1, 2) for x in range(4)], ("over-execution", "wrong count")),
    (WANTED, [place("blue", x, 1, 2) for x in range(2)], ("under-execution", "wrong count")),
    (WANTED, [place("blue", 1, 1, 2), place("blue", 5, 5, 5)], ("under-execution", "infeasible", "wrong count")),
    (WANTED, [place("blue", 6, 1, 2), place("blue", 1, 1, 2)], ("under-execution", "off the board", "wrong count")),
    (WANTED, [place("blue", -4, 1, 2), place("green", 3, 1, 2), place("blue", 5, 1, 5)], ("other",)),
    (turn(TOWER, [*TOWER, (1, 2, 0, "blue")]), [place("blue", 1, 1, 0)], ("wrong height",)),
    (DRAWN, [a._replace(color="green") for a in DIAGONAL], ("right place, wrong color",)),
    (DRAWN, [a._replace(row=a.row + 1) for a in DIAGONAL], ("shifted by one",)),
    (DRAWN, [Paint(0, 0, "red"), Paint(9, 0, "red"), Paint(4, 5, "blue")], ("other",)),
]


@pytest.mark.parametrize(("item", "actions", "expected"), CASES)
def test_each_class(item: Any, actions: list[Any], expected: tuple[str, ...]) -> None:
    assert of(item, actions).classes == expected


def test_what_was_never_answered_or_read() -> None:
    assert of(WANTED, None).classes == ("not answered",)
    for why, more in (("not an action", ()), ("outside the build region", ("off the board",))):
        assert of(WANTED, [], discarded={WANTED.id: {why}}).classes == ("unparsable", *more)


tiles = st.builds(Paint, st.integers(0, 9), st.integers(0, 17), st.sampled_from(COLORS[1:4]))
blocks = st.dictionaries(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4)), st.sampled_from(["red", "blue"]), min_size=1, max_size=5
)


@given(st.lists(tiles, max_size=6), st.lists(tiles, max_size=6))
def test_every_wrong_item_has_a_class(gold: list[Paint], made: list[Paint]) -> None:
    score = of(step([], gold), made)
    assert score.exact == (not score.classes)
    assert list(score.classes) == [name for name in CLASSES if name in score.classes]
