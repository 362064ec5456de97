"""Blocks that are mentioned together: what is placed beside them, and their copies, removals, moves and new colors."""

from collections.abc import Iterator, Sequence

import numpy as np

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.grid import DIAGONALS, INSIDE, KINDS, Cells
from harness.baselines.parser.minecraft.properties import (
    COLUMNS,
    SENSES,
    SHIFTS,
    SLANTS,
    STANDS,
    WIDTH,
    Gathered,
    Option,
    Proposals,
    Setting,
    marked,
    placed,
    rows,
    taken,
)
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.words import LARGEST

FEW, MANY = 10, 40
"""Sets of at most FEW blocks are moved and recolored, sets of at most MANY are copied, removed and built upon."""
REACH = np.arange(1, LARGEST + 1)[:, None]
_SIDES = ("of leftmost", "of rightmost", "of top", "of bottom", "of farthest", "of nearest")
_SHIFTED = np.concatenate([np.array(SENSES), 2 * np.array(SENSES)])[:, None]
"""One step in each direction, then two."""


class Groups:
    """Sets of blocks by the names of their properties."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        sets = dict(_sets(setting))
        last = setting.scene.last
        self.few = {"of last": np.array([last])} if last >= 0 else {}
        self.few |= {name: cells for name, cells in sets.items() if len(cells) <= FEW}
        self.parts = [part for name, cells in sets.items() for part in _parts(name, cells)]


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
    """Yields a set of several blocks, its ends, its corners, and its outermost layers."""
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
    """Blocks next to each block of a set, as many as a number says, or on both sides of a set."""
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
    return found.proposals(setting, color)


def _rims(cells: Cells) -> list[Cells]:
    """For each direction, the cells that have no other cell of the set next to them."""
    rims = ~grid.mask(cells)[cells + grid.STEPS[:, None]]
    return [cells[rim] for rim in rims]


def copies(setting: Setting, color: int) -> list[Proposals]:
    """Copies of what was placed last or is named, moved or mirrored, in its colors or in another one."""
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
    """The middles of earlier turns' blocks, over which something may be mirrored."""
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
    return [*found, *sets.proposals(setting)]


def moved(groups: Groups) -> list[Proposals]:
    """Sets of blocks removed and placed elsewhere."""
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
    return found.proposals(groups.setting, color, gone=True)


def undone(scene: DiscourseScene) -> list[Proposals]:
    """Restores what was removed last."""
    back = scene.taken[scene.codes[scene.taken // KINDS] == 0] if len(scene.taken) else scene.taken
    if not len(back):
        return []
    return [Proposals(back[None], marked(np.zeros((1, WIDTH), np.float32), "undo"))]
