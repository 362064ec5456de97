"""Level 1 and level 2: elementary builds, judged dimension by dimension, and one block more or less, judged by kind of order.

After the definitions of Nebula's sets (Chaturvedi et al. 2024). Any right answer counts, not only the gold one. What an order
leaves open is not judged, so the dimensions have different numbers of items.

Level 1 begins with an empty region; what is built is the structure after the actions, infeasible ones left out.

- color: every block has the color that was asked for
- shape: the blocks form the shape, in any size, orientation and place; squares, rectangles, diamonds and cubes may be hollow.
  A tower is upright unless the order says otherwise; a diagonal advances by one block in two or three directions at a time
- size: the longest side of the blocks' bounding box is as asked; for a rectangle, the second longest as well
- location: corner: the bounding box reaches |x| = 5 and |z| = 5; edge: for some block, only one of |x| and |z| is 5; center: a
  block has x = z = 0, or the middle of the bounding box is at most half a block away from there
- orientation: horizontal: all blocks on one level; vertical: on several levels and in one upright plane
- in bounds: no action is outside the build region
- whole structure: all dimensions that were asked for are right

If nothing is built, every dimension is wrong. Level 2 is judged on net actions: there must be exactly one, of the right kind and
in a cell that the order allows; blocks touch if they share a face.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from eval.statistics import ratio_intervals
from harness.worlds.minecraft import SIDE, Action, Structure, in_region, net_actions, touching

if TYPE_CHECKING:
    from harness.corpora.item import MinecraftItem

DIMENSIONS = ("color", "shape", "size", "location", "orientation", "in bounds", "whole structure")

Cells = npt.NDArray[np.int64]
"""Some cells, shape (cells, 3)."""


# --- level 1 ---


def judge_build(meta: Mapping[str, Any], actions: Sequence[Action]) -> dict[str, bool]:
    """Which dimensions of a level-1 order are right. Those that it leaves open are not in the result."""
    blocks = Structure().apply(actions).structure.blocks()
    if not blocks:
        dimensions = ["color", "shape", "size", *(name for name in ("location", "orientation") if meta[name])]
        return dict.fromkeys([*dimensions, "in bounds", "whole structure"], False)
    cells = np.array([block[:3] for block in blocks])
    sides = np.ptp(cells, axis=0) + 1
    wanted = [meta["size"], meta["width"]] if meta["shape"] == "rectangle" else [meta["size"]]
    right = {
        "color": all(block.color == meta["color"] for block in blocks),
        "shape": _is_shape(cells, meta["shape"], stands=meta["orientation"] is None),
        "size": sorted(sides.tolist(), reverse=True)[: len(wanted)] == wanted,
    }
    if meta["location"]:
        right["location"] = _is_at(cells, meta["location"])
    if meta["orientation"]:
        flat = "horizontal" if sides[1] == 1 else "vertical" if 1 in sides[::2] else None
        right["orientation"] = meta["orientation"] == flat
    right["in bounds"] = all(in_region(*action.cell) for action in actions)
    return right | {"whole structure": all(right.values())}


def _is_shape(cells: Cells, shape: str, *, stands: bool) -> bool:
    """`stands`: whether a tower must be upright."""
    low, high = cells.min(axis=0), cells.max(axis=0)
    sides = high - low + 1
    thick = sides > 1
    longest, middle, shortest = sorted(map(int, sides), reverse=True)
    if shape in ("row", "tower"):
        upright = bool(thick[1])
        return middle == 1 and len(cells) == longest > 1 and (not upright if shape == "row" else upright or not stands)
    if shape == "diagonal":
        line = cells[cells[:, thick.argmax()].argsort()][:, thick]
        steps = np.diff(line, axis=0)
        return bool(thick.sum() > 1 and len(line) == longest and (abs(steps) == 1).all() and (steps == steps[0]).all())
    if shape == "cube":
        return longest == shortest > 1 and _is_box(cells, low, high)
    if shortest > 1 or middle == 1:
        return False
    if shape == "diamond":
        off = abs(2 * cells - low - high)[:, thick].sum(axis=1)
        full = (off < longest).all() and len(cells) == (longest**2 + 1) // 2
        outline = (off == longest - 1).all() and len(cells) == 2 * (longest - 1)
        return longest == middle and longest % 2 == 1 and bool(full or outline)
    return (longest == middle) == (shape == "square") and _is_box(cells, low, high)


def _is_box(cells: Cells, low: Cells, high: Cells) -> bool:
    """Whether the cells fill their bounding box, or cover exactly its surface; the surface of a flat box is its outline."""
    sides = high - low + 1
    thick = sides > 1
    inside = np.maximum(sides[thick] - 2, 0).prod()
    on_surface = ((cells == low) | (cells == high))[:, thick].any(axis=1)
    return bool(len(cells) == sides.prod() or (on_surface.all() and len(cells) == sides.prod() - inside))


def _is_at(cells: Cells, location: str) -> bool:
    ground = cells[:, ::2]
    low, high = ground.min(axis=0), ground.max(axis=0)
    if location == "corner":
        return bool(((abs(low) == SIDE) | (abs(high) == SIDE)).all())
    if location == "edge":
        return bool(((abs(ground) == SIDE).sum(axis=1) == 1).any())
    return bool((ground == 0).all(axis=1).any() or (abs(low + high) <= 1).all())


# --- level 2 ---


def judge_change(item: MinecraftItem, actions: Sequence[Action]) -> bool:
    """Whether a level-2 order is carried out: one block placed or removed, and no other change."""
    meta = item.meta
    net = net_actions(item.before, item.before.apply(actions).structure)
    if len(net) != 1:
        return False
    (action,) = net
    if action.kind != meta["order"] or (action.kind == "place" and action.color != meta["color"]):
        return False
    right = _placed_right if action.kind == "place" else _removed_right
    return right(action.cell, [block[:3] for block in item.before.blocks()], meta)


def _placed_right(cell: tuple[int, int, int], there: Sequence[tuple[int, int, int]], meta: Mapping[str, Any]) -> bool:
    heights = {near[1] - cell[1] for near in touching(cell) if near in there}
    return {
        "on top of": -1 in heights,
        "to the side of": 0 in heights,
        "touching": bool(heights),
        "not touching": not heights,
    }[meta["kind"]]


def _removed_right(cell: tuple[int, int, int], there: Sequence[tuple[int, int, int]], meta: Mapping[str, Any]) -> bool:
    ends: list[tuple[int, int]] = [(min(values), max(values)) for values in zip(*there, strict=True)]
    outer = all(a in sides for a, sides in zip(cell, ends, strict=True))
    return {
        "any": True,
        "last": list(cell) == list(meta["last"]),
        "bottom": cell[1] == ends[1][0],
        "top": cell[1] == ends[1][1],
        "center": all(2 * a == low + high for a, (low, high) in zip(cell, ends, strict=True)),
        "corner": outer,
        "end": outer,
    }[meta["kind"]]


# --- both ---


def score(items: Sequence[MinecraftItem], predicted: Sequence[Sequence[Action]]) -> dict[str, Any]:
    """Accuracies of the items of one level, each {"right", "items", "accuracy", "interval"}.

    Level 1: by dimension, and the same by shape. Level 2: overall, by order (place, remove) and by kind. Intervals are 95%,
    bootstrap over items, and None for fewer than two. `predicted` holds the actions of each item, in the same order.
    """
    if items and "build" in items[0].meta:
        rows = []
        for item, actions in zip(items, predicted, strict=True):
            kind = item.meta["order"]
            rows.append(dict.fromkeys(("overall", kind, f"{kind}: {item.meta['kind']}"), judge_change(item, actions)))
        return {"level": 2, "items": len(items), **_rates(rows)}
    rows = [judge_build(item.meta, actions) for item, actions in zip(items, predicted, strict=True)]
    shapes: dict[str, list[dict[str, bool]]] = {}
    for item, row in zip(items, rows, strict=True):
        shapes.setdefault(item.meta["shape"], []).append(row)
    by_shape = {shape: _rates(chosen) for shape, chosen in sorted(shapes.items())}
    return {"level": 1, "items": len(items), **_rates(rows), "by_shape": by_shape}


def _rates(rows: Sequence[Mapping[str, bool]]) -> dict[str, Any]:
    """By name, the accuracy over the rows that have the name."""
    names = [*dict.fromkeys(name for row in rows for name in row)]
    names.sort(key=lambda name: DIMENSIONS.index(name) if name in DIMENSIONS else 0)
    right = np.array([[row.get(name, False) for name in names] for row in rows], float).reshape(len(rows), len(names))
    applies = np.array([[name in row for name in names] for row in rows], float).reshape(len(rows), len(names))
    intervals = ratio_intervals(right, applies, [str(n) for n in range(len(rows))])
    return {
        name: {"right": int(hits), "items": int(total), "accuracy": float(hits / total), "interval": interval}
        for name, hits, total, interval in zip(names, right.sum(axis=0), applies.sum(axis=0), intervals, strict=True)
    }
