"""What shipped players score on the benchmark's test split, in solved.json; `tools/solved_shares.py` writes it from runs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "solved.json"


def solved_by(player: str) -> dict[str, float]:
    """By world, the share of the requests that the player of this name solves; empty where that is not measured."""
    return dict(shares().get(player, {}))


@cache
def shares() -> dict[str, dict[str, float]]:
    """By player, what `solved_by` gives."""
    found: dict[str, dict[str, float]] = json.loads(FILE.read_bytes())
    return found
