"""Which blocks a description means: "the top two purple blocks", "each tower", "the red block east of the yellow one"."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.grid import BEHIND, LEFT, UP, XYZ, Cells
from harness.baselines.parser.minecraft.properties import Setting
from harness.worlds.minecraft import CODES

SIDES = {
    "top": UP,
    "bottom": -UP,
    "left": LEFT,
    "west": LEFT,
    "right": -LEFT,
    "east": -LEFT,
    "north": BEHIND,
    "behind": BEHIND,
    "south": -BEHIND,
    "front": -BEHIND,
}
"""The step toward each side, in the frame in which north is ahead."""
LEVEL = (LEFT, -LEFT, BEHIND, -BEHIND)
_HEADS = ("corner", "edge", "tower", "row", "structure", "shape", "figure", "level", "map", "ground")
_BACK = ("it", "that", "those", "this", "last")
_DIGITS = 5
"""Only this many digits of a number are read: more than the number of the region's cells has."""
_EVERY = ("each", "all", "everything", "both")


class Description(NamedTuple):
    """What a text says of some blocks."""

    colors: tuple[int, ...]
    number: int
    """How many, or 0 if that is not said."""
    every: bool
    sides: tuple[int, ...]
    """The sides toward which they lie furthest, in the order of the text."""
    middle: bool
    head: str
    """What they are: one of _HEADS, or "block", or "" if that is not said."""
    back: bool
    """Whether it refers to what was placed last."""
    place: int = 0
    """2 for "the second block from ..."; the first side is the one counted from."""
    ends: bool = False
    """Whether only the ends are meant."""


def number_of(digits: str) -> int:
    """The number written in ASCII digits, at most the number of the region's cells: users may type any number."""
    return min(int(digits[:_DIGITS]), len(grid.REGION))


@lru_cache(4096)
def describe(text: str) -> Description:
    words = text.split()
    colors = tuple(dict.fromkeys(CODES[word] for word in words if word in CODES))
    number = next((number_of(word) for word in words if word.isdigit()), 1 if {"a", "an", "one", "another"} & set(words) else 0)
    head = next((word for word in _HEADS if word in words), "block" if {"block", "one", "ones"} & set(words) else "")
    back = any(word in _BACK for word in words[:1]) or any(word in ("last", "it") for word in words)
    sides = tuple(dict.fromkeys(SIDES[word] for word in words if word in SIDES))
    every = any(word in _EVERY for word in words)
    place = next((number_of(word[:-2]) for word in words if word.endswith("th") and word[:-2].isdigit()), 0)
    ends = any(word in ("end", "extreme") for word in words)
    return Description(colors, number, every, sides, "middle" in words, head, back, place, ends)


def meant(said: Description, setting: Setting, within: Cells | None = None) -> list[Cells]:
    """The blocks that a description means, as units: whole towers, rows or structures, otherwise single blocks. Empty if it means
    none."""
    scene = setting.scene
    cells = setting.blocks if within is None else within
    if said.back and len(scene.group):
        cells = scene.group
    if said.colors:
        cells = cells[np.isin(scene.codes[cells], said.colors)]
    if not len(cells):
        return []
    units = _units(cells, said.head)
    if said.ends and len(cells) > 2:
        spread = XYZ[cells].max(0) - XYZ[cells].min(0)
        far = XYZ[cells, int(spread.argmax())]
        units = [np.array([cell]) for cell in cells[(far == far.min()) | (far == far.max())]]
    if said.every and said.sides[:1] in ((UP,), (-UP,)) and said.head in ("", "block") and said.number < 2:
        runs = _runs(cells, UP)
        return [run[-1:] if said.sides[0] == UP else run[:1] for run in runs]
    if said.place and said.sides:
        return _counted(units, said.sides[0], said.place)
    for side in said.sides:
        units = _furthest(units, side, said.number if side == said.sides[0] and said.head in ("", "block") else 0)
    if said.middle and len(units) > 2:
        units = _middle(units, said.number)
    return units


