"""Reads orders by rules: what to place where, what to remove, what to replace with what.

If the words are ambiguous, each way to understand them is a separate reading; the ranker chooses among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from harness.baselines.parser.minecraft.described import SIDES, Attachment, describe, joined, links, objects
from harness.baselines.parser.minecraft.gathered import Gathered, Proposals
from harness.baselines.parser.minecraft.grammar import NUMBER, ORDINAL
from harness.baselines.parser.minecraft.grid import XYZ, Cells
from harness.baselines.parser.minecraft.placing import Placement, Placing
from harness.baselines.parser.minecraft.properties import COLUMNS, Setting
from harness.baselines.parser.minecraft.words import ClauseInContext

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
