"""The readers of simulated orders follow every word: where one is exchanged, they read something else, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from harness.corpora.item import MinecraftItem, Utterance
from tests.helpers import blocks_reader, relations_reader, shapes_reader
from tests.helpers.relations_reader import Unclear, order_of
from tests.helpers.simulated import simulated

READERS: dict[str, Callable[[MinecraftItem], Any]] = {
    "random": relations_reader.read,
    "blocks": blocks_reader.read,
    "shapes": shapes_reader.read,
}
_PAIRS = (
    *(("left", "right"), ("up", "down"), ("above", "below"), ("behind", "in front of"), ("towards you", "away from you")),
    *(("closer to you", "farther from you"), ("near", "far"), ("top", "bottom"), ("highest", "lowest"), ("nearest", "farthest")),
    *(("two", "three"), ("2", "3"), ("four", "five"), ("4", "5"), ("red", "blue"), ("green", "yellow")),
)
_EXCHANGED = dict(_PAIRS) | {new: old for old, new in _PAIRS}
_WORDS = re.compile(rf"\b(?:{'|'.join(sorted(_EXCHANGED, key=len, reverse=True))})\b")


def said_otherwise(item: MinecraftItem) -> Iterator[tuple[str, MinecraftItem]]:
    """The item with one word of its order, or of the answer in it, exchanged."""
    turns = list(item.history)
    told = order_of(item)
    for text, place in ((told.answer, len(turns) - 1), (told.order, len(turns) - (3 if told.answer else 1))):
        for match in _WORDS.finditer(text):
            new = f"{text[: match.start()]}{_EXCHANGED[match[0]]}{text[match.end() :]}"
            yield new, replace(item, history=(*turns[:place], Utterance("Architect", new), *turns[place + 1 :]))


@pytest.mark.parametrize("simulator", list(READERS))
def test_every_word_matters(simulator: str) -> None:
    read = READERS[simulator]
    exchanged = 0
    for item in simulated(simulator, 8, 300):
        meaning = read(item)
        for text, other in said_otherwise(item):
            exchanged += 1
            try:
                assert read(other) != meaning, text
            except Unclear:
                continue
    assert exchanged > 400
