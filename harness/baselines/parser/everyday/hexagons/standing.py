"""Finds what stands on the board by its name: a ring, the red row, the first bar of a chart."""

from __future__ import annotations

from collections import Counter

from harness.baselines.parser.everyday.hexagons import regions
from harness.baselines.parser.everyday.hexagons.meaning import Phrase
from harness.baselines.parser.everyday.hexagons.picking import looks_like, runs
from harness.baselines.parser.everyday.hexagons.scene import (
    ALL,
    DrawingScene,
    Tiles,
    common,
    extent,
    flat,
    near,
    number_of,
    rectangle,
)
from harness.worlds.hexagons import COLUMNS, DIRECTIONS, ROWS, Tile
from serialization.program import hexagons_geometry as g


def board(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    return list(ALL)


def background(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    named = scene.names.get(phrase.word)
    return list(named) if named and scene.main_color(named) else scene.blank_of(ALL)


def said_line(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """`the red row`, `that column`, `the two rows`: lines that are painted."""
    kind, size = phrase.head, ROWS if phrase.head == "column" else COLUMNS
    tiles = scene.of_colors(phrase.colors) if phrase.colors else list(scene.focus) if phrase.det == "this" else scene.painted
    if phrase.det == "the" and not phrase.colors and scene.focus:
        whole = regions.line_tiles(kind, list({number_of(kind, tile) for tile in scene.focus}))
        if sorted(scene.focus) == sorted(whole):
            return list(scene.focus)
    counts = Counter(number_of(kind, tile) for tile in tiles)
    full = [number for number, count in counts.items() if count == size]
    if phrase.det == "this" and len(counts) == 1:
        return regions.line_tiles(kind, list(counts))
    found = [tile for tile in tiles if number_of(kind, tile) in full]
    if found:
        return found
    pieces = [piece for piece in scene.pieces(tiles) if len({number_of(kind, t) for t in piece}) == 1 < len(piece)]
    if phrase.det in ("the", "this", "both", "all") or phrase.colors:
        return flat(pieces) or None
    return None


def filled(tiles: Tiles) -> list[Tile]:
    return [*tiles, *g.enclosed(tiles)]


def bar(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """`the first bar` of a bar chart."""
    index = phrase.ordinals[0] - 1 if phrase.ordinals[0] > 0 else len(scene.bars) - 1
    column = scene.bars[index] if index < len(scene.bars) else -1
    return [tile for tile in scene.painted if tile.column == column] or None


def way_of(sides: list[str]) -> str:
    """The direction of some sides: the lower left is `down-left`."""
    names = {"top": "up", "bottom": "down"}
    way = "-".join(names.get(side, side) for side in sorted(sides, key=lambda side: side in ("left", "right")))
    return way if way in DIRECTIONS else ""


def crossing(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """Where the last two lines cross."""
    lines = [done.tiles for done in scene.done if done.tiles][-2:]
    return common(lines[0], lines[1]) if len(lines) == 2 else None


def feature(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """A part of a picture that stands: `the roof`."""
    return list(scene.names.get(phrase.word, ())) or None


def neighboring(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """The tiles that touch what was mentioned last: `its neighbors`."""
    return near(filled(scene.focus)) or None


def figure(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """A ring, a flower, a line that stands: the pieces that look like it, the named one first."""
    if phrase.word in scene.names and not phrase.colors:
        named = scene.painted_of(scene.names[phrase.word])
        if named and not phrase.plural:
            return named
    candidates = scene.of_colors(phrase.colors) if phrase.colors else scene.painted
    if not candidates:
        return None
    if phrase.ordinals and scene.bars and phrase.head == "line":
        return bar(phrase, scene)
    if phrase.marks & {"level", "upright"}:
        return runs(candidates, "level" in phrase.marks)
    pieces = scene.pieces(candidates, by_color=phrase.head != "flower" or bool(phrase.colors))
    fitting = [piece for piece in pieces if looks_like(phrase.head, piece)]
    if phrase.det == "other":
        fitting = [piece for piece in fitting if not set(piece) & set(scene.focus)]
    if phrase.head == "flower" and not fitting:
        fitting = [piece for piece in scene.pieces(candidates, by_color=False) if len(piece) > 5]
    if not fitting:
        fitting = pieces if phrase.colors or len(pieces) == 1 or phrase.plural else _in_focus(pieces, scene)
    chosen = phrase.ordinals or phrase.sides or phrase.links or phrase.marks & {"largest", "least"}
    if len(fitting) > 1 and not (chosen or phrase.plural or phrase.det in ("all", "both", "each")):
        fitting = (_in_focus(fitting, scene) or fitting)[-1:]
    return flat(fitting) or None


def _in_focus(pieces: list[list[Tile]], scene: DrawingScene) -> list[list[Tile]]:
    """The pieces that were mentioned last."""
    return [piece for piece in pieces if set(piece) & set(scene.focus)]


def following(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """`the next two rows`, `the next six tiles`: after what was mentioned last."""
    tiles, count = list(scene.focus), phrase.count or 1
    if not tiles:
        return None
    top, bottom, left, right = extent(tiles)
    head = phrase.head
    if head not in ("row", "column", "tile"):
        head = "row" if right - left == COLUMNS - 1 else "column" if bottom - top == ROWS - 1 else "tile"
    far = scene.gap + 1
    scene.gap = 0
    if head == "row" or (head == "tile" and left == right and top != bottom):
        return rectangle(bottom + far, bottom + far + count - 1, left, right)
    return rectangle(top, bottom, right + far, right + far + count - 1)
