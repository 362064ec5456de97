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

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.statistics import ratio_intervals
from harness.worlds.minecraft import SIDE, Action, Structure, in_region, net_actions, touching

if TYPE_CHECKING:
    from harness.corpora.item import MinecraftItem

DIMENSIONS = ("color", "shape", "size", "location", "orientation", "in bounds", "whole structure")

Cell = tuple[int, int, int]
Cells = frozenset[Cell]


# --- level 1 ---


def judge_build(meta: Mapping[str, Any], actions: Sequence[Action]) -> dict[str, bool]:
    """Which dimensions of a level-1 order are right. Those that it leaves open are not in the result."""
    blocks = Structure().apply(actions).structure.blocks()
    cells: Cells = frozenset((block.x, block.y, block.z) for block in blocks)
    if not cells:
        asked = ["color", "shape", "size", *(name for name in ("location", "orientation") if meta[name])]
        return dict.fromkeys([*asked, "in bounds", "whole structure"], False)
    right = {
        "color": all(block.color == meta["color"] for block in blocks),
        "shape": _is_shape(cells, meta["shape"], stands=meta["shape"] == "tower" and meta["orientation"] is None),
        "size": _is_size(cells, meta),
    }
    if meta["location"]:
        right["location"] = _is_at(cells, meta["location"])
    if meta["orientation"]:
        right["orientation"] = meta["orientation"] == _orientation(cells)
    right["in bounds"] = all(in_region(*action.cell) for action in actions)
    return right | {"whole structure": all(right.values())}


def _ends(cells: Iterable[Cell]) -> list[tuple[int, int]]:
    return [(min(values), max(values)) for values in zip(*cells, strict=True)]


def _sides(cells: Cells) -> list[int]:
    """The three sides of the bounding box in blocks, longest first."""
    return sorted((high - low + 1 for low, high in _ends(cells)), reverse=True)


def _is_size(cells: Cells, meta: Mapping[str, Any]) -> bool:
    wanted = [meta["size"], meta["width"]] if meta["shape"] == "rectangle" else [meta["size"]]
    return _sides(cells)[: len(wanted)] == wanted


def _is_shape(cells: Cells, shape: str, *, stands: bool) -> bool:
    ends, sides = _ends(cells), _sides(cells)
    plane = [axis for axis in range(3) if ends[axis][0] < ends[axis][1]]
    if shape == "row":
        return sides[1] == 1 and sides[0] == len(cells) > 1 and plane != [1]
    if shape == "tower":
        return sides[1] == 1 and sides[0] == len(cells) > 1 and (plane == [1] or not stands)
    if shape == "diagonal":
        return _is_diagonal(cells, plane, sides)
    if shape == "cube":
        return sides[0] == sides[2] > 1 and cells in _boxes(ends)
    if sides[2] > 1 or sides[1] == 1:
        return False
    if shape == "diamond":
        return sides[0] == sides[1] and cells in _diamonds(ends, plane)
    return (sides[0] == sides[1]) == (shape == "square") and cells in _boxes(ends)


def _is_diagonal(cells: Cells, plane: list[int], sides: list[int]) -> bool:
    """Whether the blocks advance by one block in each of two or three directions at a time."""
    if len(plane) < 2 or sides[len(plane) - 1] != sides[0] or len(cells) != sides[0]:
        return False
    line = sorted(cells, key=lambda cell: cell[plane[0]])
    steps = {tuple(b - a for a, b in zip(one, other, strict=True)) for one, other in pairwise(line)}
    return len(steps) == 1 and all(abs(part) == (axis in plane) for axis, part in enumerate(steps.pop()))


def _boxes(ends: list[tuple[int, int]]) -> tuple[Cells, Cells]:
    """All blocks of a box, and the blocks of its surface (of a flat box, of its outline)."""
    xs, ys, zs = (range(low, high + 1) for low, high in ends)
    full = frozenset(product(xs, ys, zs))
    thick = [axis for axis in range(3) if ends[axis][0] < ends[axis][1]]
    return full, frozenset(cell for cell in full if any(cell[axis] in ends[axis] for axis in thick))


