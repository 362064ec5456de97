"""The figures that can be drawn: tiles about an anchor, from a phrase's name, size and marks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.meaning import Phrase
from harness.baselines.parser.everyday.hexagons.scene import outline
from harness.worlds.hexagons import COLUMNS, ROWS, Tile
from serialization.program import hexagons_geometry as g

Shape = list[Tile]
"""Tiles about `ANCHOR`; they may lie off the board."""
ANCHOR = Tile(4, 8)
LONGEST = COLUMNS

# A letter or picture as rows of a grid: `#` is a tile in the figure's color, letters name another color.
PICTURES = {
    "letter_t": ["#####", "..#..", "..#..", "..#..", "..#.."],
    "letter_l": ["#...", "#...", "#...", "#...", "####"],
    "letter_h": ["#...#", "#...#", "#####", "#...#", "#...#"],
    "letter_u": ["#...#", "#...#", "#...#", "#...#", "#####"],
    "letter_c": ["####", "#...", "#...", "#...", "####"],
    "letter_e": ["####", "#...", "###.", "#...", "####"],
    "letter_f": ["####", "#...", "###.", "#...", "#..."],
    "letter_i": ["#", "#", "#", "#", "#"],
    "letter_n": ["#...#", "##..#", "#.#.#", "#..##", "#...#"],
    "letter_z": ["#####", "...#.", "..#..", ".#...", "#####"],
    "letter_v": ["#...#", ".#.#.", "..#.."],
    "letter_y": ["#...#", ".#.#.", "..#..", "..#..", "..#.."],
    "letter_o": [".###.", "#...#", "#...#", "#...#", ".###."],
    "letter_a": [".###.", "#...#", "#####", "#...#", "#...#"],
    "letter_b": ["###.", "#..#", "###.", "#..#", "###."],
    "letter_d": ["###.", "#..#", "#..#", "#..#", "###."],
    "letter_k": ["#..#", "#.#.", "##..", "#.#.", "#..#"],
    "letter_m": ["#...#", "##.##", "#.#.#", "#...#", "#...#"],
    "letter_p": ["###.", "#..#", "###.", "#...", "#..."],
    "letter_r": ["###.", "#..#", "###.", "#.#.", "#..#"],
    "letter_s": ["####", "#...", "####", "...#", "####"],
    "letter_w": ["#...#", "#...#", "#.#.#", "##.##", "#...#"],
    "boat": ["..#...", "..##..", "..###.", "..#...", "######", ".####."],
    "fish": [".###..#", "#######", ".###..#"],
    "ladder": ["#.#", "###", "#.#", "###", "#.#", "###", "#.#"],
    "house": ["..R..", ".RRR.", "RRRRR", "#####", "##D##", "##D##"],
    "tree": ["..G..", ".GGG.", "GGGGG", "..K..", "..K.."],
    "heart": [".#.#.", "#####", "#####", ".###.", "..#.."],
    "face": [".#####.", "#######", "##E#E##", "#######", "##MMM##", ".#####."],
    "arrow": ["..#..", "...#.", "#####", "...#.", "..#.."],
    "rainbow": [mark * COLUMNS for mark in "ROYGBP"],
}
TINTS = {
    "R": "red", "O": "orange", "Y": "yellow", "G": "green", "B": "blue", "P": "purple",
    "K": "black", "D": "blue", "E": "blue", "M": "blue",
}  # fmt: skip
PARTS = {"roof": "R", "door": "D", "trunk": "K", "leaves": "G", "crown": "G", "eyes": "E", "mouth": "M"}
"""The marks of a picture's parts, by their names."""


def length_of(phrase: Phrase, default: int) -> int:
    sizes = phrase.sizes
    told = sizes.get("long") or sizes.get("tiles") or sizes.get("tall") or sizes.get("wide") or sizes.get("side")
    if told:
        return min(told, LONGEST)
    return max(2, default - 2) if "small" in phrase.marks else min(2 * default, 10) if phrase.marks & {"big", "long"} else default


def _layers(tiles: int, hollow: bool) -> int | None:
    """The radius of a ring, or of a filled hexagon, with this many tiles; None if there is none."""
    counts = {6 * radius if hollow else 3 * radius * (radius + 1) + 1: radius for radius in range(1, 6)}
    return counts.get(tiles)


