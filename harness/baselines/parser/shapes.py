"""Named shapes: rings and triangles."""

from __future__ import annotations

from collections import Counter
from typing import cast

from harness.baselines.parser.copies import shifted
from harness.baselines.parser.directions import WAYS, number, run, way
from harness.baselines.parser.meaning import Term, pieces_of
from harness.baselines.parser.memory import Memory, NoMeaningError
from harness.baselines.parser.regions import tiles
from harness.worlds.hexagons import ROWS, Tile, neighbors, on_board, step


def ring(memory: Memory, *pieces: Term) -> None:
    """A ring of six around a tile, or beside another ring."""
    parts = pieces_of(pieces)
    color = str(parts["K"].args[0]) if "K" in parts else memory.color
    if "V" in parts:
        direction, of = cast(tuple[Term, Term], parts["V"].args)
        known = tiles(of, memory)
        middle = Tile(sum(t.row for t in known) // len(known), sum(t.column for t in known) // len(known))
        towards = way(direction, memory)
        centers = run(middle, towards, 3)[-1:] if towards not in "lr" else [shifted(middle, 4 if towards == "r" else -4, 0)]
    elif "R" in parts:
        around = parts["R"]
        centers = tiles(cast(Term, around.args[1]) if around.op == "around" else around, memory)
    else:
        raise NoMeaningError("a ring around what?")
    if "a" in parts:
        centers = [step(center, "down" if parts["a"].args[0] == "t" else "up") for center in centers]
    for center in centers[:6]:
        whole = Tile(min(max(center.row, 1 - center.column % 2), ROWS - 1 - center.column % 2), min(max(center.column, 1), 16))
        memory.paint(neighbors(whole if len(centers) == 1 else center), color, over=False)


def triangle(memory: Memory, *pieces: Term) -> None:
    """A triangle on a vertical side, to the right or the left: a tile less in each column."""
    parts = pieces_of(pieces)
    color = str(parts["K"].args[0]) if "K" in parts else memory.color
    count = number(parts["N"].args[0]) if "N" in parts else 0
    if "Q" in parts:
        count, color = number(parts["Q"].args[0]), str(parts["Q"].args[1])
    side = {3: 2, 6: 3, 10: 4, 15: 5, 21: 6}.get(count, count) if "Q" in parts or count > 5 else count
    base = tiles(parts["R"], memory) if "R" in parts else list(memory.last)
    base = [tile for tile in base if tile.column == base[0].column] if base else base
    if len(base) == 1 and side > 1:
        base = run(base[0], "u" if base[0].row > ROWS / 2 else "d", side - 1)
        base = [*(tiles(parts["R"], memory) if "R" in parts else memory.last)[:1], *base]
    if len(base) < 2:
        raise NoMeaningError("a triangle on what?")
    towards = "l" if "D" in parts and way(parts["D"], memory)[-1] == "l" else "r"
    column = set(base)
    while column:
        memory.paint(sorted(tile for tile in column if on_board(*tile)), color, over=False)
        beyond = Counter(step(tile, WAYS[vertical + towards]) for tile in column for vertical in "ud")
        column = {tile for tile, touched in beyond.items() if touched == 2}
