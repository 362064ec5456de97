"""Carries out what changes things that stand: remove, move, copy, mirror, turn, exchange, grow, shrink, keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.drawing import drawn
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Phrase, targets_of
from harness.baselines.parser.everyday.hexagons.moving import copy, move
from harness.baselines.parser.everyday.hexagons.scene import (
    ALL,
    DEFAULT_COLOR,
    DrawingScene,
    Painting,
    Tiles,
    common,
    flat,
    minus,
    ordered,
)
from harness.baselines.parser.everyday.hexagons.selecting import select, target_tiles
from harness.baselines.parser.everyday.hexagons.sizing import grow, resize, shrink
from harness.baselines.parser.everyday.hexagons.turning import axis, mirror, rotate
from harness.worlds.hexagons import COLUMNS, ROWS, Board, Tile


def bars(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Paints bars of the named heights that stand on the bottom edge."""
    heights = {int(column): min(height, ROWS) for column, height in clause.sizes.items() if 0 < int(column) <= COLUMNS}
    tiles = [Tile(row, column - 1) for column, height in heights.items() for row in range(ROWS - height, ROWS)]
    scene.paint(tiles, clause.colors[0][0] if clause.colors else scene.color or DEFAULT_COLOR)
    scene.bars = [column - 1 for column in heights]
    scene.focus = tiles
    return tiles or None


