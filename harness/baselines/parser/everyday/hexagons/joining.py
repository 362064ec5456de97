"""Decides which segments of a sentence form a clause."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase, once, targets_of
from harness.baselines.parser.everyday.hexagons.phrases import BESIDE, PARTS
from harness.baselines.parser.everyday.hexagons.reader import LINES

REGIONS = ("row", "column", "corner", "half", "third", "quarter", "side", "edge")
GENERIC = ("", "make", "draw", "paint", "be", "ask", "tell", "become")
"""Verbs that say little: another one in the same clause says what is done (`make it bigger`, `can you put it back`)."""
PAINTING = ("", "make", "draw", "paint", "be", "become", "fill")


def joined(clause: Clause, new: Clause, separator: str) -> bool:
    """Adds a segment to a clause and returns whether it did; if not, another clause begins, which takes over a missing verb."""
    own = bool(clause.colors or any(target.colors for target in clause.targets))
    if new.verb == "upend" and clause.verb in ("mirror", "flip") and not new.targets:
        return True
    last = clause.targets[-1] if clause.targets else None
    if last is not None and _next_ones(last, new):
        color, count = new.colors[0]
        new.verb, new.targets, new.colors = (
            clause.verb or "paint",
            [Phrase(det="the", count=count, marks={"next"})],
            once([color]),
        )
        return False
    if new.verb and new.verb != "be":
        goes_on = new.verb == "draw" and not (new.targets or new.colors) and (new.moves or new.links)
        if goes_on or not (clause.targets or clause.colors or clause.verb):
            return _added(clause, replace(new, verb="") if goes_on else new)
        return False
    if new.marks & {"meant"} and (new.targets or new.colors) and clause.targets and not clause.marks & {"no", "not"}:
        return False
    if last is not None and new.targets:
        found = _joined_to(last, clause, new, separator)
        if found is not None:
            return found
    if new.targets:
        return _with_targets(clause, new, own)
    if last is not None and last.head in LINES and new.links and all(link.relation in ("from", "to") for link in new.links):
        last.links += new.links
        new = replace(new, links=[])
    if last is not None and not (new.colors or new.moves or new.links):
        last.sizes |= new.sizes
    if clause.colors and new.colors and clause.links and new.links:
        new.verb = clause.verb
        return False
    return _added(clause, new)


def _joined_to(last: Phrase, clause: Clause, new: Clause, separator: str) -> bool | None:
    """Joins targets to the last one if they say more about it, and returns whether it did; None if they are other things."""
    first = new.targets[0]
    if first.head == "all" and not first.word:
        return _added(clause, replace(new, targets=[]))
    if _about_last(last, first, separator) and len(new.targets) == 1:
        return _described(clause, new)
    if first.count and first.count == last.count and not first.head and first.bare:
        return True
    if last.head in REGIONS and not clause.verb and not clause.colors and _is_new(first):
        first.links.append(Link("in", clause.targets.pop()))
    if _one_of(last, first, among=len(clause.targets)):
        return _split(clause, new)
    if new.colors and _of_class(last, new.targets):
        clause.verb = clause.verb if clause.colors or last.colors else "tell"
        new.verb = "make"
        return False
    parts = [target for target in new.targets if target.head in PARTS and target.plural and not target.det and not target.colors]
    return True if last.new and parts and separator == "," and not new.colors else None


def _next_ones(last: Phrase, new: Clause) -> bool:
    """Whether a color and a number are for the tiles after the counted ones: `the first 4 red, then 4 blue`."""
    counted = last.count and (last.ordinals or "next" in last.marks)
    only_color = new.verb in ("", "again") and not new.targets and len(new.colors) == 1
    return bool(counted and only_color and new.colors[0][1] > 1)


def _one_of(last: Phrase, phrase: Phrase, among: int) -> bool:
    """Whether a phrase is about one of several new things: `two dots, one of them red`."""
    several = (last.count or 0) > 1 or (last.count and last.plural and among > 1)
    single = phrase.count == 1 or phrase.det == "other" or phrase.word == "one"
    return bool(last.new and several and single and (not phrase.head or phrase.word == "one"))


def _with_targets(clause: Clause, new: Clause, own: bool) -> bool:
    """Adds targets to a clause, or lets them begin another one; returns whether it added them."""
    linked = clause.targets and clause.targets[-1].new and clause.targets[-1].head not in ("", "thing") and own
    coordinates = not clause.colors and not (own and new.colors) and not (new.links and linked and not new.moves)
    coordinates = coordinates and not (linked and new.targets[0].new is False and new.colors)
    if not clause.targets or coordinates:
        return _added(clause, new)
    if not new.verb and clause.verb in PAINTING:
        new.verb = "make" if clause.verb in ("be", "become") else clause.verb
        new.colors = new.colors or (clause.colors if not any(target.colors for target in new.targets) else [])
    elif not new.verb and not new.colors:
        new.verb = clause.verb
    return False


def _of_class(last: Phrase, targets: list[Phrase]) -> bool:
    """Whether `top left` is one of the quarters that were just named; if so, it gets their name."""
    named = [last, *targets_of(last.links)]
    kind = next((phrase.head for phrase in named if phrase.head in REGIONS and phrase.head not in ("side", "row", "column")), "")
    if not kind or not all(target.sides and target.head in ("", "side", "thing") and not target.links for target in targets):
        return False
    for target in targets:
        target.head, target.det, target.word = kind, "the", ""
    return True


def _split(clause: Clause, new: Clause) -> bool:
    """`two lines, one in column 4, the other in column 10` are two targets with places, or colors, of their own."""
    first, own = clause.targets[-1], new.targets[0]
    colors = own.colors or new.color_names or first.colors
    each = replace(
        first, count=None, plural=False, det="a", colors=colors, links=[*first.links, *own.links, *new.links], sides=own.sides
    )
    left = (first.count or 1) - 1
    clause.targets[-1:] = [each] if own.det == "other" or left == 0 else [each, replace(first, count=left)]
    return True


def _is_new(phrase: Phrase) -> bool:
    return phrase.new and phrase.head not in ("", "thing", *REGIONS) and bool(phrase.count or phrase.det)


def _about_last(last: Phrase, phrase: Phrase, separator: str) -> bool:
    """Whether a phrase says more about the one before: `a red flower, 7 tiles`; `a line, one of 5 tiles`."""
    if last.head == "tile" and not phrase.head and phrase.ordinals and phrase.links and not last.ordinals:
        return True
    if not last.new or last.head in ("tile", "", "row", "column"):
        return False
    place = phrase.head in ("side", "half", "corner", "quarter") or (
        phrase.head in LINES and phrase.det == "the" and separator == ","
    )
    place = place and not phrase.colors and phrase.head != last.head
    sized = phrase.head == "tile" and bool(phrase.count) and not phrase.det and not (phrase.colors and last.colors)
    return place or (sized and not last.sizes.get("tiles"))


def _described(clause: Clause, new: Clause) -> bool:
    last, phrase = clause.targets[-1], new.targets[0]
    if phrase.head == "tile":
        last.sizes.setdefault("tiles", phrase.count or 1)
        last.colors = last.colors or phrase.colors
        last.links += phrase.links
        last.marks |= phrase.marks
    elif not phrase.head:
        last.ordinals, last.links = phrase.ordinals, last.links + phrase.links
    else:
        last.links.append(Link("in", phrase))
    return _added(clause, replace(new, targets=[]))


def _added(clause: Clause, new: Clause) -> bool:
    """Adds a whole segment to a clause. `the top and the bottom row` are two rows."""
    clause.verb = new.verb if not clause.verb or (clause.verb in GENERIC and new.verb not in ("", "be")) else clause.verb
    one = clause.targets[-1] if clause.targets else None
    other = new.targets[0] if new.targets else None
    nameless = one and one.head in ("", "side") and (one.sides or one.ordinals) and not one.colors
    if one and other and nameless and other.head not in ("", "it", "side"):
        clause.targets[-1] = replace(other, sides=one.sides, ordinals=one.ordinals, count=one.count, det=one.det)
    if one and other and clause.moves and clause.moves[-1][1] is None and other.links and other.links[0].relation in BESIDE:
        way = clause.moves.pop()[0]
        one.links.append(replace(other.links[0], relation={"up": "above", "down": "below"}.get(way, way)))
    for link, like in zip(one.links if one else (), other.links if other else (), strict=False):
        if link.target is None and link.relation in BESIDE:
            link.target = like.target
    for name in ("targets", "colors", "moves", "links", "replaced", "avoided", "excepted", "names", "unknown"):
        getattr(clause, name).extend(getattr(new, name))
    clause.marks |= new.marks
    clause.sizes |= new.sizes
    clause.total, clause.times = clause.total or new.total, clause.times or new.times
    clause.first, clause.as_many = clause.first or new.first, clause.as_many or new.as_many
    clause.color_of = clause.color_of or new.color_of
    return True
