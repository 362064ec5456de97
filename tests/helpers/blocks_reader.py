"""Reads the orders of block structures: one block, or several in a line, and removals.

With the geometry and the words of `relations_reader` and more words, and as strict: it sees the messages, the blocks and the
pose, and refuses an order with an unknown word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.corpora.item import Executed, MinecraftItem
from harness.worlds.minecraft import Action
from tests.helpers.relations_reader import (
    BLOCK,
    COLOR,
    LEXICON,
    NOUN,
    NUMBER,
    NUMBERS,
    Cell,
    Reading,
    Token,
    Unclear,
    blocks_of,
    color_in,
    direction,
    first_cell,
    meant,
    moved,
    offset,
    order_of,
    tokens,
)

Step = tuple[int, int, int]
"""(left, up, away) from a block to the next."""

WAY = r"(?:to the )?\b(?:left|right)\b|\bup(?:wards)?\b|\bdown(?:wards)?\b|towards? you|away from you"
_WAYS = rf"((?:{WAY})(?: and (?:{WAY}))*)"
_SEVERAL = rf"(?!(?:one|1)\b)({NUMBER})"
_ONE_STEP = "space|cell|level|left|right|up|down|higher|lower|closer|farther|towards|away|to the"

WORDS = (
    ("floats", r"they (?:will )?float|with nothing under them"),
    ("fill", r"i (?:got that|told you the) wrong(?: thing)?|let me try again|what i meant is|i meant|it should have been"),
    ("fill", r"instead|actually|the right (?:one|block|brick|cube) is|no wait|wait|ah no|hold on|i was wrong|fault|that was my"),
    (
        "fill",
        r"now we go on with|belongs|we still need|what is missing is|you also need|(?:all )?in a (?:row|line)|the first one",
    ),
    ("fill", r"starting|beginning|lay|line up|like stairs|there (?:comes|goes)"),
    ("remove", r"should not be there|does not belong there|take it out|get rid of it|remove it"),
    ("run", rf"(?:keep going|continue|go on|going|each one step further|extend that|continue that)(?: diagonally)? {_WAYS}"),
    ("run", rf"diagonally {_WAYS}(?= with|$|,|\?|\.)"),
    ("run", r"(?:build |going )?straight (up|down)|going (up|down)"),
    ("run", r"(?:one on top of the other|one above the other|stacked|stack|pile up|build straight up)()"),
    ("run down", r"each under the one before|one (?:under|below) the other"),
    ("several", rf"{_SEVERAL} more ({COLOR}) (?:{NOUN})|another {_SEVERAL} ({COLOR}) (?:{NOUN})"),
    ("several", rf"{_SEVERAL} ({COLOR}) (?:{BLOCK})"),
    ("several", rf"{_SEVERAL} more(?: of (?:those|the same(?: color)?)| (?:{BLOCK}))?()"),
    ("one more", rf"(?:another|one more) ({COLOR}) (?:{NOUN})"),
    ("one more", rf"another(?= one (?:{_ONE_STEP}))()"),
    ("one more", r"(?:another of those|one more like that|another one|another|one more|the same color|same color)()"),
    ("first", rf"the (?:very )?first (?:{BLOCK})(?: (?:we|you) placed)?|the (?:{BLOCK}) (?:we|you) placed first"),
    ("target", rf"(?:a|one) ({COLOR}) (?:{NOUN})"),
    *LEXICON,
)


def read(item: MinecraftItem) -> Reading:
    """What an item's order means. Raises Unclear if a builder would have to ask or guess."""
    text, _, answer = order_of(item)
    return read_order(item, text, answer)


def read_order(item: MinecraftItem, text: str, answer: str) -> Reading:
    """The same for an order and the answer to the question about it."""
    found = tokens(text, WORDS)
    floats = any(token.kind == "floats" for token in found)
    its = [token for token in found if token.kind in ("block", "last", "only", "first")]
    if any(token.kind == "remove" for token in found):
        cell = _block(item, its)
        return Reading(frozenset({Action("remove", blocks_of(item)[cell], *cell)}), (cell,), floats)
    targets = [token for token in found if token.kind in ("target", "several")]
    targets = targets or [token for token in found if token.kind == "one more"]
    if len(targets) != 1 or len(its) > 1:
        raise Unclear(f"{len(targets)} targets and {len(its)} references: {text!r}")
    place = next((token for token in found if token.kind in ("center", "corner", "edge")), None)
    if place and targets[0].kind == "target":
        cell = first_cell(place, found, item)
        return Reading(frozenset({Action("place", targets[0].words[0], *cell)}), (), floats)
    reference = _block(item, its)
    count, color = _how_many(targets[0], answer, blocks_of(item)[reference])
    run = _run(found)
    if (count > 1) != (run is not None):
        raise Unclear(f"{count} blocks, but the way is {run}: {text!r}")
    told = [token for token in found if token.kind in ("number", "direction", "diagonal")]
    step = run or (0, 0, 0)
    start = moved(reference, item.pose, *(offset(told) if told else step))
    cells = [moved(start, item.pose, *(n * part for part in step)) for n in range(count)]
    return Reading(frozenset(Action("place", color, *cell) for cell in cells), (reference,), floats)


def _block(item: MinecraftItem, its: Sequence[Token]) -> Cell:
    """The block referred to; without words for it, the one placed last."""
    token = its[0] if its else Token("last", ("it",))
    if token.kind != "first":
        return meant(token, item)
    run = next(turn for turn in item.history if isinstance(turn, Executed))
    return next((action.x, action.y, action.z) for action in run.actions if isinstance(action, Action) and action.kind == "place")


def _how_many(target: Token, answer: str, same: str) -> tuple[int, str]:
    """The number of blocks and their color; `same` is the color that "more of those" have."""
    if target.kind == "target":
        return 1, target.words[0] or color_in(answer)
    if target.kind == "one more":
        return 1, target.words[0] or same
    count, color = (word for word in target.words if word is not None)
    return number(count), color or same


def _run(found: Sequence[Token]) -> Step | None:
    """The way from one of several blocks to the next; said twice, it must be the same."""
    ways = []
    for token in found:
        if token.kind == "run down":
            ways.append((0, -1, 0))
        elif token.kind == "run":
            ways.append(together(steps(next((word for word in token.words if word), "up"))))
    if len(set(ways)) > 1:
        raise Unclear(f"several ways to go on: {ways}")
    return ways[0] if ways else None


def number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word]


def steps(words: str) -> list[Step]:
    """The directions of "left and up", "towards you", ..."""
    plain = (re.sub(r"wards$|^to the ", "", word).replace("toward you", "towards you") for word in re.findall(WAY, words))
    return [direction(word) for word in plain]


def together(ways: Iterable[Step]) -> Step:
    left, up, away = (sum(parts) for parts in zip(*ways, strict=True))
    return left, up, away
