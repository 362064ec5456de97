"""Learns the weights of the part of `parser` that reads Minecraft, on the train split.

    python tools/fit_builder_parser.py               # writes harness/baselines/parser/minecraft/weights.json
    python tools/fit_builder_parser.py --task iglu   # writes weights_iglu.json next to it

Every clause of every turn gives some proposals. Each is worth twice the number of its right actions less `PRICE` times the number
of all its actions. Learning first maximizes the likelihood of the best proposals, less the squares of the weights times `PULL`;
then, from there, the expected worth, less a tenth of that penalty. The first round sees random proposals, each later one those
that the weights so far confuse. A turn's later clauses are seen after the best proposal of each earlier clause was carried out,
unless the weights so far find all good proposals unlikely.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.properties import NAMES, WIDTH
from harness.baselines.parser.minecraft.proposals import propose
from harness.baselines.parser.minecraft.ranker import Ranker, Weights, weights_file
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.words import ClauseInContext, read_item
from harness.corpora import load
from harness.corpora.item import MinecraftItem, builder_turns
from harness.tasks.registry import TASKS, tasks_in
from harness.worlds.minecraft import net_actions

PRICE, PULL = 0.6, 10.0
KEPT, BEST, CHANCE = 100, 40, 20
"""Proposals of a clause that are learned from: in all, the best ones at most, and those drawn at random from the rest."""
UNLIKELY = 0.002
STEPS, ROUNDS = 80, 4
WORD, PAIR = 15, 25
"""How often a word and a pair of words must occur to get weights."""


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
    for one in proposals:
        if best < len(one.actions):
            return seen, one.actions[best][one.actions[best] >= 0]
        best -= len(one.actions)
    raise AssertionError("a row of no proposal")


def fit(seen: Sequence[Seen]) -> Weights:
    counts = Counter(cue for one in seen for cue in one.cues)
    cues = sorted(cue for cue, count in counts.items() if count >= (PAIR if " " in cue else WORD))
    column = {cue: n for n, cue in enumerate(cues)}
    pairs = [(n, column[cue]) for n, one in enumerate(seen) for cue in one.cues if cue in column]
    told = sparse.csr_matrix((np.ones(len(pairs), np.float32), tuple(zip(*pairs, strict=True))), shape=(len(seen), len(cues)))
    sizes = np.array([len(one.worth) for one in seen])
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    group = np.repeat(np.arange(len(seen)), sizes)
    rows = sparse.vstack([one.properties for one in seen], format="csr")
    own = rows.indices + np.repeat(group * WIDTH, np.diff(rows.indptr))
    matrix = sparse.csr_matrix((rows.data, own, rows.indptr), shape=(len(group), len(seen) * WIDTH))
    worth = np.concatenate([one.worth for one in seen])
    more = np.concatenate([one.stands_for for one in seen])
    most = np.maximum.reduceat(worth, first)
    wanted = (worth >= most[group] - 1e-4) & (most[group] > 0)
    wanted[first[most <= 0]] = True
    held = np.full((len(cues), 1), PULL)
    held[column["ALL"]] = PULL / 10

    def loss(flat: np.ndarray, likelihood: bool) -> tuple[float, np.ndarray]:
        weights = flat.reshape(len(cues), WIDTH)
        scores = matrix @ (told @ weights).ravel() + more
        odds = np.exp(scores - np.maximum.reduceat(scores, first)[group])
        good, total = np.add.reduceat(np.where(wanted, odds, 0), first) + 1e-30, np.add.reduceat(odds, first)
        shares = odds / total[group]
        expected = np.add.reduceat(shares * worth, first)
        away = shares - np.where(wanted, odds, 0) / good[group] if likelihood else -shares * (worth - expected[group])
        strength = held if likelihood else held / 10
        gradient = told.T @ (matrix.T @ away).reshape(len(seen), WIDTH) + 2 * strength * weights
        value = np.log(total / good).sum() if likelihood else -expected.sum()
        return float(value + (strength * weights**2).sum()), gradient.ravel()

    learned = np.zeros(len(cues) * WIDTH)
    for likelihood, steps in ((True, STEPS), (False, STEPS // 2)):
        learned = minimize(loss, learned, (likelihood,), jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    table = learned.reshape(len(cues), WIDTH)
    return {cue: {name: float(w) for name, w in zip(NAMES, table[n], strict=True) if abs(w) > 0.02} for cue, n in column.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "--task", default="minecraft", choices=[task for task in tasks_in("minecraft") if "train" in TASKS[task].splits]
    )
    args = options.parse_args()
    items = builder_turns(load(args.task, "train"))
    ranker, rng = None, np.random.default_rng(0)
    weights: Weights = {}
    for n in range(ROUNDS):
        seen = gather(items, ranker, rng)
        weights = fit(seen)
        ranker = Ranker(weights)
        print(f"round {n + 1}: {len(seen)} clauses, {sum(map(len, weights.values()))} weights", flush=True)
    ship(weights, args.task)


def ship(weights: Weights, task: str) -> None:
    """Stores weights with the package, as whole hundredths."""
    names = [name for name in NAMES if any(name in of for of in weights.values())]
    rows = {cue: [round(100 * of.get(name, 0.0)) for name in names] for cue, of in weights.items()}
    lines = ",\n".join(f"{json.dumps(cue)}:{json.dumps(row, separators=(',', ':'))}" for cue, row in rows.items())
    text = f'{{"properties":{json.dumps(names)},"hundredths":{{\n{lines}\n}}}}\n'
    weights_file(task).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
