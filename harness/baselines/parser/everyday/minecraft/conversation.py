"""Carries out a conversation turn by turn, each in the light of what was said and done before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

from harness.baselines.parser.everyday.minecraft import changing, mirroring, resizing
from harness.baselines.parser.everyday.minecraft.acts import act_of
from harness.baselines.parser.everyday.minecraft.building import build
from harness.baselines.parser.everyday.minecraft.clauses import read_orders
from harness.baselines.parser.everyday.minecraft.completing import completed_thing, united
from harness.baselines.parser.everyday.minecraft.corrections import corrected, is_correction
from harness.baselines.parser.everyday.minecraft.meaning import Growth, Location, Order, Thing, it
from harness.baselines.parser.everyday.minecraft.places import Unplaced
from harness.baselines.parser.everyday.minecraft.references import border, cells_found, found, parts
from harness.baselines.parser.everyday.minecraft.repeating import repeated
from harness.baselines.parser.everyday.minecraft.scene import (
    OF_SIDE,
    OPPOSITE,
    SIDE_OF,
    BuildingScene,
    Cell,
    Cells,
    Made,
    pieces,
    spans,
    together,
)
from harness.baselines.parser.everyday.minecraft.words import tokens, unknown

_KEPT_STEPS = 50
_FILLERS = frozenset({"link", "stop", "skip", "article"})


@dataclass(slots=True)
class PastTurn:
    """A turn: the scene before it, and its orders as they were understood."""

    before: BuildingScene
    base: BuildingScene
    """The scene on which the orders are carried out: for a correction, the one before the turn that it corrects."""
    orders: list[Order]


@dataclass(slots=True)
class Outcome:
    """How a turn went: how many orders were carried out and how many could not be."""

    done: int = 0
    failed: int = 0
    question: str | None = None
    unknown: tuple[str, ...] = ()
    idle: bool = False
    """Whether something was said that asks for nothing."""
    words: int = 0
    """The number of words with a meaning."""
    skipped: int = 0
    """The number of words that were skipped although they are not fillers."""


class Conversation:
    def __init__(self, scene: BuildingScene) -> None:
        self.scene = scene
        self._steps: list[PastTurn] = []
        self._undone: BuildingScene | None = None
        """The scene before the last undo."""

    def hear(self, text: str) -> Outcome:
        """Carries out what one turn says."""
        said = tokens(text)
        kinds = [token.kind for token in said]
        outcome = Outcome(unknown=unknown(said), skipped=kinds.count("unknown") + kinds.count("common"))
        outcome.words = sum(kind not in _FILLERS for kind in kinds)
        step = PastTurn(self.scene.copy(), self.scene.copy(), [])
        anchor: tuple[str, Cells] = ("", ())
        orders = united(read_orders(said))
        outcome.idle = not said
        for order in orders:
            anchor = self._anchored(order, step, anchor)
            self._try(order, step, outcome)
        if not (outcome.done or outcome.failed or outcome.idle) and any(order.act or order.things for order in orders):
            outcome.failed, outcome.question = 1, "What should I do?"
        new = tuple(cell for cell, color in self.scene.blocks.items() if step.before.blocks.get(cell) != color)
        self.scene.turn = new or self.scene.turn
        if step.orders:
            self._steps = [*self._steps, step][-_KEPT_STEPS:]
        return outcome

    def settle(self, blocks: dict[Cell, str], placed: dict[Cell, str]) -> None:
        """Takes over what was really done in a turn, if that differs from the scene."""
        if self.scene.blocks == blocks:
            return
        gone = {cell: color for cell, color in self.scene.blocks.items() if cell not in blocks}
        self.scene.removed = gone or self.scene.removed
        self.scene.blocks = dict(blocks)
        if placed:
            self.scene.focus = self.scene.turn = tuple(placed)
            self.scene.color = list(placed.values())[-1]
            self.scene.made.append(Made("", "", tuple(placed)))

    def _anchored(self, order: Order, step: PastTurn, anchor: tuple[str, Cells]) -> tuple[str, Cells]:
        """The thing beside which others stand: in `one before the tower, one behind it`, both stand beside the tower. Returns the
        relation of the order's place, or "it", and the thing's cells."""
        place = next((one for one in order.places if one.of), Location(""))
        of = place.landmark
        if not (of.is_it and of.word in {"its", "it", "that"}):
            return place.relation, cells_found(of, self.scene) if of.definite and not place.of_area else ()
        relation, cells = anchor
        if cells and step.orders and relation in {"it", OPPOSITE.get(place.relation)}:
            self.scene.focus = cells
        return "it", self.scene.focus

    def _try(self, order: Order, step: PastTurn, outcome: Outcome) -> None:
        scene = self.scene.copy()
        try:
            if self._carry_out(order, step):
                outcome.done += 1
            elif order.flags & {"idle", "talk", "question", "remark"}:
                outcome.idle = True
        except Unplaced as problem:
            self.scene = scene
            outcome.failed += 1
            outcome.question = str(problem)

    # --- what kind of order it is ---

    def _carry_out(self, order: Order, step: PastTurn) -> bool:
        order = self._completed(order, step)
        if order.act == "redo" and self._undone is not None:
            self.scene, self._undone = self._undone, None
            return True
        if order.act in {"undo", "restore"}:
            return self._back(order, step)
        if order.act == "amend":
            if is_correction(order) and self._redo(order, step):
                return True
            told = order.first
            if self.scene.standing(self.scene.focus) and told.only_describes and (told.sizes or told.by):
                order = replace(order, act="resize", things=[it()], become=told)
            elif order.new is None or order.new.generic:
                return False
            else:
                order.act = "build"
        rule = _RULES.get(order.act)
        if rule is None:
            return False
        if order.act != "look":
            step.orders.append(deepcopy(order))
        rule(order, self.scene)
        return True

    def _completed(self, order: Order, step: PastTurn) -> Order:
        """An order with its act, and with what it leaves out because it was said before."""
        order = deepcopy(order)
        verb = order.act
        order.act = act_of(order, self.scene)
        before = self._last_order(step)
        again = repeated(order, verb, before) if before is not None else None
        if again is not None:
            return again
        if order.act in {"build", "give", "build_as"}:
            thing = order.first
            if self._extends(order, step):
                return Order("extend", growth=Growth("", add=thing.count or 1), said=order.said)
            last = self._last_thing(step)
            if last is None and thing.article == "another" and thing.generic and self.scene.blocks:
                order.act, order.things, order.become = "copy", [], thing
                return order
            order.things = [completed_thing(thing, order, last) for thing in order.things]
            if before is not None and any(place.other for place in order.places) and any(_opposite(one) for one in before.places):
                order.places = [_opposite(one) or one for one in before.places]
            order.places = [self._completed_place(place, step) for place in order.places]
        return order

    def _extends(self, order: Order, step: PastTurn) -> bool:
        """Whether an order such as `2 more` continues a row or a tower."""
        thing = order.things[0] if len(order.things) == 1 else Thing()
        to = [place.landmark for place in order.places if place.word == "to" and place.landmark.definite]
        extra = "extra" in thing.flags or thing.article == "another"
        if extra and to and thing.generic and found(to[0], self.scene) and not thing.colors:
            self.scene.focus = cells_found(to[0], self.scene)
            return True
        if extra and thing.word in {"step", "steps"} and self.scene.made and self.scene.made[-1].noun == "stairs":
            return True
        more = "extra" in thing.flags or (thing.article == "another" and not self._last_order(step))
        more = more and not order.places and thing.generic and thing.word != "1"
        focus = self.scene.standing(self.scene.focus) or (tuple(self.scene.blocks) if len(pieces(self.scene.blocks)) == 1 else ())
        if not more or len(focus) < 2 or (thing.colors and {self.scene.blocks[cell] for cell in focus} != set(thing.colors)):
            return False
        return sorted(spans(focus))[:2] == [1, 1]

    def _completed_place(self, place: Location, step: PastTurn) -> Location:
        """What a place means after the place before it: `on the other side`, `one of the other two`."""
        last = self._last_order(step)
        if last is None or not last.places:
            return place
        before = last.places[-1]
        if place.other:
            if before.of is None or before.landmark.is_it:
                found_then = [one for one in [*self._steps, step] if one.orders][-1].before
                self.scene.focus = found_then.focus or tuple(found_then.blocks)
            return replace(before, relation=OPPOSITE.get(before.relation, before.relation))
        begun = not step.before.blocks and bool(step.orders)
        of, old, first = place.landmark, before.landmark, last.places[0].landmark
        if begun and of.kind == "part" and of.noun == old.noun and before.of and of.of is old.of is None:
            return replace(place, of=replace(of, of=Thing(kind="thing", noun="area", article="the")))
        if of.article == "other" and not of.noun and not of.colors and first.kind == "part":
            return replace(place, of=replace(first, article="other", count=1, picks=[]))
        return place

    def _orders_before(self, step: PastTurn) -> Iterator[Order]:
        """Yields the orders of this turn and of the turns before, the last order first."""
        for one in [step, *reversed(self._steps)]:
            yield from reversed(one.orders)

    def _last_order(self, step: PastTurn) -> Order | None:
        return deepcopy(next(self._orders_before(step), None))

    def _last_thing(self, step: PastTurn) -> Thing | None:
        built = (order for order in self._orders_before(step) if order.act in {"build", "build_as", "give"} and order.things)
        return next((order.things[-1] for order in built), None)

    # --- back ---

    def _back(self, order: Order, step: PastTurn) -> bool:
        """Undoes the last turns, or restores what the last one removed, in another color if one is named."""
        if not self._steps:
            return False
        last = self._steps[-1]
        gone = {cell: color for cell, color in last.before.blocks.items() if cell not in self.scene.blocks}
        if order.act == "restore" and gone:
            told = [*order.told, *(place.landmark for place in order.places)]
            color = next((thing.colors[0] for thing in told if thing.colors), None)
            self.scene.place({cell: color or old for cell, old in gone.items()})
            step.orders.append(order)
            return True
        if "nothing" in order.said or "beginning" in order.said or "start" in order.said:
            self.scene.blocks = {} if "nothing" in order.said else dict(self._steps[0].before.blocks)
            step.orders.append(order)
            return True
        count = 2 if "both" in order.said else order.first.count or 1
        last = self._steps[-min(count, len(self._steps))]
        del self._steps[-count:]
        self._undone = self.scene
        self.scene = last.before.copy()
        return True

    # --- corrections ---

    def _redo(self, order: Order, step: PastTurn) -> bool:
        """Carries out the last orders again with what the correction says, on what stood before them."""
        previous = step if step.orders else self._steps[-1] if self._steps else None
        if previous is None or not previous.orders or previous.orders[-1].act not in _RULES:
            return False
        old = previous.orders[-1]
        new = corrected(old, order)
        if new == old:
            return False
        self.scene = previous.base.copy()
        for one in [*previous.orders[:-1], new]:
            rule = _RULES.get(one.act)
            if rule:
                rule(deepcopy(one), self.scene)
        step.orders = [*previous.orders[:-1], new]
        step.base = previous.base
        return True


def _opposite(place: Location) -> Location | None:
    """`at the left end` for `at the right end`."""
    other = {pick: OF_SIDE[OPPOSITE[side]] for pick, side in SIDE_OF.items()}
    of = place.landmark
    if of.kind != "part" or not {*of.picks} & {*other}:
        return None
    return replace(place, of=replace(of, picks=[other.get(pick, pick) for pick in of.picks]))


def _give(order: Order, scene: BuildingScene) -> None:
    """`give the red tower a blue hat`, `the last corner gets a block`: it goes on top."""
    build(Order("build", order.told[1:], [Location("on", of=order.things[0])]), scene)


def _build_as(order: Order, scene: BuildingScene) -> None:
    """`the ground is a green square`, `the last corner gets green`: builds what a thing is to be, under the thing's name."""
    thing, become = order.things[0], order.become or Thing()
    if thing.noun in {"inside", "hole"} and not become.noun:
        changing.fill(Order("fill", [thing], become=become), scene)
        return
    if thing.kind == "part" and not become.noun:
        build(Order("build", [replace(become, noun="block", word="block")], [Location("at", of=thing)]), scene)
        return
    merged = replace(become, noun=become.noun or thing.noun, word=thing.word or become.word, kind="thing", article="a")
    merged.flags = merged.flags | thing.flags
    build(Order("build", [merged], order.places, flags=order.flags), scene)


