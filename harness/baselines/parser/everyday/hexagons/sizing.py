"""Makes what stands longer, bigger or smaller."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.hexagons import regions
from harness.baselines.parser.everyday.hexagons.meaning import Clause, targets_of
from harness.baselines.parser.everyday.hexagons.picking import looks_like
from harness.baselines.parser.everyday.hexagons.scene import DrawingScene, Tiles, extent, minus, near, ordered, outline, rectangle
from harness.baselines.parser.everyday.hexagons.selecting import select, target_tiles
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, on_board
from serialization.program import hexagons_geometry as g


def _by_how_much(clause: Clause, scene: DrawingScene) -> tuple[int, Tiles | None]:
    """The number of tiles named, or 0, and the tiles of the thing that changes its size: `make the line 2 tiles longer`."""
    size = clause.sizes.get("tiles") or next(
        (target.count for target in clause.targets if target.head == "tile" and target.count), 0
    )
    targets = [target for target in clause.targets if target.head != "tile" or not target.count]
    return size, target_tiles(replace(clause, targets=targets), scene)


def resize(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Gives a thing a size: `make it 5 by 5`, `make the line 7 tiles long`, `as long as the other one`."""
    like = (select(clause.as_many, scene) or []) if clause.as_many is not None else []
    tiles = target_tiles(clause, scene)
    if not tiles or (clause.as_many is not None and not like):
        return None
    top, bottom, left, right = extent(tiles)
    sizes = dict(clause.sizes) or {"tiles": len(like)}
    wanted = next((sizes[name] for name in ("tiles", "long", "tall", "wide", "side") if name in sizes), 0)
    across = {"wide"} if left == right else {"tall"} if top == bottom else set[str]()
    if looks_like("line", tiles) and len(sizes) == 1 and not across & sizes.keys():
        more = wanted - len(tiles)
        sized = replace(clause, sizes={"tiles": abs(more)}, as_many=None, verb="grow", marks=clause.marks - {"full"})
        if more > 0 and like and top != bottom and left == right and not clause.moves:
            above, below, _, _ = extent(like)
            sized = replace(sized, moves=[("down" if abs(below - bottom) > abs(above - top) else "up", None)])
        return grow(sized, scene) if more > 0 else shrink(sized, scene) if more < 0 else tiles
    own = {"tall": bottom - top + 1, "wide": right - left + 1} if across else {}
    tall, wide = ((own | sizes).get(name, sizes.get("side", wanted)) for name in ("tall", "wide"))
    row, column = max(0, (top + bottom + 1 - tall + 1) // 2), max(0, (left + right + 1 - wide + 1) // 2)
    color = scene.main_color(tiles) or "black"
    scene.paint(tiles, "white")
    scene.focus = rectangle(row, row + tall - 1, column, column + wide - 1)
    scene.paint(scene.focus, color)
    return scene.focus


def grow(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Makes lines longer, and rings and blobs bigger."""
    size, tiles = _by_how_much(clause, scene)
    if not tiles:
        return None
    color = clause.colors[0][0] if clause.colors else scene.main_color(tiles) or scene.color or "black"
    wanted = _wanted(clause)
    size = wanted - len(tiles) if wanted > len(tiles) else size
    way = _way_to_side(clause)
    if way:
        clause = replace(clause, moves=[(way, None)], marks=clause.marks | {"full"})
    if size > len(tiles) and "by" not in clause.unknown:
        size -= len(tiles)
    ends = [place for place in targets_of(clause.all_links) if place.head == "end"]
    if any(end.plural or end.det in ("both", "each") for end in ends):
        line = list(tiles)
        added = [regions.beyond(end, line) for end in regions.ends(line)]
    elif "full" in clause.marks and not clause.moves and len(_lines(tiles)) == 1:
        added = minus(regions.line_tiles(*_lines(tiles)[0]), tiles)
    elif "wide" in clause.marks and looks_like("line", tiles) and not clause.moves:
        added = _wider(tiles, size)
    elif (
        (looks_like("line", tiles) and not g.enclosed(tiles))
        or clause.moves
        or "full" in clause.marks
        or (len(tiles) == 1 and "big" not in clause.marks)
    ):
        added = _longer(tiles, clause, size)
    elif looks_like("ring", tiles):
        scene.paint(tiles, "white")
        added = [Tile(*tile) for tile in g.grown([*tiles, *g.enclosed(tiles)], size or 1)[-1]]
        tiles = []
    else:
        added = near(tiles, size or 1)
    scene.paint(added, color)
    scene.focus = ordered([*tiles, *(tile for tile in added if on_board(*tile))])
    return added or None


def _lines(tiles: Tiles) -> list[tuple[str, list[int]]]:
    """The row or column in which all of the tiles lie, if any."""
    rows, columns = {tile.row for tile in tiles}, {tile.column for tile in tiles}
    return [(kind, list(numbers)) for kind, numbers in (("row", rows), ("column", columns)) if len(numbers) == 1 < len(tiles)]


def _wanted(clause: Clause) -> int:
    """The length that something is to have, or 0: `to 4 tiles`."""
    return next((place.count or 0 for place in targets_of(clause.all_links, "to") if place.head == "tile"), 0)


def _way_to_side(clause: Clause) -> str:
    """The direction of `up to the top edge`, or ""."""
    links = clause.all_links
    links += [inner for target in targets_of(links) for inner in target.links]
    sides = [side for place in targets_of(links, "to") for side in place.sides]
    return regions.SIDE_WAYS.get(sides[0], "") if sides else ""


def _wider(tiles: Tiles, size: int) -> list[Tile]:
    """The tiles that make a line wider, at its right or below it."""
    top, bottom, left, right = extent(tiles)
    way, width = ("right", right - left + 1) if bottom - top >= right - left else ("below", bottom - top + 1)
    return _beyond(tiles, way, size or width)


def _longer(tiles: Tiles, clause: Clause, size: int) -> list[Tile]:
    """The tiles that make a line longer: at the end named, otherwise at one with room, and then at the other."""
    top, bottom, left, right = extent(tiles)
    upright = bottom - top >= right - left and len({tile.column for tile in tiles}) == 1
    way = clause.moves[0][0] if clause.moves else _free_way(tiles, upright)
    count = size or (clause.moves[0][1] if clause.moves else None) or (len(tiles) if "twice" in clause.marks else 2)
    if "full" in clause.marks:
        count = COLUMNS
    relation = {"up": "above", "down": "below", "left": "left", "right": "right"}.get(way)
    if not clause.moves and len(tiles) > 1 and len({t.row for t in tiles}) > 1 and len({t.column for t in tiles}) > 1:
        return _further(tiles, count)
    if relation is None:
        return [tile for tile in g.ray(tiles[-1], way, count + 1)[1:] if on_board(*tile)]
    added = _beyond(tiles, relation, count)
    if not clause.moves and "full" not in clause.marks:
        width = len(regions.next_to(tiles, relation))
        added += _beyond(tiles, regions.OPPOSITE[relation], count - len(added) // width)
    return added


def _beyond(tiles: Tiles, relation: str, count: int) -> list[Tile]:
    return [tile for k in range(1, count + 1) for tile in regions.next_to(tiles, relation, k) if on_board(*tile)]


def _further(tiles: Tiles, count: int) -> list[Tile]:
    """The tiles that continue a slanted line at its last end, or at the first where the board ends."""
    line, added = list(tiles), list[Tile]()
    for _ in range(min(count, COLUMNS)):
        ends = [regions.beyond(end, line) for end in reversed(regions.ends(line))]
        more = [tile for tile in ends if on_board(*tile)][:1]
        line, added = line + more, added + more
    return added


def _free_way(tiles: Tiles, upright: bool) -> str:
    top, bottom, _left, right = extent(tiles)
    if upright:
        return "down" if bottom + 1 < ROWS and (top == 0 or (bottom < ROWS - 1 and top < ROWS - 1 - bottom)) else "up"
    return "right" if right + 1 < COLUMNS else "left"


def shrink(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Makes lines shorter, and rings and blobs smaller."""
    size, tiles = _by_how_much(clause, scene)
    if not tiles:
        return None
    if looks_like("ring", tiles) and len(tiles) > 6:
        color = scene.main_color(tiles) or "black"
        scene.paint(tiles, "white")
        scene.focus = [tile for tile in g.enclosed(tiles) if any(other in tiles for other in g.around(tile))]
        scene.paint(scene.focus, color)
        return tiles
    if looks_like("line", tiles):
        line = sorted(tiles, reverse=bool(clause.moves and clause.moves[0][0] in ("up", "left")))
        left = _wanted(clause)
        if not 0 < left < len(line):
            less = size or (clause.moves[0][1] if clause.moves else None) or 1
            left = len(line) // 2 if "half" in clause.marks else len(line) - less
        gone = line[max(left, 0) :]
    else:
        gone = outline(tiles)
    scene.paint(gone, "white")
    scene.focus = minus(tiles, gone)
    return gone or None
