"""A feasible order for placing blocks: the program's if possible, otherwise lowest first; what floats gets temporary supports."""

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush

from harness.worlds.minecraft import Action, Cell, bridge, held, touching

Blocks = dict[Cell, str]


def ordered(before: Mapping[Cell, str], changes: Iterable[tuple[Cell, str | None]]) -> list[Action]:
    """Feasible actions for changes in the region: cells with their new colors (None: remove the block). Removals carry no color.

    Placements keep their order, but a block that nothing holds yet waits until something does. If nothing ever does, blocks that
    lead to it are placed first and removed afterwards. A removal follows all changes requested before it.
    """
    site = _Site(dict(before))
    for cell, color in changes:
        if color is not None:
            site.waiting[cell] = color
        else:
            site.settle()
            site.remove(cell)
    site.settle()
    return site.actions


class _Site:
    """The blocks, the pending placements, and the actions so far."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.waiting: Blocks = {}
        self.actions: list[Action] = []
        self._ready: list[tuple[int, Cell]] = []
        """A heap of waiting cells that something holds, lowest first."""

    def settle(self) -> None:
        """Places all waiting blocks, those that nothing holds with supports."""
        temporary: list[Cell] = []
        self._ready = [(cell[1], cell) for cell in self.waiting if held(cell, self.blocks)]
        heapify(self._ready)
        while self.waiting:
            first = next(iter(self.waiting))
            if cell := (first if held(first, self.blocks) else self._lowest()):
                self._place(cell, self.waiting.pop(cell))
            else:
                # Below the lowest waiting block are free cells, down to the ground or to a block: there is always a way.
                way = bridge(self.waiting, self.waiting, self.blocks)
                for cell in way:
                    self._place(cell, self.waiting[first])
                temporary += way
        for cell in reversed(temporary):
            self.remove(cell)

    def remove(self, cell: Cell) -> None:
        if self.blocks.pop(cell, None):
            self.actions.append(Action("remove", None, *cell))

    def _place(self, cell: Cell, color: str) -> None:
        self.blocks[cell] = color
        self.actions.append(Action("place", color, *cell))
        for near in touching(cell):
            if near in self.waiting:
                heappush(self._ready, (near[1], near))

    def _lowest(self) -> Cell | None:
        """The lowest waiting cell that something holds."""
        while self._ready:
            cell = heappop(self._ready)[1]
            if cell in self.waiting:
                return cell
        return None