def _diamonds(ends: list[tuple[int, int]], plane: list[int]) -> tuple[Cells, Cells]:
    """The diamond that fills a flat box of an odd side, and its outline."""
    full = _boxes(ends)[0]
    reach = ends[plane[0]][1] - ends[plane[0]][0]

    def off(cell: Cell) -> int:
        return sum(abs(2 * cell[axis] - sum(ends[axis])) for axis in plane)

    return frozenset(cell for cell in full if off(cell) <= reach), frozenset(cell for cell in full if off(cell) == reach)


def _orientation(cells: Cells) -> str | None:
    x, y, z = (low == high for low, high in _ends(cells))
    return "horizontal" if y else "vertical" if x or z else None


def _is_at(cells: Cells, location: str) -> bool:
    ends = _ends(cells)[::2]
    return {
        "corner": all(SIDE in map(abs, side) for side in ends),
        "edge": any((abs(x) == SIDE) != (abs(z) == SIDE) for x, _, z in cells),
        "center": any(x == z == 0 for x, _, z in cells) or all(abs(sum(side)) <= 1 for side in ends),
    }[location]


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
    blocks: Cells = frozenset((block.x, block.y, block.z) for block in item.before.blocks())
    right = _placed_right if action.kind == "place" else _removed_right
    return right(action.cell, blocks, meta)


def _placed_right(cell: Cell, there: Cells, meta: Mapping[str, Any]) -> bool:
    heights = {near[1] - cell[1] for near in touching(cell) if near in there}
    return {
        "on top of": -1 in heights,
        "to the side of": 0 in heights,
        "touching": bool(heights),
        "not touching": not heights,
    }[meta["kind"]]


def _removed_right(cell: Cell, there: Cells, meta: Mapping[str, Any]) -> bool:
    ends = _ends(there)
    outer = all(a in sides for a, sides in zip(cell, ends, strict=True))
    middle = all(2 * a == low + high for a, (low, high) in zip(cell, ends, strict=True))
    return {
        "any": True,
        "last": list(cell) == list(meta["last"]),
        "bottom": cell[1] == ends[1][0],
        "top": cell[1] == ends[1][1],
        "center": middle,
        "corner": outer,
        "end": outer,
    }[meta["kind"]]


# --- both ---


def score(items: Sequence[MinecraftItem], predicted: Sequence[Sequence[Action]], *, seed: int = 0) -> dict[str, Any]:
    """Accuracies of the items of one level, each {"right", "items", "accuracy", "interval"}.

    Level 1: by dimension, and the same by shape. Level 2: overall, by order (place, remove) and by kind. Intervals are 95%,
    bootstrap over items, and None for fewer than two. `predicted` holds the actions of each item, in the same order.
    """
    if items and "build" in items[0].meta:
        rows = [_kinds(item, judge_change(item, actions)) for item, actions in zip(items, predicted, strict=True)]
        return {"level": 2, "items": len(items), **_rates(rows, seed)}
    rows = [judge_build(item.meta, actions) for item, actions in zip(items, predicted, strict=True)]
    shapes: dict[str, list[dict[str, bool]]] = {}
    for item, row in zip(items, rows, strict=True):
        shapes.setdefault(item.meta["shape"], []).append(row)
    by_shape = {shape: _rates(chosen, seed) for shape, chosen in sorted(shapes.items())}
    return {"level": 1, "items": len(items), **_rates(rows, seed), "by_shape": by_shape}


def _kinds(item: MinecraftItem, right: bool) -> dict[str, bool]:
    return {"overall": right, item.meta["order"]: right, f"{item.meta['order']}: {item.meta['kind']}": right}


def _rates(rows: Sequence[Mapping[str, bool]], seed: int) -> dict[str, Any]:
    """By name, the accuracy over the rows that have the name."""
    names = [*dict.fromkeys(name for row in rows for name in row)]
    names.sort(key=lambda name: DIMENSIONS.index(name) if name in DIMENSIONS else 0)
    right = np.array([[row.get(name, False) for name in names] for row in rows], float).reshape(len(rows), len(names))
    asked = np.array([[name in row for name in names] for row in rows], float).reshape(len(rows), len(names))
    intervals = ratio_intervals(right, asked, [str(n) for n in range(len(rows))], seed=seed)
    return {
        name: {"right": int(hits), "items": int(total), "accuracy": float(hits / total), "interval": interval}
        for name, hits, total, interval in zip(names, right.sum(axis=0), asked.sum(axis=0), intervals, strict=True)
    }
