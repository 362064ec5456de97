"""Learns the weights of the baseline `parser` on the train split and writes them next to its code.

    python tools/fit_parser.py                    # HEXAGONS: weights.json
    python tools/fit_parser.py --task minecraft   # weights.json
    python tools/fit_parser.py --task iglu        # weights_iglu.json

A log-linear model gives probabilities to the readings of an instruction, or to the proposals of a clause. Learning maximizes the
sum of their expected worth, less the squared distance of the weights from their defaults, or from 0, times a pull.

HEXAGONS: readings are made with the default weights, in the memory that the parser's own answers left. A reading is worth half
F1, half EM; the weights start at their defaults.

Minecraft and IGLU: a proposal is worth twice the number of its right actions less `PRICE` times the number of all its actions.
Learning first maximizes the likelihood of the best proposals, then, from there, the expected worth with a tenth of the pull. The
first round sees random proposals, each later one those that the weights so far confuse. A turn's later clauses are seen after
the best proposal of each earlier clause was carried out, unless the weights so far find all good proposals unlikely.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator

from harness.baselines.parser import Parser
from harness.baselines.parser.hexagons.ranker import SHARPNESS, WEIGHTS, RankReader
from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.properties import NAMES, WIDTH
from harness.baselines.parser.minecraft.proposals import propose
from harness.baselines.parser.minecraft.ranker import Ranker, Weights, weights_file
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.words import ClauseInContext, read_item
from harness.corpora import load
from harness.corpora.item import HexagonsItem, MinecraftItem, Utterance, builder_turns, drawing_steps
from harness.worlds.hexagons import Paint
from harness.worlds.minecraft import net_actions

BEAM, READINGS, HEXAGONS_PULL, HEXAGONS_STEPS = 3, 16, 5.0, 200
PRICE, PULL, STEPS, ROUNDS = 0.6, 10.0, 80, 4
KEPT, BEST, CHANCE = 100, 40, 20
"""Proposals of a clause that are learned from: in all, the best ones at most, and those drawn at random from the rest."""
UNLIKELY = 0.002
WORD, PAIR = 15, 25
"""How often a word and a pair of words must occur to get weights."""


class Choices(NamedTuple):
    """Groups of candidates, of which the model chooses one each."""

    features: Any
    """Maps weights to scores: a matrix or a linear operator with a row per candidate."""
    sizes: Sequence[int]
    worth: np.ndarray
    """Of each candidate, group after group."""
    stands_for: np.ndarray | float = 0.0
    """The logarithm of how many candidates each stands for."""

    def learn(
        self, start: np.ndarray, near: np.ndarray | float, pull: np.ndarray | float, steps: int, wanted: np.ndarray | None = None
    ) -> np.ndarray:
        """The weights `near` some that maximize the expected worth, or the likelihood of the wanted candidates if given."""
        first = np.cumsum([0, *self.sizes])[:-1]
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)

        def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            scores = self.features @ weights + self.stands_for
            odds = np.exp(scores - np.maximum.reduceat(scores, first)[group])
            shares = odds / np.add.reduceat(odds, first)[group]
            if wanted is None:
                expected = np.add.reduceat(shares * self.worth, first)
                value, slope = -expected.sum(), -shares * (self.worth - expected[group])
            else:
                good = np.add.reduceat(shares * wanted, first) + 1e-30
                value, slope = -np.log(good).sum(), shares - shares * wanted / good[group]
            away = weights - near
            return float(value + (pull * away**2).sum()), self.features.T @ slope + 2 * pull * away

        found: np.ndarray = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
        return found


def f1(predicted: Iterable[Paint], gold: Iterable[Paint]) -> float:
    one, two = set(predicted), set(gold)
    return 2 * len(one & two) / (len(one) + len(two)) if one or two else 1.0


def reading_weights(items: Sequence[HexagonsItem]) -> dict[str, float]:
    """The weights of HEXAGONS that learning changed."""
    parser, wide = Parser(RankReader({})), RankReader({}, beam=BEAM, width=READINGS)
    told: list[list[tuple[Mapping[str, float], float]]] = []
    for item in items:
        memory = parser.memory(tuple(turn.text for turn in item.history if isinstance(turn, Utterance)))
        readings = wide.candidates(item.instruction, memory)
        scores = [f1(reading.actions, item.actions) for reading in readings]
        if len(set(scores)) > 1:
            told.append([(one.features, (score + (score == 1)) / 2) for one, score in zip(readings, scores, strict=True)])
    rows = [features for group in told for features, _ in group]
    names = sorted({name for features in rows for name in features})
    column = {name: n for n, name in enumerate(names)}
    entries = [(n, column[name], value) for n, features in enumerate(rows) for name, value in features.items()]
    at, to, what = zip(*entries, strict=True)
    matrix = SHARPNESS * sparse.csr_matrix((what, (at, to)), shape=(len(rows), len(names)))
    choices = Choices(matrix, [len(group) for group in told], np.array([worth for group in told for _, worth in group]))
    start = np.array([wide.weights[name] for name in names])
    learned = choices.learn(start, start, HEXAGONS_PULL, HEXAGONS_STEPS)
    return {name: round(float(w), 3) for name, w, old in zip(names, learned, start, strict=True) if abs(w - old) > 0.005}


class Seen(NamedTuple):
    """A clause's cues and its proposals: their properties, their worth, and the logarithm of how many each stands for."""

    cues: tuple[str, ...]
    properties: sparse.csr_matrix
    worth: np.ndarray
    stands_for: np.ndarray


