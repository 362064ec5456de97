"""What shipped players score on the benchmark's test split, in solved.json; `tools/solved_shares.py` writes it from runs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "solved.json"


def solved_by(player: str) -> dict[str, float]:
    """The share of the requests, 0..1, that the player of this name solves, by world; empty if it was not measured."""
    return dict(shares().get(player, {}))


@cache
def shares() -> dict[str, dict[str, float]]:
    """The shares that `solved_by` returns, by player."""
    found: dict[str, dict[str, float]] = json.loads(FILE.read_bytes())
    return found
