"""Reads the orders of whole shapes as a builder who only knows English would.

With the geometry and the words of `relations_reader` and words of its own, and as strict: it knows the messages, the blocks
that are there and the pose, and refuses an order with a word that it does not know, or that leaves something open.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.corpora.item import MinecraftItem
from tests.helpers.blocks_reader import WAY, Step, number, steps, together
from tests.helpers.relations_reader import (
    COLOR,
    LEXICON,
    NUMBER,
    Cell,
    Token,
    Unclear,
    blocks_of,
    color_in,
    direction,
    far,
    first_cell,
    meant,
    moved,
    offset,
    order_of,
    seen,
    tokens,
)

_N, _C, _B = rf"(?P<n>{NUMBER})", rf"(?:(?P<color>{COLOR}) )?", r"(?:blocks?|bricks?|cubes?)"
_LINE = r"(?P<noun>row|line|tower|column|stack|diagonal(?: line| row)?)"
_PLANE = r"(?P<noun>rectangle|square|wall|floor|platform)"
_LIES = r"(?:(?:(?P<flat>flat|horizontal)|(?P<upright>standing|vertical)) )?"
_DIMS = rf"(?P<x>{NUMBER}) ?(?:x|by) ?(?P<y>{NUMBER})"
_SPAN = "wide|deep|high|tall"
_SPANS = rf"(?:that is )?(?P<a>{NUMBER})(?: {_B})? (?P<one>{_SPAN}) and (?P<b>{NUMBER})(?: {_B})? (?P<two>{_SPAN})"
_END = "near|far|top|upper|bottom|lower|left|right"
_DEPTH = "closest|nearest|farthest|furthest"
_IT = rf"the (?P<color>{COLOR}) (?P<noun>row|line|tower|column|stack|diagonal|rectangle|square|wall|floor|platform)"

_LEXICON = (
    ("floats", r"with nothing under it|(?:and )?take the supports away(?: again| afterwards)?"),
    ("floats", r"without(?: any| leaving any)? supports|no supports"),
    ("what", rf"an? {_LINE} of {_N} {_C}{_B}"),
    ("what", rf"an? {_C}{_LINE} of {_N}(?: {_B})?"),
    ("what", rf"an? {_C}{_LINE} {_N}(?: {_B})?(?: (?:long|high|tall))?"),
    ("what", rf"{_N} {_C}{_B} in a {_LINE}"),
    ("what", rf"an? {_N} {_B}(?: (?:long|high|tall))? {_C}{_LINE}"),
    ("what", rf"an? {_LINE} of {_C}{_B}"),
    ("what", rf"an? {_C}{_LINE}"),
    ("what", rf"an? {_LIES}{_DIMS} {_PLANE}(?: made)? of {_C}{_B}"),
    ("what", rf"an? {_LIES}{_DIMS} {_C}{_PLANE}"),
    ("what", rf"an? {_LIES}{_C}{_PLANE} of {_DIMS}(?: {_B})?"),
    ("what", rf"an? {_LIES}{_C}{_PLANE} {_SPANS}"),
    ("what", rf"an? {_LIES}{_PLANE}(?: made)? of {_C}{_B} {_SPANS}"),
    ("what", rf"an? {_LIES}{_PLANE}(?: made)? of {_C}{_B}"),
    ("what", rf"an? {_LIES}{_C}{_PLANE}"),
    ("mark", rf"(?:the {_B} at )?the (?P<end>left|right|near|far) end of {_IT}"),
    ("mark", rf"(?:the {_B} at )?the end of {_IT} that is (?P<end>{_DEPTH}) (?:to|from) you"),
    ("mark", rf"the (?P<end>top|highest|bottom|lowest|middle) {_B} of {_IT}"),
    ("mark", rf"(?:the {_B} at )?the (?P<end>(?:(?:{_END}) )+)corner of {_IT}"),
    ("mark", rf"the {_B} in the (?P<end>middle) of {_IT}"),
    ("own corner", rf"with (?:its|the) ((?:(?:{_END}) )+)corner(?: ({_DEPTH}) (?:to|from) you)?"),
    ("start", rf"(?:with )?the (first|top|highest|bottom|lowest) {_B}(?! of)(?: is)?"),
    ("start", r"starting|beginning|standing|it (?:starts|begins|stands|is)|starts?|begins?"),
    (
        "way",
        rf"(?:it )?(?:going|goes|running|extending|reaching|with each {_B} one step further)(?: diagonally)?"
        rf"((?:,? ?(?:and )?(?:(?:{NUMBER}) (?:{_B} )?)?(?:{WAY}))+)",
    ),
    ("fill", r"what we (?:want|need) is|the next part is|build this|make this|you (?:should|can|need to)|oh"),
    *LEXICON,
)


class Reading(NamedTuple):
    """Cells and color of what an order asks for, the cell of the block it goes by, and whether it says that it floats."""

    cells: frozenset[Cell]
    color: str
    reference: Cell | None
    floats: bool


def read(item: MinecraftItem) -> Reading:
    """What an order and the answer to the builder's question ask for together. Raises Unclear."""
    text, question, answer = order_of(item)
    found = tokens(text, _LEXICON)
    whats = [token for token in found if token.kind == "what"]
    if len(whats) != 1:
        raise Unclear(f"{len(whats)} shapes: {text!r}")
    what = {key: value for key, value in whats[0].named.items() if value}
    told = _told(found)
    if "color" in question:
        what.setdefault("color", color_in(answer))
    elif re.search(r"\bhow\b", question):
        what |= _size_told(answer)
    elif question:
        part = "way" if re.search(r"direction|which way", question) else "start"
        if told[part]:
            raise Unclear(f"asked for what was said: {text!r} {question!r}")
        told[part] = [Token("way", (answer,))] if part == "way" else tokens(answer, _LEXICON)
        found += told["start"] if part == "start" else []
    if "color" not in what or not told["start"]:
        raise Unclear(f"no color or no start: {text!r} {answer!r}")
    start, reference = _start([token for token in told["start"] if token.kind not in ("start", "floats")], item)
    ways = _ways(told["way"], [token for token in found if token.kind == "own corner"], what["noun"])
    _check_first(found, ways)
    floats = any(token.kind == "floats" for token in found) or bool(re.search("float|support|nothing under", answer))
    sizes = _sizes(ways, what)
    cells = {start}
    for (_, step), size in zip(ways, sizes, strict=True):
        cells = {moved(cell, item.pose, *(n * part for part in step)) for cell in cells for n in range(size)}
    return Reading(frozenset(cells), what["color"], reference, floats)