def gather(items: Sequence[MinecraftItem], ranker: Ranker | None, rng: np.random.Generator) -> list[Seen]:
    found = []
    for item in items:
        scene = DiscourseScene(item)
        right = np.zeros(grid.SIZE * grid.KINDS + 1, bool)
        right[[grid.told(action, scene.pose) for action in net_actions(item.before, item.after)]] = True
        for clause in read_item(item):
            seen, actions = look(clause, scene, right, ranker, rng)
            found.append(seen)
            right[actions] = False
            scene.carry_out(actions)
    return found


def look(
    clause: ClauseInContext, scene: DiscourseScene, right: np.ndarray, ranker: Ranker | None, rng: np.random.Generator
) -> tuple[Seen, np.ndarray]:
    """What is learned from a clause, and the actions of its best proposal."""
    proposals = propose(clause, scene)
    worth = np.concatenate([2 * right[one.actions].sum(1) - PRICE * (one.actions >= 0).sum(1) for one in proposals])
    properties = np.concatenate([one.properties for one in proposals])
    scores = np.concatenate(ranker.scores(clause, proposals)) if ranker else np.zeros(len(worth))
    odds = np.exp(scores - scores.max())
    odds /= odds.sum()
    good = np.flatnonzero(worth > 0)
    kept = np.zeros(len(worth), bool)
    kept[good[np.argsort(-worth[good], kind="stable")[:BEST]]] = True
    kept[0] = True
    if ranker:
        rest = np.flatnonzero(~kept)
        kept[rest[np.argsort(-scores[rest], kind="stable")[: max(0, KEPT - CHANCE - int(kept.sum()))]]] = True
    rest = np.flatnonzero(~kept)
    drawn = rng.choice(rest, min(len(rest), KEPT - int(kept.sum())), replace=False)
    stands_for = np.zeros(len(worth), np.float32)
    stands_for[drawn] = np.log(max(len(rest), 1) / max(len(drawn), 1))
    rows = np.sort(np.concatenate([np.flatnonzero(kept), drawn]))
    seen = Seen(clause.cues, sparse.csr_matrix(properties[rows]), worth[rows].astype(np.float32), stands_for[rows])
    if not len(good) or (ranker and odds[good].sum() < UNLIKELY):
        return seen, np.zeros(0, np.intp)
    best = int((worth + np.log(odds + 1e-9) - 1e6 * (worth <= 0)).argmax())
    actions = [row for one in proposals for row in one.actions][best]
    return seen, actions[actions >= 0]


def proposal_weights(seen: Sequence[Seen]) -> Weights:
    counts = Counter(cue for one in seen for cue in one.cues)
    cues = sorted(cue for cue, count in counts.items() if count >= (PAIR if " " in cue else WORD))
    column = {cue: n for n, cue in enumerate(cues)}
    pairs = [(n, column[cue]) for n, one in enumerate(seen) for cue in one.cues if cue in column]
    told = sparse.csr_matrix((np.ones(len(pairs), np.float32), tuple(zip(*pairs, strict=True))), shape=(len(seen), len(cues)))
    rows = sparse.block_diag([one.properties for one in seen], format="csr")
    features = LinearOperator(
        (rows.shape[0], len(cues) * WIDTH),
        matvec=lambda weights: rows @ (told @ weights.reshape(len(cues), WIDTH)).ravel(),
        rmatvec=lambda slope: (told.T @ (rows.T @ slope).reshape(len(seen), WIDTH)).ravel(),
    )
    worth, stands_for = (np.concatenate(parts) for parts in zip(*((one.worth, one.stands_for) for one in seen), strict=True))
    choices = Choices(features, [len(one.worth) for one in seen], worth, stands_for)
    wanted = np.concatenate([_best(one.worth) for one in seen])
    pull = np.full((len(cues), WIDTH), PULL)
    pull[column["ALL"]] = PULL / 10
    learned = choices.learn(np.zeros(pull.size), 0.0, pull.ravel(), STEPS, wanted)
    table = choices.learn(learned, 0.0, pull.ravel() / 10, STEPS // 2).reshape(len(cues), WIDTH)
    return {cue: {name: float(w) for name, w in zip(NAMES, table[n], strict=True) if abs(w) > 0.02} for cue, n in column.items()}


def _best(worth: np.ndarray) -> np.ndarray:
    """Which of a clause's proposals are worth most, or the first, to do nothing, if none is worth anything."""
    most = worth.max()
    best: np.ndarray = worth >= most - 1e-4 if most > 0 else np.arange(len(worth)) == 0
    return best


def fit_building(task: str) -> None:
    ranker, rng = None, np.random.default_rng(0)
    weights: Weights = {}
    for n in range(ROUNDS):
        seen = gather(builder_turns(load(task, "train")), ranker, rng)
        weights = proposal_weights(seen)
        ranker = Ranker(weights)
        print(f"round {n + 1}: {len(seen)} clauses, {sum(map(len, weights.values()))} weights", flush=True)
    # Whole hundredths
    names = [name for name in NAMES if any(name in of for of in weights.values())]
    rows = {cue: [round(100 * of.get(name, 0.0)) for name in names] for cue, of in weights.items()}
    lines = ",\n".join(f"{json.dumps(cue)}:{json.dumps(row, separators=(',', ':'))}" for cue, row in rows.items())
    weights_file(task).write_text(f'{{"properties":{json.dumps(names)},"hundredths":{{\n{lines}\n}}}}\n', encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--task", default="hexagons", choices=("hexagons", "minecraft", "iglu"))
    task = options.parse_args().task
    if task == "hexagons":
        learned = reading_weights(drawing_steps(load("hexagons", "train")))
        WEIGHTS.write_text(json.dumps(dict(sorted(learned.items())), indent=0) + "\n", encoding="utf-8")
    else:
        fit_building(task)


if __name__ == "__main__":
    main()
