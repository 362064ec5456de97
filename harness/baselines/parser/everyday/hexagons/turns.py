"""Carries out a turn of a conversation: its clauses in order, with what they leave unsaid taken from the turns before."""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.hexagons import changing
from harness.baselines.parser.everyday.hexagons.corrections import corrected, is_correction, restore, undo
from harness.baselines.parser.everyday.hexagons.meaning import Clause, Link, Phrase, once, targets_of
from harness.baselines.parser.everyday.hexagons.painting import paint_clause, with_parts
from harness.baselines.parser.everyday.hexagons.regions import OPPOSITE
from harness.baselines.parser.everyday.hexagons.scene import Done, DrawingScene, Tiles, ordered
from harness.baselines.parser.everyday.hexagons.selecting import BESIDE, landmark, select
from harness.baselines.parser.everyday.hexagons.shapes import SHAPES
from harness.baselines.parser.everyday.hexagons.unsaid import CHANGING, completed
from harness.worlds.hexagons import Tile, on_board


def carry_out(sentences: list[list[Clause]], scene: DrawingScene) -> list[str]:
    """Changes the scene's board as a turn asks; returns the questions that it would ask."""
    questions: list[str] = []
    scene.turn_start = scene.board
    clauses = [clause for sentence in sentences for clause in sentence]
    for sentence in sentences:
        scene.sentence_start, scene.sentence_focus = scene.board, None
        for clause in sentence:
            if "if" in clause.marks and not _is_so(clause, scene):
                return questions
            if not _idle(clause, clauses):
                questions += _carry_out_one(clause, scene, first=clause is clauses[0])
    for clause in clauses[:-1]:
        plain = not (clause.colors or clause.marks or any(target.new or target.det == "only" for target in clause.targets))
        if clause.verb == "keep" and plain:
            changing.keep(clause, scene)
    scene.changed = list(changed_tiles(scene))
    return questions


def _is_so(clause: Clause, scene: DrawingScene) -> bool:
    """Whether a condition holds: `if there is any red`."""
    colors = clause.color_names + [color for target in clause.targets for color in target.colors]
    return not colors or clause.verb != "tell" or bool(scene.of_colors(colors))


def changed_tiles(scene: DrawingScene) -> Tiles:
    return [paint.tile for paint in scene.turn_start.diff(scene.board)]


def _idle(clause: Clause, clauses: list[Clause]) -> bool:
    """Whether a clause only says what another one then asks for: `It's too high. Move it one down.`"""
    if clause.verb not in ("", "be") or clause.colors or not clause.moves or any(count is not None for _, count in clause.moves):
        return False
    return any(other.moves for other in clauses[clauses.index(clause) + 1 :])


def _carry_out_one(clause: Clause, scene: DrawingScene, first: bool) -> list[str]:
    before = scene.board
    if clause.verb in ("undo", "undo_all") or _undoes_more(clause, scene):
        undo(clause, scene)
        scene.done.append(Done(replace(clause, verb="undo"), before, ()))
        return []
    if clause.verb in ("redo", "back"):
        restore(clause, scene)
        scene.done.append(Done(clause, before, scene.focus))
        return []
    gives = clause.verb == "give"
    if is_correction(clause, scene, first):
        clause = corrected(clause, scene)
    detailed = _detailed(clause, scene)
    if detailed is not None:
        clause = detailed
        before = scene.board
    clause = completed(clause, scene)
    if _says_nothing(clause, scene):
        _look(clause, scene)
        return []
    _parallel(clause, scene)
    color, about = scene.color, landmark(clause.target_links, scene) or scene.focus
    tiles = _act(clause, scene)
    if tiles is None:
        return _asked_back(clause)
    tiles, scene.focus = ([tile for tile in some if on_board(*tile)] for some in (tiles, scene.focus))
    if tiles or clause.verb != "keep":
        scene.done.append(Done(clause, before, list(tiles), scene.main_color(list(tiles)) or color, about))
    if gives:
        scene.focus = about
    return []


