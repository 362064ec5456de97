"""What both worlds' compressors share: the length of a program, and cycles of colors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from serialization.program import ast
from serialization.program.figure import Figure
from serialization.program.machine import Machine

LONGEST_NAME = 4
"""A function's name counts as at most this many characters: a common word is as easy to say as a short one."""
UNION, TIMES = 2, 3
"""The lengths of `+` and `*`, in characters: joining terms and counting cells take more thought than a character."""
LONGEST = 8
"""Most runs of a color in a cycle; people do not write longer cycles."""
Way = tuple[Literal["by", "along"], str]

_LONG_NAMES = re.compile(r"[a-z]{5,}(?=\()")


def length(text: str) -> float:
    """The code length of a text, roughly in characters."""
    names = sum(len(name) - LONGEST_NAME for name in _LONG_NAMES.findall(text))
    return len(text) - names + (UNION - 1) * text.count("+") + (TIMES - 1) * text.count("*")


def cycles(expr: ast.Expr, cells: Figure, colors: Mapping[Any, str], machine: Machine) -> Iterator[ast.PaintSet]:
    """Statements that paint all cells of a set in their colors. Empty if a cell of the set has no color."""
    order = list(cells)
    if len(order) < 2 or any(cell not in colors for cell in order):
        return
    yield from _paint([[colors[cell]] for cell in order], expr, None)
    for name in (*machine.groups, "object"):
        groups = machine.grouped(cells, name)
        if not 1 < len(groups) < len(order):
            continue
        shades = [[colors[cell] for cell in group] for group in groups]
        if all(len(set(group)) == 1 for group in shades):
            yield from _paint([group[:1] for group in shades], expr, ("by", name))
        longest = max(shades, key=len)
        if all(_agree(group, longest) for group in shades):
            yield from _paint([[color] for color in longest], expr, ("along", name))


def _agree(group: Sequence[str], longest: Sequence[str]) -> bool:
    return list(group) == list(longest[: len(group)])


def _paint(colors: Sequence[Sequence[str]], expr: ast.Expr, way: Way | None) -> Iterator[ast.PaintSet]:
    told = [one for group in colors for one in group]
    period = next(n for n in range(1, len(told) + 1) if all(one == told[k % n] for k, one in enumerate(told)))
    cycle = tuple((color, len(list(run))) for color, run in groupby(told[:period]))
    if 1 < len(cycle) <= LONGEST:
        yield ast.PaintSet(cycle, expr, way)
