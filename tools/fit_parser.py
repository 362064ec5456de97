"""Learns the weights of the baseline `parser` on the train split: weights.json and sureness.json of
harness/baselines/parser/hexagons.

The readings of each instruction are made with the default weights, in the memory that the parser's own answers left. A log-linear
model gives them probabilities. Learning maximizes the sum over instructions of the expected value (half F1, half EM), less the
squared distance of the weights from their defaults times `PULL`. The weights of an answer's confidence are learned last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from harness.baselines.parser import Parser
from harness.baselines.parser.hexagons.ranker import SHARPNESS, SURENESS, WEIGHTS, RankReader, Sureness
from harness.corpora import load
from harness.corpora.item import HexagonsItem, Utterance, drawing_steps
from harness.worlds.hexagons import Paint

BEAM, READINGS, PULL = 3, 16, 5.0
Weights = dict[str, float]
Candidates = list[tuple[Mapping[str, float], float]]
"""The features of each reading of an instruction, and what it is worth."""


def f1(predicted: Iterable[Paint], gold: Iterable[Paint]) -> float:
    one, two = set(predicted), set(gold)
    return 2 * len(one & two) / (len(one) + len(two)) if one or two else 1.0


def gather(items: Sequence[HexagonsItem]) -> list[Candidates]:
    parser, wide = Parser(RankReader({})), RankReader({}, beam=BEAM, width=READINGS)
    examples = []
    for item in items:
        memory = parser.memory(tuple(turn.text for turn in item.history if isinstance(turn, Utterance)))
        readings = wide.candidates(item.instruction, memory)
        scores = [f1(reading.actions, item.actions) for reading in readings]
        examples.append([(reading.features, (score + (score == 1)) / 2) for reading, score in zip(readings, scores, strict=True)])
    return examples


def fit(candidates: Sequence[Candidates]) -> Weights:
    told = [group for group in candidates if len({value for _, value in group}) > 1]
    names = sorted({name for group in told for features, _ in group for name in features})
    column = {name: n for n, name in enumerate(names)}
    rows = [features for group in told for features, _ in group]
    entries = [(n, column[name], value) for n, features in enumerate(rows) for name, value in features.items()]
    at, to, what = zip(*entries, strict=True)
    matrix = SHARPNESS * sparse.csr_matrix((what, (at, to)), shape=(len(rows), len(names)))
    values = np.array([value for group in told for _, value in group])
    group = np.repeat(np.arange(len(told)), [len(one) for one in told])
    defaults = RankReader({}).weights
    start = np.array([defaults[name] for name in names])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = matrix @ weights
        best = np.full(len(told), -np.inf)
        np.maximum.at(best, group, scores)
        odds = np.exp(scores - best[group])
        share = odds / np.bincount(group, odds)[group]
        expected = np.bincount(group, share * values)
        away = weights - start
        gradient = -(matrix.T @ (share * (values - expected[group]))) + 2 * PULL * away
        return float(-expected.sum() + PULL * away @ away), gradient

    learned = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return {name: round(float(w), 3) for name, w, old in zip(names, learned, start, strict=True) if abs(w - old) > 0.005}


def sureness(items: Sequence[HexagonsItem], weights: Weights) -> Sureness:
    """The maximum-likelihood weights of the clues to an exact answer."""
    parser = Parser(RankReader(weights))
    answers = [(item, parser.understand(item)) for item in items]
    clues = np.array([(1.0, *parser.clues(item, understood)) for item, understood in answers])
    right = np.array([f1(understood.actions, item.actions) == 1 for item, understood in answers])
    learned = minimize(lambda w: np.logaddexp(0, np.where(right, -1, 1) * (clues @ w)).sum(), np.zeros(clues.shape[1])).x
    return Sureness(*(round(float(weight), 3) for weight in learned))


def main() -> None:
    items = drawing_steps(load("hexagons", "train"))
    weights = fit(gather(items))
    WEIGHTS.write_text(json.dumps(dict(sorted(weights.items())), indent=0) + "\n", encoding="utf-8")
    SURENESS.write_text(json.dumps(sureness(items, weights)._asdict(), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
