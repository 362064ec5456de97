"""A feasible order for placing blocks: the program's if possible, otherwise lowest first; what floats gets temporary supports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from harness.worlds.minecraft import Action, Cell, bridge, held, touching
from serialization.program.errors import Place

Blocks = dict[Cell, str]


class RequestedChange(NamedTuple):
    """A change that a program asks for: a cell, its new color (None: remove the block), and the statement's position."""

    cell: Cell
    color: str | None
    at: Place


def ordered(before: Mapping[Cell, str], changes: Iterable[RequestedChange]) -> tuple[list[Action], list[RequestedChange]]:
    """Feasible actions for the requested changes, and the placements that no support can reach. Removals carry no color.

    Placements keep their order, but a block that nothing holds yet waits until something does. If nothing ever does, blocks that
    lead to it are placed first and removed afterwards. A removal follows all changes requested before it.
    """
    site = _Site(dict(before))
    for change in changes:
        if change.color is not None:
            site.waiting[change.cell] = change
        else:
            site.settle()
            site.remove(change.cell)
    site.settle()
    return site.actions, site.floating


class _Site:
    """The blocks, the pending placements, and the actions so far."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.waiting: dict[Cell, RequestedChange] = {}
        self.actions: list[Action] = []
        self.floating: list[RequestedChange] = []
        self._ready: list[tuple[int, Cell]] = []
        """A heap of waiting cells that something holds, lowest first."""

    def settle(self) -> None:
        """Places all waiting blocks, those that nothing holds with supports; blocks that no support can reach are floating."""
        temporary: list[Cell] = []
        self._ready = [(cell[1], cell) for cell in self.waiting if held(cell, self.blocks)]
        heapify(self._ready)
        while self.waiting:
            first = next(iter(self.waiting))
            if cell := (first if held(first, self.blocks) else self._lowest()):
                self._place(cell, str(self.waiting.pop(cell).color))
            elif way := bridge(self.waiting, self.waiting, self.blocks):
                color = str(next(iter(self.waiting.values())).color)
                for cell in way:
                    self._place(cell, color)
                temporary += way
            else:
                self.floating += self.waiting.values()
                self.waiting.clear()
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
