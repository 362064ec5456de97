"""Levels of abstraction of HEXAGONS instructions ("Draw Me a Flower", Table 5).

The paper labeled its dev steps; those labels are not released. The ones read here are our own, by the paper's definitions
(`eval/annotations/README.md`): results by level are ours, and every table of them says so.
"""

from __future__ import annotations

import json
from importlib.resources import files

LEVELS = ("none", "low", "mid", "high")
"""By the number in the file: no abstraction, low, mid, high."""

NOTE = "our labels, not the paper's"


def dev_levels() -> dict[str, str]:
    """The level, one of `LEVELS`, of each of the 446 dev steps by its id, in file order."""
    lines = files("eval").joinpath("annotations", "hexagons_levels_dev.jsonl").read_text().splitlines()
    return {record["id"]: LEVELS[record["level"]] for record in map(json.loads, lines)}
