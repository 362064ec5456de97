"""Moves and copies what stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase, targets_of
from harness.baselines.parser.everyday.hexagons.placing import Place
from harness.baselines.parser.everyday.hexagons.regions import SIDE_WAYS
from harness.baselines.parser.everyday.hexagons.scene import DrawingScene, Painting, Tiles, common, extent, near, number_of
from harness.baselines.parser.everyday.hexagons.selecting import select, target_tiles
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, on_board
from serialization.program import hexagons_geometry as g


def move(clause: Clause, scene: DrawingScene) -> Tiles | None:
    tiles = common(target_tiles(clause, scene) or [], scene.painted)
    if not tiles:
        return None
    painting = scene.colors_of(tiles)
    to = _moved_by(clause, tiles) or _moved_to(clause, tiles, scene)
    if to is None:
        return None
    scene.paint(tiles, "white")
    scene.focus = scene.paint_all(painting, to)
    return scene.focus


def _shift(tiles: Tiles, steps: list[tuple[str, int]]) -> Callable[[Tile], Tile]:
    """A function that moves tiles and keeps their shape; a single row stays a single row."""
    grid = len({tile.row for tile in tiles}) == 1
    first = min(tiles, key=lambda tile: (tile.column, tile.row))
    to, _ = g.board_shift(steps, grid).mapping(first)
    return lambda tile: Tile(*to(tile))


def _moved_by(clause: Clause, tiles: Tiles) -> Callable[[Tile], Tile] | None:
    """`2 to the right`, `up`, `as far down as it goes`."""
    sides = [side for target in clause.targets if target.head == "side" for side in target.sides]
    moves = clause.moves or [(SIDE_WAYS[side], None) for side in sides if side in SIDE_WAYS]
    if not moves:
        return None
    if "full" in clause.marks or any(link.relation == "to" for link in clause.links):
        return _to_sides(tiles, [way for way, _ in moves])
    return _shift(tiles, [(way, count or clause.sizes.get("tiles", 1)) for way, count in moves])


def _to_sides(tiles: Tiles, ways: list[str]) -> Callable[[Tile], Tile]:
    """A function that moves tiles as far as the board goes."""
    top, bottom, left, right = extent(tiles)
    down = sum({"up": -top, "down": ROWS - 1 - bottom}.get(way, 0) for way in ways)
    across = sum({"left": -left, "right": COLUMNS - 1 - right}.get(way, 0) for way in ways)
    return lambda tile: Tile(tile.row + down, tile.column + across)


def _moved_to(clause: Clause, tiles: Tiles, scene: DrawingScene) -> Callable[[Tile], Tile] | None:
    """`to the top left corner`, `next to the ring`, `into the middle`."""
    links = [link for target in clause.targets[:1] for link in target.links if link.relation in ("in", "to")] + clause.links
    link = next((one for one in links if one.target is not None), None)
    if link is None or link.target is None:
        return None
    sides = link.target.sides if link.target.head in ("side", "corner", "edge", "") else []
    top, bottom, left, right = extent(tiles)
    if link.target.head in ("row", "column"):
        line = select(link.target, scene) or tiles
        first_row, _, first_column, _ = extent(line)
        down, across = (first_row - top, 0) if link.target.head == "row" else (0, first_column - left)
        return lambda tile: Tile(tile.row + down, tile.column + across)
    if sides and sides != ["middle"]:
        return _to_sides(tiles, [SIDE_WAYS[side] for side in sides if side in SIDE_WAYS])
    place = Place(Phrase(head="thing", links=[link]), scene)
    down, across = round(place.middle[0] - (top + bottom) / 2), round(place.middle[1] - (left + right) / 2)
    beside = {"above": "up", "below": "down", "left": "left", "right": "right", "beside": "right"}.get(link.relation)
    return _shift(tiles, [("down", down), ("right", across), *([(beside, 1)] if beside else [])])


def copy(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Paints further copies of what stands, each at the named distance from the one before, otherwise in free places."""
    tiles = common(target_tiles(clause, scene) or [], scene.painted)
    if not tiles:
        return None
    painting = scene.colors_of(tiles)
    if clause.colors:
        painting = dict.fromkeys(painting, clause.colors[0][0])
    lines = [target for target in targets_of(clause.links) if target.head in ("row", "column") and target.ordinals]
    if sum(len(line.ordinals) for line in lines) > 1 and not clause.moves:
        return _copied_to(lines, clause, painting, tiles, scene)
    steps, every = _copy_steps(clause, tiles), _every(clause)
    if steps is None:
        return _copy_anywhere(clause, painting, tiles, scene)
    times = clause.times or (2 if "twice" in clause.marks else 0) or (18 if "full" in clause.marks or every else 1)
    found: list[Tile] = []
    for k in range(1, times + 1):
        to = _shift(tiles, [(way, count * k) for way, count in steps])
        if not all(on_board(*to(tile)) for tile in painting) and ("full" in clause.marks or every):
            break
        found += scene.paint_all(painting, to)
    scene.focus = found or scene.focus
    return found or None


