"""How likely a step is exactly what was meant: a logistic model of a few clues, learned on train (tools/fit_parser.py)."""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "sureness.json"


class Clues(NamedTuple):
    """What is known of a step before anyone judges it."""

    share: float
    """0..1, of the readings that were tried, by the ranker's odds: those that paint the same as the best."""
    score: float
    """Of the best reading's words, at most 0 as a rule: the more was passed over, the lower."""
    earlier: float
    """0..1, the product of the shares of the steps before: what they drew may be wrong already."""


class Sureness(NamedTuple):
    """The weights of the clues."""

    bias: float
    share: float
    score: float
    earlier: float

    def of(self, clues: Clues) -> float:
        """The probability, 0..1."""
        odds = self.bias + self.share * clues.share + self.score * clues.score + self.earlier * clues.earlier
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


@functools.cache
def shipped() -> Sureness:
    """What comes with the package."""
    return Sureness(**json.loads(FILE.read_text(encoding="utf-8")))
