from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.errors import CLASSES, ErrorContext
from eval.items import ItemScore, item_scores
from eval.predictions import Predictions
from harness.corpora.item import HexagonsItem
from harness.worlds.hexagons import COLORS, Board, Paint, from_cube, on_board, to_cube
from harness.worlds.minecraft import Action, Structure, in_region, turn_action
from tests.helpers.scored import builder_turn, place, remove, step, turn

RED = [(0, 1, 0, "red")]


def of(item: Any, actions: Sequence[Any], clues: ErrorContext | None = None) -> ItemScore:
    task = "hexagons" if isinstance(item, HexagonsItem) else "minecraft"
    return item_scores(task, [item], Predictions({item.id: tuple(actions)}), clues=clues)[0]


def classes(item: Any, *actions: Any, quarter: int = 0, discarded: str | None = None) -> tuple[str, ...]:
    return of(item, actions, ErrorContext({item.id: {discarded}} if discarded else {}, quarters={item.id: quarter})).classes


ROW = [(x, 1, 2, "blue") for x in range(3)]
WANTED = turn(RED, [*RED, *ROW])


class TestBlocks:
    def test_exact_has_no_class(self) -> None:
        score = of(WANTED, [place(c, x, y, z) for x, y, z, c in ROW])
        assert (score.f1, score.exact, score.classes, score.wanted, score.made, score.hits) == (1.0, True, (), 3, 3, 3)

    @pytest.mark.parametrize(
        ("actions", "expected"),
        [
            ([], ("nothing predicted",)),
            ([place("red", 0, 1, 0)], ("nothing predicted", "infeasible")),
            ([place("green", x, 1, 2) for x in range(3)], ("right place, wrong color",)),
            ([place("blue", x, 1, 3) for x in range(3)], ("shifted by one", "right shape, wrong place")),
            ([place("blue", x, 1, 5) for x in range(3)], ("right shape, wrong place",)),
            ([place("blue", 3, 1, z) for z in range(3)], ("right shape, wrong place",)),
            ([place("blue", x, 1, 2) for x in range(4)], ("over-execution", "wrong count")),
            ([place("blue", x, 1, 2) for x in range(2)], ("under-execution", "wrong count")),
            ([place("blue", 1, 1, 2), place("blue", 5, 5, 5)], ("under-execution", "infeasible", "wrong count")),
            ([place("blue", 6, 1, 2), place("blue", 1, 1, 2)], ("under-execution", "off the board", "wrong count")),
            ([place("blue", -4, 1, 2), place("green", 3, 1, 2), place("blue", 5, 1, 5)], ("other",)),
            ([place("blue", x, 1, -2) for x in range(3)], ("mirrored front-back", "right shape, wrong place")),
        ],
    )
    def test_each_class(self, actions: list[Action], expected: tuple[str, ...]) -> None:
        assert classes(WANTED, *actions) == expected

    @pytest.mark.parametrize(("quarter", "name"), [(0, "left-right"), (1, "front-back"), (2, "left-right"), (3, "front-back")])
    def test_mirrored_is_as_the_builder_sees_it(self, quarter: int, name: str) -> None:
        item = turn(RED, [*RED, (1, 1, 0, "blue")])
        assert classes(item, place("blue", -1, 1, 0), quarter=quarter)[0] == f"mirrored {name}"

    def test_a_chiral_shape_on_an_empty_board(self) -> None:
        shape = [(0, 1, 0, "red"), (1, 1, 0, "blue"), (2, 1, 0, "green"), (0, 1, 1, "purple")]
        assert classes(turn([], shape), *(place(c, 4 - x, y, z) for x, y, z, c in shape)) == ("mirrored left-right",)

    def test_wrong_height(self) -> None:
        tower = [(0, 1, 0, "red"), (0, 2, 0, "red")]
        item = turn(tower, [*tower, (1, 2, 0, "blue")])
        assert classes(item, place("blue", 1, 1, 0)) == ("wrong height",)

    def test_removals_have_classes_too(self) -> None:
        blocks = [(0, 1, 0, "red"), (1, 1, 0, "red")]
        item = turn(blocks, blocks[:1])
        assert classes(item, remove(0, 1, 0)) == ("shifted by one", "right shape, wrong place")
        assert classes(item, remove(0, 1, 0), remove(1, 1, 0)) == ("over-execution", "wrong count")

    def test_what_was_never_answered_or_read(self) -> None:
        assert classes(WANTED, discarded="not an action") == ("unparsable",)
        assert classes(WANTED, discarded="outside the build region") == ("unparsable", "off the board")
        assert of(WANTED, [], ErrorContext(unanswered={WANTED.id})).classes == ("not answered",)