def _told(found: Sequence[Token]) -> dict[str, list[Token]]:
    """What is said of the start, and of the way. Raises Unclear for words that belong to neither."""
    told: dict[str, list[Token]] = {"start": [], "way": []}
    started = False
    for token in found:
        if token.kind in ("start", "own corner"):
            started = True
        elif token.kind in ("way", "what"):
            started = False
            told["way"] += [token] if token.kind == "way" else []
        elif token.kind != "floats":
            if not started:
                raise Unclear(f"{token} belongs to nothing")
            told["start"].append(token)
    return told


def _check_first(found: Sequence[Token], ways: Sequence[tuple[int | None, Step]]) -> None:
    """That a block which is called the top or bottom one is so."""
    for token in found:
        if token.kind == "start" and (end := _SIDES.get(token.words[0])) and ways[0][1] != (0, -end[1], 0):
            raise Unclear(f"{token} of what goes {ways}")


def _size_told(answer: str) -> dict[str, str]:
    if match := re.search(_SPANS, answer):
        return match.groupdict()
    if match := re.fullmatch(rf"(?:it is |it has )?({NUMBER})(?: {_B})?(?: (?:long|high|tall))?\.?", answer):
        return {"n": match[1]}
    raise Unclear(f"no size: {answer!r}")


# --- where it starts ---


def _start(told: Sequence[Token], item: MinecraftItem) -> tuple[Cell, Cell | None]:
    if place := next((token for token in told if token.kind in ("center", "corner", "edge")), None):
        return first_cell(place, told, item), None
    its = [token for token in told if token.kind in ("block", "last", "only", "mark")]
    if len(its) != 1:
        raise Unclear(f"{len(its)} references in {told}")
    reference = _mark(its[0], item) if its[0].kind == "mark" else meant(its[0], item)
    return moved(reference, item.pose, *offset(told)), reference


def _mark(token: Token, item: MinecraftItem) -> Cell:
    """An end, a corner or the middle of the one shape that is there."""
    blocks = blocks_of(item)
    cells = list(blocks)
    ends = [(min(values), max(values)) for values in zip(*cells, strict=True)]
    if set(blocks.values()) != {token.named["color"]} or not _is_a(token.named["noun"], cells, ends):
        raise Unclear(f"{token} is not what is there: {blocks}")
    words = token.named["end"].split()
    if words == ["middle"]:
        fit = [cell for cell in cells if all(2 * a == low + high for a, (low, high) in zip(cell, ends, strict=True))]
    else:
        fit = [cell for cell in cells if all(a in sides for a, sides in zip(cell, ends, strict=True))]
        # Near and far last: they tell apart what the other words leave.
        for word in sorted(words, key=lambda word: _SIDES[word][0] == 2):
            fit = _most(fit, word, item)
    if len(fit) != 1:
        raise Unclear(f"{token} fits {fit}")
    return fit[0]


_SIDES = {
    "left": (0, 1),
    "right": (0, -1),
    **dict.fromkeys(("top", "upper", "highest"), (1, 1)),
    **dict.fromkeys(("bottom", "lower", "lowest"), (1, -1)),
    **dict.fromkeys(("far", "farthest", "furthest"), (2, 1)),
    **dict.fromkeys(("near", "nearest", "closest"), (2, -1)),
}
"""The axis of (left, up, away), and which end of it."""


