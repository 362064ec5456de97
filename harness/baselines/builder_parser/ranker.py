"""Which proposal a clause means: a log-linear model whose features pair the clause's words with the proposals' properties.

The answer is the proposal that gains most for micro F1: twice the expected number of right actions, less `THRESHOLD` times how
many they are. Nothing gains 0, so that a clause that says too little is answered with nothing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.baselines.builder_parser.gathered import Proposals
from harness.baselines.builder_parser.grid import Cells
from harness.baselines.builder_parser.properties import COLUMNS, NAMES, WIDTH
from harness.baselines.builder_parser.proposals import propose
from harness.baselines.builder_parser.scene import Scene
from harness.baselines.builder_parser.words import Clause

WEIGHTS = Path(__file__).parent / "weights.json"
THRESHOLD = 0.5
REASONS = 6
LIKELY = 1e-4
"""Proposals that are less likely, as a share of the likeliest, are left out."""


class Meant(NamedTuple):
    """What a clause was taken to ask for."""

    actions: Cells
    properties: tuple[str, ...]
    """The names of the proposal's kind and of the properties that speak for it most."""
    expected: float
    """The share of the actions that are expected to be right."""


class Ranker:
    """`weights`: for each cue (`words.Clause.cues`) what it makes of each property, by name."""

    def __init__(self, weights: Mapping[str, Mapping[str, float]], threshold: float = THRESHOLD) -> None:
        self._threshold = threshold
        self._cues: dict[str, npt.NDArray[np.float32]] = {}
        for cue, of in weights.items():
            self._cues[cue] = np.zeros(WIDTH, np.float32)
            self._cues[cue][[COLUMNS[name] for name in of]] = list(of.values())

    def scores(self, clause: Clause, proposals: Sequence[Proposals]) -> list[npt.NDArray[np.float32]]:
        weights = self._weights(clause)
        return [one.properties @ weights for one in proposals]

    def _weights(self, clause: Clause) -> npt.NDArray[np.float32]:
        known = [self._cues[cue] for cue in clause.cues if cue in self._cues]
        return np.sum(known, axis=0, dtype=np.float32) if known else np.zeros(WIDTH, np.float32)

    def understand(self, clause: Clause, scene: Scene) -> Meant:
        proposals = propose(clause, scene)
        scores = self.scores(clause, proposals)
        best = max(float(one.max()) for one in scores)
        odds = [np.exp(one - best) for one in scores]
        likely = [np.flatnonzero(one > LIKELY) for one in odds]
        found = [one.actions[rows] for one, rows in zip(proposals, likely, strict=True)]
        shares = np.concatenate([odd[rows] for odd, rows in zip(odds, likely, strict=True)]) / sum(
            float(odd.sum()) for odd in odds
        )
        owners, flat = _flat(found)
        right = np.bincount(flat, shares[owners])
        expected, sizes = np.bincount(owners, right[flat], len(shares)), np.bincount(owners, minlength=len(shares))
        gains = 2 * expected - self._threshold * sizes
        row = int(gains.argmax())
        if gains[row] <= 0:
            return Meant(np.zeros(0, np.intp), (), 1.0)
        properties = np.concatenate([one.properties[rows] for one, rows in zip(proposals, likely, strict=True)])[row]
        speaks_for = properties * self._weights(clause)
        kind = int(np.flatnonzero(properties)[0])
        others = [column for column in np.argsort(-speaks_for, kind="stable")[:REASONS] if speaks_for[column] > 0]
        names = tuple(NAMES[column] for column in dict.fromkeys([kind, *others]))
        actions = np.array(list(dict.fromkeys(flat[owners == row].tolist())))  # two blocks may have the same cell beside them
        return Meant(actions, names, float(expected[row] / sizes[row]))


def _flat(found: Sequence[Cells]) -> tuple[Cells, Cells]:
    """All actions in a row, and the number of the proposal of each."""
    first, owners, flat = 0, [], []
    for actions in found:
        there = actions >= 0
        owners.append(np.repeat(np.arange(first, first + len(actions)), there.sum(1)))
        flat.append(actions[there])
        first += len(actions)
    return np.concatenate(owners), np.concatenate(flat)


Weights = Mapping[str, Mapping[str, float]]
"""For each cue what it makes of each property, by name; what is missing is 0."""


@functools.cache
def shipped_weights() -> Weights:
    """The weights that come with the package."""
    if not WEIGHTS.exists():
        return {}
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    names = stored["properties"]
    return {cue: {name: w / 100 for name, w in zip(names, row, strict=True) if w} for cue, row in stored["hundredths"].items()}


def ship(weights: Weights) -> None:
    """Stores weights with the package, as whole hundredths."""
    names = [name for name in NAMES if any(name in of for of in weights.values())]
    rows = {cue: [round(100 * of.get(name, 0.0)) for name in names] for cue, of in weights.items()}
    lines = ",\n".join(f"{json.dumps(cue)}:{json.dumps(row, separators=(',', ':'))}" for cue, row in rows.items())
    WEIGHTS.write_text(f'{{"properties":{json.dumps(names)},"hundredths":{{\n{lines}\n}}}}\n', encoding="utf-8")
