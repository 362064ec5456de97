"""What is read of what people type: as much as any dialogue of the corpora has, and more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from harness.corpora.item import HexagonsItem, MinecraftItem, Turn, Utterance

LONGEST_TEXT = 2_000
"""Characters of an instruction or a turn, from the first on; the corpora's longest has 1,238."""
LONGEST_TALK = 4_000
"""Characters of the turns of a history, from the last back; the corpora's longest has 3,250."""
MOST_TURNS = 300
"""Turns of a history, the last ones; the corpora's longest has 160."""
Kind = TypeVar("Kind", bound=HexagonsItem | MinecraftItem)
_BLANKS = re.compile(r"\s{3,}")


def read_bounded(item: Kind) -> Kind:
    """The item as far as it is read: reading takes more than linear time in a text's length, and a step's time for each turn."""
    history = tuple(_last_turns(item.history))
    if isinstance(item, HexagonsItem):
        return replace(item, instruction=_text(item.instruction), history=history)
    return replace(item, history=history)


def entries(item: HexagonsItem | MinecraftItem) -> int:
    """The length of a history as a request has it: in steps of a drawing, in turns of a game."""
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
    """The text without long runs of blanks, as far as it is read."""
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text[: 2 * LONGEST_TEXT])[:LONGEST_TEXT]
