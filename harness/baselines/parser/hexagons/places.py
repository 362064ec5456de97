"""Which tiles a term stands for: the table of operations, which `regions` and `lines` fill."""

from __future__ import annotations

from collections.abc import Callable

from harness.baselines.parser.hexagons.meaning import Term
from harness.baselines.parser.hexagons.memory import Memory, NoMeaningError
from harness.worlds.hexagons import Tile, on_board

Region = Callable[..., list[Tile]]
REGIONS: dict[str, Region] = {}
"""By the name of the operation, a function of the memory and the operation's arguments."""


def region(op: str) -> Callable[[Region], Region]:
    """Enters a function into the table."""

    def entered(function: Region) -> Region:
        REGIONS[op] = function
        return function

    return entered


def tiles(term: Term, memory: Memory) -> list[Tile]:
    """The tiles that a term stands for, in the order in which they are spoken of. Raises NoMeaningError if there are none."""
    operation = REGIONS.get(term.op)
    told = operation(memory, *term.args) if operation else []
    found = [tile for tile in told if on_board(*tile)]
    memory.clipped = memory.clipped or len(found) < len(told)
    if not found:
        raise NoMeaningError(str(term))
    return list(dict.fromkeys(found))