def _counted(units: list[Cells], side: int, place: int) -> list[Cells]:
    """The units at a place, from 1, counted from a side."""
    reach = np.array([along(unit, side).max() for unit in units])
    levels = np.unique(reach)[::-1]
    return [unit for unit, far in zip(units, reach, strict=True) if far == levels[min(place, len(levels)) - 1]]


def along(cells: Cells, side: int) -> Cells:
    """How far each cell lies toward a side."""
    axis, sign = {UP: (1, 1), -UP: (1, -1), LEFT: (0, 1), -LEFT: (0, -1), BEHIND: (2, 1), -BEHIND: (2, -1)}[side]
    found: Cells = XYZ[cells, axis] * sign
    return found


def _units(cells: Cells, head: str) -> list[Cells]:
    if head == "tower":
        towers = [run for run in _runs(cells, UP) if len(run) > 1]
        return towers or [np.array([cell]) for cell in cells]
    if head == "row":
        found = [run for way in (LEFT, BEHIND) for run in _runs(cells, way) if len(run) > 1]
        return found or [cells]
    if head in ("structure", "shape", "figure"):
        return [cells]
    return [np.array([cell]) for cell in cells]


def _runs(cells: Cells, step: int) -> list[Cells]:
    """Cells in a row along a step, as long as they go."""
    there = {*cells.tolist()}
    found = []
    for cell in sorted(there):
        if cell - step not in there:
            run = [cell]
            while run[-1] + step in there:
                run.append(run[-1] + step)
            found.append(np.array(run))
    return found


def _furthest(units: list[Cells], side: int, number: int) -> list[Cells]:
    """The units that lie furthest toward a side; if `number` is over 1, as many whole layers as it takes to have that many."""
    reach = np.array([along(unit, side).max() for unit in units])
    kept = -np.sort(-reach)[min(max(number, 1), len(units)) - 1]
    return [unit for unit, far in zip(units, reach, strict=True) if far >= kept]