DIAGONAL = [Paint(3, 3, "red"), Paint(4, 4, "red"), Paint(4, 5, "blue")]


class TestTiles:
    @pytest.mark.parametrize(
        ("actions", "expected"),
        [
            ([], ("nothing predicted",)),
            ([a._replace(color="green") for a in DIAGONAL], ("right place, wrong color",)),
            ([a._replace(row=a.row + 1) for a in DIAGONAL], ("shifted by one",)),
            ([a._replace(column=a.column + 4) for a in DIAGONAL], ("right shape, wrong place",)),
            ([a._replace(column=12 - a.column) for a in DIAGONAL], ("mirrored left-right",)),
            ([a._replace(row=9 - a.row) for a in DIAGONAL], ("mirrored front-back",)),
            ([*DIAGONAL, Paint(0, 0, "red")], ("over-execution", "wrong count")),
            (DIAGONAL[:2], ("under-execution", "wrong count")),
            ([Paint(0, 18, "red"), *DIAGONAL[:2]], ("under-execution", "off the board", "wrong count")),
            ([Paint(0, 0, "red"), Paint(9, 0, "red"), Paint(4, 5, "blue")], ("other",)),
        ],
    )
    def test_each_class(self, actions: list[Paint], expected: tuple[str, ...]) -> None:
        assert classes(step([], DIAGONAL), *actions) == expected

    def test_painting_what_is_there_already_is_too_much(self) -> None:
        item = step(DIAGONAL[:1], DIAGONAL[1:])
        assert classes(item, *DIAGONAL) == ("over-execution", "wrong count")

    def test_a_step_without_actions(self) -> None:
        assert classes(step([], []), Paint(0, 0, "red")) == ("wrong count",)
        assert of(step([], []), []).exact


tiles = st.builds(Paint, st.integers(0, 9), st.integers(0, 17), st.sampled_from(COLORS[1:4]))
blocks = st.dictionaries(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4)), st.sampled_from(["red", "blue"]), min_size=1, max_size=5
)


@given(st.lists(tiles, min_size=1, max_size=5), st.integers(-9, 9), st.integers(-17, 17))
def test_every_move_on_the_board_is_found(paints: list[Paint], dx: int, dz: int) -> None:
    item = step([], paints)
    gold = Board().diff(item.after)
    moved = [Paint(*from_cube(to_cube(p.tile)[0] + dx, to_cube(p.tile)[1] + dz), p.color) for p in gold]
    if (dx or dz) and all(on_board(*paint.tile) for paint in moved):
        assert {"shifted by one", "right shape, wrong place"} & set(classes(item, *moved))


@given(blocks, st.integers(0, 3), st.integers(-9, 9), st.integers(-9, 9))
def test_every_alignment_on_the_ground_is_found(cells: dict[tuple[int, int], str], quarters: int, dx: int, dz: int) -> None:
    gold = [place(color, x, 1, z) for (x, z), color in cells.items()]
    item = turn([], [(a.x, a.y, a.z, str(a.color)) for a in gold])
    turned = [turn_action(action, quarters) for action in gold]
    moved = [action._replace(x=action.x + dx, z=action.z + dz) for action in turned]
    if all(in_region(*action.cell) for action in moved) and {a.cell: a.color for a in moved} != {a.cell: a.color for a in gold}:
        assert "right shape, wrong place" in classes(item, *moved)


@given(st.lists(tiles, max_size=6), st.lists(tiles, max_size=6))
def test_every_wrong_item_has_a_class(gold: list[Paint], made: list[Paint]) -> None:
    score = of(step([], gold), made)
    assert score.exact == (not score.classes)
    assert list(score.classes) == [name for name in CLASSES if name in score.classes]


actions = st.builds(Action, st.sampled_from(["place", "remove"]), st.sampled_from(["red", "blue"]), *[st.integers(-6, 6)] * 3)


@given(blocks, blocks, st.lists(actions, max_size=6), st.integers(0, 3))
def test_every_wrong_turn_has_a_class(
    before: dict[tuple[int, int], str], after: dict[tuple[int, int], str], made: list[Action], quarter: int
) -> None:
    states = [Structure.of([(x, 1, z, color) for (x, z), color in cells.items()]) for cells in (before, after)]
    item = builder_turn("i", "g", *states)
    found = classes(item, *made, quarter=quarter)
    assert bool(found) == (item.before.apply(made).structure != item.after)
