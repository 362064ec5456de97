"""Lists what a clause may ask for: blocks in a row, beside each of some blocks, figures, copies, removals, moves.

Except for figures, diagonals and what `told` reads, everything is proposed whatever the words are; the words give the colors, the
numbers and the blocks of a color to try.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.grid import AROUND, FAR, GROUND, INSIDE, KINDS, NEARBY, STEPS, UP, Cells
from harness.baselines.parser.minecraft.groups import FEW, Groups, beside, copies, moved, recolored, removed, undone
from harness.baselines.parser.minecraft.properties import COLUMNS, WIDTH, Option, Proposals, Setting, marked, placed, rows
from harness.baselines.parser.minecraft.scene import DiscourseScene
from harness.baselines.parser.minecraft.told import told
from harness.baselines.parser.minecraft.words import LEXICON, ClauseInContext, spoken_of
from harness.worlds.minecraft import CODES

NUMBERS = 3
"""Only this many numbers of a clause are tried."""
_PLANES = (("flat", grid.LEFT, grid.BEHIND), ("faces", grid.LEFT, UP), ("sideways", grid.BEHIND, UP))


def propose(clause: ClauseInContext, scene: DiscourseScene) -> list[Proposals]:
    """Everything that a clause may ask for; the first proposal is to do nothing."""
    nothing = np.zeros((1, WIDTH), np.float32)
    nothing[0, [COLUMNS["nothing"], COLUMNS["nothing more"]]] = 1, scene.done > 0
    found = [Proposals(np.full((1, 1), -1), nothing)]
    counts = _counts(clause, scene)
    plain = [count for count in counts if not {"count as before", "count less one"} & set(count.names)]
    known: dict[bytes, Groups] = {}
    for color in _colors(clause, scene):
        groups = _groups(scene, _named(clause, scene, color.value), known)
        setting = groups.setting
        begin = starts(clause, setting)
        placements = [*_runs(clause, begin, setting, counts, color.value), *beside(groups, plain, color.value)]
        placements += [*_figures(clause, begin, setting, color.value), *copies(setting, color.value)]
        for proposals in placements:
            for name in color.names:
                proposals.properties[:, COLUMNS[name]] = 1
            found.append(proposals)
        found += recolored(groups, color.value)
    groups = _groups(scene, _named(clause, scene, 0), known)
    found += [*removed(groups, counts), *moved(groups), *undone(scene)]
    if scene.has_compass:
        found += told(clause, groups.setting)
    return [one for one in found if len(one.actions)]


def _groups(scene: DiscourseScene, named: Cells, known: dict[bytes, Groups]) -> Groups:
    key = named.tobytes()
    if key not in known:
        known[key] = Groups(Setting(scene, named))
    return known[key]


def _colors(clause: ClauseInContext, scene: DiscourseScene) -> list[Option]:
    told = [(CODES[color], role) for color, role in clause.colors]
    last = int(scene.codes[scene.last]) if scene.last >= 0 else 0
    names: dict[int, list[str]] = {}
    for n, (code, role) in enumerate(told):
        names.setdefault(code, []).append(f"color {role}")
        names[code] += ["color later"] if n else []
    if all(role == "there" for _, role in told):
        for code, name in ((last, "color as before"), (scene.named, "color named before")):
            if code and (not told or name == "color as before"):
                names.setdefault(code, []).append(name)
    elif last in names:
        names[last].append("color as before")
    only = ("color only",) if len(names) == 1 else ()
    return [Option(code, (*dict.fromkeys(found), *only)) for code, found in list(names.items())[:3]] or [Option(1, ())]


def _named(clause: ClauseInContext, scene: DiscourseScene, color: int) -> Cells:
    """The blocks of the clause's other colors; if it has none, the blocks of this color if the clause mentions existing ones."""
    there = [CODES[name] for name, _ in clause.colors if CODES[name] != color]
    told = [CODES[name] for name, role in clause.colors if role == "there"]
    return scene.of_color(there or told)


def _counts(clause: ClauseInContext, scene: DiscourseScene) -> list[Option]:
    found: dict[int, list[str]] = {}
    for n, (value, role) in enumerate(clause.numbers[:NUMBERS]):
        found.setdefault(value, []).append(f"count {role}")
        found[value] += ["count later"] if n else []
        if role == "size" and value > 1:
            found.setdefault(value - 1, []).append("count less one")
    if 1 not in found:
        found[1] = ["count unsaid"] if clause.numbers else ["one unsaid"]
    before = len(scene.group)
    if 1 < before < 10:
        found.setdefault(before, []).append("count as before")
    return [Option(value, tuple(dict.fromkeys(names))) for value, names in found.items()]


