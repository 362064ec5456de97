"""Rectangles, their borders, and letters."""

from __future__ import annotations

from itertools import product

import numpy as np

from harness.baselines.parser.minecraft import grid
from harness.baselines.parser.minecraft.gathered import Proposals, marked
from harness.baselines.parser.minecraft.grammar import LEXICON, spoken_of
from harness.baselines.parser.minecraft.grid import KINDS, UP, Cells
from harness.baselines.parser.minecraft.properties import COLUMNS, Setting, placed
from harness.baselines.parser.minecraft.words import Clause

_PLANES = (("flat", grid.LEFT, grid.BEHIND), ("faces", grid.LEFT, UP), ("sideways", grid.BEHIND, UP))


def figures(clause: Clause, begin: Cells, setting: Setting, color: int) -> list[Proposals]:
    """Rectangles, their borders, and letters."""
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
