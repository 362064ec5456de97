"""What a parser returns, and the scan that every text parser is built on."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

MAX_CHARS = 100_000
"""Text beyond this many characters is discarded unread; the longest gold answer of both tasks has under 2,000."""

NOTHING = "none"
"""What the text formats write for an empty list of actions: some endpoints refuse an empty answer."""


class Discarded(NamedTuple):
    """A piece of the text that did not become an action (at most 80 characters of it), and why."""

    text: str
    reason: str


class Parsed(NamedTuple):
    """The actions a text asks for, in its own order unless the format says otherwise, and what was thrown away."""

    actions: tuple[Any, ...]
    discarded: tuple[Discarded, ...]


def discard(text: str, reason: str) -> Discarded:
    return Discarded(text if len(text) <= 80 else text[:77] + "...", reason)


def scan(text: str, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Any]) -> Parsed:
    """Read every match of `pattern` from left to right; `read` returns an action, or the reason why there is none.

    What lies between the matches is discarded, unless it is only separators or says that there is nothing to do. Linear
    in the length of the text as long as `pattern` is: bound its repetitions and let it start at word borders only.
    """
    actions: list[Any] = []
    discarded: list[Discarded] = []

    def gap(piece: str) -> None:
        rest = piece.strip(" \t\r\n,;.`")
        if rest and rest.lower() != NOTHING:
            discarded.append(discard(rest, "not an action"))

    end = 0
    for match in pattern.finditer(text, 0, MAX_CHARS):
        gap(text[end : match.start()])
        end = match.end()
        found = read(match)
        if isinstance(found, str):
            discarded.append(discard(match.group(), found))
        else:
            actions.append(found)
    gap(text[end:MAX_CHARS])
    if len(text) > MAX_CHARS:
        discarded.append(discard(text[MAX_CHARS:], f"beyond the first {MAX_CHARS:,} characters"))
    return Parsed(tuple(actions), tuple(discarded))
