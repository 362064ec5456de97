"""The two grid worlds: states, actions, feasibility and geometry. Immutable values, no input or output."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, Self, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

World = Literal["hexagons", "minecraft"]
_Cell = TypeVar("_Cell")


def pieces(cells: Iterable[_Cell], touching: Callable[[_Cell], Iterable[_Cell]]) -> list[tuple[_Cell, ...]]:
    """The connected components, in the order of their first cells; in each, the cells keep their order."""
    order = {cell: number for number, cell in enumerate(cells)}
    left, found = set(order), list[tuple[_Cell, ...]]()
    for first in order:
        if first in left:
            left.remove(first)
            piece = [first]
            for cell in piece:
                piece += (new := [near for near in touching(cell) if near in left])
                left.difference_update(new)
            found.append(tuple(sorted(piece, key=order.__getitem__)))
    return found


class Cells:
    """An immutable state of a world. Equal states compare and hash equal."""

    __slots__ = ("cells",)

    cells: "npt.NDArray[np.uint8]"

    def __init__(self, cells: "npt.NDArray[np.uint8]") -> None:
        object.__setattr__(self, "cells", cells)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__.lower()} is immutable")

    def __reduce__(self) -> "tuple[type[Self], tuple[npt.NDArray[np.uint8]]]":
        return type(self), (self.cells,)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool((self.cells == other.cells).all())

    def __hash__(self) -> int:
        return hash(self.cells.tobytes())
