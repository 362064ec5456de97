"""The two grid worlds: states, actions, feasibility and geometry. Immutable values, no input or output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

World = Literal["hexagons", "minecraft"]


class Cells:
    """An immutable state of a world. Equal states compare and hash equal."""

    __slots__ = ("cells",)

    cells: npt.NDArray[np.uint8]

    def __init__(self, cells: npt.NDArray[np.uint8]) -> None:
        object.__setattr__(self, "cells", cells)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__.lower()} is immutable")

    def __reduce__(self) -> tuple[type[Self], tuple[npt.NDArray[np.uint8]]]:
        return type(self), (self.cells,)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool((self.cells == other.cells).all())

    def __hash__(self) -> int:
        return hash(self.cells.tobytes())
