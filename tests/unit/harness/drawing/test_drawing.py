from __future__ import annotations

import io
from collections import Counter
from xml.etree import ElementTree

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from harness.drawing import hexagons, minecraft, svg
from harness.drawing.minecraft import PALETTE, project, shade
from harness.drawing.svg import png_bytes
from harness.worlds.hexagons import COLUMNS, ROWS, Board, Paint, Tile
from harness.worlds.minecraft import COLORS as BLOCK_COLORS
from harness.worlds.minecraft import Block, Pose, Structure

SVG = "{http://www.w3.org/2000/svg}"
RUN = "l4 7-4 7"  # the right side of one tile

boards = st.lists(st.integers(0, 7), min_size=180, max_size=180).map(Board)
cells = st.tuples(st.integers(-5, 5), st.integers(1, 4), st.integers(-5, 5))
structures = st.dictionaries(cells, st.sampled_from(BLOCK_COLORS), max_size=25).map(
    lambda d: Structure.of((*cell, color) for cell, color in d.items())
)
poses = st.builds(Pose, st.floats(-60, 60), st.floats(1, 20), st.floats(-60, 60), st.floats(-360, 360), st.floats(-90, 90))


def pixels(picture: str, scale: float = 1.0) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png_bytes(picture, scale=scale))).convert("RGB"))


def rgb(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


def view_box(picture: str) -> tuple[float, ...]:
    return tuple(map(float, ElementTree.fromstring(picture).attrib["viewBox"].split()))


def uses(picture: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(picture).iter(f"{SVG}use"))


# Hexagons


@given(boards)
@settings(max_examples=10)
def test_every_tile_has_its_color_in_the_png(board: Board) -> None:
    image = pixels(hexagons.board_svg(board))
    left, top, *_ = view_box(hexagons.board_svg(board))
    for row in range(ROWS):
        for column in range(COLUMNS):
            x, y = hexagons.center((row, column))
            assert tuple(image[round((y - top) * 2), round((x - left) * 2)]) == rgb(hexagons.PALETTE[board[row, column]])


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


def first_hit(blocks: tuple[Block, ...], x: float, y: float, z: float) -> Block | None:
    """The block that a viewer sees at the image point of (x, y, z): the nearest one on the line of sight."""
    # Moved in this direction, away from the viewer, a point keeps its place in the picture: -4 * (1 + 1) - 9 * dy = 0.
    away = np.array([1.0, -8 / 9, 1.0])
    origin = np.array([x, y, z]) - 40 * away
    best: tuple[float, Block] | None = None
    for block in blocks:
        low = (np.array(block[:3]) - origin) / away
        high = (np.array(block[:3]) + 1 - origin) / away
        enter, leave = np.minimum(low, high).max(), np.maximum(low, high).min()
        if enter < leave and (best is None or enter < best[0]):
            best = enter, block
    return best[1] if best else None


@given(structures)
def test_the_png_shows_what_a_viewer_would_see(structure: Structure) -> None:
    blocks = structure.blocks()
    picture = minecraft.structure_svg(structure)
    left, top, *_ = view_box(picture)
    image = pixels(picture, scale=3)
    for x, y, z, _ in blocks:
        # A point on each face that does not lie on an edge of any cube in the picture.
        for point in ((x + 0.3125, y + 1, z + 0.6875), (x + 0.375, y + 0.5, z), (x, y + 0.5, z + 0.375)):
            seen = first_hit(blocks, *point)
            assert seen is not None
            px, py = project(*point)
            color = tuple(image[int((py - top) * 6), int((px - left) * 6)])
            assert color in {rgb(shade(PALETTE[seen.color], factor)) for factor in (1.0, 0.84, 0.66)}


def test_a_structures_difference_has_a_sign_on_every_changed_cell() -> None:
    before = Structure.of([(0, 1, 0, "red"), (1, 1, 0, "blue")])
    gold = Structure.of([(1, 1, 0, "blue"), (3, 1, 3, "green"), (-4, 1, 4, "yellow")])
    predicted = Structure.of([(1, 1, 0, "blue"), (3, 1, 3, "green"), (4, 1, -4, "purple")])
    picture = minecraft.difference_svg(gold, predicted, before)
    signs = {(0, 1, 0): svg.CHECK, (3, 1, 3): svg.CHECK, (-4, 1, 4): svg.DIAMOND, (4, 1, -4): svg.CROSS}
    for cell, sign in signs.items():
        x, y = project(*cell)
        assert f"M{x} {y - 8.5}{sign}" in picture
    assert Counter(u.attrib["href"] for u in uses(picture))["#mc-removed"] == 2
    assert minecraft.difference_svg(before, before, before) == minecraft.structure_svg(before)


@given(structures, poses)
def test_the_builder_is_always_inside_the_picture(structure: Structure, pose: Pose) -> None:
    picture = minecraft.structure_svg(structure, pose=pose)
    left, top, width, height = view_box(picture)
    figures = [u for u in uses(picture) if u.attrib["href"] == "#mc-builder"]
    assert len(figures) == 2
    for figure in figures:
        x, y = float(figure.attrib["x"]), float(figure.attrib["y"])
        assert left + 3 <= x <= left + width - 3
        assert top + 15 <= y <= top + height
