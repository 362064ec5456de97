"""The sample's drawing procedures: what is said, and the tiles it means. Rows and columns count from 0 here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.worlds.hexagons import COLUMNS, ROWS, Board, Paint, Tile, neighbors, step


class Procedure(NamedTuple):
    split: str
    image_id: str
    category: str
    steps: tuple[tuple[str, list[Paint]], ...]


def paint(color: str, tiles: Iterable[tuple[int, int]]) -> list[Paint]:
    return [Paint(row, column, color) for row, column in tiles]


def grid(columns: Iterable[int], rows: Iterable[int]) -> list[tuple[int, int]]:
    rows = list(rows)
    return [(row, column) for column in columns for row in rows]


def ring(row: int, column: int) -> tuple[Tile, ...]:
    return neighbors(Tile(row, column))


def line(row: int, column: int, direction: str, count: int) -> list[Tile]:
    return [step(Tile(row, column), direction, i) for i in range(count)]


def lower(tiles: Iterable[Tile], rows: int) -> list[Tile]:
    return [Tile(tile.row + rows, tile.column) for tile in tiles]


_DIAGONAL = line(0, 0, "down-right", 8)
_STAIRS = [(column, 3 + i) for i, column in enumerate(range(1, 16, 2))]
_CENTERS = (2, 6, 10, 14)

PROCEDURES = (
    Procedure(
        "train",
        "P01C01T90",
        "simple",
        (
            ("In the 4th column from the left, paint the bottom six tiles blue.", paint("blue", grid([3], range(4, 10)))),
            ("Do the same in the 12th column.", paint("blue", grid([11], range(4, 10)))),
            (
                "Now connect the tops of both posts: in columns 5 through 11, color the 5th tile from the top orange.",
                paint("orange", grid(range(4, 11), [4])),
            ),
            ("Check that the board is as before, two blue posts and one orange beam.", []),
        ),
    ),
    Procedure(
        "train",
        "P01C07T91",
        "composed objects",
        (
            (
                "Find the fourth tile in column 5 and color it yellow. Then make a flower by painting the six tiles "
                "around it purple.",
                paint("yellow", [(3, 4)]) + paint("purple", ring(3, 4)),
            ),
            (
                "Draw a green stem under the flower. It starts right below the lowest purple tile and runs straight down to the "
                "bottom edge of the board.",
                paint("green", grid([4], range(5, 10))),
            ),
            (
                "Repeat steps 1 and 2 six columns to the right, but make this flower red with a black center.",
                paint("black", [(3, 10)]) + paint("red", ring(3, 10)) + paint("green", grid([10], range(5, 10))),
            ),
            ("Between the two stems, fill the bottom tile of every column with green.", paint("green", grid(range(5, 10), [9]))),
        ),
    ),
    Procedure(
        "train",
        "P01C02T92",
        "bounded iteration",
        (
            (
                "Paint the 1st, 3rd, 5th, 7th and 9th columns from the left in full, alternating their colors: red, yellow, red, "
                "yellow, red.",
                paint("red", grid([0, 4, 8], range(ROWS))) + paint("yellow", grid([2, 6], range(ROWS))),
            ),
            (
                "In each of the yellow columns, turn every other tile orange, beginning with the top one.",
                paint("orange", grid([2, 6], range(0, ROWS, 2))),
            ),
            (
                "Skip a column after the last red one, then color just the top half of the next column purple.",
                paint("purple", grid([10], range(5))),
            ),
            (
                "Continue in the same way, one column blank and one column half filled, until you reach the right edge.",
                paint("purple", grid([12, 14, 16], range(5))),
            ),
        ),
    ),
    Procedure(
        "train",
        "P01C06T93",
        "symmetry",
        (
            (
                "Start on the bottom tile of the tenth column. Going up and to the left, draw a diagonal of five blue tiles, "
                "that bottom one included.",
                paint("blue", line(9, 9, "up-left", 5)),
            ),
            (
                "Mirror this line to the right so that you get a big V with its point at the bottom.",
                paint("blue", line(9, 9, "up-right", 5)),
            ),
            ("Put a red tile straight above the point of the V, leaving two blank tiles in between.", paint("red", [(6, 9)])),
        ),
    ),
    Procedure(
        "train",
        "P01C08T94",
        "other",
        (
            (
                "Beginning with the top left corner, go diagonally down to the right and color eight tiles green.",
                paint("green", _DIAGONAL),
            ),
            (
                "Lay a black line of eight tiles directly underneath the green one, so that each black tile touches the "
                "bottom of a green tile.",
                paint("black", lower(_DIAGONAL, 1)),
            ),
            (
                "Leave one diagonal blank below the black line and repeat both lines there, black first and green "
                "under it this time.",
                paint("black", lower(_DIAGONAL, 3)) + paint("green", lower(_DIAGONAL, 4)),
            ),
        ),
    ),
    Procedure(
        "dev",
        "P01C03T95",
        "conditional iteration",
        (
            ("Using orange, color the top three tiles of column two.", paint("orange", grid([1], range(3)))),
            ("Move two columns to the right and fill in four tiles from the top.", paint("orange", grid([3], range(4)))),
            (
                "Keep going like that, adding one more tile each time you move two columns over, until a column is "
                "completely filled.",
                [p for column, count in _STAIRS[2:] for p in paint("orange", grid([column], range(count)))],
            ),
            (
                "In every column you worked on, now color the lowest orange tile black.",
                paint("black", [(count - 1, column) for column, count in _STAIRS]),
            ),
        ),
    ),
    Procedure(
        "dev",
        "P01C04T96",
        "conditions",
        (
            (
                "Color the third and the eighth row from the top blue, but only in the even-numbered columns.",
                paint("blue", grid(range(1, COLUMNS, 2), [2, 7])),
            ),
            (
                "Look for blue tiles in the right half of the board and recolor those yellow.",
                paint("yellow", grid(range(9, COLUMNS, 2), [2, 7])),
            ),
            (
                "Take the leftmost blue tile of the upper row. Paint every tile that touches it red.",
                paint("red", ring(2, 1)),
            ),
        ),
    ),
    Procedure(
        "test",
        "P01C02T97",
        "bounded iteration",
        (
            (
                "Make a ring of six green tiles whose empty center is the third tile of the third column.",
                paint("green", ring(2, 2)),
            ),
            (
                "Place three more of these rings to the right of it at the same height, with centers in columns 7, 11 and 15.",
                [p for column in _CENTERS[1:] for p in paint("green", ring(2, column))],
            ),
            (
                "Fill the middles of the rings, from left to right, with red, blue, red and blue.",
                paint("red", [(2, 2), (2, 10)]) + paint("blue", [(2, 6), (2, 14)]),
            ),
            (
                "Copy the whole row of rings five tiles further down, with red and blue swapped.",
                [p for column in _CENTERS for p in paint("green", ring(7, column))]
                + paint("blue", [(7, 2), (7, 10)])
                + paint("red", [(7, 6), (7, 14)]),
            ),
        ),
    ),
    Procedure(
        "test",
        "P01C05T98",
        "recursion",
        (
            (
                "In the rightmost column paint a purple bar that covers the fourth through seventh tiles.",
                paint("purple", grid([17], range(3, 7))),
            ),
            (
                "Starting at the tile that touches the top tile of the bar on its upper left, draw a yellow diagonal up and "
                "to the left until it hits the upper edge of the grid.",
                paint("yellow", line(3, 16, "up-left", 7)),
            ),
            (
                "Do likewise from the bottom end of the bar, this time heading down and to the left to the lower edge.",
                paint("yellow", line(7, 16, "down-left", 6)),
            ),
        ),
    ),
)


def records(split: str) -> list[dict[str, object]]:
    """The split's procedures as the release writes them, indices ascending over the whole sample."""
    return [_record(index, procedure) for index, procedure in enumerate(PROCEDURES) if procedure.split == split]


def _record(index: int, procedure: Procedure) -> dict[str, object]:
    board, entries = Board(), [[0, "NONE", Board().cells.ravel().tolist()]]
    for number, (instruction, actions) in enumerate(procedure.steps, start=1):
        board, ignored = board.apply(actions)
        assert not ignored, f"{procedure.image_id} step {number}: {ignored}"
        entries.append([number, instruction, board.cells.ravel().tolist()])
    count = len(procedure.steps)
    return {
        "index": index,
        "annotation_round": 1,
        "category": procedure.category,
        "image_id": procedure.image_id,
        "instructor_id": 1,
        "number_of_drawing_steps": count,
        "agreement_tags": ["A"] * count,
        "agreement_scores": [[1.0, 1.0, 1.0]] * count,
        "drawing_procedure": entries,
    }
