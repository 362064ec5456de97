"""Carries out clauses that paint or draw: which tiles get which colors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.drawing import drawn
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase, once, targets_of
from harness.baselines.parser.everyday.hexagons.regions import OPPOSITE
from harness.baselines.parser.everyday.hexagons.scene import (
    ALL,
    DEFAULT_COLOR,
    DrawingScene,
    Tiles,
    common,
    minus,
    number_of,
    outline,
)
from harness.baselines.parser.everyday.hexagons.selecting import BESIDE, REGIONS, ROUND, landmark, select
from harness.baselines.parser.everyday.hexagons.shapes import SHAPES, parts, tints
from harness.worlds.hexagons import COLUMNS, ROWS, Board, Tile
from serialization.program import hexagons_geometry as g

NEW = ("a", "another", "")
PATTERNS = ("checkers",)


def paint_clause(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Paints or draws the targets of a clause and returns their tiles; None if it could not."""
    targets = clause.targets
    if len(targets) > 1 and clause.verb == "be":
        targets = [target for target in targets if target.head != "board"]
    targets = _each_in(replace(clause, targets=targets)) or _implied_targets(clause, scene)
    found: list[Tile] = []
    acted, about = False, scene.focus
    mark: Tiles = ()
    beside: set[str] = set()
    for number, target in enumerate(targets):
        if not any(is_new(other, clause) for other in targets[:number]):
            scene.focus = about
        relations = {link.relation for link in target.links if link.target is None or link.target.head == "it"}
        if mark and relations & {OPPOSITE.get(one, "") for one in beside}:
            scene.focus = mark
        found_mark = landmark(target.links, scene)
        if found_mark:
            mark, beside = found_mark, {link.relation for link in target.links}
        tiles = _one(target, clause, scene)
        if tiles is not None:
            acted = True
            found += tiles
            if tiles:
                scene.focus = tiles
    if found:
        scene.focus = found if len(targets) > 1 or not acted else scene.focus
    return found if acted else None


def _each_in(clause: Clause) -> list[Phrase]:
    """`one tile each of red and blue` in a column: the column, whose first tiles get the colors."""
    each = any(of.det == "each" and of.head == "it" for of in targets_of(clause.target_links, "of"))
    if not ("each" in clause.marks or each) or len(clause.colors) < 2:
        return clause.targets
    return targets_of(clause.links, "in")[:1] or [replace(target, count=len(clause.colors)) for target in clause.targets[:1]]


def _implied_targets(clause: Clause, scene: DrawingScene) -> list[Phrase]:
    """`put blue in the corner` paints the corner; `green, 3 tiles down from it` draws a line; `blue` paints it."""
    place = next((link for link in clause.links if link.relation in ("in", "with", "around") and link.target is not None), None)
    if clause.moves and clause.moves[0][1]:
        return [Phrase(head="line", det="a")]
    stacked = clause.marks & {"upright", "level", "together"}
    if len(clause.colors) > 1 and not clause.links and (stacked or not scene.focus):
        marks = stacked - {"together"} or {"level"}
        return [Phrase(head="line", det="a", sizes={"tiles": sum(count for _, count in clause.colors)}, marks=marks)]
    for start in targets_of(clause.links[:1], "from"):
        if start.det == "a" and start.colors:
            return [replace(start, links=start.links + clause.links[1:])]
    if place is not None and place.target is not None:
        return [replace(Phrase(head="edge"), links=[place]) if place.relation == "around" else place.target]
    if clause.moves or any(link.relation == "from" for link in clause.links):
        return [Phrase(head="line", det="a")]
    return [Phrase(head="it")] if scene.focus and clause.colors else []


def is_new(target: Phrase, clause: Clause) -> bool:
    """Whether a phrase means a new figure, not one that stands or a part of the board."""
    if target.head in ("row", "column"):
        return (target.det in NEW and bool(target.sizes)) or (target.det == "a" and not _placed(target))
    if target.head not in SHAPES and target.head not in PATTERNS:
        return False
    if target.head == "tile":
        return _is_new_tile(target, clause)
    if target.det in NEW and (not target.ordinals or target.det == "a"):
        recolors = clause.verb in ("paint", "make") and clause.colors
        return not recolors or bool(target.colors or target.det or target.sizes)
    return False


