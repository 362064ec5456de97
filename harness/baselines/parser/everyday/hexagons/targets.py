"""What a clause is about, and how it is painted in several colors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.meaning import Clause, Phrase
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


def as_many(clause: Clause, scene: Scene) -> Clause:
    """`as many orange ones as there are green ones`."""
    like = clause.as_many
    tiles = (select(like, scene) if like is not None else None) or []
    return replace(clause, targets=[replace(clause.targets[0], count=len(tiles) or None)], as_many=None)


def up_to_total(clause: Clause, scene: Scene) -> Clause:
    """`add red dots so that there are five`: as many as are missing."""
    target = next((target for target in clause.targets if target.head in ("tile", "thing", "")), Phrase(head="tile", det="a"))
    color = (target.colors or [name for name, _ in clause.colors] or [scene.main_color(scene.focus) or scene.color])[0]
    there = len(scene.pieces(scene.of_colors([color]))) if color else 0
    missing = (clause.total or 0) - there
    dots = Phrase(head="tile", word="dots", plural=True, det="a", count=max(missing, 0), colors=[color] if color else [])
    return replace(clause, verb="draw" if missing > 0 else "ask", targets=[dots] if missing > 0 else [], colors=[], total=None)