def _surround(order: Order, scene: BuildingScene) -> None:
    """`surround the tower with blue blocks`: a frame around it."""
    become = order.become or Thing()
    frame = replace(become, noun="frame", word="frame", count=None, kind="thing")
    build(Order("build", [frame], [Location("round", of=order.thing)]), scene)


def _reshape(order: Order, scene: BuildingScene) -> None:
    """`make it a tower of 4`: the figure in place of what stands, in its color."""
    cells = changing.things_found(order, scene)
    become = order.become or Thing()
    groups = pieces(cells) if order.first.plural else [cells]
    built: list[Cell] = []
    for group in groups:
        colors = become.colors or [changing.main_color(group, scene)]
        scene.remove(group)
        build(Order("build", [replace(become, colors=colors)], [Location("here")]), scene)
        built += scene.focus
    scene.focus = tuple(built)


def _replace(order: Order, scene: BuildingScene) -> None:
    """`replace it with a tower`: a figure in its place; a color or a block only recolors."""
    order.become = order.become or (order.things.pop() if len(order.things) > 1 else None)
    if order.become is None:
        raise Unplaced("With what?")
    rule = changing.recolor if order.become.noun in {"", "block"} else _reshape
    rule(order, scene)


def _recolor_parts(order: Order, scene: BuildingScene) -> None:
    """`a tower with a red bottom and a green top`: what was just built, part by part."""
    whole = scene.standing(scene.focus)
    rest = set(whole)
    for thing in (one for one in order.things if one.colors):
        cells = border(whole) if thing.noun == "frame" else together(parts(whole, thing))
        if thing.generic:
            picked = replace(thing, colors=[], article="the")
            cells = tuple(rest) if thing.article == "other" else cells_found(picked, scene)
        scene.recolor(dict.fromkeys(cells, thing.colors[0]))
        scene.focus = whole
        rest -= set(cells)
    scene.focus = whole


_RULES: dict[str, Callable[[Order, BuildingScene], None]] = {
    "build": build,
    "build_as": _build_as,
    "give": _give,
    "top": _give,
    "surround": _surround,
    "reshape": _reshape,
    "recolor_parts": _recolor_parts,
    "look": changing.look,
    "remove": changing.remove,
    "open": changing.leave_open,
    "keep": changing.keep,
    "recolor": changing.recolor,
    "swap": changing.swap,
    "replace": _replace,
    "move": changing.move,
    "copy": changing.copy,
    "fill": changing.fill,
    "connect": changing.join,
    "hollow": changing.hollow,
    "mirror": mirroring.mirror,
    "rotate": mirroring.rotate,
    "lay_down": mirroring.lay_down,
    "stand": mirroring.lay_down,
    "upside_down": mirroring.mirror_in_place,
    "resize": resizing.resize,
    "extend": resizing.extend,
}
