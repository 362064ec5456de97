"""Undo, put back, and corrections: the last thing is done again with what was meant."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.hexagons.meaning import Clause, Phrase, once
from harness.baselines.parser.everyday.hexagons.regions import OPPOSITE
from harness.baselines.parser.everyday.hexagons.scene import Done, DrawingScene, ordered
from harness.baselines.parser.everyday.hexagons.selecting import folded, select
from harness.worlds.hexagons import Board

SHAPELY = frozenset({"upright", "level", "diagonal", "hollow"})
PLACES = ("row", "column", "corner", "half", "third", "quarter", "edge")
GENERIC = ("", "be", "make", "paint", "draw", "ask")


def undo(clause: Clause, scene: DrawingScene) -> None:
    """Puts the board back as it was before the last turn, or before as many turns as are named."""
    counts = [target.count or 1 for target in clause.targets if target.head in ("step", "", "thing")]
    steps = max([clause.times or 1, *counts])
    if any(target.head in ("all", "board") for target in clause.targets) and scene.past and "last" not in clause.marks:
        steps = 1
    if any(target.det == "both" for target in clause.targets):
        steps = 2
    if clause.verb == "undo_all":
        steps = len(scene.past)
    steps = min(steps, len(scene.past))
    if steps == 0:
        return
    _back_to(scene.past[-steps], scene)
    del scene.past[-steps:]
    scene.undoing = True


def restore(clause: Clause, scene: DrawingScene) -> None:
    """Puts back what was on the board: what the words describe, otherwise all that the last turn changed."""
    told = [target for target in clause.targets if target.colors]
    if told:
        for board in reversed(scene.boards):
            tiles = select(told[0], replace(scene, board=board))
            if tiles and any(scene.board[tile] != board[tile] for tile in tiles):
                for tile in tiles:
                    scene.paint([tile], board[tile])
                scene.focus = tiles
                return
    elif scene.boards:
        _back_to(scene.boards[-1], scene)


def _back_to(board: Board, scene: DrawingScene) -> None:
    changed = [paint.tile for paint in scene.board.diff(board)]
    scene.board = board
    scene.focus = [tile for tile in changed if board[tile] != "white"] or changed


# --- corrections ---


def is_correction(clause: Clause, scene: DrawingScene, first: bool) -> bool:
    """Whether a clause corrects the last turn: `no, blue`, `I meant the other side`."""
    if not scene.done or not scene.past or clause.verb not in GENERIC:
        return False
    if scene.done[-1].clause.verb == "undo" and not first:
        return False
    if clause.verb == "draw" and clause.targets and clause.targets[0].head == "it" and clause.targets[0].links:
        return False
    if clause.marks & SHAPELY and not (clause.targets or clause.colors or clause.links) and scene.board == scene.turn_start:
        return _last_done(scene).clause.verb in ("draw", "make", "")
    if clause.colors and clause.targets and clause.targets[0].word == "one" and len(_last_done(scene).tiles) > 1:
        return False
    others = _others(clause)
    if len(others) == 1 and others[0].det == "other" and others[0].head in ("side", "end", "corner", "edge", "half", "way"):
        return first and not clause.verb and not clause.colors
    told = clause.targets and clause.targets[0].head == "it" and clause.verb in ("make", "be") and not clause.colors
    if told and len(clause.targets) == 2 and clause.targets[1].head in PLACES and not clause.targets[1].colors:
        return True
    if len(others) == 1 and others[0].det == "only" and clause.colors and not clause.verb and first:
        tiles = select(others[0], scene) or []
        return bool(tiles) and all(scene.board[tile] == clause.colors[0][0] for tile in tiles)
    if "meant" in clause.marks:
        if clause.colors and others and set(select(others[0], scene) or ()) < set(scene.changed):
            return False
        return bool(others or clause.colors or clause.sizes or clause.replaced)
    if clause.marks & {"not", "no"} and first:
        return bool(clause.colors or (clause.targets and clause.verb not in ("paint", "draw")))
    return bool(clause.replaced and clause.colors)


def _others(clause: Clause) -> list[Phrase]:
    """The targets that are more than `it`."""
    return [target for target in clause.targets if target.head != "it" or not target.bare]


def corrected(clause: Clause, scene: DrawingScene) -> Clause:
    """The last clause with the correction; puts the board back as it was before, unless only the color changes."""
    last = _last_done(scene)
    targets = [replace(target, excepted=[]) for target in _others(clause)]
    colors = [(color, count) for color, count in clause.colors if color not in clause.replaced]
    if colors and not targets and not clause.links and not clause.sizes:
        return _recolored(clause, colors, last, scene)
    if clause.targets and not targets and not clause.sizes:
        return clause
    part = targets[0].head if targets and targets[0].head in ("middle", "inside", "end") else ""
    if part and part not in [target.head for target in last.clause.targets] and colors:
        return replace(clause, marks=clause.marks - {"meant", "not", "no"})
    _back_to(scene.past[-1], scene)
    scene.focus = last.about or scene.focus
    targets = targets[-1:] if len(targets) > 1 and targets[0].bare and targets[0].det == "" else targets
    targets = [target for target in targets if not (target.head == "" and target.det == "other" and len(targets) > 1)]
    old = last.clause.subject
    marks = (old.marks - SHAPELY) | (clause.marks & SHAPELY) if clause.marks & SHAPELY else old.marks
    merged = [_merged(old, target) for target in targets] or [replace(old, sizes=old.sizes | clause.sizes, marks=marks)]
    verb = last.clause.verb if clause.verb in ("", "be", "make", "ask") else clause.verb
    if not colors and not any(target.colors for target in targets):
        colors = last.clause.colors or once(old.colors) or ([(last.color, 1)] if last.color else [])
    return replace(last.clause, verb=verb, targets=merged, colors=colors, links=clause.links or last.clause.links,
                   moves=clause.moves or last.clause.moves)  # fmt: skip


def _last_done(scene: DrawingScene) -> Done:
    return next((done for done in reversed(scene.done) if done.clause.verb != "undo"), scene.done[-1])


def _recolored(clause: Clause, colors: list[tuple[str, int]], last: Done, scene: DrawingScene) -> Clause:
    """A clause that paints the same tiles in another color; if a color to replace is named, only those with it."""
    tiles = ordered(scene.changed) or list(last.tiles)
    replaced = [tile for tile in tiles if scene.board[tile] in clause.replaced] or scene.of_colors(clause.replaced)
    scene.focus = replaced or tiles
    return Clause(verb="paint", targets=[Phrase(head="it")], colors=colors)


def _merged(old: Phrase, new: Phrase) -> Phrase:
    """The phrase that was meant instead: `the other side`, `the top two rows`, `the blue one`."""
    old = folded(old) if new.sides else old
    if new.det == "other" and new.head in ("side", "half", "", "thing", "edge", "corner", "end", old.head):
        sides = new.sides or old.sides
        links = [replace(link, target=_flipped(link.target)) if link.target is not None else link for link in old.links]
        return replace(_flipped(replace(old, sides=sides)) if old.sides else old, links=links)
    if new.head in ("", "thing") and new.word in ("", "one", "ones"):
        return replace(old, sides=new.sides or old.sides, ordinals=new.ordinals or old.ordinals, count=new.count or old.count,
                       colors=new.colors or old.colors, links=new.links or old.links, marks=old.marks | new.marks)  # fmt: skip
    nested = _nested(old, new)
    if nested is not None:
        return nested
    if new.head == old.head and not new.links:
        return replace(new, links=old.links, det=old.det if old.det == "only" else new.det)
    if new.head == "side" and old.head != "side" and old.sides:
        return replace(old, sides=new.sides)
    return new


def _nested(old: Phrase, new: Phrase) -> Phrase | None:
    """The old phrase with another column or row in its place: `I meant column 4` after a tile in column 3, row 3."""
    if new.head not in ("row", "column", "corner", "edge", "half", "side") or new.head == old.head:
        return None
    for number, link in enumerate(old.links):
        if link.target is None:
            continue
        if link.target.head == new.head:
            target: Phrase | None = replace(new, links=new.links or link.target.links)
        else:
            target = _nested(link.target, new)
        if target is not None:
            return replace(old, links=[*old.links[:number], replace(link, target=target), *old.links[number + 1 :]])
    return None


def _flipped(phrase: Phrase) -> Phrase:
    return replace(phrase, sides=[OPPOSITE.get(side, side) for side in phrase.sides])
