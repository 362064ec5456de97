"""Repeats what was done last: for other things, at other places, on the other side."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.meaning import Clause, Phrase, once, targets_of
from harness.baselines.parser.everyday.hexagons.scene import Done, DrawingScene, extent
from harness.baselines.parser.everyday.hexagons.selecting import BESIDE, select
from harness.baselines.parser.everyday.hexagons.shapes import SHAPES
from harness.worlds.hexagons import ROWS

PAINTING = ("", "be", "make", "paint", "draw", "surround", "connect", "ask")
"""Verbs that ask for new paint."""


def going_on(clause: Clause, last: Done) -> Clause | None:
    """The last clause for other things, or going further: `and the blue one`, `and now to the left edge`."""
    if not clause.colors and _refers(clause):
        return replace(last.clause, targets=clause.targets, links=clause.links, moves=clause.moves or last.clause.moves)
    it = [Phrase(head="it")]
    if not clause.targets and clause.links and last.clause.verb in ("copy", "grow", "shrink", "move"):
        return replace(last.clause, targets=it, links=clause.links, moves=[], colors=clause.colors)
    return None


def _refers(clause: Clause) -> bool:
    """Whether the targets stand already: `and the blue one`."""
    return bool(clause.targets) and all(
        target.det in ("the", "this", "both", "all", "each", "other") or (target.head == "it" and "too" in clause.marks)
        for target in clause.targets
    )


def same(clause: Clause, last: Done, scene: DrawingScene) -> Clause:
    """`the same for the bottom row`, `same again 4 further right`, `the same on the other side`."""
    told_it = [link for target in clause.targets if target.head == "it" for link in target.links]
    if clause.verb == "again" and any(link.relation == "to" for link in clause.links + told_it):
        return replace(clause, targets=[], links=[], marks=clause.marks | {"full"})
    if clause.verb == "again" and "full" in clause.marks:
        return clause
    described = [target for target in clause.targets if not target.bare and not target.head]
    colors = clause.colors or once(color for target in described for color in target.colors)
    if clause.moves or any(link.relation in ("above", "below", "left", "right") for link in clause.links):
        beside = any(place.head != "it" for place in targets_of(clause.links, *BESIDE))
        if beside and last.clause.targets and last.clause.verb in PAINTING:
            targets = [replace(last.clause.targets[0], links=clause.links, ordinals=[])]
            return replace(last.clause, targets=targets, colors=colors or last.clause.colors, links=[])
        return replace(clause, verb="copy", targets=[], colors=colors)
    told = [target for target in clause.targets if target.head != "it" or target.det == "other"]
    places = told or targets_of(clause.links)
    sides = [place for place in places if place.head in ("side", "half", "edge", "")]
    if any(side.det == "other" or "opposite" in side.marks for side in sides):
        top, bottom, left, right = extent(scene.focus)
        way = "level" if bottom - top >= right - left or bottom - top == ROWS - 1 else "upright"
        return replace(clause, verb="mirror", targets=[], links=[], marks=clause.marks | {way})
    if clause.verb == "again" and not clause.targets and not clause.links:
        return replace(last.clause, colors=colors) if colors else replace(clause, verb="again")
    return _same_elsewhere(clause, last, colors, places)


def again_elsewhere(clause: Clause, scene: DrawingScene) -> Clause | None:
    """`draw the same flower again on the right` copies the one that stands."""
    if "same" not in clause.marks and clause.verb != "again":
        return None
    figures = [target for target in clause.targets if target.head in SHAPES and target.head not in ("row", "column", "tile")]
    figure = next((target for target in figures if target.det in ("the", "this", "")), None)
    if figure is None:
        return None
    standing = replace(figure, det="the", links=[])
    return (
        replace(clause, verb="copy", targets=[standing], links=clause.links + figure.links) if select(standing, scene) else None
    )


def _same_elsewhere(clause: Clause, last: Done, colors: list[tuple[str, int]], places: list[Phrase]) -> Clause:
    """The last clause at other places."""
    old = last.clause.subject
    places = [place for place in places if place.head != "it"]
    if clause.first:
        colors = last.clause.colors
    colors = colors or last.clause.colors or once(old.colors)
    if not places:
        return replace(last.clause, colors=colors, marks=clause.marks - {"same"})
    verb = last.clause.verb if last.clause.verb != "undo" else "paint"
    marks = (clause.marks | last.clause.marks) - {"same"}
    colors = colors if verb in PAINTING else []
    first = clause.first or last.clause.first
    return replace(last.clause, verb=verb, targets=places, colors=colors, links=[], marks=marks, first=first)
