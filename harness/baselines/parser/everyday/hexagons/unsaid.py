"""Fills in what a clause leaves unsaid: its verb, thing or color, from the turns before."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.hexagons import changing
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase, once, targets_of
from harness.baselines.parser.everyday.hexagons.repeating import PAINTING, again_elsewhere, going_on, same
from harness.baselines.parser.everyday.hexagons.scene import Done, DrawingScene
from harness.baselines.parser.everyday.hexagons.selecting import BESIDE, folded, select
from harness.baselines.parser.everyday.hexagons.shapes import SHAPES

FIGURES = [head for head in SHAPES if head not in ("tile", "line", "row", "column", "stem")]
PARTS = ("middle", "heart", "petal", "edge", "stem", "inside", "corner", "end")
"""Parts that can be given to a thing."""
CHANGING = tuple(changing.VERBS)


def completed(clause: Clause, scene: DrawingScene) -> Clause:
    """The clause with what it takes over from the one before."""
    if clause.color_of is not None:
        color = scene.main_color(select(clause.color_of, scene) or ())
        clause = replace(clause, verb="make", colors=[(color, 1)] if color else [])
    clause = _one_side_each(_subject(clause, scene))
    if "empty" in clause.marks and clause.verb in PAINTING and clause.targets and not clause.colors and not clause.targets[0].new:
        clause = replace(clause, colors=[("white", 1)], marks=clause.marks - {"empty", "again"})
    clause = replace(clause, targets=[_like_before(_arranged(target), scene) for target in clause.targets])
    told = clause.verb or any(target.ordinals or target.sides or target.count for target in clause.targets)
    only = [target for target in clause.targets if target.det == "only"]
    if told and only and clause.verb in ("", "be", "make", "keep") and not clause.colors:
        return replace(clause, verb="keep", targets=only)
    if clause.verb == "keep" and "empty" in clause.marks and clause.targets:
        return replace(clause, verb="paint", colors=[("white", 1)])
    if "not" in clause.marks and clause.verb in ("paint", "draw", "remove") and clause.targets:
        return replace(clause, verb="keep")
    clause = _counted(_places_joined(_verb_meant(clause, scene)), scene)
    for rule in (_turned, _moved, _copied, again_elsewhere):
        found = rule(clause, scene)
        if found is not None:
            return found
    return _after(clause, scene.done[-1], scene) if scene.done else clause


def _subject(clause: Clause, scene: DrawingScene) -> Clause:
    """`each flower needs a dot in its middle` is about the flower; `the lower half is the sea, so it is blue` gives a name."""
    alone = [target for target in clause.targets if target.head != "it" or not target.bare]
    if alone and clause.targets[0].head != "it" and clause.verb in ("make", "be"):
        clause = replace(clause, targets=alone)
    if clause.moves and clause.moves[0][1] is None and clause.colors and [target.head for target in clause.targets] == ["all"]:
        relation = {"up": "above", "down": "below"}.get(clause.moves[0][0], clause.moves[0][0])
        return replace(clause, moves=[], targets=[replace(clause.targets[0], links=[Link(relation, None)])])
    if any("next" in target.marks for target in clause.targets):
        scene.gap = clause.sizes.get("gap", scene.gap)
    if clause.verb == "make" and clause.targets and not clause.colors:
        recolored = _like_one(clause)
        if recolored is not None:
            return recolored
    if len(clause.targets) < 2 or clause.verb not in ("draw", "be", "make"):
        return clause
    first, second = clause.targets[:2]
    standing = not first.new and first.head not in ("", "board", "all")
    if clause.verb == "draw" and standing and second.new and second.head in SHAPES:
        scene.focus = select(first, scene) or scene.focus
        return replace(clause, targets=clause.targets[1:])
    described = second.colors or second.sizes or second.links or second.sides or second.ordinals
    plain = second.word and not described and second.head not in ("it", "thing", "tile", "half")
    if clause.verb != "draw" and first.head != "it" and second.det in ("a", "the") and (plain or "unknown" in second.marks):
        return replace(clause, targets=[first, *clause.targets[2:]], names=[*clause.names, second.word])
    return clause


def _like_one(clause: Clause) -> Clause | None:
    """`make every second tile a red one` paints them."""
    first = clause.targets[0]
    ones = (
        link for link in first.links if link.relation in ("in", "with") and link.target and link.target.word in ("one", "ones")
    )
    link = next(ones, None)
    if link is None or link.target is None or not link.target.colors or (first.new and not first.every):
        return None
    kept = [other for other in first.links if other is not link]
    return replace(clause, targets=[replace(first, links=kept)], colors=once(link.target.colors))


def _places_joined(clause: Clause) -> Clause:
    """Places that are named separately belong to the only thing: `a fence, all around it`."""
    beside = [link for link in clause.links if link.relation in ("around", "outside", "inside", *BESIDE, "beside", "between")]
    if len(clause.targets) == 1 and beside and any(link.relation == "inside" for link in clause.targets[0].links):
        clause = replace(clause, targets=[replace(clause.targets[0], head="edge")])
    if len(clause.targets) != 1 or not beside or clause.targets[0].head not in ("edge", "column", "row", "tile", "all"):
        return clause
    targets = [replace(clause.targets[0], links=clause.targets[0].links + beside)]
    return replace(clause, targets=targets, links=[link for link in clause.links if link not in beside])


def _counted(clause: Clause, scene: DrawingScene) -> Clause:
    """The clause with its counts worked out: `as many as`, `so that there are 5`, `I need 5`."""
    if clause.as_many is not None and clause.targets and clause.verb != "resize":
        clause = _as_many(clause, scene)
    only = clause.targets[0] if len(clause.targets) == 1 else None
    plain = only is not None and only.head == "" and only.bare and only.det == "" and not clause.colors and not clause.links
    if only is not None and plain and clause.verb == "draw" and scene.focus:
        clause = replace(clause, total=only.count)
    return clause if clause.total is None else _up_to_total(clause, scene)


def _as_many(clause: Clause, scene: DrawingScene) -> Clause:
    """`as many orange ones as there are green ones`."""
    like = clause.as_many
    tiles = (select(like, scene) if like is not None else None) or []
    return replace(clause, targets=[replace(clause.targets[0], count=len(tiles) or None)], as_many=None)


def _up_to_total(clause: Clause, scene: DrawingScene) -> Clause:
    """`add red dots so that there are five`: as many as are missing."""
    target = next((target for target in clause.targets if target.head in ("tile", "thing", "")), Phrase(head="tile", det="a"))
    color = (target.colors or clause.color_names or [scene.main_color(scene.focus) or scene.color])[0]
    there = len(scene.pieces(scene.of_colors([color]))) if color else 0
    missing = (clause.total or 0) - there
    dots = Phrase(head="tile", word="dots", plural=True, det="a", count=max(missing, 0), colors=[color] if color else [])
    return replace(clause, verb="draw" if missing > 0 else "ask", targets=[dots] if missing > 0 else [], colors=[], total=None)


def _turned(clause: Clause, scene: DrawingScene) -> Clause | None:
    """`turn the line around the dot`."""
    around = any(link.relation == "around" for target in clause.targets for link in target.links)
    return replace(clause, verb="rotate") if around and clause.verb == "make" and not clause.colors else None


def _moved(clause: Clause, scene: DrawingScene) -> Clause | None:
    """`put it in the corner` moves what stands."""
    if clause.verb != "draw" or not clause.targets or clause.colors or clause.times:
        return None
    first = clause.targets[0]
    placed = any(link.relation in ("in", "to", *BESIDE, "beside") for link in first.links + clause.links)
    return replace(clause, verb="move") if placed and (first.head == "it" or first.det == "this") else None


def _copied(clause: Clause, scene: DrawingScene) -> Clause | None:
    """`another flower`, `draw this flower 3 more times` copy the one that stands."""
    first = clause.subject
    if clause.colors or clause.verb not in ("draw", "make", ""):
        return None
    around = any(link.relation in ("around", "inside") for link in first.links)
    of = next((owner for owner in targets_of(first.links, "of") if owner.head == "it"), None)
    if first.det == "another" and of is not None and first.head in ("", "thing"):
        links = clause.links + [link for link in first.links if link.relation == "with"]
        return replace(clause, verb="copy", targets=[of], links=links, times=first.count or 1)
    if first.det == "another" and not around and first.head in SHAPES and first.head not in ("tile", "row", "column"):
        standing = replace(first, det="the", links=[], colors=[], count=None)
        if not first.colors and not first.sizes and select(standing, scene):
            return replace(clause, verb="copy", targets=[standing], links=clause.links + first.links, times=first.count)
    again = clause.times or clause.moves or "another" in clause.marks
    if clause.verb == "draw" and first.det in ("this", "the") and again and clause.targets and select(first, scene):
        return replace(clause, verb="copy", targets=clause.targets[:1])
    return None


def _after(clause: Clause, last: Done, scene: DrawingScene) -> Clause:
    """The clause as it follows another one."""
    if clause.verb in CHANGING:
        return clause
    if "same" in clause.marks or clause.verb == "again":
        return same(clause, last, scene)
    if clause.verb not in ("", "be"):
        return clause
    if last.clause.verb in CHANGING:
        goes_on = going_on(clause, last)
        if goes_on is not None:
            return goes_on
    if not clause.moves or clause.targets or clause.links:
        return clause
    lined = any(target.head in ("line", "diagonal") for target in last.clause.targets) and last.clause.verb in PAINTING
    if clause.verb == "" and lined and last.clause.moves:
        scene.focus = last.about
        moves = [(way, last.clause.moves[0][1]) for way, _ in clause.moves]
        return replace(last.clause, moves=moves, colors=clause.colors or [(last.color, 1)])
    vague = bool(clause.unknown) and all(count is None for _, count in clause.moves)
    return clause if clause.colors or vague else replace(clause, verb="move")


def _given(clause: Clause) -> Clause:
    """`give the flower a yellow heart` paints its middle; `give the ring another color` is about the ring alone."""
    owner, given = clause.targets[:1], clause.targets[1:]
    if given and given[0].head == "neighbor":
        return replace(clause, verb="draw", targets=[replace(given[0], head="tile", det="a", links=[Link("beside", owner[0])])])
    if given and given[0].head == "tile" and given[0].count and not given[0].colors and not clause.colors:
        return replace(clause, verb="tell", targets=owner)
    part = next((target for target in given if target.head in PARTS), None)
    if part is None:
        stands = owner and owner[0].det in ("the", "this", "its")
        return replace(clause, verb="make" if stands else "draw", targets=owner)
    if part.head == "stem" and part.det == "a":
        return replace(clause, verb="draw", targets=[part])
    head = "middle" if part.head == "heart" else part.head
    links = [Link("around", owner[0])] if head == "edge" else [*part.links, Link("of", owner[0])]
    return replace(clause, verb="paint", targets=[replace(part, head=head, det="the", links=links)])


def _counted_from(clause: Clause) -> Clause:
    """`every other tile, starting with the second`, `of the yellow dots every second one`."""
    every = any(place.every for target in clause.targets for place in [target, *targets_of(target.links)])
    starts = _ordinals_only(clause.links)[:1]
    starts += [start for target in clause.targets if target.every for start in _ordinals_only(target.links)]
    if starts and every:
        origin = starts[-1]
        targets = [
            replace(target, ordinals=origin.ordinals[:1], links=[li for li in target.links if li.target is not origin])
            for target in clause.targets
        ]
        clause = replace(clause, targets=targets)
    owner = next((place for place in targets_of(clause.links, "from") if place.head in (*SHAPES, "thing")), None)
    if clause.targets and clause.targets[-1].every and owner is not None and owner.plural:
        last = replace(clause.targets[-1], links=[Link("of", owner)], head="thing")
        clause = replace(clause, targets=[*clause.targets[:-1], last], links=[])
    return clause


def _ordinals_only(links: list[Link]) -> list[Phrase]:
    """Where to start: `from the second`."""
    return [place for place in targets_of(links, "from") if place.ordinals and not place.head]


def _verb_meant(clause: Clause, scene: DrawingScene) -> Clause:
    """`fill` paints the inside; `make it twice as long` grows; `divide the board into stripes` draws stripes."""
    clause = _counted_from(clause)
    first = clause.subject
    match clause.verb:
        case "fill":
            return replace(clause, verb="paint", marks=clause.marks | {"fill"})
        case "total":
            return replace(clause, verb="draw", total=next((target.count for target in clause.targets if target.count), None))
        case "continue" if first.head in SHAPES:
            return replace(clause, verb="grow")
        case "continue":
            return replace(clause, verb="again", targets=[])
    if not clause.colors and clause.verb in ("make", "be", "", "grow", "shrink"):
        changed = _changed(clause, scene)
        if changed is not None:
            return changed
    if clause.targets and first.head == "it" and first.sizes:
        clause = replace(clause, sizes=clause.sizes | first.sizes)
    if clause.verb == "give":
        return _given(clause)
    if clause.verb == "split":
        stripes = targets_of(clause.all_links, "in")
        return replace(clause, verb="draw", targets=stripes or clause.targets, links=[], marks=clause.marks - {"same"})
    return clause


def _changed(clause: Clause, scene: DrawingScene) -> Clause | None:
    """A clause that gives a figure another place, size or inside: `make it 5 tiles long`. None for any other clause."""
    first, plain = clause.subject, clause.verb in ("make", "be", "")
    if clause.verb == "be" and clause.moves and clause.moves[0][1] and first.head == "it":
        return replace(clause, verb="move")
    if plain and "filled" in clause.marks and first.head == "it":
        inside = Phrase(head="inside", links=[Link("of", first)])
        return replace(clause, verb="paint", targets=[inside], marks=clause.marks - {"filled"})
    if plain and scene.bars and clause.targets and first.ordinals and ("full" in clause.marks or clause.moves):
        shorter = clause.moves and clause.moves[0][0] == "down"
        moves = [("up", count) for _, count in clause.moves] or [("up", None)]
        return replace(clause, verb="shrink" if shorter else "grow", moves=moves)
    resizes = not first.new and (
        clause.as_many is not None or (clause.sizes and clause.targets and first.head in (*SHAPES, "it", "thing"))
    )
    if clause.targets and first.head == "it" and first.sizes:
        clause = replace(clause, sizes=clause.sizes | first.sizes)
        resizes = True
    if resizes and (plain or clause.as_many is not None or len(clause.sizes) > 1):
        return replace(clause, verb="resize")
    if clause.verb in ("make", "be") and "full" in clause.marks and first.head in ("it", "line") and not first.new:
        return replace(clause, verb="grow")
    if plain and clause.marks & {"long", "big", "wide", "thick", "small"} and clause.marks & {"twice", "half"}:
        return replace(clause, verb="grow" if "twice" in clause.marks else "shrink")
    return None


def _one_side_each(clause: Clause) -> Clause:
    """`the left and the right edge` are two edges; `make it the top row` is about the row."""
    targets = list(clause.targets)
    if len(targets) > 1 and clause.verb in ("make", "be", "") and targets[0].head == "it" and targets[0].bare:
        targets = targets[:1] if targets[0].sizes else targets[1:]
    elif len(targets) == 1 and targets[0].head == "tile" and (spots := _every_spot(targets[0])):
        targets = [replace(spots, colors=targets[0].colors)]
    elif len(targets) == 2 and targets[0].head == targets[1].head == "tile" and targets[1].every and not targets[0].links:
        targets = [replace(targets[1], colors=targets[0].colors)]
    return replace(clause, targets=targets)


def _every_spot(phrase: Phrase) -> Phrase | None:
    """The spots of `a tile in every other spot of the row`."""
    return next((place for place in targets_of(phrase.links, "in") if place.head == "tile" and place.every), None)


def _arranged(phrase: Phrase) -> Phrase:
    """`a line of 5 flowers` is flowers in a row, `6 tiles in a circle` a circle, `a pattern of red and blue rows` rows."""
    if phrase.head == "ring" and phrase.sides == ["outer"]:
        return replace(phrase, head="edge", det="the", sides=[])
    for link in phrase.links:
        inner = link.target
        if inner is None:
            continue
        others = [other for other in phrase.links if other is not link]
        if phrase.head == "board" and link.relation == "with" and inner.head in ("row", "column", "line") and inner.plural:
            return inner
        if phrase.head == "board" and link.relation == "in" and inner.word in ("parts", "pieces") and inner.count:
            return replace(inner, head="line")
        lines = inner.head in ("row", "column", "line") and inner.plural and len(inner.colors) > 1
        if link.relation == "of" and phrase.word in ("pattern", "design") and lines:
            return inner
        if link.relation == "of" and phrase.head in ("line", "row", "column") and inner.head in FIGURES and inner.count:
            mark = "upright" if phrase.head == "column" or "upright" in phrase.marks else "level"
            colors = inner.colors or phrase.colors
            return replace(inner, marks=inner.marks | {mark}, links=inner.links + others, sides=phrase.sides, colors=colors)
        many = phrase.head == "tile" and (phrase.count or 1) > 2 and inner.det == "a" and not inner.colors
        if link.relation == "in" and many and inner.head == "line":
            return replace(phrase, marks=phrase.marks | (inner.marks or {"level"}), links=inner.links + others)
        if link.relation == "in" and many and inner.head in FIGURES:
            sizes = {"tiles": phrase.count or 3} | inner.sizes
            return replace(inner, colors=phrase.colors, sizes=sizes, links=inner.links + others)
    return phrase


def _like_before(phrase: Phrase, scene: DrawingScene) -> Phrase:
    """`the top right one` after a corner is a corner, `the one to the right of it` after a column a column."""
    excepted = [other for target in (scene.done[-1].clause.targets if scene.done else ()) for other in target.excepted]
    alike = [other for other in excepted if other.head == phrase.head]
    if phrase.det == "this" and phrase.bare and alike:
        return alike[0]
    rest = _rest_of_place(phrase, scene)
    if rest is not None:
        return rest
    phrase = folded(phrase) if phrase.head in ("thing", "") else phrase
    last = scene.done[-1].clause.targets[-1:] if scene.done else []
    kind = phrase.head if phrase.head in ("row", "column") or not last else last[0].head
    before = {"row": "above"}.get(kind, "left")
    links = [replace(link, relation=before) if link.relation == "before" else link for link in phrase.links]
    phrase = replace(phrase, links=links)
    parity = phrase.marks & {"even", "odd"}
    beside = any(link.relation in BESIDE for link in phrase.links)
    told = parity or phrase.det == "other" or phrase.sides or phrase.ordinals or beside
    if phrase.head not in ("thing", "") or phrase.word not in ("", "one", "ones") or phrase.colors or not told:
        return phrase
    if parity and last and last[0].marks & {"even", "odd"}:
        return replace(last[0], marks=parity)
    parallel = last and ((phrase.sides and last[0].sides) or (phrase.ordinals and last[0].ordinals and last[0].links))
    if parallel and phrase.det in ("the", "") and not phrase.links and last[0].head not in ("", "thing") and not phrase.count:
        return replace(last[0], sides=phrase.sides, ordinals=phrase.ordinals, plural=phrase.plural)
    standing = len(scene.pieces(scene.painted)) if phrase.ordinals and not phrase.sides else 0
    if last and standing > 1 and phrase.ordinals[0] <= standing and not last[0].plural and not last[0].links:
        return phrase
    for done in reversed(scene.done[-3:]):
        sided = any(folded(target).sides for target in done.clause.targets)
        if len(scene.pieces(done.tiles)) > 1 and not sided and phrase.det != "other" and len(phrase.sides) < 2:
            break
        for target in done.clause.targets[-1:]:
            two = target.head == "side" and len(target.sides) > 1
            if target.head in ("corner", "row", "column", "edge", "half", "side", "third", "quarter"):
                kind = "corner" if two else target.head
                det = "other" if phrase.det == "other" else "the"
                links = phrase.links or _of_group(target, sided or two or det == "other")
                return replace(phrase, head=kind, word="", det=det, links=links)
    return phrase


def _of_group(target: Phrase, single: bool) -> list[Link]:
    """The things among which `the middle one` is: the rows that were mentioned, or the thing whose row it was."""
    of = [link for link in target.links if link.relation == "of"]
    return of or ([Link("of", Phrase(head="it"))] if target.plural and not single else [])


def _rest_of_place(phrase: Phrase, scene: DrawingScene) -> Phrase | None:
    """`the remaining ones` after `the first 9 tiles of row 5`."""
    if phrase.det != "other" or phrase.word != "ones" or phrase.colors or not scene.done:
        return None
    places = targets_of(scene.done[-1].clause.all_links, "in", "of")
    place = next((place for place in places if place.head in ("row", "column", "half")), None)
    return Phrase(head="rest", det="the", links=[Link("of", place)]) if place is not None else None
