import hashlib
import io
from xml.etree import ElementTree

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageColor

from harness.drawing import hexagons, minecraft, svg
from harness.drawing.minecraft import project
from harness.drawing.svg import png_bytes
from harness.worlds.hexagons import COLUMNS, ROWS, Board, Paint, Tile
from harness.worlds.minecraft import Structure

boards = st.lists(st.integers(0, 7), min_size=180, max_size=180).map(Board)


# Hexagons


@given(boards)
@settings(max_examples=10)
def test_every_tile_has_its_color_in_the_png(board: Board) -> None:
    picture = hexagons.board_svg(board)
    image = np.asarray(Image.open(io.BytesIO(png_bytes(picture, scale=1.0))).convert("RGB"))
    left, top, *_ = map(float, ElementTree.fromstring(picture).attrib["viewBox"].split())
    for row in range(ROWS):
        for column in range(COLUMNS):
            x, y = hexagons.center((row, column))
            color = ImageColor.getrgb(hexagons.PALETTE[board[row, column]])
            assert tuple(image[round((y - top) * 2), round((x - left) * 2)]) == color


def test_a_difference_has_separate_signs_for_right_wrong_and_missing() -> None:
    before = Board().apply([Paint(0, 0, "red")]).board
    gold = before.apply([Paint(2, 2, "blue"), Paint(3, 3, "green"), Paint(4, 4, "orange")]).board
    predicted = before.apply([Paint(2, 2, "blue"), Paint(3, 3, "black"), Paint(5, 5, "yellow")]).board
    signs = {
        tile: {
            sign
            for sign, path in (("right", svg.CHECK), ("wrong", svg.CROSS), ("missing", svg.DIAMOND))
            if "M{} {}".format(*hexagons.center(tile)) + path in hexagons.difference_svg(gold, predicted, before)
        }
        for tile in (Tile(0, 0), Tile(2, 2), Tile(3, 3), Tile(4, 4), Tile(5, 5))
    }
    assert list(signs.values()) == [set(), {"right"}, {"wrong", "missing"}, {"missing"}, {"wrong"}]


# Minecraft


def test_a_structure_is_drawn_as_in_every_version() -> None:
    structure = Structure.of([(x, y, z, "red" if x == z else "blue") for x in (-1, 0) for y in (1, 2) for z in (-1, 0)])
    drawn = hashlib.sha256(minecraft.structure_svg(structure).encode()).hexdigest()
    assert drawn[:32] == "af1aa8defdfc8f82b57123b324c96517"


def test_a_structures_difference_has_a_sign_on_every_changed_cell() -> None:
    before = Structure.of([(0, 1, 0, "red"), (1, 1, 0, "blue")])
    gold = Structure.of([(1, 1, 0, "blue"), (3, 1, 3, "green"), (-4, 1, 4, "yellow")])
    predicted = Structure.of([(1, 1, 0, "blue"), (3, 1, 3, "green"), (4, 1, -4, "purple")])
    picture = minecraft.difference_svg(gold, predicted, before)
    signs = {(0, 1, 0): svg.CHECK, (3, 1, 3): svg.CHECK, (-4, 1, 4): svg.DIAMOND, (4, 1, -4): svg.CROSS}
    for cell, sign in signs.items():
        x, y = project(*cell)
        assert f"M{x} {y - 8.5}{sign}" in picture
    assert picture.count('href="#mc-removed"') == 2
    assert minecraft.difference_svg(before, before, before) == minecraft.structure_svg(before)
