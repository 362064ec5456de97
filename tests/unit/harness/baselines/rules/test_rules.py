"""The rules: instructions in our own words, and an answer to any text."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from eval.answers import read_answers
from eval.score_run import score_answers
from harness.baselines.rules.baseline import paint
from harness.cli import cli
from harness.runs.folder import find_run
from harness.worlds.hexagons import COLORS, on_board


def drawn(instruction: str) -> dict[str, set[tuple[int, int]]]:
    """The drawn tiles by color, as (column, row) counted from 1 as in instructions."""
    tiles: dict[str, set[tuple[int, int]]] = {}
    for action in paint(instruction):
        tiles.setdefault(action.color, set()).add((action.column + 1, action.row + 1))
    return tiles


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Make the third tile of the fifth column green.", {"green": {(5, 3)}}),
        ("In columns 2, 4 and 6 through 8 the first spot is red", {"red": {(c, 1) for c in (2, 4, 6, 7, 8)}}),
        ("black: 2nd tile from the bottom of the 4th column from the right", {"black": {(15, 9)}}),
        ("the last three tiles of the leftmost column, please, in red", {"red": {(1, 8), (1, 9), (1, 10)}}),
        # The nearest color wins, on either side: orange is one word away from row 5.
        ("row 4 of column 6 is orange and row 5 of column 7 is red", {"orange": {(6, 4), (7, 5)}}),
        ("In the first column the second tile is red, the third tile blue. And tile 4 of column 2 green", {
            "red": {(1, 2)}, "blue": {(1, 3)}, "green": {(2, 4)}
        }),
        ("The third tile of column 2 is red. The third tile of column 2 is blue", {"blue": {(2, 3)}}),
        ("red: tile 11 of column 3, tile 4 of column 19", {}),
    ],
)  # fmt: skip
def test_what_an_instruction_paints(instruction: str, expected: dict[str, set[tuple[int, int]]]) -> None:
    assert drawn(instruction) == expected


WORDS = [
    "tile", "column", "columns", "from the bottom", "from the right", "last", "top", "3", "first", "4th", "to", ",", ".", "999",
]  # fmt: skip


@given(st.text() | st.lists(st.sampled_from([*WORDS, *COLORS])).map(" ".join))
def test_every_text_has_an_answer_on_the_board(text: str) -> None:
    painted = paint(text)
    assert len({action.tile for action in painted}) == len(painted)
    assert painted == sorted(painted)
    assert all(on_board(action.row, action.column) and action.color in COLORS for action in painted)


@pytest.mark.data
@pytest.mark.parametrize(("split", "f1", "em"), [("train", 22.23, 16.87), ("dev", 22.60, 14.80)])
def test_the_scores_on_the_real_corpus(split: str, f1: float, em: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's naive baseline has F1 14.34 and EM 7.85 on dev; its patterns are not published."""
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["baseline", "predict", "rules", "--split", split, "--name", "r"]).exit_code == 0
    action = score_answers(read_answers(find_run("r")))["action"]
    assert (round(100 * action["f1"], 2), round(100 * action["em"], 2)) == (f1, em)
