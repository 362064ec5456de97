"""Finds the tiles of the board that a phrase means: `the two tiles to the left of the red ring`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

from harness.baselines.parser.everyday.hexagons import regions
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase, targets_of
from harness.baselines.parser.everyday.hexagons.picking import in_order, picked
from harness.baselines.parser.everyday.hexagons.scene import (
    ALL,
    BORDER,
    DrawingScene,
    Tiles,
    common,
    extent,
    flat,
    minus,
    near,
    number_of,
    ordered,
    rectangle,
)
from harness.baselines.parser.everyday.hexagons.shapes import SHAPES
from harness.baselines.parser.everyday.hexagons.standing import (
    background,
    bar,
    board,
    crossing,
    feature,
    figure,
    filled,
    following,
    neighboring,
    said_line,
    way_of,
)
from harness.worlds.hexagons import Tile, distance, on_board
from serialization.program import hexagons_geometry as g

REGIONS = ("board", "all", "background", "row", "column", "corner", "edge", "side", "half", "third", "quarter", "middle",
           "inside", "gap", "rest", "end", "it", "")  # fmt: skip
"""Heads of the parts that every board has: they are painted, not drawn."""
ROUND = ("ring", "hexagon", "box", "thing", "it", "diamond", "triangle")
"""Heads of things that can have an inside: `in the ring` means what the ring encloses."""
BESIDE = ("above", "below", "left", "right", "up-left", "up-right", "down-left", "down-right")
PARTS_OF_BOARD = ("half", "row", "column", "third", "quarter", "middle", "corner")
"""Heads of parts that enclose nothing: `inside the left half` means all of it."""
ALONG = ("in", "of", "from", "to", "with")


def select(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """The tiles that a phrase means; None if there is no such thing."""
    if phrase.more:
        parts = [select(part, scene) for part in (*phrase.more, replace(phrase, more=[]))]
        return ordered(tile for part in parts for tile in part or ()) or None
    lines = next((target for target in targets_of(phrase.links, "of", "in") if target.head in ("row", "column")), None)
    if lines is not None and lines.det in ("each", "all") and (phrase.ordinals or phrase.count or phrase.every or phrase.sides):
        rest = [link for link in phrase.links if link.target is not lines]
        numbers = {number_of(lines.head, tile) for tile in select(lines, scene) or ()}
        singles = [Phrase(head=lines.head, det="the", ordinals=[number + 1]) for number in sorted(numbers)]
        return flat(select(replace(phrase, links=[*rest, Link("in", single)]), scene) or () for single in singles)
    if "next" in phrase.marks:
        return following(phrase, scene)
    plain = folded(phrase)
    base = _HEADS.get(plain.head, figure)(plain, scene)
    if base is None:
        return None
    found = picked(plain, _filtered(plain, base, scene), scene)
    for excepted in phrase.excepted:
        found = minus(found, _excepted(excepted, found, scene))
    return [tile for tile in found if on_board(*tile)]


def target_tiles(clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """The tiles that a clause is about: its targets, otherwise what was mentioned last."""
    if not clause.targets:
        return list(scene.focus) or scene.painted or None
    return ordered(tile for target in clause.targets for tile in select(target, scene) or ()) or None


def _excepted(phrase: Phrase, tiles: list[Tile], scene: DrawingScene) -> list[Tile]:
    """The tiles to leave out: `except for its leftmost column`, `except one`."""
    if phrase.head in ("", "thing", "tile") and phrase.count and phrase.bare:
        pieces = scene.pieces(tiles)
        pieces = [[tile] for tile in tiles] if len(pieces) == 1 else pieces
        return flat(pieces[: phrase.count])
    about = replace(scene, focus=tiles)
    found = common(select(phrase, about) or [], tiles)
    if not found and not phrase.links:
        found = select(replace(phrase, links=[Link("of", Phrase(head="it"))]), about) or []
    return found


def folded(phrase: Phrase) -> Phrase:
    """Turns `the row at the top` into `the top row`, and `the two on the left` into `the two left ones`."""
    sides, links = list(phrase.sides), []
    touching = phrase.head == "tile" and bool(_links(phrase, "beside"))
    for link in phrase.links:
        target = link.target
        if link.relation in ("in", "from") and target and not touching and _is_side(target, of=phrase.head):
            sides += [side for side in target.sides or ["middle"] if side not in sides]
            if link.relation == "in" and not link.second:
                continue
        links.append(link)
    return replace(phrase, sides=sides, links=links)


def _is_side(place: Phrase, of: str) -> bool:
    """Whether a place only says on which side a thing is: `at the top`."""
    simple = place.head in ("side", "", "middle", "edge") and (place.sides or place.head == "middle")
    own = place.links or place.colors or place.det == "its"
    return bool(simple and not own and (place.head != of or of in ("edge", "")))


def owner_of(phrase: Phrase, scene: DrawingScene) -> list[Tile]:
    """The tiles of the thing that a part belongs to: the thing after `of`, otherwise the board."""
    for target in targets_of(phrase.links, "of", "in", "inside"):
        if not nameless(target, scene):
            return select(target, scene) or []
    if phrase.det == "its" and scene.focus:
        return list(scene.owner) if scene.owner and len(scene.focus) == 1 else list(scene.focus)
    return list(ALL)


def landmark(links: Iterable[Link], scene: DrawingScene) -> Tiles:
    """The tiles by which a place is named: the red row in `everything above the red row`."""
    beside = next((target for target in targets_of(links, *BESIDE) if target.head != "it"), None)
    return (select(beside, scene) if beside is not None else None) or ()


def nameless(phrase: Phrase, scene: DrawingScene) -> bool:
    """Whether a phrase's word is neither known nor the name of a thing: `the field`."""
    return "unknown" in phrase.marks and phrase.word not in scene.names


