import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds.hexagons import COLORS, COLUMNS, DIRECTIONS, ROWS, Board, Paint, Tile, distance, line, neighbors, step

tiles = st.builds(Tile, st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1))
paints = st.builds(Paint, st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1), st.sampled_from(COLORS))
boards = st.lists(st.integers(0, 7), min_size=180, max_size=180).map(Board)
OPPOSITE = {
    "up": "down", "up-right": "down-left", "down-right": "up-left", "down": "up", "down-left": "up-right",
    "up-left": "down-right",
}  # fmt: skip


@pytest.mark.parametrize(("number", "expected"), [(20, {2, 19, 21, 37, 38, 39}), (21, {2, 3, 4, 20, 22, 39}), (18, {17, 35, 36})])
def test_neighbors_are_those_of_an_odd_q_board(number: int, expected: set[int]) -> None:
    """Tiles are numbered from 1, as in the release's pictures."""
    assert {tile.row * COLUMNS + tile.column + 1 for tile in neighbors(Tile(*divmod(number - 1, COLUMNS)))} == expected


@given(tiles, st.sampled_from(sorted(DIRECTIONS)), st.integers(0, 8))
def test_steps_go_back_and_are_straight(tile: Tile, direction: str, count: int) -> None:
    there = step(tile, direction, count)
    assert step(there, OPPOSITE[direction], count) == tile
    assert distance(tile, there) == count
    assert line(tile, there) == tuple(step(tile, direction, n) for n in range(count + 1))


@given(boards)
def test_digits_round_trip(board: Board) -> None:
    assert Board.from_digits(board.digits()) == board
    assert hash(Board.from_digits(board.digits())) == hash(board)
    assert copy.deepcopy(board) == board


@given(boards, boards)
def test_diff_is_what_apply_needs_and_no_more(before: Board, after: Board) -> None:
    actions = before.diff(after)
    assert before.apply(actions) == (after, ())
    assert len(actions) == int((before.cells != after.cells).sum())
    assert list(actions) == sorted(actions)


def test_what_cannot_be_painted_is_ignored_and_reported() -> None:
    wrong = (Paint(10, 0, "red"), Paint(0, 18, "red"), Paint(-1, 0, "red"), Paint(0, 0, "pink"))
    applied = Board().apply([*wrong, Paint(9, 17, "red")])
    assert applied.ignored == wrong
    assert applied.board.painted() == {Paint(9, 17, "red")}


@pytest.mark.parametrize("cells", [[0] * 179, [0] * 179 + [8], [0.0] * 180])
def test_an_invalid_board_is_refused(cells: list[int]) -> None:
    with pytest.raises(ValueError, match="board"):
        Board(cells)
    with pytest.raises(ValueError, match="digits"):
        Board.from_digits("x" * 180)