def _is_new_tile(target: Phrase, clause: Clause) -> bool:
    if target.ordinals or target.every or target.det in ("the", "this", "each", "all", "both", "other", "only"):
        return False
    plain = target.plural and target.count is None and not target.colors
    return not (clause.verb in ("make", "paint", "be") and clause.colors and plain)


def _placed(target: Phrase) -> bool:
    return bool(target.sides or target.ordinals or target.links or target.every)


def _stripes(target: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """Stripes across the board: `black and white in turn`, or as many equal ones as there are colors, as on a flag."""
    names = list(dict.fromkeys(color for color, _ in clause.colors)) or target.colors
    if (
        target.head not in ("line", "row", "column")
        or len(names) < 2
        or (target.det in ("the", "this") and ("cycle" not in clause.marks or not target.bare or scene.painted))
        or not (target.plural or target.count)
    ):
        return None
    marks = target.marks | clause.marks
    by_row = target.head == "row" or "level" in marks
    size = ROWS if by_row else COLUMNS
    wide = target.sizes.get("wide") or (1 if "cycle" in marks or not target.count else size // max(target.count, 1))
    for tile in ALL:
        number = (tile.row if by_row else tile.column) // wide
        if "cycle" in marks or not target.count or number < len(names):
            scene.paint([tile], names[number % len(names)])
    return list(ALL)


def _one(target: Phrase, clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Paints one target of a clause; returns its tiles, or None if there are none."""
    told = _head_of_one(target, clause, scene)
    colors = _new_colors(told, clause, scene)
    stripes = _stripes(told, clause, scene)
    if stripes is not None:
        return stripes
    new = is_new(told, clause)
    for owner in [place for place in targets_of(told.links, "of") if place.head != "board"][:1]:
        scene.owner = select(owner, scene) or ()
    if new:
        _draw_landmark(told, scene)
    tiles = drawn(told, clause, scene) if new else _selected(told, clause, scene)
    gone = told.det in ("the", "this") and bool(told.colors) and bool(clause.colors)
    if tiles is None and not new and not gone and told.head in SHAPES and clause.verb in ("draw", "", "make", "paint"):
        new, tiles = True, drawn(told, clause, scene)
    if not tiles:
        return None
    paint_in(tiles, colors, clause, told, scene)
    if new:
        _tinted(told, tiles, scene)
    tiles = [*tiles, *with_parts(told, clause, tiles, scene)]
    own = [told.word] if told.word and (told.head not in ("thing", "it", "tile", "") or told.word in ("moon", "sun")) else []
    for name in own + clause.names:
        scene.names[name] = tiles
    return tiles


def _draw_landmark(target: Phrase, scene: DrawingScene) -> None:
    """Draws the thing that a figure is to lie beside or inside, if that is new, too: `a dot inside a blue ring`."""
    for link in target.links:
        mark = link.target
        if mark is not None and mark.head in ("background", "board") and mark.det == "a" and mark.colors:
            scene.paint(ALL, mark.colors[0])
        if link.relation not in (*BESIDE, "beside", "inside") or mark is None or mark.det != "a" or mark.head not in SHAPES:
            continue
        if mark.head != "tile" and not mark.links and not select(mark, scene):
            inner = link.relation == "inside" and target.head != "tile"
            tiles = drawn(replace(mark, sizes={"around": 3} | mark.sizes) if inner else mark, Clause(verb="draw"), scene)
            scene.paint(tiles or (), (mark.colors or [scene.color or DEFAULT_COLOR])[0])


def _head_of_one(target: Phrase, clause: Clause, scene: DrawingScene) -> Phrase:
    """`a blue one` is what was drawn last, in blue; a flower or a dot."""
    if target.head == "inside" and target.det == "a" and target.sizes:
        return replace(target, head="hexagon")
    if target.head in ("thing", "feature") and clause.verb == "draw" and target.new and target.word not in ("one", "ones"):
        inside = any(link.relation in ("in", "inside") for link in target.links + clause.links)
        open_tile = "line" if target.sizes.get("tiles", 1) > 1 else "tile"
        return replace(target, head="flower" if target.head == "thing" and not inside else open_tile)
    one = target.head == "" or (target.head == "thing" and target.word in ("one", "ones"))
    if not one or target.det not in NEW:
        return target
    here = clause.targets[: clause.targets.index(target)] if target in clause.targets else []
    said = [other for done in scene.done for other in done.clause.targets] + here
    drawn_before = [other for other in said if other.head in SHAPES and other.head not in ("row", "column")]
    like = drawn_before[-1] if drawn_before else Phrase(head="tile", word="tile")
    count = target.count if target.count != 1 else None
    return replace(
        like,
        det="a",
        count=count,
        colors=target.colors or (like.colors if like in clause.targets or not clause.colors else []),
        links=[replace(link, target=link.target or Phrase(head="it")) for link in target.links],
        sides=target.sides,
        excepted=[],
        plural=False,
        marks=like.marks | target.marks,
        sizes={**like.sizes, **target.sizes},
    )


def _new_colors(target: Phrase, clause: Clause, scene: DrawingScene) -> list[tuple[str, int]]:
    """The colors that a target gets: a new figure's own, otherwise those of the clause, its own, or the last one."""
    if clause.colors:
        own = target.colors and target.head in SHAPES and is_new(target, clause)
        return once(target.colors) if own else clause.colors
    if target.colors:
        return once(target.colors)
    if target.word in ("sun", "moon") or target.head == "face":
        return [("yellow", 1)]
    return [(scene.color or DEFAULT_COLOR, 1)]


def _selected(target: Phrase, clause: Clause, scene: DrawingScene) -> list[Tile] | None:
    """The tiles of a target that stands or is a part of the board."""
    described = bool(target.colors) and bool(clause.colors)
    asked = target if described or target.head not in REGIONS else replace(target, colors=[])
    if not clause.colors and target.colors and target.head in ("thing", "tile", *SHAPES):
        asked = replace(target, colors=[])
    inner = [link for link in clause.links if link.relation == "in" and link.target is not None]
    if asked.head == "tile" and inner and not any(link.relation == "in" for link in asked.links):
        asked = replace(asked, links=[*asked.links, *inner])
    view = scene
    if clause.colors and target.head in ("all", "thing") and (target.colors or target.marks):
        view = replace(scene, board=scene.sentence_start)
    found = select(asked, view)
    if found is None:
        return None
    if "fill" in clause.marks and asked.head in (*ROUND, "line", "flower"):
        found = minus(g.enclosed(found), found) or found
    if described and asked.head in REGIONS:
        of_color = [tile for tile in found if view.board[tile] in target.colors]
        return of_color if asked.head != "background" else found
    if clause.links and asked.head in REGIONS:
        found = _at_links(found, clause.links, scene)
    return found


def _at_links(tiles: list[Tile], links: Sequence[Link], scene: DrawingScene) -> list[Tile]:
    """The tiles that lie where the clause says: `in the left half, every row red`."""
    for place in targets_of(links, "in"):
        if place.head not in ("it", "side", "board"):
            tiles = common(tiles, select(place, scene) or tiles) or tiles
    return tiles


def paint_in(tiles: Tiles, colors: Sequence[tuple[str, int]], clause: Clause, target: Phrase, scene: DrawingScene) -> None:
    """Paints tiles in one color, or in several in turn, or part by part: three stripes in three colors."""
    names = [color for color, _ in colors]
    if clause.first in names:
        start = names.index(clause.first)
        colors, names = [*colors[start:], *colors[:start]], names[start:] + names[:start]
    if len(names) == 1:
        scene.paint(tiles, names[0])
    elif target.head == "board" or (target.head in ("row", "column", "line") and (target.plural or target.det == "each")):
        _paint_lines(tiles, names, target, scene)
    elif target.count == len(names) and target.head in SHAPES and len(tiles) % len(names) == 0:
        size = len(tiles) // len(names)
        for k, name in enumerate(names):
            scene.paint(tiles[k * size : (k + 1) * size], name)
    else:
        _paint_turns(tiles, colors, clause, target, scene)
    scene.color = names[0] if names[0] != "white" else scene.color


def _paint_turns(tiles: Tiles, colors: Sequence[tuple[str, int]], clause: Clause, target: Phrase, scene: DrawingScene) -> None:
    """Paints tile by tile, with the colors in turn; three or more different ones are used once unless the words say otherwise."""
    run = [color for color, count in colors for _ in range(count)]
    once = "cycle" not in clause.marks | target.marks and len(set(run)) == len(run) and len(run) > 2 and len(tiles) > len(run)
    for k, tile in enumerate(tiles[: len(run)] if once else tiles):
        scene.paint([tile], run[k % len(run)])


def _paint_lines(tiles: Tiles, names: Sequence[str], target: Phrase, scene: DrawingScene) -> None:
    """Paints each line in the next color."""
    by_row = target.head == "row" or "level" in target.marks
    kind = "row" if by_row else "column"
    numbers = sorted({number_of(kind, tile) for tile in tiles})
    for tile in tiles:
        scene.paint([tile], names[numbers.index(number_of(kind, tile)) % len(names)])


def _tinted(target: Phrase, tiles: Tiles, scene: DrawingScene) -> None:
    """Gives a picture its own colors if none are named, and its parts their names."""
    own = tints(target)
    if not own:
        return
    (shape,) = SHAPES[target.head](target)
    named: dict[str, list[Tile]] = {}
    for start in range(0, len(tiles), len(shape)):
        at = dict(zip(shape, tiles[start : start + len(shape)], strict=False))
        for origin, color in own.items():
            if not target.colors and origin in at:
                scene.paint([at[origin]], color)
        for name, origins in parts(target).items():
            named[name] = [*named.get(name, ()), *(at[origin] for origin in origins if origin in at)]
    scene.names |= named


def with_parts(target: Phrase, clause: Clause, tiles: Tiles, scene: DrawingScene) -> list[Tile]:
    """Paints parts that are named with the figure: `a red flower with a yellow center`, `with a green stem`. Returns the tiles
    that they add to it."""
    added: list[Tile] = []
    links = [link for link in [*target.links, *clause.links] if link.relation == "with"]
    for part in [part for link in links for part in (link.target, link.second)]:
        if part is None or not part.colors:
            continue
        part = replace(part, head="middle") if part.head == "heart" else part
        found = _part(part, target, tiles, scene)
        scene.paint(found, part.colors[0])
        added += minus(found, tiles)
        if part.word and found:
            scene.names[part.word] = found
    return added


def _part(part: Phrase, target: Phrase, tiles: Tiles, scene: DrawingScene) -> list[Tile]:
    """The tiles of a part of a figure, or of what belongs to it."""
    it, about = Link("of", Phrase(head="it")), replace(scene, focus=tiles)
    if target.head == "board" and part.head in ("edge", "corner", "side"):
        return select(replace(part, colors=[], det="the"), scene) or []
    if target.head in ("board", "background") and part.head in SHAPES:
        places = [link for link in target.links if link.relation != "with"]
        blank = replace(scene, board=Board(), focus=())
        return drawn(replace(part, links=[*part.links, *places]), Clause(), blank) or []
    if part.word in scene.names and set(scene.names[part.word]) <= set(tiles):
        return list(scene.names[part.word])
    if part.head in ("side", "edge") and target.head in ("box", "triangle", "diamond"):
        return outline(tiles)
    match part.head:
        case "tile":
            return [g.middle(tiles)]
        case "stem":
            return drawn(replace(part, det="a"), Clause(), about) or []
        case "petal":
            return minus(tiles, select(Phrase(head="middle", links=[it]), about) or ())
        case "inside":
            return minus(tiles, outline(tiles))
        case "edge" | "ring":
            ring = Phrase(head="ring", links=[Link("around", Phrase(head="it"))], sizes=part.sizes)
            return drawn(ring, Clause(), about) or []
    owned = part.head in ("middle", "end", "corner") and any(link.relation == "of" for link in part.links)
    found = select(replace(part, colors=[], det="the", links=part.links + ([] if owned else [it])), about) or []
    return common(found, tiles) or found