def _links(phrase: Phrase, *relations: str) -> list[Link]:
    return [link for link in phrase.links if link.relation in relations]


def _line(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """Rows and columns: by number, by side, or beside something."""
    kind = phrase.head
    from_end = any(_is_end(link) for link in _links(phrase, "from"))
    owner = owner_of(phrase, scene)
    if phrase.det == "other" and scene.done and not phrase.sides:
        return minus(ALL, [tile for done in scene.done[-1:] for tile in done.tiles])
    if phrase.colors and phrase.ordinals:
        owner = said_line(replace(phrase, ordinals=[]), scene) or owner
    between = bool(_links(phrase, "between"))
    indexes = None if between else regions.lines(phrase, owner, from_end)
    if indexes is None:
        indexes = _beside_lines(phrase, scene)
    if indexes is None:
        return said_line(phrase, scene)
    found = regions.line_tiles(kind, indexes)
    for place in targets_of(phrase.links, "in", "of"):
        found = common(found, select(place, scene) or [])
    return _from_to(phrase, found, scene)


def _from_to(phrase: Phrase, tiles: list[Tile], scene: DrawingScene) -> list[Tile]:
    """The part of a line that is named: `column 10 from row 3 to row 7`."""
    ends = targets_of(phrase.links, "from", "to")
    ends += [link.second for link in _links(phrase, "from") if link.second is not None]
    ends = [end for end in ends if end.head in ("row", "column") and end.head != phrase.head]
    marks = flat(select(end, scene) or () for end in ends)
    if len(ends) != 2 or not marks:
        return tiles
    top, bottom, left, right = extent(marks)
    return common(tiles, rectangle(top, bottom, left, right))


def _is_end(link: Link) -> bool:
    return link.target is None or bool(set(link.target.sides) & {"bottom", "right"})


def _beside_lines(phrase: Phrase, scene: DrawingScene) -> list[int] | None:
    """`the column to the left of it`, `the rows above and below`."""
    found: list[int] = []
    for link in phrase.links:
        target = _reached(link, scene)
        if link.relation == "between":
            numbers = sorted({number_of(phrase.head, tile) for tile in _between(link, scene)})
            found += numbers[len(numbers) // 2 :][:1] if "middle" in phrase.sides else numbers
        if not target or link.relation not in (*BESIDE, "beside"):
            continue
        top, bottom, left, right = extent(target)
        first, last = (top, bottom) if phrase.head == "row" else (left, right)
        count = phrase.count or (1 if phrase.det != "all" else 18)
        far = link.count or 1
        if link.relation in ("above", "left", "beside"):
            found += range(first - far - count + 1, first - far + 1)
        if link.relation in ("below", "right", "beside"):
            found += range(last + far, last + far + count)
    return found or None


def _corner(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """Corners; with `opposite` and `other`, those that were not mentioned."""
    found = regions.corners(phrase, owner_of(phrase, scene))
    if "opposite" in phrase.marks and scene.focus:
        at = scene.focus[0]
        return [max(found, key=lambda t: abs(t.row - at.row) + abs(t.column - at.column))]
    if phrase.det == "other" or (phrase.det == "another" and not phrase.sides):
        left = scene.blank_of(found) or minus(found, scene.focus)
        return left if phrase.plural or phrase.det == "other" else left[:1]
    some = phrase.det == "a" or (phrase.count and phrase.count < 4 and not phrase.det)
    some = some or (phrase.det == "the" and not phrase.plural and found == regions.corners(phrase, ALL))
    if some and not phrase.sides:
        return (scene.blank_of(found) or found)[: phrase.count or 1]
    return found


def _edge(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    if _links(phrase, "inside"):
        within = targets_of(phrase.links, "inside") or [Phrase(head="it")]
        owner = g.enclosed(select(within[0], scene) or [])
        return regions.edge(replace(phrase, sides=[]), owner) if owner else None
    around = [target for target in targets_of(phrase.links, "around") if target.head not in ("board", "all")]
    around += [target for target in targets_of(phrase.links, "to") if target.head in (*SHAPES, "it", "thing")]
    if around and around[0].head not in ("edge", "corner"):
        tiles = select(around[0], scene)
        return near(filled(tiles), phrase.sizes.get("wide", 1)) if tiles else None
    along = any(target.head in ("edge", "side") and not target.sides for target in targets_of(phrase.links))
    owner = list(ALL) if along else owner_of(phrase, scene)
    return regions.edge(phrase, owner) if owner else None


def _side(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """`the left side` is the outermost column, `the bottom left` a corner, `the middle` the tile there."""
    sides = [side for side in phrase.sides if side != "outer"]
    if not sides:
        return list(BORDER) if phrase.head == "side" and phrase.det in ("all", "each", "the") else None
    owner = owner_of(phrase, scene)
    if not owner:
        return None
    return regions.at_sides(owner, sides)


def _half(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    parts = {"half": 2, "third": 3, "quarter": 2}[phrase.head]
    owner = owner_of(phrase, scene)
    if phrase.det == "other" or not phrase.sides:
        last = [done for done in scene.done if any(target.head == phrase.head for target in done.clause.targets)]
        if not last:
            return regions.half(["left"], owner, parts)
        return minus(owner, last[-1].tiles)
    return regions.half(phrase.sides, owner, parts)


def _middle(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    owner = owner_of(phrase, scene)
    linked = bool(_links(phrase, "of", "in")) or phrase.det == "its"
    if not linked and scene.focus:
        owner = list(scene.focus)
    of = next(iter(targets_of(phrase.links, "of")), None)
    if of is not None and of.head in ("edge", "side") and len(owner) == len(BORDER):
        return [g.middle(regions.at_sides(ALL, [side])) for side in ("top", "right", "bottom", "left")]
    apart = scene.pieces(owner, by_color=False) if phrase.det == "its" else []
    if len(apart) > 1 and all(len(piece) == len(apart[0]) for piece in apart):
        return [g.middle(piece) for piece in apart]
    return [g.middle(owner)] if owner else None


def _inside(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    linked = _links(phrase, "of", "in")
    owner = owner_of(phrase, scene) if linked else list(scene.focus)
    return regions.inside(scene, owner) or (g.enclosed(scene.painted) or None)


def _gap(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    found = [tiles for link in _links(phrase, "between") if (tiles := _between(link, scene))]
    if found:
        return found[0]
    pieces = scene.pieces(scene.painted)
    return regions.between(pieces[0], pieces[1]) if len(pieces) > 1 else None


def _rest(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    owner = owner_of(phrase, scene)
    linked = bool(_links(phrase, "of"))
    last = scene.done[-1].clause.targets[-1:] if scene.done else []
    if last and last[0].head in ("corner", "row", "column", "half", "side") and not linked:
        kind = "corner" if last[0].head == "side" and len(last[0].sides) > 1 else last[0].head
        owner = select(Phrase(head=kind, det="all"), scene) or owner
    return scene.blank_of(owner) or minus(owner, scene.focus)


def _end(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    linked = _links(phrase, "of") or phrase.det == "its"
    owner = owner_of(phrase, scene) if linked else list(scene.focus)
    if not owner:
        return None
    found = regions.at_sides(regions.ends(owner), phrase.sides)
    return found if phrase.det in ("each", "both", "all") or phrase.plural else found[: phrase.count or 1]


def _it(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    if phrase.det == "both":
        return ordered(tile for done in [done for done in scene.done if done.tiles][-2:] for tile in done.tiles) or None
    if phrase.det == "all" and phrase.word in ("them", "these", "those") and scene.main_color(scene.focus):
        return scene.of_colors([scene.main_color(scene.focus)])
    tiles = [tile for tile in scene.focus if on_board(*tile)]
    return tiles or scene.painted or (None if scene.done else list(ALL))


def _thing(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """`the red one`, `this thing`, `the other one`."""
    if phrase.word in scene.names:
        return scene.painted_of(scene.names[phrase.word]) or None
    if phrase.det == "other":
        pieces = scene.pieces(scene.of_colors(phrase.colors) if phrase.colors else scene.painted)
        others = [piece for piece in pieces if not set(piece) & set(scene.focus)]
        return flat(others) or None
    if phrase.colors:
        return scene.of_colors(phrase.colors) or None
    of = _links(phrase, "of")
    if of and of[0].target is not None and of[0].target.head == "it" and phrase.det == "all":
        return _it(replace(of[0].target, det="all"), scene)
    if of:
        return owner_of(phrase, scene) or None
    if phrase.ordinals and scene.bars:
        return bar(phrase, scene)
    if phrase.sides or phrase.ordinals or phrase.links or phrase.count:
        return list(scene.focus) if len(scene.pieces(scene.focus)) > 1 else scene.painted or None
    if phrase.plural or phrase.det in ("all", "both", "each"):
        return scene.painted or None
    return list(scene.focus) or scene.painted or None


def _tile(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """Tiles at a place, tiles beside something, tiles that are painted as dots."""
    middles = [place for place in targets_of(phrase.links, "in") if place.head == "middle"]
    if middles and phrase.count and phrase.count > 1:
        owner = owner_of(middles[0], scene)
        at = g.middle(owner) if owner else None
        return sorted(owner, key=lambda t: (distance(t, at), -t.row, t.column))[: phrase.count] if at else None
    dots = scene.dots(scene.painted)
    if "single" in phrase.marks and phrase.det == "the" and dots:
        return dots
    touching = _links(phrase, "beside")
    sides = [place.sides for place in targets_of(phrase.links, "in") if place.head in ("side", "")]
    ways = [way for way in map(way_of, sides) if way]
    if touching and ways:
        return [g.next_tile(tile, way) for tile in _reached(touching[0], scene)[:1] for way in ways] or None
    if any(link.relation not in ALONG for link in phrase.links):
        return _at(phrase, scene)
    if _links(phrase, "in", "of"):
        return list(ALL)
    if phrase.colors:
        tiles = scene.of_colors(phrase.colors)
        return (tiles if phrase.plural or phrase.det in ("all", "each") else scene.dots(tiles) or tiles) or None
    if phrase.det == "the" and len(phrase.sides) == 1 and len(scene.focus) < 2 and len(dots) > 1 and "new" not in phrase.marks:
        return dots
    if phrase.det in ("this", "the", "these") and not phrase.bare:
        in_corner = len(phrase.sides) > 1 and len(scene.focus) == 1
        return list(ALL) if in_corner else list(scene.focus) or list(ALL)
    if phrase.det in ("all", "each"):
        return list(ALL) if not phrase.count else list(scene.focus)
    if len(scene.focus) == 1 or not dots:
        return list(scene.focus) or None
    return dots


def _petals(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """The tiles of a flower around its middle."""
    owner = owner_of(phrase, scene) if _links(phrase, "of") or phrase.det == "its" else list(scene.focus)
    return minus(owner, [g.middle(owner)]) if len(owner) > 1 else None


def _reached(link: Link, scene: DrawingScene) -> list[Tile]:
    """The tiles that a link leads to; if it names nothing, what was mentioned last."""
    return (select(link.target, scene) if link.target else list(scene.focus)) or []


def _between(link: Link, scene: DrawingScene) -> list[Tile]:
    first = _reached(link, scene)
    second = (select(link.second, scene) if link.second else None) or []
    if not second:
        pieces = in_order(scene.pieces(first)) if first else []
        return [tile for one, other in pairwise(pieces) for tile in regions.between(one, other)]
    return regions.between(first, second) if first else []


def _at(phrase: Phrase, scene: DrawingScene) -> list[Tile] | None:
    """The tiles of the board that lie where the relations of a phrase say."""
    found = list(ALL)
    every = phrase.head == "all" or phrase.det == "all"
    shared: list[Tile] = []
    for link in phrase.links:
        place = related(link, scene, every, phrase)
        if place is None:
            return None
        shared += place
        found = found if link.relation in BESIDE and not every else common(found, place)
    if any(link.relation in BESIDE for link in phrase.links) and not every:
        found = common(ordered(shared), found)
    return found


def related(link: Link, scene: DrawingScene, every: bool, phrase: Phrase | None = None) -> list[Tile] | None:
    """The tiles in a link's relation to its target: with `every`, all up to the edge, otherwise the next ones. None if there is
    no target."""
    target = _reached(link, scene)
    if not target:
        return None
    match link.relation:
        case relation if relation in BESIDE:
            if every and link.count is None and "-" not in link.relation:
                return regions.side_of(target, link.relation)
            if phrase is not None and phrase.count and phrase.count > 1 and link.count is None and len(target) == 1:
                return [tile for k in range(phrase.count) for tile in regions.next_to(target, link.relation, k + 1)]
            found = regions.next_to(target, link.relation, link.count or 1)
            each = link.target is not None and link.target.det in ("each", "all", "both")
            single = phrase is not None and not each and not phrase.plural and phrase.det in ("the", "a", "", "this")
            return [found[len(found) // 2]] if single and found else found
        case "beside":
            touching = near(target, link.count or 1)
            second = select(link.second, scene) if link.second else None
            pieces = scene.pieces(target) if link.target and link.target.det == "both" else []
            for others in [second] if second else pieces:
                touching = common(touching, near(others, 1))
            return touching
        case "around":
            return near(filled(target), link.count or 1)
        case "between":
            return _between(link, scene)
        case "inside":
            region = link.target is not None and link.target.head in PARTS_OF_BOARD
            return target if region else regions.inside(scene, target)
        case "outside":
            return minus(ALL, filled(target))
        case _:
            return target


def _filtered(phrase: Phrase, tiles: list[Tile], scene: DrawingScene) -> list[Tile]:
    """The tiles that have the phrase's places and looks."""
    if phrase.head in ("tile", "all", "thing", "", *SHAPES):
        for link in _links(phrase, "in", "of"):
            if link.target is None or (link.target.head in ("it", "thing", "") and phrase.head != "tile"):
                continue
            if _links(phrase, "beside") and link.target.head in ("side", "") and way_of(link.target.sides):
                continue
            place = room(link, scene)
            if place is not None:
                found = common(place, tiles)
                tiles = found if found or phrase.head in ("tile", "all") else tiles
    if "empty" in phrase.marks:
        tiles = scene.blank_of(tiles)
    if "painted" in phrase.marks:
        tiles = scene.painted_of(tiles)
    for mark in phrase.marks:
        if mark.startswith("not "):
            tiles = [tile for tile in tiles if scene.board[tile] not in (mark[4:], "white")]
    return tiles


def room(link: Link, scene: DrawingScene) -> list[Tile] | None:
    """The tiles of a place: for `in the ring`, those that the ring encloses."""
    if link.target is None:
        return None
    tiles = select(link.target, scene)
    if tiles and link.relation in ("in", "inside") and link.target.head in ROUND:
        return [tile for tile in g.enclosed(tiles) if tile not in tiles] or tiles
    return tiles


_HEADS: dict[str, Callable[[Phrase, DrawingScene], list[Tile] | None]] = {
    "board": board, "all": _at, "background": background, "row": _line, "column": _line, "corner": _corner, "edge": _edge,
    "side": _side, "half": _half, "third": _half, "quarter": _half, "middle": _middle, "inside": _inside, "gap": _gap,
    "rest": _rest, "end": _end, "it": _it, "thing": _thing, "": _thing, "tile": _tile, "petal": _petals, "crossing": crossing,
    "feature": feature, "neighbor": neighboring,
}  # fmt: skip
