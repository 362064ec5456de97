"""Ranks the readings of an instruction by how they were made and what they paint: a log-linear model, learned by
tools/fit_parser.py."""

import functools
import json
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.hexagons.chart import BEAM, WIDTH, Chart, Reading, passed_over
from harness.baselines.parser.hexagons.execute import carry_out, changes
from harness.baselines.parser.hexagons.lexicon import LexiconToken, read_tokens
from harness.baselines.parser.hexagons.memory import Memory
from harness.worlds.hexagons import Paint, neighbors

WEIGHTS = Path(__file__).parent / "weights.json"
WORTH_TRYING = 2.5
"""How far below the best word score a reading may be and still be carried out."""
SHARPNESS = 2.0
"""The factor from scores to log odds, here and in training."""
DEFAULTS = {
    "failed": -1.0,
    "nothing": -0.3,
    "repainted": -0.3,
    "again": -0.1,
    "counted": 0.1,
    "named": 0.0,
    "many": 0.0,
    "unplaced": -0.1,
    "clipped": 0.0,
    "overlap": 0.0,
    "isolated": 0.0,
    "actions": 0.0,
}
"""The hand-set weights of a reading's outcome; see `outcome`."""


class RankedReading(NamedTuple):
    """A reading of an instruction, the memory after it, and what it painted."""

    reading: Reading
    memory: Memory
    actions: tuple[Paint, ...]
    features: Mapping[str, float]
    """The values that the weights are multiplied by; complete only if made by `candidates`."""
    share: float = 1.0
    """The summed probability, among the tried readings, of those that paint the same."""


class RankReader:
    """Reads instructions with weights by name; a missing weight has its default."""

    def __init__(self, weights: Mapping[str, float], beam: int = BEAM, width: int = WIDTH) -> None:
        self.chart = Chart(weights, beam, width)
        self.weights = DEFAULTS | self.chart.weights | dict(weights)

    def understand(self, instruction: str, memory: Memory) -> RankedReading:
        """The best reading, given the memory of the steps before; ties go to the first."""
        tokens = read_tokens(instruction)
        readings = self.chart.read(tokens)
        tried = [reading for reading in readings if reading.score >= readings[0].score - WORTH_TRYING]
        results = [carried_out(reading, tokens, memory) for reading in tried]
        scores = [one.reading.score + sum(self.weights[name] * one.features[name] for name in DEFAULTS) for one in results]
        best = results[scores.index(max(scores))]
        odds = [math.exp(SHARPNESS * (score - max(scores))) for score in scores]
        same = sum(odd for odd, one in zip(odds, results, strict=True) if one.actions == best.actions)
        return best._replace(share=same / sum(odds))

    def candidates(self, instruction: str, memory: Memory) -> list[RankedReading]:
        """All readings, each with all of its features, for training."""
        tokens = read_tokens(instruction)
        results = []
        for reading in self.chart.read(tokens):
            done = carried_out(reading, tokens, memory)
            counts = Counter([*reading.rules, *passed_over(reading, tokens)])
            results.append(done._replace(features={**done.features, **counts}))
        return results


def carried_out(reading: Reading, tokens: list[LexiconToken], memory: Memory) -> RankedReading:
    named = {str(token.value) for token in tokens if token.category == "COLOR"}
    after, failed = carry_out(reading.actions, memory, named)
    changed = changes(memory, after)
    actions = tuple(Paint(*tile, changed[tile]) for tile in sorted(changed))
    return RankedReading(reading, after, actions, outcome(failed, actions, tokens, memory, after))


def outcome(
    failed: int, actions: tuple[Paint, ...], tokens: list[LexiconToken], before: Memory, after: Memory
) -> dict[str, float]:
    """The features of what a reading painted, in order: the number of actions without meaning; whether no tile changed; the share
    of tiles that had another color, and of those that had the same one; whether the words name the number of changed tiles; the
    share of named colors that were painted; the number of changed tiles, divided by 60; whether columns were missing; whether
    something lay off the board; the share of the paint that covered paint of the same step; the share of tiles that touch nothing
    painted; the number of actions, divided by 4."""
    painted = max(len(after.painted), 1)
    colors = {str(token.value) for token in tokens if token.category == "COLOR"}
    return {
        "failed": float(failed),
        "nothing": float(not actions),
        "repainted": sum(action.tile in before.cells for action in actions) / painted,
        "again": (len({paint.tile for paint in after.painted}) - len(actions)) / painted,
        "counted": float(any(token.category == "NUMBER" and token.value == len(actions) for token in tokens)),
        "named": len(colors & {action.color for action in actions}) / len(colors) if colors else 0.0,
        "many": len(actions) / 60,
        "unplaced": float(after.unplaced),
        "clipped": float(after.clipped),
        "overlap": 1 - len({paint.tile for paint in after.painted}) / painted if after.painted else 0.0,
        "isolated": sum(after.cells.keys().isdisjoint(neighbors(action.tile)) for action in actions) / painted,
        "actions": len(after.steps[-1].actions) / 4,
    }


@functools.cache
def shipped_weights() -> Mapping[str, float]:
    """The weights that come with the package."""
    return dict(json.loads(WEIGHTS.read_text(encoding="utf-8")))
