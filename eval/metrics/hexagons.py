"""HEXAGONS: action-based and board-based F1, exact match, precision and recall ("Draw Me a Flower", section 5).

Both compare sets of (tile, color): the tiles that the step changes, or all tiles of the board after it that are not white.
Every number is a mean over steps. If both sets are empty, all four numbers are 1; if only one is, all four are 0.

- action: what was predicted, as it is. A tile painted twice has the last color; a paint off the board is dropped; painting
  a tile in the color it has already counts as predicted.
- effective: as action, without the predictions that change nothing on the gold previous board (ours, not the paper's)
- board: the predicted actions on the gold previous board (teacher-forced)
- rollout: the predicted actions of all steps so far on the board the drawing began with
- procedure_macro: the action-based numbers as a mean over procedures of the mean over their steps
- without_longest: the action-based numbers without the `LONGEST` procedures that have the most steps. A few long procedures
  of similar steps can dominate the mean over steps; if these numbers differ from it, they do
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from eval.statistics import Floats, ratio_intervals
from harness.worlds.hexagons import CODES, COLUMNS, TILES, Board, Paint, on_board

if TYPE_CHECKING:
    from harness.corpora.item import HexagonsItem

MEASURES = ("f1", "em", "precision", "recall")
LONGEST = 4
"""How many procedures `without_longest` leaves out."""
_UNCHANGED = -1
_WHITE = CODES["white"]

Cells = npt.NDArray[np.int64]


def measure(gold: Cells, predicted: Cells, nothing: int) -> Floats:
    """F1, exact match, precision and recall of each row, shape (rows, 4), in the order of `MEASURES`.

    Rows are color codes by tile; `nothing` is the code of a tile that is not in the set.
    """
    wanted, painted = gold != nothing, predicted != nothing
    common = (wanted & (gold == predicted)).sum(axis=1)
    n_wanted, n_made = wanted.sum(axis=1), painted.sum(axis=1)
    both_empty = (n_wanted == 0) & (n_made == 0)
    columns = [
        2 * common / np.maximum(n_wanted + n_made, 1),
        (gold == predicted).all(axis=1).astype(float),
        common / np.maximum(n_made, 1),
        common / np.maximum(n_wanted, 1),
    ]
    return np.where(both_empty[:, None], 1.0, np.column_stack(columns))


def _boards(boards: Sequence[Board]) -> Cells:
    return np.array([board.cells.ravel() for board in boards], np.int64).reshape(-1, TILES)


def _changes(predicted: Sequence[Sequence[Paint]]) -> Cells:
    cells = np.full((len(predicted), TILES), _UNCHANGED)
    for row, actions in zip(cells, predicted, strict=True):
        for action in actions:
            if on_board(action.row, action.column) and action.color in CODES:
                row[action.row * COLUMNS + action.column] = CODES[action.color]
    return cells


def _rollout(items: "Sequence[HexagonsItem]", changes: Cells) -> Cells:
    """The boards that the predictions lead to, step after step.

    A step whose gold previous board is not what the step before it in the same procedure ended with (the first one, or one
    after a gap) begins from the gold previous board.
    """
    boards = np.zeros_like(changes)
    last: dict[str, int] = {}
    for i, item in enumerate(items):
        previous = last.get(item.cluster)
        follows = previous is not None and items[previous].after == item.before
        start = boards[previous] if follows else item.before.cells.ravel()
        boards[i] = np.where(changes[i] != _UNCHANGED, changes[i], start)
        last[item.cluster] = i
    return boards


def sizes(items: "Sequence[HexagonsItem]", predicted: Sequence[Sequence[Paint]]) -> Cells:
    """By step: how many tiles gold changes, how many are predicted, and how many both agree on; shape (steps, 3)."""
    before, after, changes = _boards([i.before for i in items]), _boards([i.after for i in items]), _changes(predicted)
    wanted, painted = after != before, changes != _UNCHANGED
    return np.column_stack([wanted.sum(axis=1), painted.sum(axis=1), (wanted & (after == changes)).sum(axis=1)])


def longest(clusters: Sequence[str]) -> list[str]:
    """The `LONGEST` procedures with the most steps, the longest one first; of equals, those that come first."""
    return [name for name, _ in Counter(clusters).most_common(LONGEST)]


def _without_longest(actions: Floats, clusters: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The means of `actions`, F1 and EM of each step, without the longest procedures, and their intervals.

    Both are empty if nothing is left.
    """
    left_out = longest(clusters)
    kept = [n for n, cluster in enumerate(clusters) if cluster not in left_out]
    if not kept:
        return {}, {}
    values, names = actions[kept], MEASURES[:2]
    ends = ratio_intervals(values, np.ones_like(values), [clusters[n] for n in kept])
    means = dict(zip(names, map(float, values.mean(axis=0)), strict=True))
    numbers = {**means, "items": len(kept), "left_out": left_out}
    return {"without_longest": numbers}, {"without_longest": dict(zip(names, ends, strict=True))}


def score(items: "Sequence[HexagonsItem]", predicted: Sequence[Sequence[Paint]], *, rollout: bool = False) -> dict[str, Any]:
    """All scores as fractions, with 95% intervals. `predicted` holds the actions of each step, in the same order.

    `rollout` adds the numbers on predicted boards; the items must then be in the order of their steps. `without_longest` is
    included if more than `LONGEST` procedures are scored.
    """
    before, after, changes = _boards([i.before for i in items]), _boards([i.after for i in items]), _changes(predicted)
    wanted = np.where(after != before, after, _UNCHANGED)
    each = {
        "action": measure(wanted, changes, _UNCHANGED),
        "board": measure(after, np.where(changes != _UNCHANGED, changes, before), _WHITE),
        "effective": measure(wanted, np.where(changes != before, changes, _UNCHANGED), _UNCHANGED),
    }
    if rollout:
        each["rollout"] = measure(after, _rollout(items, changes), _WHITE)
    clusters = [item.cluster for item in items]
    steps = Counter(clusters)
    share = np.array([1 / steps[cluster] for cluster in clusters])[:, None]
    values = np.hstack([*each.values(), each["action"][:, :2] * share])
    weights = np.hstack([np.ones((len(items), len(MEASURES) * len(each))), np.repeat(share, 2, axis=1)])
    names = [(kind, name) for kind in each for name in MEASURES] + [("procedure_macro", name) for name in MEASURES[:2]]
    means = values.sum(axis=0) / weights.sum(axis=0)
    pairs = ratio_intervals(values, weights, clusters)
    result: dict[str, Any] = {kind: {} for kind, _ in names}
    intervals: dict[str, Any] = {kind: {} for kind, _ in names}
    for (kind, name), mean, pair in zip(names, means, pairs, strict=True):
        result[kind][name] = float(mean)
        intervals[kind][name] = pair
    short, short_intervals = _without_longest(each["action"][:, :2], clusters)
    return result | short | {"intervals": intervals | short_intervals}
