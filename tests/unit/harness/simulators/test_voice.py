"""The words of a voice say the way that they are asked for."""

from __future__ import annotations

import itertools
from random import Random

from harness.simulators.minecraft.relations import UNIT, Relation
from harness.simulators.voice import Voice
from tests.helpers.directions import named_way

WAYS = [Relation(*way) for way in itertools.product((-3, -2, -1, 0, 1, 2), repeat=3) if any(way)]


def test_where_something_is_from_a_block() -> None:
    for seed in range(40):
        voice = Voice(Random(seed), "blocks")
        for way in WAYS:
            for it in ("it", ""):
                text = voice.where(way, it)
                assert named_way(text) == way, text


def test_the_way_from_one_block_to_the_next() -> None:
    for seed in range(40):
        voice = Voice(Random(seed), "blocks")
        for way in itertools.chain(*UNIT.values()):
            assert named_way(voice.go(way)) == way