def _detailed(clause: Clause, scene: DrawingScene) -> Clause | None:
    """The last drawing of this turn again, with what a further clause adds: `It is 7 tiles long.`, `leave a gap of 1`. None for
    any other clause."""
    last = scene.done[-1] if scene.done else None
    if last is None or not scene.changed_now() or last.clause.verb not in ("draw", "make", "", "be"):
        return None
    figures = [target for target in last.clause.targets if target.head in SHAPES and target.det not in ("the", "this")]
    several = len(clause.colors) > 1
    if not figures or (clause.colors and not several) or clause.verb not in ("", "be", "draw", "keep", "make"):
        return None
    figure = figures[0]
    sizes, links = _details(clause)
    sided = any(target.head == "side" for target in clause.targets) and any(target.count for target in clause.targets)
    spread = clause.marks & {"apart", "together"}
    looks = clause.marks & {"hollow", "filled", "empty", "upright", "level", "up", "down"}
    said = sizes or sided or clause.moves or looks or spread or links or (several and not clause.targets)
    if not said or not (sided or spread or all(_is_detail(target, figure) for target in clause.targets)):
        return None
    color = scene.main_color(scene.focus)
    scene.board, scene.focus = last.before, last.about
    marks = clause.marks - ({"upright", "level"} if figure.marks & {"upright", "level"} else set())
    marks = figure.marks | marks | ({"hollow"} if "empty" in clause.marks else set())
    figure = replace(figure, sizes={**figure.sizes, **sizes}, marks=marks, links=[*figure.links, *clause.links, *links])
    scene.done.pop()
    colors, moves = clause.colors or ([(color, 1)] if color else []), clause.moves or last.clause.moves
    return replace(last.clause, verb="draw", targets=[figure], colors=colors, moves=moves)


def _is_detail(target: Phrase, figure: Phrase) -> bool:
    """Whether a target is only a measure, or the figure itself once more."""
    return target.head in ("gap", "side") or (target.head in ("it", figure.head) and not target.colors)


def _details(clause: Clause) -> tuple[dict[str, int], list[Link]]:
    """The sizes and places that a clause names for a figure: `3 tiles on each side`, `it is in the corner`."""
    sizes = dict(clause.sizes)
    for target in clause.targets:
        sizes |= {"gap": target.sizes.get("tiles", target.sizes.get("wide", 1))} if target.head == "gap" else target.sizes
    sides = [target.count for target in clause.targets if target.head == "tile" and target.count]
    if sides and any(target.head == "side" for target in clause.targets):
        sizes["side"] = max(sides)
    return sizes, [link for target in clause.targets if target.head == "it" for link in target.links]


def _parallel(clause: Clause, scene: DrawingScene) -> None:
    """`the column left of it green, and the one right of it orange`: `it` means the same both times, also in the next turn."""
    relations = _about_it(clause)
    mark = landmark(clause.target_links, scene)
    if mark:
        scene.sentence_focus = mark
    elif relations and scene.sentence_focus is not None:
        scene.focus = scene.sentence_focus
    elif scene.done and relations & {OPPOSITE.get(link.relation, "") for link in scene.done[-1].clause.target_links}:
        scene.focus = scene.done[-1].about
    if relations:
        scene.sentence_focus = scene.focus


def _about_it(clause: Clause) -> set[str]:
    """The relations to `it` that a clause names."""
    return {
        link.relation
        for link in clause.all_links
        if link.relation in BESIDE and (link.target is None or link.target.head == "it")
    }


def _undoes_more(clause: Clause, scene: DrawingScene) -> bool:
    """`the one before that too`, after an undo; `take it out again`."""
    last = scene.done[-1].clause.verb if scene.done else ""
    if clause.verb == "remove" and "again" in clause.marks and not clause.colors:
        return all(target.head == "it" and target.bare for target in clause.targets)
    return last == "undo" and clause.verb == "" and not clause.colors and ("too" in clause.marks or "again" in clause.marks)


def _act(clause: Clause, scene: DrawingScene) -> Tiles | None:
    if clause.verb in CHANGING:
        tiles = changing.VERBS[clause.verb](clause, scene)
        if clause.verb == "copy" and tiles:
            with_parts(clause.subject, clause, tiles, scene)
        return tiles
    if clause.verb == "again":
        return _again(clause, scene)
    if clause.verb == "connect":
        return paint_clause(_connecting(clause), scene)
    if clause.verb == "surround":
        return paint_clause(_surrounding(clause), scene)
    return paint_clause(clause, scene)


def _connecting(clause: Clause) -> Clause:
    """`connect the two dots` is a line between them."""
    ends = [target for target in clause.targets if target.head != "line" or target.det != "a"] or [Phrase(head="it")]
    ends += targets_of(ends[0].links, "to")
    first = replace(ends[0], links=[link for link in ends[0].links if link.relation != "to"])
    line = Phrase(head="line", det="a", links=[Link("between", first, None, ends[1] if len(ends) > 1 else None)])
    lines = clause.targets + targets_of(clause.all_links)
    drawn = next((target for target in lines if target.head == "line" and target.det == "a"), None)
    if drawn is not None:
        line.colors = drawn.colors
    return replace(clause, verb="draw", targets=[line], links=[])


