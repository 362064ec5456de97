"""Chooses the proposal that a clause means: a log-linear model whose features pair the clause's words with the proposals'
properties.

The answer consists of the actions that raise the expected micro F1: an action's probability is the sum over the proposals that
contain it, and must exceed the ranker's threshold, which is best near half of the F1 reached. It must also exceed a third
(`BESIDE`) of the likeliest action's probability, which costs no F1 and keeps other actions out of a clear answer. A clause that
says too little is answered with no actions.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.baselines.parser.minecraft.grid import KINDS, SIZE, Cells
from harness.baselines.parser.minecraft.properties import COLUMNS, NAMES, WIDTH, Proposals
from harness.baselines.parser.minecraft.proposals import propose
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.words import ClauseInContext

BESIDE = 1 / 3
TEMPERATURE = 1.5
"""The divisor of the scores, which are overconfident on new items. Chosen on dev, like `BESIDE` and the tasks' thresholds."""
REASONS = 6
LIKELY = 1e-4
"""Proposals that are less likely than this share of the likeliest one are left out."""


class Meant(NamedTuple):
    """How a clause was understood."""

    actions: Cells
    properties: tuple[str, ...]
    """The names of the kind of the proposal that the answer begins with, and of the properties that speak for it most."""
    expected: float
    """The expected share of right actions."""


class Ranker:
    """`weights`: the weight of each property, by cue (`words.ClauseInContext.cues`) and name; `least`: the lowest probability of
    an action in an answer."""

    def __init__(self, weights: Mapping[str, Mapping[str, float]], least: float = 0.1) -> None:
        self._least = least
        self._cues: dict[str, npt.NDArray[np.float32]] = {}
        for cue, of in weights.items():
            self._cues[cue] = np.zeros(WIDTH, np.float32)
            self._cues[cue][[COLUMNS[name] for name in of]] = list(of.values())

    def scores(self, clause: ClauseInContext, proposals: Sequence[Proposals]) -> list[npt.NDArray[np.float32]]:
        weights = self._weights(clause)
        return [one.properties @ weights for one in proposals]

    def _weights(self, clause: ClauseInContext) -> npt.NDArray[np.float32]:
        known = [self._cues[cue] for cue in clause.cues if cue in self._cues]
        return np.sum(known, axis=0, dtype=np.float32) if known else np.zeros(WIDTH, np.float32)

    def understand(self, clause: ClauseInContext, scene: DiscourseScene) -> Meant:
        proposals = propose(clause, scene)
        scores = [one / TEMPERATURE for one in self.scores(clause, proposals)]
        best = max(float(one.max()) for one in scores)
        odds = [np.exp(one - best) for one in scores]
        likely = [np.flatnonzero(one > LIKELY) for one in odds]
        found = [one.actions[rows] for one, rows in zip(proposals, likely, strict=True)]
        shares = np.concatenate([odd[rows] for odd, rows in zip(odds, likely, strict=True)]) / sum(
            float(odd.sum()) for odd in odds
        )
        owners, flat = _flat(found)
        right = np.asarray(np.bincount(flat, shares[owners]), np.float64)
        # The answer begins with the proposal whose actions exceed the lowest probability by the most.
        row = int(np.bincount(owners, right[flat] - self._least, len(shares)).argmax())
        actions = self._chosen(right, flat[owners == row])
        if not len(actions):
            return Meant(actions, (), 1.0)
        properties = np.concatenate([one.properties[rows] for one, rows in zip(proposals, likely, strict=True)])[row]
        speaks_for = properties * self._weights(clause)
        kind = int(np.flatnonzero(properties)[0])
        others = [column for column in np.argsort(-speaks_for, kind="stable")[:REASONS] if speaks_for[column] > 0]
        names = tuple(NAMES[column] for column in dict.fromkeys([kind, *others]))
        return Meant(actions, names, float(right[actions].mean()))

    def _chosen(self, right: npt.NDArray[np.float64], first: Cells) -> Cells:
        """The actions that are likely enough, at most one placement per cell: those in `first` in their order, then the others,
        likeliest first."""
        enough = np.flatnonzero(right > max(self._least, BESIDE * right.max(initial=0.0)))
        enough = enough[np.argsort(-right[enough], kind="stable")]
        placed: dict[int, int] = {}  # by cell, in case two colors are likely
        for action in enough[enough % KINDS > 0].tolist():
            placed.setdefault(action // KINDS, action)
        kept = {*enough[enough % KINDS == 0].tolist(), *placed.values()}
        return np.array([action for action in dict.fromkeys([*first.tolist(), *enough.tolist()]) if action in kept], np.intp)


def _flat(found: Sequence[Cells]) -> tuple[Cells, Cells]:
    """The index of the proposal of each action, and all actions in one array, each once per proposal."""
    first, owners, flat = 0, [], []
    for actions in found:
        there = actions >= 0
        owners.append(np.repeat(np.arange(first, first + len(actions)), there.sum(1)))
        flat.append(actions[there])
        first += len(actions)
    every = np.concatenate(owners) * (SIZE * KINDS) + np.concatenate(flat)
    kept = np.sort(np.unique(every, return_index=True)[1])  # two blocks may have the same cell beside them
    pairs = np.divmod(every[kept], SIZE * KINDS)
    return pairs[0], pairs[1]


Weights = Mapping[str, Mapping[str, float]]
"""The weight of each property, by cue and name; a missing weight is 0."""


def weights_file(task: str) -> Path:
    """The file of the weights learned on the task's train split."""
    return Path(__file__).parent / ("weights_iglu.json" if task == "iglu" else "weights.json")


def usual_threshold(task: str) -> float:
    """The lowest probability, 0..1, at which the parser carries out an action: near half of the F1, which is higher in IGLU."""
    return 0.3 if task == "iglu" else 0.1


@functools.cache
def shipped_weights(task: str) -> Weights:
    """The weights of a task that come with the package."""
    stored = json.loads(weights_file(task).read_text(encoding="utf-8"))
    names = stored["properties"]
    return {cue: {name: w / 100 for name, w in zip(names, row, strict=True) if w} for cue, row in stored["hundredths"].items()}