def starts(clause: ClauseInContext, setting: Setting) -> Cells:
    """The free cells where a row or a figure may begin."""
    scene, blocks = setting.scene, setting.blocks
    near = [(blocks[:, None] + STEPS).ravel(), np.array([cell for cell in scene.aimed if cell >= 0], np.intp)]
    if scene.last >= 0:
        near += [scene.last + NEARBY, scene.last + FAR]
    if 0 < len(setting.named) <= FEW:
        near += [(setting.named[:, None] + AROUND).ravel(), (setting.named[:, None] + FAR).ravel()]
    if not len(blocks) or spoken_of("GROUND", clause.texts):
        near.append(GROUND)
    found = grid.mask(np.concatenate(near)) & INSIDE & ~setting.occupied
    return np.flatnonzero(found)


def _runs(clause: ClauseInContext, begin: Cells, setting: Setting, counts: Sequence[Option], color: int) -> list[Proposals]:
    found = []
    slanting = spoken_of("SLANTING", clause.texts)
    for count in counts:
        one = rows(begin, count.value, slanting)
        one = one.within(setting.free)
        properties = marked(placed(one.cells, setting, color), "run", *count.names)
        one.mark(properties)
        going = one.steps != 0
        if count.value > 1:
            near, beyond = (setting.scene.codes[one.cells[:, 0] - k * one.steps] for k in (1, 2))
            properties[:, COLUMNS["prolongs"]] = (near > 0) & (beyond > 0)
            properties[:, COLUMNS["prolongs its color"]] = (near == color) & (beyond == color)
        properties[:, COLUMNS["runs on"]] = (one.cells[:, 0] - setting.scene.last == one.steps) & going
        properties[:, COLUMNS["runs as before"]] = (abs(one.steps) == abs(setting.going)) & going
        found.append(Proposals(one.cells * KINDS + color, properties))
    return found


def _figures(clause: ClauseInContext, begin: Cells, setting: Setting, color: int) -> list[Proposals]:
    """Rectangles, their borders, and letters, if the words speak of figures."""
    texts, found = clause.texts, []
    wanted = [letter for word, letter in LEXICON.categories["LETTER"].items() if word in texts]
    if clause.size is None and not wanted and not spoken_of("FIGURE", texts):
        return []
    numbers = [value for value, _ in clause.numbers if value > 1]
    size = clause.size or ((numbers[0], numbers[1]) if len(numbers) > 1 else (numbers[0], numbers[0]) if numbers else (3, 3))
    for (name, one, two), signs in product(_PLANES, product((1, -1), repeat=2)):
        for (wide, deep), said in ((size, True), (size[::-1], False)):
            if wide == deep and not said:
                continue
            for shape in ["square", "hollow", *wanted]:
                offsets = _offsets(shape, wide, deep, one * signs[0], two * signs[1])
                if not len(offsets):
                    continue
                cells = begin[:, None] + offsets
                cells = cells[setting.free[cells].all(1)]
                if len(cells):
                    properties = marked(placed(cells, setting, color), "figure", name, shape)
                    properties[:, COLUMNS["size as said"]] = said
                    found.append(Proposals(cells * KINDS + color, properties))
    return found


def _offsets(shape: str, wide: int, deep: int, one: int, two: int) -> Cells:
    full = [(a, b) for b in range(deep) for a in range(wide)]
    kept = {
        "square": full,
        "hollow": [(a, b) for a, b in full if a in (0, wide - 1) or b in (0, deep - 1)] if min(wide, deep) > 2 else [],
        "L": [(a, b) for a, b in full if a == 0 or b == 0],
        "U": [(a, b) for a, b in full if a in (0, wide - 1) or b == 0],
        "T": [(a, b) for a, b in full if b == deep - 1 or a == wide // 2] if wide % 2 else [],
        "plus": [(a, b) for a, b in full if b == deep // 2 or a == wide // 2] if wide % 2 and deep % 2 else [],
    }[shape]
    return np.array([a * one + b * two for a, b in kept], np.intp)
