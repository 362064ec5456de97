"""What a clause is about, and how it is painted in several colors."""

from __future__ import annotations

from collections.abc import Mapping

from harness.baselines.parser.everyday.hexagons.meaning import Clause
from harness.baselines.parser.everyday.hexagons.scene import (
    Scene,
    Tiles,
    ordered,
)
from harness.baselines.parser.everyday.hexagons.selecting import select
from harness.worlds.hexagons import Tile, on_board

Painting = Mapping[Tile, str]


SIDE_WAYS = {"top": "up", "bottom": "down", "left": "left", "right": "right", "above": "up", "below": "down"}


def target_tiles(clause: Clause, scene: Scene) -> list[Tile] | None:
    """What a clause is about: its targets, else what was spoken of last."""
    if not clause.targets:
        return list(scene.focus) or scene.painted or None
    found: list[Tile] = []
    for target in clause.targets:
        tiles = select(target, scene)
        if tiles:
            found += tiles
    return ordered(found) or None


def colors_of(tiles: Tiles, scene: Scene) -> dict[Tile, str]:
    return {tile: scene.board[tile] for tile in tiles if on_board(*tile) and scene.board[tile] != "white"}


def paint_all(painting: Painting, scene: Scene) -> list[Tile]:
    for tile, color in painting.items():
        scene.paint([tile], color)
    return [tile for tile in painting if on_board(*tile)]
