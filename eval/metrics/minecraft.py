"""Minecraft Builder Action Prediction: F1 over net actions (Jayannavar et al. 2020; BAP v2, sections 2.3, 2.4 and 4).

Net actions are compared on structures. The predicted structure is `before` after the predicted actions, infeasible ones
left out; the gold one is the recorded structure. Its difference from `before` is a set of placements and removals with colors:
an action that is undone or infeasible costs nothing, and a removal at a right cell always has the right color.

- overall: the same kind, color and cell
- type, color, location: multisets of kinds; of kinds with colors; of cells
- shape: overall after the best alignment of the net actions (`eval.metrics.alignment`), for every item

Overall and location are strict, except for items on an empty board that are marked as allowing several interpretations: their
predicted structure is aligned with the gold one first (the fairer F1 of section 4.1, which simulated games take by footnote 6:
`eval.score_run.Benchmark.of`).

Micro sums counts over items; a ratio with denominator 0 is 0. Macro is the mean of the items' F1, which is 1 for an item with
nothing to do and nothing done.

The IGLU competition's F1 (`overlap_scores`) is the best overlap of two whole structures over horizontal shifts and quarter turns.
The target is turned about the vertical axis and shifted along the ground in every way that keeps all of it in the build region;
the blocks that it then has in common with what was built, in cell and color, are counted, and the largest such count is the
maximal intersection. Precision is its share of what was built, recall its share of the target. Blocks that stood there before
count like all others, so doing nothing scores well if little is asked for; `unchanged` is the score of doing nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from eval.metrics.alignment import COLOR, KIND, Ints, X, Y, Z, align, net_rows, overlap
from eval.statistics import Floats, mean_interval, ratio, ratio_intervals, ratios
from harness.worlds.minecraft import SHAPE, Action, Structure

if TYPE_CHECKING:
    from harness.corpora.item import MinecraftItem

METRICS = ("overall", "type", "color", "location", "shape")
_COLUMNS = {"overall": (KIND, COLOR, X, Y, Z), "type": (KIND,), "color": (KIND, COLOR), "location": (X, Y, Z)}


def _stack(structures: Sequence[Structure]) -> npt.NDArray[np.uint8]:
    return np.stack([structure.cells for structure in structures]) if structures else np.zeros((0, *SHAPE), np.uint8)


def empty_boards(items: Sequence[MinecraftItem]) -> frozenset[str]:
    """The ids of the items that begin with no block on the board."""
    return frozenset(item.id for item in items if not item.before.cells.any())


def count(items: Sequence[MinecraftItem], predicted: Sequence[Sequence[Action]], *, multiple: Set[str] = frozenset()) -> Ints:
    """True positives, false positives and false negatives; shape (items, 5, 3), the metrics in the order of `METRICS`.

    Overall and location of the items in `multiple` are counted after the best alignment of the two structures. Items with
    blocks before are counted strictly, whatever `multiple` says.
    """
    before = _stack([item.before for item in items])
    reached = _stack(
        [item.before.apply(actions).structure if actions else item.before for item, actions in zip(items, predicted, strict=True)]
    )
    done, wanted = net_rows(before, reached), net_rows(before, _stack([item.after for item in items]))
    shape, aligned = align(done, wanted, len(items))
    hits = {name: overlap(done, wanted, columns, len(items)) for name, columns in _COLUMNS.items()} | {"shape": shape}
    if multiple:
        # On an empty board the net actions are the structure, so its alignment is the one already found.
        chosen = np.array([item.id in multiple for item in items], bool) & ~before.any(axis=(1, 2, 3))
        for name in ("overall", "location"):
            hits[name] = np.where(chosen, overlap(aligned, wanted, _COLUMNS[name], len(items)), hits[name])
    sizes = [np.bincount(rows[:, 0], minlength=len(items))[:, None] for rows in (done, wanted)]
    positive = np.column_stack([hits[name] for name in METRICS])
    return np.stack([positive, sizes[0] - positive, sizes[1] - positive], axis=2)


def item_f1(counts: Ints) -> Floats:
    """F1 of each item and metric, shape (items, 5); 1 if nothing was wanted and nothing done."""
    hits, size = 2 * counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]
    return ratios(hits, size, 1)


def _micro(counts: Ints) -> dict[str, dict[str, float]]:
    result = {}
    for name, (tp, fp, fn) in zip(METRICS, counts.sum(axis=0), strict=True):
        result[name] = {
            "tp": int(tp),
            "fp": int(fp),
            "fn": int(fn),
            "precision": ratio(tp, tp + fp),
            "recall": ratio(tp, tp + fn),
            "f1": ratio(2 * tp, 2 * tp + fp + fn),
        }
    return result


def _macro(counts: Ints) -> dict[str, float]:
    means = item_f1(counts).mean(axis=0) if len(counts) else np.zeros(len(METRICS))
    return dict(zip(METRICS, map(float, means), strict=True))


def _intervals(counts: Ints, clusters: Sequence[str]) -> dict[str, Any]:
    each = item_f1(counts)
    hits, size = 2 * counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]
    pairs = ratio_intervals(np.hstack([hits, each]), np.hstack([size, np.ones_like(each)]), clusters)
    return {
        "micro": dict(zip(METRICS, pairs[: len(METRICS)], strict=True)),
        "macro": dict(zip(METRICS, pairs[len(METRICS) :], strict=True)),
    }


def score(
    items: Sequence[MinecraftItem],
    predicted: Sequence[Sequence[Action]],
    *,
    multiple: Set[str] = frozenset(),
    subsets: Mapping[str, Set[str]] | None = None,
) -> dict[str, Any]:
    """All scores as fractions: micro, macro, and both for empty (EB) and non-empty boards (NEB), with 95% intervals of F1.

    `predicted` holds the actions of each item, in the same order; `multiple` are the ids that allow several interpretations;
    `subsets` are more sets of ids to score by themselves.
    """
    counts = count(items, predicted, multiple=multiple)
    clusters = [item.cluster for item in items]
    empty = empty_boards(items)
    parts = {"EB": empty, "NEB": {item.id for item in items} - empty, **(subsets or {})}
    result: dict[str, Any] = {"micro": _micro(counts), "macro": _macro(counts), "subsets": {}}
    intervals = _intervals(counts, clusters) | {"subsets": {}}
    for name, ids in parts.items():
        chosen = [i for i, item in enumerate(items) if item.id in ids]
        part = counts[chosen]
        result["subsets"][name] = {"items": len(part), "micro": _micro(part), "macro": _macro(part)}
        intervals["subsets"][name] = _intervals(part, [clusters[i] for i in chosen])
    return result | {"intervals": intervals}


def overlap_scores(items: Sequence[MinecraftItem], predicted: Sequence[Sequence[Action]]) -> dict[str, Any]:
    """Means over items, as fractions: f1, precision, recall; `unchanged`, the F1 of doing nothing; `interval`, of f1."""
    reached = [item.before.apply(actions).structure for item, actions in zip(items, predicted, strict=True)]
    target = [item.after for item in items]
    precision, recall, f1 = _each(reached, target)
    unchanged = _each([item.before for item in items], target)[2]
    interval = mean_interval(f1, [item.cluster for item in items])
    means = {"f1": f1.mean(), "precision": precision.mean(), "recall": recall.mean(), "unchanged": unchanged.mean()}
    return {**{name: float(value) for name, value in means.items()}, "interval": interval}


def _each(built: Sequence[Structure], target: Sequence[Structure]) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F1 of each item; a share of an empty structure is 1 if both are empty, otherwise 0."""
    nothing = np.zeros((len(built), *SHAPE), np.uint8)
    cells = [np.stack([structure.cells for structure in structures]) for structures in (built, target)]
    # The target moves and must stay in the region as a whole; moving the built blocks instead could push some of them out.
    common, _ = align(net_rows(nothing, cells[1]), net_rows(nothing, cells[0]), len(built))
    made, wanted = ((of > 0).sum(axis=(1, 2, 3)) for of in cells)
    both = np.maximum(common, 0)
    return _share(both, made, wanted), _share(both, wanted, made), _share(2 * both, made + wanted, made)


def _share(part: npt.NDArray[Any], whole: npt.NDArray[Any], other: npt.NDArray[Any]) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), (other == 0).astype(float))
