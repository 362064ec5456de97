"""Ordinary requests for the board: each conversation with its resulting board."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.baselines.parser.everyday.conversing import Understood
from harness.baselines.parser.everyday.hexagons import understand
from harness.baselines.parser.everyday.hexagons.lexicon import lexicon
from harness.corpora.item import Executed, HexagonsItem, Turn, Utterance
from harness.worlds.hexagons import Board
from serialization.program.hexagons import DrawingState, run
from serialization.program.parse import parse

REQUESTS = [
    ("", ["Paint everything blue"], "blue all"),
    ("", ["Paint all four corners black"], "black 1,18:1,10"),
    ("", ["Draw a black border around the board"], "black 1,18+:1,10"),
    ("", ["make the border two tiles thick in black"], "black 1,2,17,18+:1,2,9,10"),
    ("", ["Paint the whole board yellow except for the border"], "yellow 2-17:2-9"),
    ("", ["the left third red, the middle third white and the right third green"], "red 1-6; green 13-18"),
    ("", ["every third column purple, beginning at the left edge"], "purple 1-18/3"),
    ("", ["Color column ten from row three to row seven red."], "red 10:3-7"),
    ("", ["Paint the third row from the top blue and the third row from the bottom too"], "blue :3,8"),
    ("", ["rows 2, 4, 6 and 8 green, the others red"], "green :2,4,6,8; red :1,3,5,7,9,10"),
    ("", ["Row 1: red, yellow, red, yellow and so on until the end"], "red,yellow :1"),
    ("", ["In row 5, color the first nine tiles yellow and the remaining ones black."], "yellow 1-9:5; black 10-18:5"),
    ("", ["a horizontal orange line in row 6 from column 4 to column 12"], "orange 4-12:6"),
    ("", ["Draw a straight black line from column 3, row 2 to column 3, row 8."], "black 3:2-8"),
    ("", ["i'd love a purple board with a white border"], "purple 2-17:2-9"),
    ("red 9:5", ["paint the tile above it and the tile below it green"], "red 9:5; green 9:4,6"),
    ("blue 6:5", ["a yellow tile right below the blue tile, and another yellow one right above it"], "blue 6:5; yellow 6:4,6"),
    ("red :5", ["everything above the red row blue, everything below it green"], "blue :1-4; red :5; green :6-10"),
    ("black 9:5", ["two tiles above the black one, put a green one"], "black 9:5; green 9:3"),
    ("red 3; blue 9", ["swap red and blue"], "blue 3; red 9"),
    ("red 3; blue 9", ["make everything that is red blue and everything that is blue red"], "blue 3; red 9"),
    ("red 3:2-3", ["Mirror that at the bottom"], "red 3:2-3,8-9"),
    ("blue 9; red 5:3-4", ["Use the blue column as a mirror and draw the reflection of the red line."], "blue 9; red 5,13:3-4"),
    ("red 2:2-4+3:2", ["flip the picture upside down"], "red 2:7-9+3:9"),
    ("green 3:2-4", ["repeat the green line four columns to the right, twice"], "green 3,7,11:2-4"),
    ("orange 2:2-4", ["put the same line in columns 6 and 10 as well"], "orange 2,6,10:2-4"),
    ("red 9:5-6", ["move it to the top left corner"], "red 1:1-2"),
    ("purple 4-7:6", ["extend the purple line by three tiles to the right", "and now to the left edge"], "purple 1-10:6"),
    ("red 3; blue 6; green 9", ["I don't want the green line any more", "only keep the blue one"], "blue 6"),
    ("black 3:3; black 9:5; black 15:8", ["remove the black tile in the middle", "also the one on the right"], "black 3:3"),
    ("", ["color the right edge red", "and the left edge as well"], "red 1,18"),
    ("", ["a red tile in the upper left corner", "a blue one in the corner diagonally across from it"], "red 1:1; blue 18:10"),
    ("", ["color column 3 red", "color column 5 blue", "undo the last two steps"], ""),
    ("", ["row 4 orange", "take that back", "ok redo it"], "orange :4"),
    ("", ["paint the top half orange", "sorry, I meant the bottom half", "and make it green"], "green :6-10"),
    ("", ["put a blue tile in column 3, row 3", "i meant column 4", "one row lower please"], "blue 4:4"),
    ("", ["paint the bottom row yellow", "not yellow, orange!"], "orange :10"),
    ("", ["draw a red dot in the top left corner", "no, the top right corner"], "red 18:1"),
    ("", ["columns 3, 6 and 9 should be blue", "the middle one of them red"], "blue 3,9; red 6"),
    ("", ["paint column 1 red and column 2 blue", "continue this pattern all the way to the right"], "red 1-17/2; blue 2-18/2"),
    ("", ["Draw three green flowers in a row"], "green flower((5,9,13:5))"),
    ("", ["Draw a snake that starts at the left edge and goes to the right edge, in green"], "green :5"),
    ("", ["Put a green tile in every corner except the bottom right one"], "green 1:1,10+18:1"),
    ("", ["Draw a rainbow with one row for each color"], "red :3; orange :4; yellow :5; green :6; blue :7; purple :8"),
    ("", ["color each row a different color"], "red,orange,yellow,green,blue,purple by row 1-18"),
    ("", ["draw a blue line across the top"], "blue :1"),
    ("", ["draw a red line of 4 tiles at the top"], "red 8-11:1"),
    ("", ["put two green tiles in the bottom left corner"], "green 1-2:10"),
    ("", ["put a blue dot at each end of the middle row"], "blue 1,18:5"),
    ("", ["put a red tile in the center", "make the red tile bigger"], "red flower(9:6)"),
    ("", ["color the top left tile red and the bottom right tile blue"], "red 1:1; blue 18:10"),
    ("", ["a red tile on the left, a green tile in the middle and a blue tile on the right"], "red 1:5; green 9:6; blue 18:5"),
    ("", ["put a dot every third tile in row 5"], "black 1-16/3:5"),
    ("", ["a red dot inside a green circle"], "red 9:5; green ring(9:5)"),
    ("", ["color the bottom three rows green", "the sky should be blue"], "green :8-10; blue :1-7"),
    ("", ["draw a red flower", "give it a green stem"], "red flower(9:5); green 9:7-9"),
    ("", ["draw a house with a yellow roof", "make the door red"], "black 7-11:6-8; yellow 7,11:5+8,10:4-5+9:3-5; red 9:7-8"),
    ("", ["draw a black line from the top left to the bottom right"], "black line(1:1,18:10)"),
    ("", ["draw a line of alternating red and blue tiles across the middle"], "red,blue :5"),
    ("", ["color the center tile red and all its neighbors blue"], "red 9:6; blue near(9:6)"),
    ("", ["draw a yellow circle in each corner"], "yellow ring((2:2,9)+(17:2,9))"),
    ("", ["put a red dot in the top row, third from the left"], "red 3:1"),
    ("", ["paint the third tile from the right in row 5 blue"], "blue 16:5"),
    ("blue 9:6", ["move it up 3", "move it left 2"], "blue 7:3"),
    ("", ["put a green tile in every other spot of the first row"], "green 1-18/2:1"),
    ("", ["put a yellow dot in the middle of each edge"], "yellow 1,18:5+9:1,10"),
    ("", ["draw an arrow pointing up"], "black 9:3-7+8,10:4+7,11:5"),
    ("", ["I want a blue background with a yellow circle in the middle"], "blue all; yellow ring(9:6)"),
    ("", ["make a stripe of orange down the center", "make it twice as wide"], "orange 9-10"),
    ("", ["color the four tiles in the middle red"], "red 8-9:5-6"),
    ("", ["create a pattern of red and green columns"], "red,green by column 1-18"),
    ("blue 9:5", ["draw a blue circle around it", "draw another circle around that"], "blue flower(9:5,2)"),
    ("", ["draw a row of 4 red flowers"], "red flower((3,7,11,15:5))"),
    ("", ["put a purple tile two spaces above the bottom right corner"], "purple 18:8"),
    ("", ["put 6 green tiles in a circle"], "green ring(9:5)"),
    ("", ["draw a short red line at the bottom"], "red 8-10:10"),
    ("", ["make a heart in red", "add a tiny black dot inside the heart"], "red 7,11:4-5+8,10:3-6+9:4,6-7; black 9:5"),
    ("", ["color 3 tiles in the corner green"], "green 1-2:1+1:2"),
    ("", ["paint the columns alternately red and white"], "red 1-18/2"),
    ("", ["draw a green snake along the bottom"], "green :10"),
    ("", ["color the board in three equal parts: red, white and blue"], "red 1-6; blue 13-18"),
    ("", ["color (3,5) blue"], "blue 3:5"),
    ("", ["fill the board with alternating rows of blue and yellow"], "blue,yellow by row 1-18"),
    ("", ["split the board into alternating red and blue rows"], "red,blue by row 1-18"),
    ("", ["make a line of 6 dots with gaps between them"], "black 4-14/2:5"),
    ("", ["put three flowers next to each other, all red"], "red flower((5,9,13:5))"),
    ("", ["paint a green stripe two rows thick along the bottom"], "green :9-10"),
    ("", ["paint a frame of orange, two tiles thick"], "orange 1,2,17,18+:1,2,9,10"),
    ("", ["draw a red flower on a blue background"], "blue all; red flower(9:5)"),
    ("", ["color the board in quarters, upper left red, lower right blue"], "red 1-9:1-5; blue 10-18:6-10"),
    ("", ["columns 2 and 7 balck"], "black 2,7"),
    ("", ["put five black pebbles into the lowest row, starting at the left"], "black 1-5:10"),
    ("", ["rows 1 and 2 red", "the next two blue"], "red :1-2; blue :3-4"),
    ("", ["two upright lines over the whole board, one in column 3, the other one in column 8, in red"], "red 3,8"),
    ("", ["a 3 by 3 red square", "make it 5x5"], "red 7-11:3-7"),
    ("green 4:7-10; blue 8:5-10", ["make the green line as long as the blue one"], "green 4:5-10; blue 8:5-10"),
    ("black 3:2-4; black 8:2-9", ["the longest line should be red"], "black 3:2-4; red 8:2-9"),
    ("red 3; blue 9", ["change red to green"], "green 3; blue 9"),
    ("blue 4; green 9", ["the green column should have the same color as the other one"], "blue 4,9"),
    ("", ["a black dot in column 2, row 2", "another one three columns to the right of it"], "black 2,5:2"),
    ("", ["row 2 red", "Hmm, make that row 4"], "red :4"),
    ("red 5:1", ["if there is anything blue, erase it"], "red 5:1"),
    ("", ["bar chart in green please: first column 3 tiles, second one 5, third one 1"], "green 1:8-10+2:6-10+3:10"),
]  # fmt: skip
"""The initial board, the requests, and the resulting board."""

NOTHING = [
    "thank you, that looks great!",
    "What color is the third column?",
    "remove the blue flower",
    "turn the blue tiles black",
    "Color column 20 blue",
    "put a tile in row 15",
    "paint the board pink",
    "leave everything as it is",
    "Please make sure column 3 is red.",
]

FIGURES = [
    ("Draw a small red triangle", {"red": 3}),
    ("draw a ring of six yellow tiles", {"yellow": 6}),
    ("a big blue ring, please", {"blue": 12}),
    ("Make me a solid red hexagon made of seven tiles", {"red": 7}),
    ("draw a triangle with 3 tiles on each side, blue", {"blue": 6}),
    ("a blue rectangle four tiles wide and two tiles tall", {"blue": 8}),
    ("four green dots, no two of them may touch", {"green": 4}),
    ("draw a letter T in red: a bar of 7 tiles at the top and a stem of 3 tiles", {"red": 10}),
    ("draw a sun in the upper right corner", {"yellow": 7}),
    ("draw a triangle at the bottom in orange, with a side of 4", {"orange": 10}),
    ("draw a fish in orange", {"orange": 15}),
    ("draw a purple letter M", {"purple": 13}),
    ("draw a big X from corner to corner in red", {"red": 36}),
    ("Draw a red flower with a yellow center", {"red": 6, "yellow": 1}),
    ("draw two flowers, one red and one blue", {"red": 7, "blue": 7}),
    ("draw 2 houses", {"black": 26, "red": 18, "blue": 4}),
]
"""Requests for new figures, with the number of tiles of each color."""


def drawn(program: str) -> Board:
    return Board().apply(run(parse(program)).actions).board


def said(text: str, before: Board, history: tuple[Turn, ...] = ()) -> Understood:
    return understand(HexagonsItem("everyday-hexagons/dev/x/1", "dev", text, history, before, (), before, "", ""))


def after(start: str, texts: list[str]) -> Board:
    """The board after a conversation."""
    board, history = drawn(start), tuple[Turn, ...]()
    for text in texts:
        outcome = run(parse(said(text, board, history).program), DrawingState(board))
        assert outcome.error is None
        history = (*history, Utterance("Instructor", text), Executed(outcome.actions))
        board = board.apply(outcome.actions).board
    return board


@pytest.mark.parametrize(("start", "texts", "board"), REQUESTS)
def test_a_request_is_carried_out(start: str, texts: list[str], board: str) -> None:
    assert after(start, texts) == drawn(board)


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_changes_if_nothing_can_or_need_be_done(text: str) -> None:
    assert said(text, drawn("red 3")).program == ""


@pytest.mark.parametrize(("text", "colors"), FIGURES)
def test_a_figure_has_its_colors_and_size(text: str, colors: dict[str, int]) -> None:
    assert Counter(paint.color for paint in after("", [text]).painted()) == colors


def test_a_new_figure_does_not_touch_existing_ones() -> None:
    board = after("red flower(9:5)", ["draw a blue flower"])
    assert len(board.painted()) == 14
    assert not run(parse("if touch(is(blue),is(red)) {red 1:1}"), DrawingState(board)).actions


def test_what_is_not_understood_is_named() -> None:
    understood = said("put a red tile next to the blue zeppelin", Board())
    assert understood.question is not None or "zeppelin" in understood.unknown


WORDS = st.sampled_from([" ".join(phrase) for phrase in lexicon().phrases] + ["7", "999999999999", ".", ",", "zeppelin"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=3), st.integers(0, 7))
def test_any_words_give_a_program_that_runs(texts: list[str], code: int) -> None:
    board, history = Board([code if k % 7 == 0 else 0 for k in range(180)]), tuple[Turn, ...]()
    for text in texts:
        outcome = run(parse(said(text, board, history).program), DrawingState(board))
        assert outcome.error is None
        history = (*history, Utterance("Instructor", text), Executed(outcome.actions))
        board = board.apply(outcome.actions).board


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert 0 <= said(text, Board()).confidence <= 1


@pytest.mark.parametrize("text", ["red " * 500, "draw " * 400, "xq" * 1000, "1 " * 1000, "the tile above " * 130, "and, " * 400])
def test_a_long_text_is_read(text: str) -> None:
    assert parse(said(text, Board()).program) is not None
