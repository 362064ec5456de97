"""Mirrors and turns what stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.meaning import Clause, targets_of
from harness.baselines.parser.everyday.hexagons.scene import DrawingScene, Tiles, common, extent
from harness.baselines.parser.everyday.hexagons.selecting import select, target_tiles
from harness.worlds.hexagons import COLUMNS, ROWS, Tile
from serialization.program import hexagons_geometry as g


def mirror(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Paints a mirror image beside what stands; a picture that is flipped is mirrored in its place."""
    flipped = clause.verb in ("flip", "upend")
    targets = [target for target in clause.targets if target.head not in ("side", "half") and target.det != "other"]
    whole = any(target.head in ("board", "all") for target in targets)
    tiles = scene.painted if whole else common(target_tiles(replace(clause, targets=targets), scene) or [], scene.painted)
    tiles = tiles or scene.painted
    if not tiles:
        return None
    places = [place.head for place in targets_of(replace(clause, targets=targets).all_links)]
    onto = clause.moves or places or _axis(clause, scene) or scene.axis
    _, _, left, right = extent(tiles)
    flipped = flipped or (whole and not onto and left < COLUMNS // 2 <= right and not clause.marks & {"upright"})
    to = _mirror_of(clause, tiles, scene, in_place=flipped and not whole and "half" not in places)
    painting = scene.colors_of(tiles)
    if flipped:
        scene.paint(tiles, "white")
    scene.focus = scene.paint_all(painting, to)
    return scene.focus


def _mirror_of(clause: Clause, tiles: Tiles, scene: DrawingScene, in_place: bool) -> Callable[[Tile], Tile]:
    axis = _axis(clause, scene) or scene.axis
    if axis:
        top, bottom, left, right = extent(axis)
        if bottom - top >= right - left and len({tile.column for tile in axis}) == 1:
            return lambda tile: Tile(tile.row, left + right - tile.column)
        return lambda tile: Tile(top + bottom - tile.row, tile.column)
    top, bottom, left, right = extent(tiles) if in_place else (0, ROWS - 1, 0, COLUMNS - 1)
    if _mirrors_down(clause, tiles):
        return lambda tile: Tile(top + bottom - tile.row, tile.column)
    return lambda tile: Tile(tile.row, left + right - tile.column)


def axis(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """`use the blue column as a mirror`."""
    scene.axis = target_tiles(clause, scene) or ()
    return ()


def _axis(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """The line over which to mirror, if one is named."""
    for place in targets_of(clause.all_links, "above", "around", "in", "beside"):
        if place.head in ("line", "column", "row", "thing", "", "it") and not place.sides:
            tiles = select(place, scene)
            if tiles and (len({t.row for t in tiles}) == 1 or len({t.column for t in tiles}) == 1):
                return tiles
    return None


def _mirrors_down(clause: Clause, tiles: Tiles) -> bool:
    """Whether top and bottom are exchanged, rather than left and right."""
    said = {side for target in clause.targets + targets_of(clause.all_links) for side in target.sides}
    said |= {way for way, _ in clause.moves} | clause.marks | ({"down"} if clause.verb == "upend" else set())
    if said & {"level", "left", "right"}:
        return False
    if said & {"upright", "top", "bottom", "up", "down", "upend"}:
        return True
    _top, _bottom, left, right = extent(tiles)
    return left < COLUMNS / 2 <= right


def rotate(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Turns what stands about its middle, or about a tile that is named; by half a turn if no other is named."""
    around = targets_of(clause.target_links, "around")
    targets = [replace(target, links=[link for link in target.links if link.relation != "around"]) for target in clause.targets]
    tiles = common(target_tiles(replace(clause, targets=targets), scene) or [], scene.painted)
    if not tiles:
        return None
    center = g.middle((select(around[0], scene) if around else None) or tiles)
    sixths = clause.sizes.get("turns", 3)
    painting = scene.colors_of(tiles)
    scene.paint(tiles, "white")
    scene.focus = scene.paint_all(painting, lambda tile: g.turned(tile, sixths, center))
    return scene.focus