def _radius(phrase: Phrase, hollow: bool) -> int:
    sizes = phrase.sizes
    if "tiles" in sizes:
        found = _layers(sizes["tiles"], hollow) or _layers(sizes["tiles"], not hollow)
        return found or next((r for r in range(1, 5) if 3 * r * (r + 1) + 1 >= sizes["tiles"]), 4)
    if "around" in sizes:
        return max(1, min(sizes["around"], 4))
    if "side" in sizes:
        return max(1, min(sizes["side"] - 1, 4))
    across = sizes.get("wide") or sizes.get("tall") or sizes.get("long")
    if across:
        return max(1, min(across // 2, 4))
    return 2 if "big" in phrase.marks else 1


def ring(phrase: Phrase) -> list[Shape]:
    if "filled" in phrase.marks:
        return hexagon(phrase)
    return [g.ring(ANCHOR, _radius(phrase, hollow=True))]


def hexagon(phrase: Phrase) -> list[Shape]:
    radius = _radius(phrase, hollow="hollow" in phrase.marks)
    if "hollow" in phrase.marks:
        return [g.ring(ANCHOR, radius)]
    tiles = [ANCHOR, *(tile for layer in g.grown([ANCHOR], radius) for tile in layer)]
    return [tiles[: max(1, phrase.sizes.get("tiles", len(tiles)))]]


def line(phrase: Phrase) -> list[Shape]:
    length = length_of(phrase, 5)
    marks = phrase.marks
    upright = [Tile(ANCHOR.row + k, ANCHOR.column) for k in range(length)]
    (level,), (slanted,) = row(phrase), diagonal(phrase)
    if "wide" in phrase.sizes and "long" in phrase.sizes and phrase.sizes["wide"] > 1:
        wide = range(phrase.sizes["wide"])
        return [
            [Tile(t.row, t.column + k) for k in wide for t in upright],
            [Tile(t.row + k, t.column) for k in wide for t in level],
        ]
    if "apart" in marks and "tiles" in phrase.sizes:
        spaced = replace(phrase, marks=marks - {"apart"}, sizes={"tiles": min(2 * length - 1, LONGEST)})
        return [shape[::2] for shape in line(spaced)]
    if marks & {"level"} or (set(phrase.sizes) == {"wide"} and phrase.sizes["wide"] > 1):
        return [level]
    if "diagonal" in marks:
        return [slanted]
    if "upright" in marks or "tall" in phrase.sizes:
        return [upright]
    return [upright, level, slanted]


def row(phrase: Phrase) -> list[Shape]:
    return [[Tile(ANCHOR.row, ANCHOR.column + k) for k in range(length_of(phrase, 5))]]


def column(phrase: Phrase) -> list[Shape]:
    return [[Tile(ANCHOR.row + k, ANCHOR.column) for k in range(min(length_of(phrase, 5), ROWS))]]


def diagonal(phrase: Phrase) -> list[Shape]:
    return [g.ray(ANCHOR, "up-right", length_of(phrase, 5))]


def triangle(phrase: Phrase) -> list[Shape]:
    tiles = phrase.sizes.get("tiles")
    sizes = {size * (size + 1) // 2: size for size in range(2, 8)}
    size = sizes.get(tiles) if tiles else None
    size = size or phrase.sizes.get("side") or length_of(phrase, 3)
    ways = {"pointing_left": "right", "pointing_right": "left", "up": "down", "down": "up"}
    way = next((ways[mark] for mark in ways if mark in phrase.marks), "right")
    made = g.triangle(ANCHOR, way, max(2, min(size, 8)))
    if "hollow" in phrase.marks:
        made = outline(made)
    return [made]


def diamond(phrase: Phrase) -> list[Shape]:
    """Two triangles that share a side: four tiles that touch, or nine."""
    side = max(2, min(phrase.sizes.get("side", 3 if "big" in phrase.marks else 2), 4))
    if phrase.sizes.get("tiles") == 9:
        side = 3
    found = [g.next_tile(g.next_tile(ANCHOR, "up-right", i), "down-right", k) for i in range(side) for k in range(side)]
    if "hollow" in phrase.marks:
        found = outline(found)
    return [found]


def box(phrase: Phrase) -> list[Shape]:
    """A rectangle of columns and rows."""
    sizes = phrase.sizes
    default = 5 if "big" in phrase.marks else 2 if "small" in phrase.marks else 3
    side = sizes.get("side") or {4: 2, 9: 3, 16: 4, 25: 5}.get(sizes.get("tiles", 0)) or sizes.get("long")
    wide = sizes.get("wide") or side or default + (phrase.word == "rectangle")
    tall = sizes.get("tall") or sizes.get("long") or side or default
    wide, tall = min(wide, COLUMNS), min(tall, ROWS)
    tiles = [Tile(ANCHOR.row + r, ANCHOR.column + c) for r in range(tall) for c in range(wide)]
    if "hollow" in phrase.marks:
        tiles = [
            t
            for t in tiles
            if t.row in (ANCHOR.row, ANCHOR.row + tall - 1) or t.column in (ANCHOR.column, ANCHOR.column + wide - 1)
        ]
    return [tiles]


def _arms(ways: list[str], phrase: Phrase, default: int) -> Shape:
    arm = max(1, min(length_of(phrase, default) // 2, 4))
    return [ANCHOR, *(g.next_tile(ANCHOR, way, k) for way in ways for k in range(1, arm + 1))]


def cross(phrase: Phrase) -> list[Shape]:
    return [_arms(["up", "down", "left", "right"], phrase, 5)]


def star(phrase: Phrase) -> list[Shape]:
    ways = ["up", "up-right", "down-right", "down", "down-left", "up-left"]
    slanted = phrase.word in ("x", "an x", "big x", "letter x", "x shape")
    return [_arms([way for way in ways if "-" in way] if slanted else ways, phrase, 5)]


def zigzag(phrase: Phrase) -> list[Shape]:
    tiles, ways = [ANCHOR], ["up-right", "up-right", "down-right", "down-right"]
    for k in range(length_of(phrase, 9) - 1):
        tiles.append(g.next_tile(tiles[-1], ways[k % 4]))
    return [tiles]


def stairs(phrase: Phrase) -> list[Shape]:
    tiles = [ANCHOR]
    for k in range(length_of(phrase, 7) - 1):
        tiles.append(g.next_tile(tiles[-1], ("up", "up-right")[k % 2]))
    return [tiles]


def snake(phrase: Phrase) -> list[Shape]:
    """A line with a bend that does not touch itself."""
    length = length_of(phrase, 6)
    head = g.ray(ANCHOR, "down", (length + 1) // 2)
    return [[*head, *g.ray(g.next_tile(head[-1], "down-right"), "down-right", length // 2)]]


def picture(phrase: Phrase) -> list[Shape]:
    return [list(_marks(phrase))]


def _marks(phrase: Phrase) -> dict[Tile, str]:
    """The mark of each tile of a picture; a rainbow of columns lies on its side."""
    rows = _strokes(phrase) or PICTURES[phrase.head]
    if phrase.head == "rainbow" and (
        "upright" in phrase.marks or any(li.target and li.target.head == "column" for li in phrase.links)
    ):
        rows = ["ROYGBP"] * ROWS
    if phrase.head == "arrow":
        rows = _pointing(rows, phrase.marks)
    return {
        Tile(ANCHOR.row + r, ANCHOR.column + c): mark for r, text in enumerate(rows) for c, mark in enumerate(text) if mark != "."
    }


def _pointing(rows: list[str], marks: set[str]) -> list[str]:
    """The rows of an arrow that points to the right, turned as the marks say."""
    if marks & {"up", "down"}:
        rows = ["".join(column) for column in zip(*rows, strict=True)]
        return rows[::-1] if "up" in marks else rows
    return [row[::-1] for row in rows] if "pointing_left" in marks else rows


def _strokes(phrase: Phrase) -> list[str]:
    """A T or an L whose two strokes have lengths of their own."""
    if "second" not in phrase.sizes:
        return []
    first, second = min(phrase.sizes["first"], ROWS), min(phrase.sizes["second"], ROWS)
    if phrase.head == "letter_t":
        return ["#" * first] + ["." * (first // 2) + "#"] * second
    return ["#"] * (first - 1) + ["#" * (second + 1)] if phrase.head == "letter_l" else []


def tile(phrase: Phrase) -> list[Shape]:
    return [[ANCHOR]]


def tints(phrase: Phrase) -> dict[Tile, str]:
    """A picture's own colors: a house has a red roof."""
    if phrase.head not in PICTURES:
        return {}
    return {tile: TINTS[mark] for tile, mark in _marks(phrase).items() if mark in TINTS}


def parts(phrase: Phrase) -> dict[str, list[Tile]]:
    """The tiles of a picture's parts: the roof and the door of a house."""
    marks = _marks(phrase) if phrase.head in PICTURES and phrase.head != "rainbow" else {}
    named = {name: [tile for tile in marks if marks[tile] == mark] for name, mark in PARTS.items()}
    return {name: tiles for name, tiles in named.items() if tiles}


SHAPES: dict[str, Callable[[Phrase], list[Shape]]] = {
    "tile": tile, "line": line, "row": row, "column": column, "ring": ring, "flower": hexagon, "hexagon": hexagon,
    "triangle": triangle, "diamond": diamond, "box": box, "cross": cross, "star": star, "zigzag": zigzag, "stairs": stairs,
    "snake": snake, "diagonal": diagonal, "stem": line, **dict.fromkeys(PICTURES, picture),
}  # fmt: skip
"""Functions from a figure's phrase to its shapes, by name; several shapes if the words are ambiguous, the likeliest first."""
