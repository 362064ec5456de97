"""Limits on how much of people's text is read; every dialogue of the corpora stays below them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from harness.corpora.item import HexagonsItem, MinecraftItem, Turn, Utterance

LONGEST_TEXT = 2_000
"""Only the first characters of an instruction or a turn are read, up to this many; the corpora's longest has 1,238."""
LONGEST_TALK = 4_000
"""Only the last turns of a history are read, up to this many characters; the corpora's longest history has 3,250."""
MOST_TURNS = 300
"""Only this many last turns of a history are read; the corpora's longest history has 160."""
Kind = TypeVar("Kind", bound=HexagonsItem | MinecraftItem)
_BLANKS = re.compile(r"\s{3,}")


def read_bounded(item: Kind) -> Kind:
    """The item within the limits, which bound the reading time: it grows faster than a text's length, and with each turn."""
    history = tuple(_last_turns(item.history))
    if isinstance(item, HexagonsItem):
        return replace(item, instruction=_text(item.instruction), history=history)
    return replace(item, history=history)


def entries(item: HexagonsItem | MinecraftItem) -> int:
    """The length of a history as requests count it: in steps of a drawing, or in turns of a game."""
    return sum(isinstance(turn, Utterance) or isinstance(item, MinecraftItem) for turn in item.history)


def _last_turns(history: Sequence[Turn]) -> list[Turn]:
    turns: list[Turn] = []
    left = LONGEST_TALK
    for turn in reversed(history[-MOST_TURNS:]):
        if isinstance(turn, Utterance):
            turn = turn._replace(text=_text(turn.text))
            left -= len(turn.text)
        if left < 0:
            break
        turns.append(turn)
    return turns[::-1]


def _text(text: str) -> str:
    """The text without long runs of blanks, cut to the limit."""
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text[: 2 * LONGEST_TEXT])[:LONGEST_TEXT]