def reset(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Starts over with an empty board."""
    scene.paint(ALL, "white")
    return list(ALL)


def remove(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Erases the targets; for `one of them`, one piece."""
    if clause.colors and "white" not in clause.color_names and not clause.targets:
        clause = replace(clause, targets=[Phrase(head="thing", colors=clause.color_names)])
    found: list[Tile] = []
    targets = clause.targets or [Phrase(head="it")]
    if clause.links and not clause.targets:
        targets = [Phrase(head="all", links=clause.links)]
    for target in targets:
        if target.head == "inside" and target.det == "a":
            found += drawn(replace(target, head="hexagon"), Clause(), replace(scene, board=Board())) or []
            continue
        tiles = _counted(target, scene) if _is_count(target) else common(select(target, scene) or [], scene.painted)
        found += tiles or (scene.painted if target.head == "it" and len(targets) == 1 else [])
    if not found:
        return None
    scene.paint(found, "white")
    scene.focus = found
    return found


def _is_count(target: Phrase) -> bool:
    """Whether a number of things is meant, no matter which: `one of them`, `two dots`."""
    return bool(target.count) and target.det in ("", "a", "another") and not target.sides and not target.ordinals


def _counted(target: Phrase, scene: DrawingScene) -> list[Tile]:
    """The last ones of some pieces, or lines."""
    of = next(iter(targets_of(target.links, "of")), None)
    if of is not None and of.head == "it":
        of = replace(of, det="all")
    like = scene.of_colors(target.colors) if target.colors else list(scene.focus) or scene.painted
    owner = (select(of, scene) if of else None) or like
    pieces = _pieces_of(common(owner, scene.painted), scene, by_tile=target.head in ("tile", "", "thing"))
    return flat(pieces[-(target.count or 1) :])


def _pieces_of(tiles: Tiles, scene: DrawingScene, by_tile: bool) -> list[list[Tile]]:
    """The parts of some tiles that can be counted: their pieces, or, of a single piece, the columns or the tiles."""
    pieces = scene.pieces(tiles)
    if len(pieces) != 1:
        return pieces
    columns = sorted({tile.column for tile in pieces[0]})
    if len(columns) > 1 and len(pieces[0]) == ROWS * len(columns):
        return [[tile for tile in pieces[0] if tile.column == column] for column in columns]
    return [[tile] for tile in pieces[0]] if by_tile else pieces


def keep(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Restores what is to stay as it was before this turn; with `only`, erases everything else."""
    if clause.colors:
        tiles = target_tiles(clause, scene) or []
        scene.paint(tiles, clause.colors[0][0])
        scene.focus = tiles
        return tiles or None
    only = "only" in clause.marks or any(target.det == "only" for target in clause.targets)
    if clause.targets and clause.targets[0].det == "other" and scene.past and not scene.changed_now():
        return _keep_other(scene)
    for target in clause.targets:
        if target.head in ("row", "column", "tile") and target.new and target.bare and (target.count or target.det == "a"):
            scene.gap = target.count or 1
            continue
        if target.det == "other" or (target.head in ("it", "thing", "") and not target.colors and not only):
            continue
        before = scene if only else replace(scene, board=scene.turn_start)
        tiles = select(target, before) or []
        if only:
            scene.paint(minus(_owner(target, scene), tiles), "white")
            scene.focus = tiles
        else:
            scene.paint_all({tile: scene.turn_start[tile] for tile in tiles})
    return list(scene.focus) if only else ()


def _keep_other(scene: DrawingScene) -> Tiles | None:
    """`keep the other one instead`: what was taken away comes back, and what stayed goes."""
    back = _taken_away(scene.past[-1], scene)
    if not back:
        return None
    stayed = scene.of_colors([next(iter(back.values()))])
    scene.focus = scene.paint_all(back)
    scene.paint(stayed, "white")
    return scene.focus


def _owner(target: Phrase, scene: DrawingScene) -> list[Tile]:
    """The tiles of the thing of which only a part is to stay."""
    of = next(iter(targets_of(target.links, "of")), None)
    return (select(of, scene) if of else None) or (list(scene.focus) if target.head == "half" else scene.painted)


def reduce(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """`one of them is enough`: erases all pieces but so many."""
    count = next((target.count for target in clause.targets if target.count), 1)
    pieces = _pieces_of(list(scene.focus) or scene.painted, scene, by_tile=True)
    gone = flat(pieces[count:])
    scene.paint(gone, "white")
    scene.focus = flat(pieces[:count])
    return gone or None


def both(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Puts back what the last turns took away."""
    found: list[Tile] = []
    for board in scene.boards[-2:]:
        found += scene.paint_all(_taken_away(board, scene))
    return found or None


def _taken_away(board: Board, scene: DrawingScene) -> Painting:
    """The paint of an earlier board on tiles that are blank now."""
    return {tile: board[tile] for tile in scene.blank_of(ALL) if board[tile] != "white"}


def swap(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Exchanges two colors: those that are named, those of two things, or those that were painted last."""
    tiles = target_tiles(clause, scene) if clause.targets else None
    names = list(dict.fromkeys(clause.color_names + [color for target in clause.targets for color in target.colors]))
    if len(names) < 2:
        tiles = tiles if tiles and len(_colors(tiles, scene)) == 2 else ordered(t for done in scene.done[-2:] for t in done.tiles)
        if len(_colors(tiles, scene)) != 2:
            tiles = scene.painted
        names = _colors(tiles, scene)
    if len(names) == 1:
        names, tiles = [names[0], "white"], list(ALL)
    if len(names) != 2:
        return None
    first, second = scene.of_colors([names[0]]), scene.of_colors([names[1]])
    scene.paint(first, names[1])
    scene.paint(second, names[0])
    scene.focus = ordered([*first, *second])
    return scene.focus


def _colors(tiles: Tiles, scene: DrawingScene) -> list[str]:
    return list(dict.fromkeys(scene.colors_of(tiles).values()))


VERBS: dict[str, Callable[[Clause, DrawingScene], Tiles | None]] = {
    "reset": reset,
    "bars": bars,
    "remove": remove,
    "keep": keep,
    "move": move,
    "copy": copy,
    "mirror": mirror,
    "flip": mirror,
    "upend": mirror,
    "reduce": reduce,
    "both": both,
    "axis": axis,
    "rotate": rotate,
    "swap": swap,
    "resize": resize,
    "grow": grow,
    "shrink": shrink,
}
