"""Blocks that are spoken of together, and what is placed beside each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.gathered import SENSES, STANDS, Gathered, Option, Proposals
from harness.baselines.parser.minecraft.grid import Cells
from harness.baselines.parser.minecraft.properties import Setting
from harness.baselines.parser.minecraft.words import LARGEST

FEW, MANY = 10, 40
"""Sets of blocks as large as that are moved and recolored, and as that copied, removed and built upon."""
REACH = np.arange(1, LARGEST + 1)[:, None]
_SIDES = ("of leftmost", "of rightmost", "of top", "of bottom", "of farthest", "of nearest")


class Groups:
    """Sets of blocks by the names of their properties."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.sets = dict(_sets(setting))
        last = setting.scene.last
        self.few = {"of last": np.array([last])} if last >= 0 else {}
        self.few |= {name: cells for name, cells in self.sets.items() if len(cells) <= FEW}
        self.parts = [part for name, cells in self.sets.items() for part in _parts(name, cells)]


def _sets(setting: Setting) -> Iterator[tuple[str, Cells]]:
    scene = setting.scene
    sets = {"of group": setting.group, "of named": setting.named}
    if len(scene.turns) > 1:
        sets["of turns"] = np.unique(np.concatenate(scene.turns[-2:]))
    if scene.last >= 0:
        sets["of color"] = scene.of_color([int(scene.codes[scene.last])])
    sets["of all"] = setting.blocks
    known: set[bytes] = set()
    for name, cells in sets.items():
        same = np.sort(cells).tobytes()
        if 0 < len(cells) <= MANY and same not in known:
            known.add(same)
            yield name, cells


def _parts(name: str, cells: Cells) -> Iterator[tuple[tuple[str, ...], Cells]]:
    """A set of several blocks, its ends, its corners, and its outermost layers."""
    if len(cells) < 2:
        return
    yield (name,), cells
    places = grid.XYZ[cells]
    low, high = places.min(0), places.max(0)
    axis = int((high - low).argmax())
    ends = cells[(places[:, axis] == low[axis]) | (places[:, axis] == high[axis])]
    if 1 < len(ends) < len(cells):
        yield (name, "of ends"), ends
    extreme = ((places == low) | (places == high)).all(1)
    if 2 < extreme.sum() < len(cells):
        yield (name, "of corners"), cells[extreme]
    for n, side in enumerate(_SIDES):
        layer = cells[places[:, n // 2] == (low if n % 2 else high)[n // 2]]
        if name != "of turns" and 1 < len(layer) < len(cells):
            yield (name, side), layer


def beside(groups: Groups, counts: Sequence[Option], color: int) -> list[Proposals]:
    """Next to each block of a set, as many as a number says; on both sides of one."""
    found, setting = Gathered(), groups.setting
    for names, cells in groups.parts:
        rims = _rims(cells)
        for column, step, rim in zip(range(STANDS.start, STANDS.stop), SENSES, rims, strict=True):
            for count in counts:
                if len(rim) * count.value > 1:
                    new = (rim + step * REACH[: count.value]).ravel()
                    found.add(new, "each", *names, *count.names, column=column)
    anchors = [*groups.few.items(), *(("of named", np.array([cell])) for cell in setting.named[:4])]
    for name, cells in anchors:
        rims = _rims(cells)
        for n in (0, 2, 4):
            for count in counts:
                far = SENSES[n] * REACH[: count.value]
                new = np.concatenate([(rims[n] + far).ravel(), (rims[n + 1] - far).ravel()])
                found.add(new, "both sides", name, *count.names, column=STANDS.start + n)
    found.sift(setting, whole=False)
    return found.placements(setting, color)


def _rims(cells: Cells) -> list[Cells]:
    """For each way the cells that none of the others lies beside."""
    rims = ~grid.mask(cells)[cells + grid.STEPS[:, None]]
    return [cells[rim] for rim in rims]
