"""Copies and mirror images of what is there, and what is taken away, moved or gets another color."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.gathered import (
    SENSES,
    SHIFTS,
    SLANTS,
    Gathered,
    Option,
    Proposals,
    marked,
    rows,
)
from harness.baselines.parser.minecraft.grid import DIAGONALS, INSIDE, KINDS, Cells
from harness.baselines.parser.minecraft.groups import MANY, Groups
from harness.baselines.parser.minecraft.properties import COLUMNS, WIDTH, Setting, placed, taken
from harness.baselines.parser.minecraft.scene import DiscourseScene

_SHIFTED = np.concatenate([np.array(SENSES), 2 * np.array(SENSES)])[:, None]
"""A step each way, then two."""


def copies(setting: Setting, color: int) -> list[Proposals]:
    """What was placed last, moved or mirrored, in its colors or in another one."""
    scene, found, codes = setting.scene, Gathered(), []
    sets = [("of group", setting.group), ("of named", setting.named)]
    if len(scene.turns) > 1:
        sets.append(("of turns", np.concatenate(scene.turns[-2:])))
    for name, cells in sets:
        if not 1 < len(cells) <= MANY:
            continue
        images = [(cells + step * k, "copy", n) for n, step in enumerate(SENSES, SHIFTS.start) for k in range(1, 5)]
        images += [(cells + step, "copy", n) for n, step in enumerate(DIAGONALS.values(), SLANTS.start)]
        for axis, unit in ((0, grid.LEFT), (2, grid.BEHIND)):
            along = grid.XYZ[cells, axis]
            for total in {int(setting.low[axis] + setting.high[axis]), 0, *(2 * int(m[axis]) for m in _middles(setting))}:
                images.append((cells + unit * (total - 2 * along), "mirror", COLUMNS["whole"]))
        own = scene.codes[cells]
        other = bool((own != color).any())
        for new, kind, column in images:
            found.add(new, kind, name, column=column)
            codes.append(own)
            if other:
                found.add(new, kind, name, "twice", column=column)
                codes.append(np.full(len(own), color))
    kept = found.sift(setting, whole=True)
    if not kept:
        return []
    cells = found.padded()
    properties = placed(cells, setting, color)
    found.mark(properties)
    colors = np.zeros_like(cells)
    colors[cells >= 0] = np.concatenate([codes[n] for n in kept])
    return [Proposals(np.where(cells >= 0, cells * KINDS + colors, -1), properties)]


def _middles(setting: Setting) -> list[Cells]:
    """Blocks that something may be mirrored over: those of another turn."""
    return [grid.XYZ[turn].mean(0).round().astype(int) for turn in setting.scene.turns[-4:-1]]


def removed(groups: Groups, counts: Sequence[Option]) -> list[Proposals]:
    found, setting = [], groups.setting
    for count in counts:
        one = rows(setting.blocks, count.value)
        one = one.within(setting.occupied)
        properties = marked(taken(one.cells, setting), "remove run", *count.names)
        one.mark(properties)
        found.append(Proposals(one.cells * KINDS, properties))
    sets = Gathered()
    for names, cells in groups.parts:
        sets.add(cells, "remove all", *names)
    return [*found, *sets.removals(setting)]


def moved(groups: Groups) -> list[Proposals]:
    """A set of blocks taken away and placed elsewhere."""
    found, changes, setting = Gathered(), [], groups.setting
    for name, cells in groups.few.items():
        inside = grid.mask(cells)
        new = cells + _SHIFTED
        fits = (INSIDE[new] & (~setting.occupied[new] | inside[new])).all(1)
        stays = inside[cells - _SHIFTED]
        for n in np.flatnonzero(fits).tolist():
            times, way = divmod(n, len(SENSES))
            found.add(new[n], "move", name, "twice" if times else "once", column=SHIFTS.start + way)
            changes.append(np.concatenate([cells[~stays[n]] * KINDS, new[n] * KINDS + setting.scene.codes[cells]]))
    if not changes:
        return []
    properties = placed(found.padded(), setting, 0)
    found.mark(properties)
    found.cells = changes
    return [Proposals(found.padded(), properties)]


def recolored(groups: Groups, color: int) -> list[Proposals]:
    found = Gathered()
    for name, cells in groups.few.items():
        cells = cells[groups.setting.scene.codes[cells] != color]
        if len(cells):
            found.add(cells, "recolor", name)
    return [
        Proposals(np.concatenate([gone, np.where(gone >= 0, gone + color, -1)], axis=1), properties)
        for gone, properties in found.removals(groups.setting)
    ]


def undone(scene: DiscourseScene) -> list[Proposals]:
    """What was removed last comes back."""
    back = scene.taken[scene.codes[scene.taken // KINDS] == 0] if len(scene.taken) else scene.taken
    if not len(back):
        return []
    return [Proposals(back[None], marked(np.zeros((1, WIDTH), np.float32), "undo"))]