def _copied_to(lines: list[Phrase], clause: Clause, painting: Painting, tiles: Tiles, scene: DrawingScene) -> Tiles | None:
    """Paints a copy in each of some rows or columns."""
    found: list[Tile] = []
    for line, number in [(one, number) for one in lines for number in one.ordinals]:
        steps = _copy_steps(replace(clause, links=[Link("in", replace(line, ordinals=[number]))]), tiles) or []
        found += scene.paint_all(painting, _shift(tiles, steps))
    return found or None


def _copy_steps(clause: Clause, tiles: Tiles) -> list[tuple[str, int]] | None:
    """The steps from each copy to the next, which lies beside it if no distance is named; None if no direction is."""
    moves = clause.moves or [(SIDE_WAYS.get(link.relation, link.relation), link.count) for link in _beside_links(clause)]
    places, every = _places(clause), _every(clause)
    if every:
        return [(moves[0][0] if moves else "right", every)]
    to = next((place for place in places if place.head in ("row", "column") and len(place.ordinals) == 1), None)
    if to is not None and not moves:
        number = to.ordinals[0] - 1 - min(number_of(to.head, tile) for tile in tiles)
        return [("down" if to.head == "row" else "right", number)]
    if not moves and clause.sizes.keys() & {"gap", "step"}:
        moves = [("right", None)]
    if "step" in clause.sizes:
        moves = [(way, clause.sizes["step"]) for way, _ in moves]
    if not moves:
        return None
    top, bottom, left, right = extent(tiles)
    gap = clause.sizes.get("gap")
    own = {"up": bottom - top + 1, "down": bottom - top + 1, "left": right - left + 1, "right": right - left + 1}
    if gap is None and all(count for _, count in moves):
        return [(way, count or 1) for way, count in moves]
    return [(way, count or own.get(way, 1) + (1 if gap is None else gap)) for way, count in moves]


def _places(clause: Clause) -> list[Phrase]:
    return clause.targets + targets_of(clause.all_links)


def _every(clause: Clause) -> int:
    return next((place.every for place in _places(clause) if place.every), 0)


def _beside_links(clause: Clause) -> list[Link]:
    return [link for link in clause.all_links if link.relation in ("above", "below", "left", "right")]


def _copy_anywhere(clause: Clause, painting: Painting, tiles: Tiles, scene: DrawingScene) -> Tiles | None:
    """Paints copies where there is room, as near as possible to the place named."""
    links = [link for link in clause.links if link.relation in ("in", "to", "beside")]
    place = Place(Phrase(head="thing", links=links), scene)
    standing, close = set(scene.painted), set(near(scene.painted))
    found: list[Tile] = []
    for _ in range(clause.times or 1):
        choices = []
        for down in range(-ROWS, ROWS):
            for across in range(-COLUMNS, COLUMNS):
                to = _shift(tiles, [("down", down), ("right", across)])
                there = [to(tile) for tile in tiles]
                if all(on_board(*tile) for tile in there) and not standing & set(there):
                    far: float = abs(down) + abs(across)
                    if place.said:
                        far = abs(g.middle(there).row - place.middle[0]) + abs(g.middle(there).column - place.middle[1])
                    choices.append((100 * bool(close & set(there)) + far, down, across))
        if not choices:
            break
        _, down, across = min(choices)
        found += scene.paint_all(painting, _shift(tiles, [("down", down), ("right", across)]))
        standing, close = set(scene.painted), set(near(scene.painted))
    scene.focus = found or scene.focus
    return found or None
