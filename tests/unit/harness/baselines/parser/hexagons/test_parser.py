"""The semantic parser: instructions in our own words, step by step, and an answer to any text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from harness.baselines.parser import Parser
from harness.baselines.parser.hexagons.execute import paint_program
from harness.baselines.parser.hexagons.lexicon import WORDS
from harness.baselines.parser.hexagons.memory import Memory
from harness.baselines.parser.hexagons.ranker import RankReader
from harness.cli import cli
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Utterance, drawing_steps
from harness.worlds.hexagons import COLORS, Board, Paint, Tile, line, neighbors, on_board
from serialization.program.hexagons import run

RANKER = RankReader({})
Tiles = set[tuple[int, int]]


def drawn(*instructions: str) -> dict[str, Tiles]:
    """The tiles that the last of some steps draws, by color, as (column, row) counted from 1 as in instructions."""
    memory = Memory()
    tiles: dict[str, Tiles] = {}
    for instruction in instructions:
        found = RANKER.understand(instruction, memory)
        memory, tiles = found.memory, {}
    for action in found.actions:
        tiles.setdefault(action.color, set()).add((action.column + 1, action.row + 1))
    return tiles


def around(column: int, row: int) -> Tiles:
    return {(tile.column + 1, tile.row + 1) for tile in neighbors(Tile(row - 1, column - 1))}


def straight(start: tuple[int, int], end: tuple[int, int]) -> Tiles:
    found = line(Tile(start[1] - 1, start[0] - 1), Tile(end[1] - 1, end[0] - 1))
    return {(tile.column + 1, tile.row + 1) for tile in found}


def column(number: int, *rows: int) -> Tiles:
    return {(number, row) for row in rows or range(1, 11)}


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Give the second hexes from the bottom of columns 3-5 a black color", {"black": {(c, 9) for c in (3, 4, 5)}}),
        ("Color the 2nd tile from the bottom of the 4th column from the right yellow", {"yellow": {(15, 9)}}),
        ("Paint all but the bottom tile of column 6 orange", {"orange": column(6, *range(1, 10))}),
        ("Fill the odd columns with purple", {"purple": {t for c in range(1, 18, 2) for t in column(c)}}),
        ("Starting with the second column, color every other column red", {
            "red": {t for c in range(2, 19, 2) for t in column(c)}
        }),
        ("In the 7th column paint every other tile green, starting with the second tile", {"green": column(7, 2, 4, 6, 8, 10)}),
        ("Use red on the top 2 tiles and blue on the bottom 3 tiles of the 9th and 11th columns", {
            "red": column(9, 1, 2) | column(11, 1, 2), "blue": column(9, 8, 9, 10) | column(11, 8, 9, 10)
        }),
        ("Paint the top left corner black and the bottom right corner red", {"black": {(1, 1)}, "red": {(18, 10)}}),
        ("In the third column: two blue, one white, three yellow", {"blue": column(3, 1, 2), "yellow": column(3, 4, 5, 6)}),
        ("Fill the top-left most hex (RED)", {"red": {(1, 1)}}),
        ("Make a purple flower with the 2nd and 3rd spots of columns 4 and 6 and the 1st and 3rd spots of column 5", {
            "purple": {(4, 2), (4, 3), (6, 2), (6, 3), (5, 1), (5, 3)}
        }),
        ("Make a circle with six red hexes, its top hex in the first tile of column 6", {"red": around(6, 2)}),
        ("Draw an orange triangle of six tiles in the top left corner", {
            "orange": {(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 2)}
        }),
        ("In the top row, from left to right: two red, one blue, six red", {
            "red": {(c, 1) for c in (1, 3, 7, 9, 11, 13, 15, 17)}, "blue": {(5, 1)}
        }),
        ("Fill the first and next to last tiles of columns 2 and 5 with blue", {"blue": column(2, 1, 9) | column(5, 1, 9)}),
        ("In column 6 paint tiles 2-7 green, omitting tile 4", {"green": column(6, 2, 3, 5, 6, 7)}),
        ("Fill column 12 with a repeating pattern, starting from the top, of white, blue, blue", {
            "blue": column(12, 2, 3, 5, 6, 8, 9)
        }),
        ("You should now have a nice picture.", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_what_one_instruction_draws(instruction: str, expected: dict[str, Tiles]) -> None:
    assert drawn(instruction) == expected


@pytest.mark.parametrize(
    ("before", "instruction", "expected"),
    [
        (["Paint the first two tiles of column 4 green"], "Paint the next three tiles below blue", {"blue": column(4, 3, 4, 5)}),
        (["Paint the first tile of column 4 green"], "In the next column paint the top tile red", {"red": {(5, 1)}}),
        (["Paint the fifth tile of column 8 red"], "Color all tiles around it yellow", {"yellow": around(8, 5)}),
        (["Paint the fifth tile of column 8 red"], "Paint the tile below the red tile black", {"black": {(8, 6)}}),
        (["Paint the fifth tile of column 8 red"], "Paint the next two tiles diagonally up and to the right red", {
            "red": straight((8, 5), (10, 4)) - {(8, 5)}
        }),
        (["Paint the top tile of column 2 red", "Paint the bottom tile of column 5 blue"], "Paint the tiles around the red tile "
         "from step 1 green", {"green": around(2, 1)}),
        (["Paint the top three tiles of column 2 red"], "Repeat step 1 in columns 5 and 9", {
            "red": column(5, 1, 2, 3) | column(9, 1, 2, 3)
        }),
        (["Paint the fifth tile of column 8 red", "Paint the second tile of column 12 red"], "Connect the last two tiles with a "
         "straight red line", {"red": straight((8, 5), (12, 2)) - {(8, 5), (12, 2)}}),
        (["Make a green flower around the 4th tile of column 11"], "Fill the middle with red", {"red": {(11, 4)}}),
        (["Paint the fifth tile of column 8 red"], "Draw lines of two tiles going lower left and upper left in blue", {
            "blue": {(7, 5), (6, 4), (7, 6), (6, 6)}
        }),
        (["Paint the third tile of columns 4 and 9 red"], "From those, draw blue diagonal lines of two tiles down "
         "and to the right", {
            "blue": {(5, 4), (6, 4), (10, 3), (11, 4)}
        }),
        (["Paint the first tile of column 4 green"], "Skip a column, then paint the top two tiles red", {"red": column(6, 1, 2)}),
        (["Paint the first tile of columns 8 and 10 red"], "Move to the next columns and paint the second tile blue", {
            "blue": {(7, 2), (11, 2)}
        }),
        (["Paint the top tile of columns 1 and 2 red", "Paint the second tile of column 1 blue"], "Repeat this pattern across "
         "the board", {"red": {(c, 1) for c in range(3, 19)}, "blue": {(c, 2) for c in range(3, 19, 2)}}),
        (["Paint the top tile of column 3 red", "Skip a tile and paint the next tile blue"], "Repeat steps 1 and 2 at the bottom "
         "of column 9", {"red": {(9, 8)}, "blue": {(9, 10)}}),
        (["Paint the 2nd tile of columns 1 through 3 green"], "Repeat this until you reach the end of the board", {
            "green": {(c, 2) for c in range(4, 19)}
        }),
        (["Paint the fourth tile of columns 6 and 12 red", "Color all tiles around the second tile of column 2 blue"],
         "Repeat step 2 for all red tiles", {"blue": around(6, 4) | around(12, 4)}),
        ([], "Paint all tiles of column 6 blue, except the second one which should be green.", {
            "blue": column(6, 1, *range(3, 11)), "green": {(6, 2)}
        }),
        (["Paint tile 7 of columns 3 and 9 red."], "Paint columns 3 and 9 blue until you meet the red tile.", {
            "blue": column(3, *range(1, 7)) | column(9, *range(1, 7))
        }),
        (["Use only green here."], "Paint the third tile of column 2", {"green": {(2, 3)}}),
        (["Paint the third tile of column 2 orange"], "Now the fourth tile", {"orange": {(2, 4)}}),
    ],
)  # fmt: skip
def test_instructions_that_refer_to_earlier_steps(before: list[str], instruction: str, expected: dict[str, Tiles]) -> None:
    assert drawn(*before, instruction) == expected


def steps_of(instructions: list[str]) -> list[HexagonsItem]:
    """Items of one procedure whose history holds only the instructions."""
    first = drawing_steps(load("hexagons", "dev"))[0]
    turns = [Utterance("Instructor", text) for text in instructions]
    return [
        replace(first, id=f"hexagons/dev/0/{n + 1}", instruction=text, history=tuple(turns[:n]), before=Board())
        for n, text in enumerate(instructions)
    ]


def test_predictions_do_not_depend_on_what_was_asked_before() -> None:
    told = ["Paint the top tile of column 3 blue", "Paint the next tile red", "Paint the next two tiles green"]
    items = steps_of(told)
    in_turn, alone = Parser(), Parser()
    answers = [in_turn.predict([item])[0] for item in items]
    assert answers[-1].actions == alone.predict(items[-1:])[0].actions
    assert set(answers[-1].actions) == {Paint(2, 2, "green"), Paint(3, 2, "green")}


texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(COLORS[1:]), st.integers(0, 30).map(str)), max_size=14).map(
        " ".join
    ),
)


@given(st.lists(texts, min_size=1, max_size=4))
def test_the_parser_is_total_and_the_interpreter_draws_the_same(instructions: list[str]) -> None:
    memory = Memory()
    for instruction in instructions:
        found = RANKER.understand(instruction, memory)
        assert all(on_board(action.row, action.column) and action.color in COLORS for action in found.actions)
        assert list(found.actions) == sorted(found.actions)
        final = {action.tile: action.color for action in run(paint_program(found.memory.painted)).actions}
        board = {tile: color for tile, color in {**memory.cells, **final}.items() if color != "white"}
        assert board == found.memory.cells
        memory = found.memory


@pytest.mark.parametrize(("task", "shown"), [("hexagons", "Read as:"), ("minecraft", "Program (confidence")])
def test_a_run_can_be_explained(task: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["baseline", "predict", "parser", "--task", task, "--limit", "3", "--name", "read"])
    assert done.exit_code == 0, done.output
    first = load(task, "dev")[0].id
    assert shown in CliRunner().invoke(cli, ["show", first, "--run", "read", "--explain"]).output
    assert CliRunner().invoke(cli, ["show", first, "--explain"]).exit_code != 0


@pytest.mark.parametrize(
    "text", ["Repeat steps 1 to 5.", "Repeat steps 1 through 9 five more times.", "Repeat the last step 18 times."]
)
def test_steps_that_repeat_themselves_come_to_an_end(text: str) -> None:
    drawn("Color the third tile of the first column red.", *[text] * 12)