def _middle(units: list[Cells], number: int) -> list[Cells]:
    centers = np.array([XYZ[unit].mean(0) for unit in units])
    axis = int((centers.max(0) - centers.min(0)).argmax())
    order = np.argsort(centers[:, axis], kind="stable")
    if number > 1:
        first = (len(units) - number) // 2
        return [units[n] for n in sorted(order[max(first, 0) : first + number].tolist())]
    return [units[n] for n in sorted(order[(len(units) - 1) // 2 : len(units) // 2 + 1].tolist())]


_SIDE = "north|south|east|west|left|right"
_NO_BLOCK = f"map|ground|corner|edge|side|{_SIDE}|space|position"
_GOING = "to|on|at|toward|towards|against|from|in|along|going|extending|heading|running|pointing"
_LINKS = {
    "up": "(?:(?:on|at|to|onto)(?: the)?(?: very)? )?top(?: side)? of|(?:on|at) (?:its|their) top|on top|above|over|upon|onto"
    rf"|on(?! .{{0,14}}\b(?:{_NO_BLOCK})\b)",
    "down": "(?:at|on|to|from)(?: the)? bottom of|below",
    "side": rf"(?:{_GOING})? ?(?:to |towards )?(?:the |its |each |that )?"
    rf"(?P<sides>(?:{_SIDE})(?:(?: and)? (?:{_SIDE}))?)(?: most)?"
    "(?: (?:side |end |face )?(?:of|from)| sides?| direction|$|(?= (?:and|of|with)\\b))",
    "front": "(?:in|on)(?: the)? front(?: side)? of",
    "back": "behind|in(?: the)? back of",
    "between": "(?:in )?(?:the )?(?:empty |open )?(?:space |gap |middle )?(?:in )?between",
    "around": "around|surround",
    "next": "next to|against|touching|near",
    "every": "on (?:each|either|both) sides? of",
    "with": "with|using|by",
    "but": "except|but",
    "in": "in|inside|at|from|of|on|to",
}
"""The words that join descriptions, by the relation that they state; the first pattern that fits counts."""
_LINK = re.compile(rf"\b(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _LINKS.items())})(?= |$)")


class Attachment(NamedTuple):
    """How a description is joined to the words before it: a kind, such as "up", "side" or "between", and the sides named."""

    kind: str
    sides: tuple[int, ...]
    text: str
    """The description that follows."""


def links(text: str) -> tuple[str, list[Attachment]]:
    """The words before the first link, and the links in order."""
    found = list(_LINK.finditer(text))
    if not found:
        return text, []
    ends = [match.start() for match in found[1:]] + [len(text)]
    told = []
    for match, end in zip(found, ends, strict=True):
        kind = next(name for name in _LINKS if match[name] is not None)
        sides = tuple(SIDES[word] for word in (match["sides"] or "").split() if word in SIDES)
        told.append(Attachment(kind, sides, text[match.end() : end].strip()))
    return text[: found[0].start()].strip(), told


def joined(units: Sequence[Cells]) -> Cells:
    return np.concatenate(units) if units else grid.REGION[:0]


def objects(what: Description, more: Sequence[Attachment], setting: Setting) -> Iterator[list[Cells]]:
    """Yields the units that a description with its attachments may mean, the likeliest first."""
    within, kept_out = limits(more, setting)
    for inside in (within, None) if within is not None else (None,):
        units = meant(what, setting, inside)
        for link in more:
            if link.kind == "side" and not link.text:
                units = meant(what._replace(sides=(*what.sides, *link.sides)), setting, inside)
            units = _beside(units, link, setting)
        units = [unit for unit in units if not np.isin(unit, kept_out).any()]
        if units:
            yield units
            if what.number and len(joined(units)) > what.number:
                yield from _fewer(units, what.number)


def _fewer(units: list[Cells], number: int) -> Iterator[list[Cells]]:
    """Yields each choice of `number` blocks that lie in a row; for 1, each unit."""
    cells = joined(units)
    there = {*cells.tolist()}
    for cell, step in product(cells.tolist(), (UP, LEFT, BEHIND)):
        run = [cell + step * n for n in range(number)]
        if number > 1 and all(one in there for one in run):
            yield [np.array(run)]
    if number == 1:
        yield from ([unit] for unit in units)


def limits(more: Sequence[Attachment], setting: Setting) -> tuple[Cells | None, Cells]:
    """The blocks that the meant ones must be among, or None for any, and the blocks that are excepted."""
    within, kept_out = None, grid.REGION[:0]
    for link in more:
        said = describe(link.text)
        if link.kind == "but":
            kept_out = joined(meant(said, setting))
        elif (
            link.kind in ("in", "up", "down", "side")
            and link.text
            and (said.colors or said.head not in ("", "map", "ground", "corner"))
        ):
            units = meant(said, setting)
            if units and (said.head not in ("", "block") or link.kind == "in"):
                within = joined(units)
                if link.kind in ("up", "down"):
                    within = within[XYZ[within, 1] == (XYZ[within, 1].max() if link.kind == "up" else XYZ[within, 1].min())]
                if link.kind == "side" and link.sides:
                    far = along(within, link.sides[0])
                    within = within[far == far.max()]
    return within, kept_out


def _beside(units: list[Cells], link: Attachment, setting: Setting) -> list[Cells]:
    """The units that lie relative to other blocks as a link says, or all units if none do."""
    steps = ways(link)
    if link.kind not in ("side", "front", "back", "up", "down", "next", "between") or not link.text:
        return units
    others = meant(describe(link.text), setting)
    if not others:
        return units
    anchors = joined(others)
    kept = [unit for unit in units if any(np.isin(unit - step, anchors).any() for step in steps)]
    return kept or units


def ways(link: Attachment) -> tuple[int, ...]:
    """The steps from a block to the cells that a link refers to."""
    known = {"up": (UP,), "down": (-UP,), "front": (-BEHIND,), "back": (BEHIND,), "next": LEVEL}
    return link.sides or known.get(link.kind, (*LEVEL, UP, -UP))