def _surrounding(clause: Clause) -> Clause:
    """`surround the flower with red` is a red ring around it."""
    target = clause.subject
    colors = list(clause.colors) or (once(target.colors) if target.head == "it" else [])
    target = replace(target, sizes={}, colors=[] if target.head == "it" else target.colors)
    for part in targets_of(clause.links + target.links, "with"):
        colors += once(part.colors)
    target = replace(target, links=[link for link in target.links if link.relation != "with"])
    return replace(clause, verb="draw", targets=[Phrase(head="edge", links=[Link("around", target)])], colors=colors, links=[])


def _again(clause: Clause, scene: DrawingScene) -> Tiles | None:
    """Carries out the last clause once more; `carry on like that to the bottom` continues the last steps."""
    if not scene.done:
        return None
    if "full" in clause.marks or clause.moves or clause.links:
        return _carried_on(scene)
    last = next((done.clause for done in reversed(scene.done) if done.clause.verb not in ("undo", "again")), None)
    return _act(last, scene) if last is not None else None


def _carried_on(scene: DrawingScene) -> Tiles | None:
    """Continues the last two steps in turn, each moved on by the distance between the two, in their colors."""
    steps = [done for done in scene.done if done.tiles][-2:]
    if len(steps) < 2:
        return None
    first, second = min(steps[0].tiles), min(steps[1].tiles)
    down, across = second[0] - first[0], second[1] - first[1]
    if not down and not across:
        return None
    found = []
    for k in range(1, 19):
        step = steps[(k + 1) % 2]
        times = k + (k % 2)
        moved = [Tile(t.row + down * times, t.column + across * times) for t in step.tiles]
        there = [tile for tile in moved if on_board(*tile)]
        if not there:
            break
        scene.paint(there, step.color)
        found += there
    scene.focus = found
    return ordered(found) or None


def _says_nothing(clause: Clause, scene: DrawingScene) -> bool:
    """Whether a clause only tells or asks something: `the yellow bit is a field`, `how many are there?`."""
    if "no color" in clause.marks and not clause.colors and not any(target.colors for target in clause.targets):
        return True
    if clause.verb in CHANGING or clause.verb in ("again", "surround", "connect"):
        return False
    if clause.verb == "ask":
        return not (clause.colors and clause.targets)
    if clause.verb == "tell":
        first = clause.subject
        named = first.new and (first.head in SHAPES or first.head == "feature")
        return not named or bool(select(replace(first, det="the"), scene))
    if clause.verb in ("be", "") and not clause.colors:
        return _only_tells(clause, scene)
    if clause.verb == "make" and not clause.colors and not clause.sizes:
        return not any(target.colors or target.head in SHAPES or target.head == "edge" for target in clause.targets)
    if not clause.targets and not clause.colors:
        return not (clause.moves or clause.links or clause.sizes)
    return False


def _only_tells(clause: Clause, scene: DrawingScene) -> bool:
    """Whether a clause without a color or a verb of its own asks for nothing."""
    targets = clause.targets
    if not targets:
        start = clause.links[0] if clause.links else None
        begins = start is not None and start.relation == "from" and start.target is not None and bool(start.target.colors)
        return not begins and not (clause.moves and clause.links)
    first = targets[0]
    if first.head == "board" and clause.unknown and clause.verb == "" and not first.colors:
        return True
    figure = first.head in SHAPES and first.head not in ("row", "column")
    if clause.verb == "be":
        told = any(target.head == "it" and target.det in ("", "this") for target in targets)
        return told or bool(select(first, scene)) or not first.colors
    if first.head in ("row", "column"):
        return not _chosen(first)
    if first.head == "tile" and first.links:
        return False
    if first.det in ("the", "this", "both") and (figure or first.head == "thing"):
        return True
    plain = ("it", "thing", "", "step")
    if first.det == "another":
        return False
    crossing = any(target.head == "crossing" for target in targets)
    return crossing or all(t.head in plain and not (t.colors or t.count or t.sides) for t in targets)


def _chosen(line: Phrase) -> bool:
    """Whether a row or column is one of the board's: `row 3`, `that row`; `the whole columns` and `two rows` only describe."""
    told = bool(line.ordinals or line.sides or line.links or line.every or line.colors)
    return told or ("whole" not in line.marks and line.det in ("the", "this", "all", "each", "both"))


def _look(clause: Clause, scene: DrawingScene) -> None:
    """Makes `it` mean the thing that is mentioned."""
    for target in clause.targets:
        if target.head != "it" and target.head not in ("board", "step") and not (target.head == "thing" and target.bare):
            tiles = select(target, scene)
            if tiles and len(tiles) < 180:
                scene.focus = tiles
                return


def _asked_back(clause: Clause) -> list[str]:
    if not clause.targets or clause.targets[0].head in ("it", "thing", ""):
        return ["Which one?"]
    if clause.targets[0].links:
        return ["Where?"]
    return [f"Which {clause.targets[0].word or clause.targets[0].head}?"]
