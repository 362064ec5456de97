"""Reads orders by rules: what to place where, what to remove, what to replace with what.

If the words are ambiguous, each way to understand them is a separate reading; the ranker chooses among them.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.described import (
    LEVEL,
    SIDES,
    Attachment,
    Description,
    along,
    describe,
    joined,
    limits,
    links,
    meant,
    number_of,
    objects,
    ways,
)
from harness.baselines.parser.minecraft.grid import BEHIND, INSIDE, LEFT, SIZE, UP, XYZ, Cells
from harness.baselines.parser.minecraft.properties import COLUMNS, Gathered, Proposals, Setting
from harness.baselines.parser.minecraft.words import LARGEST, NUMBER, ORDINAL, ClauseInContext
from harness.worlds.minecraft import SIDE

_STRAIGHT = ("row", "horizontal")
_UNTIL = ("until", "till", "edge", "extend", "continue", "connect", "entire", "across", "along", "reach", "map")
_AGAIN = ("replicate", "identical", "same", "similar", "copy", "mirror", "recreate", "duplicate", "match", "like")


class Placement(NamedTuple):
    """Cells to fill with a color, to empty (color 0), or, if `gone`, to empty and then fill; `names`: the properties that say how
    the words were read."""

    cells: tuple[int, ...]
    color: int
    names: tuple[str, ...]
    gone: bool = False


class Placing:
    """An order to place blocks."""

    def __init__(self, verb: str, said: str, more: Sequence[Attachment], clause: ClauseInContext, setting: Setting) -> None:
        self.setting, self.scene, self.more = setting, setting.scene, more
        self.what = describe(said)
        extra = [describe(link.text) for link in more if link.kind in ("with", "in")]
        colors = self.what.colors or next((one.colors for one in extra if one.colors), ())
        last = int(self.scene.codes[self.scene.last]) if self.scene.last >= 0 else 0
        self.color = colors[0] if colors else last
        counted = [one.number for one in extra if one.number > 1 and one.colors == colors]
        digits = [number_of(word) for word in said.split() if word.isdigit()]
        # "A row" is more than one block, and in "two towers of four blocks" the last number counts the blocks.
        own = digits[-1] if digits else 0 if self.what.head in ("tower", "row") else self.what.number
        self.count = max([own, *counted])
        texts = {*clause.text.split(), verb}
        self.words = texts
        self.again = not texts.isdisjoint(_AGAIN)
        self.stands = (
            bool({verb, *said.split()} & {"stack", "tower"} or texts & {"vertical", "tall"}) or "top of each other" in clause.text
        )
        self.lies = bool(texts & {*_STRAIGHT}) and verb != "stack" and "tower" not in said
        self.counts = [self.count] if self.count else [1, 2, 3, 4]
        self.reaches = not texts.isdisjoint(_UNTIL)
        self.every = any(describe(link.text).every for link in more)

    def readings(self) -> Iterator[Placement]:
        if not self.color:
            return
        anchored = False
        way = tuple(side for link in self.more if link.kind == "side" and not link.text for side in link.sides)
        if self.again:
            yield from self._copies()
        if "edge" in self.words and not self.count:
            yield from self._borders(way)
        for n, link in enumerate(self.more):
            if link.kind in ("with", "but"):
                continue
            where = describe(link.text)
            if {"place", "places", "spot", "stead"} & {*link.text.split()} and len(self.scene.emptied):
                anchored = True
                yield self._reading(self.scene.emptied.tolist(), "told again")
                continue
            if where.head in ("map", "ground", "corner", "edge") or (link.kind == "in" and where.middle and not where.colors):
                for cells, names in self._on_ground(where, link, way):
                    anchored = True
                    yield self._reading(cells, "told ground", *names)
                continue
            if link.kind == "in" or not (link.text or link.kind == "side"):
                continue
            within, _ = limits(self.more[n + 1 :], self.setting)
            units = meant(where, self.setting, within) or meant(where, self.setting)
            if not link.text and link.kind == "side":
                units = [self.scene.group] if len(self.scene.group) else []
            if not units:
                continue
            for cells, names in self._at(link, where, units, way):
                anchored = True
                yield self._reading(cells, *names)
        if not anchored and self.scene.last < 0:
            for count in self.counts:
                for cells, names in self._from(grid.number(0, 1, 0), count, way):
                    yield self._reading(cells, "told ground", *names)

    def _borders(self, way: Sequence[int]) -> Iterator[Placement]:
        """Yields whole edges of the ground: each one named, then all four together."""
        sides = [side for link in self.more for side in (*link.sides, *describe(link.text).sides)]
        sides = [*way, *({UP: BEHIND, -UP: -BEHIND}.get(side, side) for side in sides)]
        ground = grid.GROUND
        for side in dict.fromkeys(sides):
            row = ground[along(ground, side) == SIDE]
            yield self._reading(row.tolist(), "told ground", "told along")
        ring = ground[np.abs(XYZ[ground][:, [0, 2]]).max(1) == SIDE]
        yield self._reading(ring.tolist(), "told ground", "told around")

    def _copies(self) -> Iterator[Placement]:
        """Yields mirror images, about the middle of the region over one or both axes, of the blocks in each quarter."""
        cells = self.setting.blocks
        for x, z in ((-1, 1), (1, -1), (-1, -1)):
            corner = cells + LEFT * ((x - 1) * XYZ[cells, 0]) + BEHIND * ((z - 1) * XYZ[cells, 2])
            for quarter in product((-1, 1), repeat=2):
                own = (np.sign(XYZ[cells, 0]) == quarter[0]) & (np.sign(XYZ[cells, 2]) == quarter[1])
                image = corner[own]
                if len(image) > 1 and self.setting.free[image].all():
                    sides = tuple(
                        side for link in self.more for side in (*link.sides, *describe(link.text).sides) if abs(side) != UP
                    )
                    there = all((along(image, side) > 0).all() for side in sides)
                    yield Placement(
                        tuple(image.tolist()),
                        self.color,
                        ("told place", "told copy", *(("told fits",) if there and sides else ())),
                    )

    def _reading(self, cells: Sequence[int], *names: str) -> Placement:
        free = tuple(dict.fromkeys(cell for cell in cells if 0 <= cell < SIZE and self.setting.free[cell]))
        fits = ("told fits",) if len(free) == len(cells) and (self.count or self.every) else ()
        return Placement(free, self.color, ("told place", *names, *fits))

    def _from(self, start: int, count: int, way: Sequence[int]) -> Iterator[tuple[list[int], tuple[str, ...]]]:
        """Yields rows of cells from a cell on: upward, in the directions named, or in every direction."""
        if count == 1:
            yield [start], ()
            return
        up = _row(start, UP, count)
        rows = [(_row(start, step, count), ("told along",)) for step in (way or LEVEL)]
        first, second = (rows, [(up, ("told up",))]) if self.lies or (way and not self.stands) else ([(up, ("told up",))], rows)
        yield from first
        if not self.stands or self.lies:
            yield from second
        if not way or self.lies:
            yield from ((_row(start, step, count, -(count // 2)), ("told along",)) for step in (LEFT, BEHIND))

    def _on_ground(self, where: Description, link: Attachment, way: Sequence[int]) -> Iterator[tuple[list[int], tuple[str, ...]]]:
        sides = tuple(dict.fromkeys(side for side in (*where.sides, *link.sides, *way) if abs(side) != UP))
        if where.head == "corner":
            corners = [(x, z) for x, z in product((-SIDE, SIDE), repeat=2)]
            chosen = [(x, z) for x, z in corners if all(_lies(x, z, side) for side in sides)] if len(sides) > 1 else corners
            empty = [(x, z) for x, z in chosen if not self.setting.occupied[grid.number(x, 1, z)]]
            for count in self.counts:
                yield (
                    [cell for x, z in empty for cell in _row(grid.number(x, 1, z), UP, count)],
                    ("told each",) if len(empty) > 1 else ("told up",),
                )
                if len(chosen) == 1:
                    (x, z), *_ = chosen
                    yield from self._from(grid.number(x, 1, z), count, ())
            return
        x = sum(SIDE * np.sign(side) for side in sides if abs(side) == LEFT)
        z = sum(SIDE * np.sign(side) for side in sides if abs(side) == BEHIND)
        if where.middle and not sides:
            x = z = 0
        start = int(grid.number(int(x), 1, int(z)))
        while self.setting.occupied[start] and INSIDE[start + UP]:
            start += UP
        for count in self.counts:
            yield from self._from(start, count, ())

    def _at(
        self, link: Attachment, where: Description, units: list[Cells], way: Sequence[int]
    ) -> Iterator[tuple[list[int], tuple[str, ...]]]:
        """Yields the cells beside some units to which a link may refer."""
        if link.kind == "between" or "space" in link.text.split():
            yield from self._between(units)
            if link.kind == "between":
                return
        if link.kind == "around":
            cells = [int(unit[0]) + x * LEFT + z * BEHIND for unit in units for x, z in product((-1, 0, 1), repeat=2)]
            yield [cell for cell in cells if self.setting.free[cell]], ("told around",)
            return
        if link.kind == "down":
            yield [cell for unit in units for cell in self._free(int(unit[0]), -UP)], ("told each", "told between")
        steps = (LEFT, -LEFT) if link.kind == "every" else ways(link)
        if len(steps) > 1 and link.kind in ("side", "every"):
            both = [
                cell
                for count in self.counts[:1]
                for unit in units
                for s in steps
                for cell in self._outward(unit, s, max(1, count // len(units) // 2), True)
            ]
            yield both, ("told each",)
        for count, step in product(self.counts, steps):
            if self.stands and abs(step) != UP:
                ground = self._start(joined(units), step, True)
                ground -= UP * int(XYZ[ground, 1] - 1)
                yield _row(ground, UP, count), ("told up", "told ground")
            for low in (True, False) if abs(step) != UP else (True,):
                level = (("told low",) if low else ("told high",)) if abs(step) != UP else ()
                if len(units) > 1:
                    each = [cell for unit in units for cell in self._outward(unit, step, count, low)]
                    yield each, ("told each", *level)
                    if count > 1 and count % len(units) == 0:
                        yield (
                            [cell for unit in units for cell in self._outward(unit, step, count // len(units), low)],
                            ("told each", *level),
                        )
                if len(units) == 1 or not where.every:
                    for cells, names in self._beyond(joined(units), step, count, low, way):
                        yield cells, (*names, *level)

    def _free(self, cell: int, step: int) -> list[int]:
        """The free cells after one, as far as the next block or the end of the region."""
        found = []
        while self.setting.free[cell + step]:
            cell += step
            found.append(cell)
        return found

    def _outward(self, unit: Cells, step: int, count: int, low: bool) -> list[int]:
        """The cells of a row from beside a unit away from it, or of a tower beside it if the words say so."""
        start = self._start(unit, step, low)
        on = UP if (self.stands and abs(step) != UP) else step
        return _row(start, on, count)

    def _start(self, unit: Cells, step: int, low: bool) -> int:
        """The cell beside a unit toward a side, at its lowest or highest outermost block; above or below, the first free one."""
        far = along(unit, step)
        ends = unit[far == far.max()]
        heights = XYZ[ends, 1]
        start = int(ends[heights.argmin() if low else heights.argmax()]) + step
        while self.setting.occupied[start] and abs(step) == UP and INSIDE[start + step]:
            start += step
        return start

    def _beyond(
        self, unit: Cells, step: int, count: int, low: bool, way: Sequence[int]
    ) -> Iterator[tuple[list[int], tuple[str, ...]]]:
        if abs(step) == UP:
            far = along(unit, step)
            layer = unit[far == far.max()]
            if len(layer) > 1:
                yield [int(cell) + step for cell in layer], ("told layer",)
                if len(layer) % 2:
                    middle = int(layer[np.argsort(XYZ[layer] @ (1, 0, 1), kind="stable")[len(layer) // 2]])
                    yield _row(middle + step, step, count), ("told up", "told middle")
        start = self._start(unit, step, low)
        if self.reaches and not self.count and count == self.counts[0]:
            for other in way or (step,):
                yield [start, *self._free(start, other)], ("told along", "told between")
        if count == 1:
            yield [start], ()
            return
        outward, up = _row(start, step, count), _row(start, UP, count)
        if step == -UP:
            yield outward, ("told up",)
        else:
            yield (up, ("told up",)) if self.stands or step == UP else (outward, ("told along",))
            if not self.stands or self.lies:
                yield (outward, ("told along",)) if self.stands else (up, ("told up",))
        for other in way or (LEVEL if self.lies or not self.stands else ()):
            if abs(other) != abs(step):
                yield _row(start, other, count), ("told along",)
        if self.lies and abs(step) == UP:
            for other in (LEFT, BEHIND):
                yield _row(start, other, count, -(count // 2)), ("told along", "told middle")

    def _between(self, units: list[Cells]) -> Iterator[tuple[list[int], tuple[str, ...]]]:
        """Yields the empty cells on straight lines between blocks of the units."""
        cells = joined(units)
        there = {*cells.tolist()}
        for steps in ((LEFT,), (BEHIND,), (UP,), (LEFT, BEHIND, UP)):
            filled: list[int] = []
            for cell, step in product(cells.tolist(), steps):
                run = self._free(cell, step)
                if run and run[-1] + step in there:
                    filled += run
            if filled:
                yield filled, ("told between",)
                if self.count and len(filled) > self.count:
                    low = sorted(filled, key=lambda cell: (XYZ[cell, 1], cell))
                    yield low[: self.count], ("told between", "told low")
                if len(filled) == 1 and self.count > 1:
                    yield _row(filled[0], UP, self.count), ("told between", "told up")
                    yield _row(filled[0], -UP, self.count), ("told between", "told high")


def _row(start: int, step: int, count: int, first: int = 0) -> list[int]:
    """`count` cells in a row, from step `first` on, without those that are too far from `start` to lie in the region."""
    return [start + step * n for n in range(max(first, -LARGEST), min(first + count, LARGEST + 1))]


def _lies(x: int, z: int, side: int) -> bool:
    """Whether a corner lies toward a side."""
    return bool((x if abs(side) == LEFT else z) * np.sign(side) > 0)


MOST = 40
"""Only this many readings of a clause are proposed."""
_VERBS = {
    **dict.fromkeys(("place", "build", "stack", "continue", "extend", "fill", "move", "connect", "surround"), "place"),
    "remove": "remove",
    "replace": "replace",
}


def told(clause: ClauseInContext, setting: Setting) -> list[Proposals]:
    """The proposals for the readings of an order."""
    sets: dict[tuple[int, bool], Gathered] = {}
    known: set[tuple[tuple[int, ...], int, bool]] = set()
    for reading in readings(clause, setting):
        key = reading.cells, reading.color, reading.gone
        if not reading.cells or key in known:
            continue
        first = () if known else ("told first",)
        known.add(key)
        sets.setdefault(key[1:], Gathered()).add(
            np.array(reading.cells), *reading.names[1:], *first, column=COLUMNS[reading.names[0]]
        )
        if len(known) == MOST:
            break
    return [one for (color, gone), gathered in sets.items() for one in gathered.proposals(setting, color, gone=gone)]


def readings(clause: ClauseInContext, setting: Setting) -> Iterator[Placement]:
    words = _evened(clause).split()
    at = next((n for n, word in enumerate(words) if word in _VERBS), None)
    if at is None:
        verb, rest = "place", " ".join(words)
    else:
        verb, rest = words[at], " ".join(words[at + 1 :])
        before = " ".join(words[:at])
        if before and _VERBS[verb] == "place":
            rest = f"{rest} {before}"  # "in the middle of the map build a tower"
    said, more = links(rest)
    if _VERBS.get(verb) == "remove":
        yield from _removals(said, more, setting)
    elif verb == "replace":
        yield from _replacements(said, more, setting)
    else:
        yield from Placing(verb, said, more, clause, setting).readings()
        if at is None and len(setting.scene.emptied):
            yield from _removals(said, more, setting)


_OF = re.compile(r"\b(tower|row|stack|level|square|rectangle|set|group|total|each|all|each one|N|[0-9]+) of(?: the| those)?\b")

_FROM = re.compile(rf"([0-9]+th)((?: \w+){{0,3}}) from(?: the)? ({'|'.join(SIDES)})\b")
""" "The third block from the top"."""


def _evened(clause: ClauseInContext) -> str:
    """The clause as text, without words that make no difference here; ordinals are written as "2th"."""
    words = (
        word.color or (f"{word.number}th" if word.text == ORDINAL else str(word.number) if word.text == NUMBER else word.text)
        for word in clause.words
    )
    return _FROM.sub(r"\3 \1\2", _OF.sub(r"\1", " ".join(words)))


def _removals(said: str, more: Sequence[Attachment], setting: Setting) -> Iterator[Placement]:
    what = describe(said)
    for units in objects(what, more, setting):
        cells = joined(units)
        fits = what.number == len(cells) or (what.number == 1 == len(units)) or what.every or not what.number
        names = ("told remove", *(("told fits",) if fits else ()))
        yield Placement(tuple(_down(cells)), 0, names)


def _down(cells: Cells) -> list[int]:
    return [int(cell) for cell in cells[np.argsort(-XYZ[cells, 1], kind="stable")]]


def _replacements(said: str, more: Sequence[Attachment], setting: Setting) -> Iterator[Placement]:
    what = describe(said)
    new = next((describe(link.text).colors for link in more if link.kind in ("with", "in") and describe(link.text).colors), ())
    if not new:
        return
    rest = [link for link in more if describe(link.text).colors != new]
    if not what.colors and (what.back or not what.head) and len(setting.scene.emptied):
        yield Placement(tuple(setting.scene.emptied.tolist()), new[0], ("told replace", "told fits"))
    for units in objects(what, rest, setting):
        cells = joined(units)
        fits = what.number in (0, len(cells)) or what.every
        yield Placement(tuple(_down(cells)), new[0], ("told replace", *(("told fits",) if fits else ())), gone=True)