def _most(cells: Sequence[Cell], word: str, item: MinecraftItem) -> list[Cell]:
    """The cells farthest to a side; near and far must be so along the builder's axis and in a straight line."""
    axis, sign = _SIDES[word]
    most = max(sign * seen(cell, item.pose)[axis] for cell in cells)
    fit = [cell for cell in cells if sign * seen(cell, item.pose)[axis] == most]
    others = [cell for cell in cells if cell not in fit]
    if not others:
        raise Unclear(f"{word!r} tells nothing apart in {cells}")
    if axis == 2 and min(sign * far(cell, item.pose) for cell in fit) <= max(sign * far(cell, item.pose) for cell in others):
        raise Unclear(f"{word!r}: along the axis it is {fit}, in a straight line it is not")
    return fit


def _is_a(noun: str, cells: Sequence[Cell], ends: Sequence[tuple[int, int]]) -> bool:
    sides = [high - low + 1 for low, high in ends]
    spread = [axis for axis in range(3) if sides[axis] > 1]
    if noun == "diagonal":
        return len(spread) == 2 and len(cells) == max(sides)
    if len(cells) != math.prod(sides):
        return False
    if noun in ("row", "line"):
        return len(spread) == 1
    if noun in ("tower", "column", "stack"):
        return spread == [1]
    upright = {"wall": True, "floor": False, "platform": False}.get(noun, 1 in spread)
    square = len({sides[axis] for axis in spread}) == 1
    return len(spread) == 2 and (1 in spread) == upright and (noun != "square" or square)


# --- which way, and how far ---

_FROM = {
    "left": "right",
    "right": "left",
    **dict.fromkeys(("top", "upper"), "down"),
    **dict.fromkeys(("bottom", "lower"), "up"),
    **dict.fromkeys(("near", "closest", "nearest"), "away from you"),
    **dict.fromkeys(("far", "farthest", "furthest"), "towards you"),
}
"""The way that a plane goes on from a corner."""


def _ways(told: Sequence[Token], corners: Sequence[Token], noun: str) -> list[tuple[int | None, Step]]:
    """The directions, each with its size if that is told along. Those of a diagonal are one."""
    if corners and not told:
        return [(None, direction(_FROM[word])) for part in corners[0].words if part for word in part.split()]
    if not told and noun in ("tower", "column", "stack"):
        return [(None, (0, 1, 0))]
    if len(told) != 1:
        raise Unclear(f"{len(told)} ways of a {noun}")
    found = [
        (number(count) if count else None, steps(words)[0])
        for count, words in re.findall(rf"(?:({NUMBER}) (?:{_B} )?)?({WAY})", told[0].words[0])
    ]
    if noun.startswith("diagonal") and len(found) == 2 and not any(count for count, _ in found):
        return [(None, together(step for _, step in found))]
    return found


def _sizes(ways: Sequence[tuple[int | None, Step]], what: dict[str, str]) -> list[int]:
    """How many blocks along each way."""
    noun = what["noun"]
    if noun not in ("rectangle", "square", "wall", "floor", "platform"):
        diagonal = sum(map(abs, ways[0][1])) > 1
        if len(ways) != 1 or ways[0][0] or "n" not in what or diagonal != noun.startswith("diagonal"):
            raise Unclear(f"a {noun} that goes {ways}: {what}")
        if noun in ("tower", "stack") and ways[0][1] != (0, 1, 0):
            raise Unclear(f"a {noun} that does not go up")
        return [number(what["n"])]
    axes = [next(axis for axis in range(3) if step[axis]) for _, step in ways]
    if len(axes) != 2 or axes[0] == axes[1]:
        raise Unclear(f"a plane along {axes}")
    upright, flat = noun == "wall" or "upright" in what, noun in ("floor", "platform") or "flat" in what
    if (upright and 1 not in axes) or (flat and 1 in axes):
        raise Unclear(f"{what} along {axes}")
    return _plane_sizes([count for count, _ in ways], axes, what)


def _plane_sizes(counts: Sequence[int | None], axes: Sequence[int], what: dict[str, str]) -> list[int]:
    dims = sorted(number(what[key]) for key in ("x", "y") if key in what)
    spans = {
        {"wide": 0, "high": 1, "tall": 1, "deep": 2}[what[span]]: number(what[count])
        for span, count in (("one", "a"), ("two", "b"))
        if span in what
    }
    if spans and set(spans) == set(axes):
        sizes = [spans[axis] for axis in axes]
    elif all(counts):
        sizes = [count or 0 for count in counts]
    elif not any(counts) and dims and dims[0] == dims[1]:
        sizes = dims
    else:
        raise Unclear(f"which way is it how long? {what} {counts} {axes}")
    if (dims and sorted(sizes) != dims) or (what["noun"] == "square" and sizes[0] != sizes[1]):
        raise Unclear(f"sizes {sizes} of {what}")
    return sizes
