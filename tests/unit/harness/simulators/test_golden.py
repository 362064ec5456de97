"""The first items of every simulator are the same to the byte, on every machine: a change of them is meant, and noted here."""

from __future__ import annotations

import hashlib
import json
from itertools import islice
from random import Random

import pytest

from harness.corpora.records import to_full_record
from harness.play.targets import live_games
from harness.simulators.games import LEVELS, simulated
from harness.simulators.live import Manner
from harness.tasks import SIMULATORS
from harness.util.registry import resolve_path
from tests.helpers.faulty import play

ITEMS = {
    "hexagons": "71943eda8016e691", "everyday-hexagons": "dd7f62b8a445a2f7", "random": "56315f3792bb7108",
    "blocks": "7eae758f5305fdba", "shapes": "c3c0e1bab54c8296", "everyday-minecraft": "e1c58ad8126e083c",
    "level-1": "a0e20d26c18c4ab4", "level-2": "9008b04879fd95c2",
}  # fmt: skip
GAMES = {
    "random": "c4ee043275b1e594", "blocks": "20b99e04d26d7d4f", "shapes": "07bbc31414107a16",
    "hexagons": "1b9d6f220e6e1969",
}  # fmt: skip


def digest(records: list[str]) -> str:
    return hashlib.sha256("\n".join(records).encode()).hexdigest()[:16]


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_items(simulator: str) -> None:
    # Levels are finite sets, of which only the beginning is made here.
    items = islice(resolve_path(LEVELS[simulator])(1), 60) if simulator in LEVELS else simulated(simulator, 1, 120)
    assert digest([json.dumps(to_full_record(item)) for item in items]) == ITEMS[simulator]


@pytest.mark.parametrize("simulator", ["random", "blocks", "shapes", "hexagons"])
def test_live_games(simulator: str) -> None:
    task = "hexagons" if simulator == "hexagons" else "minecraft"
    (game,) = live_games(task, 1, 1, "train", Manner(8), simulator=simulator)
    rng = Random(0)
    asked = play(game, lambda item: rng.random() < 0.4)
    assert digest([json.dumps(to_full_record(item)) for item in asked]) == GAMES[simulator]
