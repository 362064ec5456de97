"""New figures: a line from here to there, a ring around something, four dots anywhere."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.hexagons import regions
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase, targets_of
from harness.baselines.parser.everyday.hexagons.placing import LINES, Place, best, placed, scattered
from harness.baselines.parser.everyday.hexagons.scene import (
    ALL,
    DrawingScene,
    Tiles,
    common,
    extent,
    flat,
    minus,
    near,
    ordered,
    rectangle,
)
from harness.baselines.parser.everyday.hexagons.selecting import BESIDE, nameless, related, select
from harness.baselines.parser.everyday.hexagons.shapes import ANCHOR, length_of
from harness.worlds.hexagons import COLUMNS, ROWS, Tile, distance, on_board
from serialization.program import hexagons_geometry as g

ROUND = ("ring", "edge", "hexagon", "box")
OPPOSITE = regions.OPPOSITE
LOOKS = {
    "upright", "level", "diagonal", "hollow", "filled", "full", "apart", "opposite", "small", "big", "up", "down", "together",
}  # fmt: skip
"""Marks of a clause that describe the figure it draws."""
WAYS = {"above": "up", "below": "down", "left": "left", "right": "right", "beside": ""}


def drawn(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """The tiles of a new figure; None if there is no place for it, or its place cannot be found."""
    marks = phrase.marks | (clause.marks & LOOKS) | ({"hollow"} if "empty" in clause.marks else set())
    whole = replace(phrase, links=phrase.links + clause.links, marks=marks, sizes=clause.sizes | phrase.sizes)
    for rule in RULES:
        found = rule(whole, clause, scene)
        if found is not None:
            return found
    return None


def _target(links: list[Link], *relations: str) -> Link | None:
    return next((link for link in links if link.relation in relations and link.target is not None), None)


def _surrounding(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """`a ring around the flower`, two tiles thick or with a gap if that is said."""
    link = _target(phrase.links, "around", "outside")
    if phrase.head not in (*ROUND, "line") or link is None or link.target is None or link.target.head == "corner":
        return None
    if link.target.head in ("edge", "board"):
        return regions.edge(phrase, list(ALL))
    tiles = scene.painted if link.target.head == "all" else select(link.target, scene)
    if not tiles:
        return None
    filled = [*tiles, *g.enclosed(tiles)]
    gap = min(phrase.sizes.get("gap", phrase.sizes.get("around", 1) - 1), 10)
    if phrase.head == "hexagon" and not common(tiles, scene.painted):
        return [*tiles, *near(filled, gap + 1)]
    return minus(near(filled, gap + phrase.sizes.get("wide", 1)), near(filled, gap))


def _caps(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """`a red tile onto each end of the line` makes it longer."""
    link = _target(phrase.links, "in", "beside", "above", "below", "left", "right")
    if phrase.head != "tile" or link is None or link.target is None or link.target.head != "end":
        return None
    of = link.target.links[0].target if link.target.links else None
    owner = select(of, scene) if of else list(scene.focus)
    at = select(link.target, scene)
    if not owner or not at or clause.verb == "paint":
        return None
    return [regions.beyond(tile, owner) for tile in at] if scene.main_color(owner) else at


def _beside_line(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """`a line right next to it`, beside a line: as long as that one."""
    link = _target(phrase.links, *WAYS)
    if phrase.head not in LINES or phrase.sizes or phrase.count or clause.moves:
        return None
    if link is None or link.target is None or link.second:
        return None
    tiles = select(link.target, scene) or []
    top, bottom, _, right = extent(tiles)
    across = "right" if top != bottom else "down"
    free = across if right + 1 < COLUMNS and bottom + 1 < ROWS else OPPOSITE[across]
    way = WAYS[link.relation] or free
    if way not in (across, OPPOSITE[across]):
        return None
    down, aside = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}[way]
    far = link.count or 1
    return [tile for t in tiles if on_board(*(tile := Tile(t.row + far * down, t.column + far * aside)))]


def _corner_to_corner(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """`a box from column 3, row 3 to column 6, row 6`."""
    start, end = _target(phrase.links, "from"), _target(phrase.links, "to")
    last = start.second if start is not None and start.second else end.target if end is not None else None
    if phrase.head != "box" or start is None or start.target is None or last is None:
        return None
    ends = flat(select(end, scene) or () for end in (start.target, last))
    return rectangle(*extent(ends)) if len(ends) == 2 else None


def _line_between(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """`a line from the red dot to the blue one`, `between the two dots`, `from corner to corner`."""
    if phrase.head not in (*LINES, "snake"):
        return None
    start, end = _target(phrase.links, "from", "between"), _target(phrase.links, "to")
    if start is None or start.target is None:
        return None
    first = select(_named_side(start.target), scene)
    second = select(_named_side(start.second), scene) if start.second else None
    if second is None and end is not None and end.target is not None and (not clause.moves or end.target.head == "corner"):
        second = select(_named_side(end.target), scene)
    if start.relation == "between" and second is None and first:
        pieces = scene.pieces(first)
        first, second = (pieces[0], pieces[1]) if len(pieces) > 1 else (first, None)
    if not first or not second:
        return None
    a, b = min(
        ((a, b) for a in first for b in second),
        key=lambda pair: (
            pair[0].row != pair[1].row and pair[0].column != pair[1].column,
            distance(*pair),
            abs(pair[0].column - 8) + abs(pair[0].row - 4),
        ),
    )
    straight = list(_straight(a, b))
    first_free = 1 if scene.board[a] != "white" and len(straight) > 2 else 0
    return straight[first_free : len(straight) - (scene.board[b] != "white" and len(straight) > 2)]


def _named_side(place: Phrase) -> Phrase:
    """`the top left` as the side or corner that it is."""
    return replace(place, head="side") if place.head == "" and place.sides and not (place.colors or place.count) else place


def _straight(a: Tile, b: Tile) -> list[Tile]:
    """The tiles from one to the other: along the row that both are in, otherwise in a straight line."""
    if a.row == b.row:
        step = 1 if b.column >= a.column else -1
        return [Tile(a.row, column) for column in range(a.column, b.column + step, step)]
    return list(g.path([a, b]))


def _line_along(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """`a line along row 4`, `down the left side`, `across the whole board`."""
    if phrase.head not in (*LINES, "snake"):
        return None
    wide = phrase.sizes.get("wide", 1) if set(phrase.sizes) == {"wide"} else 1
    if wide > 1 and "level" not in phrase.marks:
        for place in targets_of(phrase.links, "in"):
            if place.head in ("row", "column") and place.sides:
                return select(replace(place, count=wide), scene)
    course = next((_course(place, phrase) for place in targets_of(phrase.links, "in")), None)
    if wide > 1 and course is not None and course.head == "side":
        return regions.edge(replace(course, sizes={"wide": wide}), ALL)
    if phrase.sizes or "small" in phrase.marks:
        return _part_of_line(phrase, scene)
    for link in phrase.links:
        target = link.target
        if target is None or link.relation not in ("in", "to", "from"):
            continue
        two = bool(_target(phrase.links, "from")) and bool(link.second or _target(phrase.links, "to"))
        if two and link.relation != "in":
            continue
        course = _course(target, phrase)
        if course is not None:
            tiles = select(course, scene)
            if tiles:
                return tiles
    return _full_line(phrase, clause)


def _course(place: Phrase, line: Phrase) -> Phrase | None:
    """What a line lies along: a row, an edge, `the top`; an upright line lies only along the left or the right."""
    if place.head in ("row", "column", "edge"):
        return place
    named = place.head == "side" or (place.head == "" and len(place.sides) == 1 and not place.links and not place.colors)
    across = {"top", "bottom"} if "upright" in line.marks else {"left", "right"} if "level" in line.marks else set[str]()
    if not named or place.sides in ([], ["middle"]) or across & set(place.sides) or "diagonal" in line.marks:
        return None
    return _named_side(place)


def _part_of_line(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """`5 tiles in the bottom row, starting at the left`."""
    courses = [
        (link, course)
        for link in phrase.links
        if link.relation == "in" and link.target is not None and (course := _course(link.target, phrase)) is not None
    ]
    tiles = select(courses[0][1], scene) if courses else None
    if not tiles:
        return None
    length = min(length_of(phrase, 5), len(tiles))
    sides = [
        side
        for link in phrase.links
        if link.relation in ("from", "in") and link.target
        for side in link.target.sides
        if link is not courses[0][0]
    ]
    if {"right", "bottom"} & set(sides):
        return tiles[-length:]
    start = 0 if {"left", "top"} & set(sides) else (len(tiles) - length) // 2
    return tiles[start : start + length]


def _slanted(way: str, tile: Tile) -> str:
    """The diagonal direction that the words name; what they leave open leads from a tile into the board."""
    if "-" in way:
        return way
    upright = way if way in ("up", "down") else "up" if tile.row >= ROWS // 2 else "down"
    return f"{upright}-{way if way in ('left', 'right') else 'left' if tile.column >= COLUMNS // 2 else 'right'}"


def _full_line(phrase: Phrase, clause: Clause) -> list[Tile] | None:
    """A line through the middle from edge to edge."""
    marks = phrase.marks | clause.marks
    places = [place.head for place in targets_of(phrase.links, "in")]
    through, across = "middle" in places or "board" in places, "board" in places
    if not ("full" in marks or "whole" in marks or (through and (across or marks & {"upright", "level"}))):
        return None
    if phrase.head == "diagonal" or "diagonal" in marks or clause.moves:
        return None
    kind, size = ("column", COLUMNS) if "upright" in marks or phrase.head == "column" else ("row", ROWS)
    count = min(phrase.count or 1, ROWS)
    if count > 1:
        return regions.line_tiles(kind, [size * (2 * k + 1) // (2 * count) for k in range(count)])
    return regions.line_tiles(kind, [size // 2 - 1])


def _line_from(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """`3 tiles straight down from its lowest tile`, `a line from below the dot down to the edge`, `a stem`."""
    if phrase.head not in (*LINES, "tile", "snake"):
        return None
    start = _target(phrase.links, "from")
    way, count = clause.moves[0] if clause.moves else ("", None)
    if len(clause.moves) == 2 and way in ("up", "down") and clause.moves[1][0] in ("left", "right"):
        way = f"{way}-{clause.moves[1][0]}"
    if (phrase.head == "diagonal" or "diagonal" in phrase.marks) and start is not None and start.target is not None:
        origin = select(start.target, scene)
        way = _slanted(way, origin[0]) if origin else way
    count = count or phrase.sizes.get("tiles") or phrase.sizes.get("long") or (phrase.count if phrase.head == "tile" else None)
    if phrase.head == "stem" and start is None and not clause.moves:
        link = _target(phrase.links, *BESIDE)
        tiles = (select(link.target, scene) if link and link.target else None) or list(scene.focus)
        if not tiles:
            return None
        pieces = scene.pieces(scene.painted, by_color=False)
        grown = next((piece for piece in pieces if set(piece) & set(tiles)), list(tiles))
        return _beam(regions.at_sides(grown, ["bottom"]), "down", count or 3)
    side = _target(phrase.links, *BESIDE)
    if not way or (start is None and side is None and phrase.head != "stem"):
        return None
    start = start or side
    if start is None or start.target is None:
        return None
    tiles = select(start.target, scene) or []
    if side is not None and side.target is not None:
        tiles = related(side, scene, every=False, phrase=phrase) or []
        return [tile for tile in g.ray(tiles[len(tiles) // 2], way, count) if on_board(*tile)] if tiles else None
    if tiles and (scene.board[tiles[0]] == "white" or len(tiles) == len(ALL)):
        return [tile for tile in g.ray(tiles[0], way, count) if on_board(*tile)]
    return _beam(tiles, way, count)


def _beam(tiles: Tiles, way: str, count: int | None) -> list[Tile]:
    """The tiles after some tiles in a direction: `count` of them, or as many as the board has."""
    if not tiles:
        return []
    edge = [tile for tile in tiles if g.next_tile(tile, way) not in tiles]
    start = g.next_tile(g.middle(edge) if g.middle(edge) in edge else edge[len(edge) // 2], way)
    return [tile for tile in g.ray(start, way, count) if on_board(*tile)]


def _dots(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """Tiles at the place named, or anywhere."""
    if phrase.head != "tile" or (phrase.sizes.get("tiles", 1) > 1 and not phrase.plural):
        return None
    begins = [link for link in phrase.links if link.relation == "from" and link.target and _plain_start(link.target)]
    if begins and len(phrase.links) > 1:
        phrase = replace(phrase, links=[link for link in phrase.links if link not in begins])
    along = any(place.head in (*LINES[:3], "edge") and not place.every for place in targets_of(phrase.links, "in"))
    if phrase.plural and along and not phrase.count and not phrase.sizes:
        return _in_place(phrase, scene)
    count = phrase.count or phrase.sizes.get("tiles") or (3 if phrase.plural else 1)
    if count > 1 and (phrase.sizes.get("gap") or phrase.marks & {"together", "level", "upright", "diagonal"}):
        return _arranged(phrase, count, scene)
    beside = _target(phrase.links, "beside")
    if beside is not None and "opposite" in phrase.marks and len(scene.focus) == 1:
        about = select(beside.target, scene) if beside.target else None
        return [g.turned(scene.focus[0], 3, about[0])] if about else None
    if any(link.relation in (*BESIDE, "beside", "between", "around", "inside", "outside") for link in phrase.links):
        found = select(replace(phrase, colors=[]), scene)
        return _some(found, phrase, count, scene) if found else None
    places = targets_of(phrase.links, "in", "of", "from")
    if places:
        late = any({"right", "bottom"} & set(place.sides) for place in targets_of(begins))
        found = _dots_at(places[0], phrase, count, late, scene)
        if found is not None:
            return found
    return ordered(flat(scattered(phrase, scene, count, _avoided(clause, scene)))) or None


def _arranged(phrase: Phrase, count: int, scene: DrawingScene) -> list[Tile] | None:
    """Several tiles in a line, with gaps or without, or in a clump."""
    if phrase.sizes.get("gap"):
        step = phrase.sizes["gap"] + 1
        upright = "upright" in phrase.marks
        shape = [Tile(ANCHOR.row + k * step * upright, ANCHOR.column + k * step * (not upright)) for k in range(count)]
        return best([shape], replace(phrase, head="row"), Place(phrase, scene), scene)
    if "together" in phrase.marks:
        head = {3: "triangle", 6: "triangle", 4: "diamond", 9: "diamond"}.get(count, "hexagon")
        return placed(replace(phrase, head=head, sizes={"tiles": count}, count=None), scene)
    return placed(replace(phrase, head="line", sizes={"tiles": count}), scene)


def _dots_at(place: Phrase, phrase: Phrase, count: int, late: bool, scene: DrawingScene) -> list[Tile] | None:
    """Tiles at a place, of a line the first ones, or the last ones if `late`; None if any place will do."""
    found = _in_place(phrase, scene)
    if not found:
        return found
    if len(found) < count and phrase.count and place.head == "corner":
        return _around(found, count)
    if len(found) <= count:
        return found
    line = place.head in ("row", "column") and not place.links
    if line and (phrase.count or 1) > 1 and "apart" not in phrase.marks and not phrase.sides and not phrase.ordinals:
        return _run(found[::-1] if late else found, count, scene)
    return _some(found, phrase, count, scene) if len(found) < len(ALL) else None


def _plain_start(place: Phrase) -> bool:
    """`from the left`."""
    return place.head in ("", "side") and bool(place.sides)


def _plain_side(place: Phrase) -> bool:
    """`on the left` of the board."""
    return place.head in ("", "side") and place.det != "other" and bool(place.sides) and not (place.links or place.marks)


def _in_place(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """The tiles at a place; `in the middle` is the middle of what was drawn last if that is hollow, otherwise of the board."""
    links = []
    for link in phrase.links:
        target = link.target
        if target is not None and nameless(target, scene):
            continue
        if target is not None and target.head == "middle" and not target.links and target.det != "its":
            opened = set(g.enclosed(scene.focus)) - set(scene.focus) if scene.focus else set()
            owner = Phrase(head="it") if opened else Phrase(head="board")
            link = replace(link, target=replace(target, links=[Link("of", owner)]))
        links.append(link)
    of_board = len(scene.focus) == 1 and all(link.target and _plain_side(link.target) for link in links)
    about = replace(scene, focus=()) if of_board else scene
    placed = replace(phrase, colors=[], det="the", count=None, links=links, marks=phrase.marks | {"new"})
    return select(placed, about) if links else None


def _avoided(clause: Clause, scene: DrawingScene) -> list[Tile]:
    return flat(select(phrase, scene) or () for phrase in clause.avoided)


def _run(tiles: Tiles, count: int, scene: DrawingScene) -> list[Tile]:
    """The first tiles of a line that are free."""
    free = scene.blank_of(tiles)
    return (free if len(free) >= count else list(tiles))[:count]


def _around(corners: Tiles, count: int) -> list[Tile]:
    """`count` tiles in the corners: each corner and the tiles next to it, along the row first."""
    each = count // len(corners) or count
    return [
        tile for corner in corners for tile in sorted(ALL, key=lambda t: (distance(t, corner), abs(t.row - corner.row)))[:each]
    ]


def _some(tiles: Tiles, phrase: Phrase, count: int, scene: DrawingScene) -> list[Tile]:
    """All of some tiles if the words mean each, otherwise `count` of them, blank ones if there are any; a single one is as near
    the middle as possible."""
    places = targets_of(phrase.links, "in", *BESIDE)
    places += [owner for place in places for owner in targets_of(place.links, "of")]
    each = any(
        (place.plural and place.head != "thing") or place.det in ("each", "all", "both", "its") or (place.count or 1) > 1
        for place in places
    )
    around = phrase.plural and any(link.relation in ("around", "between", "inside", "beside") for link in phrase.links)
    if (phrase.det in ("each", "all", "both", "the") or each or around) and (
        phrase.count in (None, len(tiles)) or (each and phrase.count == 1)
    ):
        return list(tiles)
    free = scene.blank_of(tiles) or list(tiles)
    if count == 1:
        at = g.middle(free)
        return [min(free, key=lambda tile: distance(tile, at))]
    found: list[Tile] = []
    while len(found) < count and free:
        away = minus(free, near(found)) if found and "apart" in phrase.marks else free
        found.append((away or free)[0])
        free = minus(free, found)
    return found


def _in_corners(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """`a ring in each corner`."""
    link = _target(phrase.links, "in")
    corner = link.target if link is not None else None
    if corner is None or corner.head != "corner" or not (corner.plural or corner.det in ("each", "all", "both")):
        return None
    found: list[Tile] = []
    for tile in select(corner, scene) or ():
        sides = ["top" if tile.row < ROWS // 2 else "bottom", "left" if tile.column < COLUMNS // 2 else "right"]
        place = Link("in", Phrase(head="corner", det="the", sides=sides))
        found += placed(replace(phrase, count=None, links=[place]), scene, found) or []
    return found or None


def _figures(phrase: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """Figures at the best places for them."""
    inner = _target(phrase.links, "in", "inside")
    if inner is not None and inner.target is not None and phrase.head in ("row", "column"):
        return None
    count = phrase.count or (2 if phrase.plural and phrase.det != "a" and phrase.count is None else 1)
    corners = [place for place in targets_of(phrase.links) if place.head in ("corner", "board") and not place.sides]
    if phrase.head == "star" and (corners or phrase.marks & {"full", "whole"}):
        right, low = COLUMNS - 1, ROWS - 1
        return ordered([*g.path([Tile(0, 0), Tile(low, right)]), *g.path([Tile(low, 0), Tile(0, right)])])
    if count == 1:
        return placed(phrase, scene, avoided=_avoided(clause, scene))
    return ordered(flat(scattered(phrase, scene, count, _avoided(clause, scene)))) or None


RULES = (
    _surrounding, _caps, _beside_line, _corner_to_corner, _line_along, _line_between, _line_from, _dots, _in_corners, _figures,
)  # fmt: skip
"""The ways to draw something; the first that fits is taken."""
