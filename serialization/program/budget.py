"""What a program may cost. A program that costs more is stopped with an error that names the place."""

from __future__ import annotations

from dataclasses import dataclass

from serialization.program.errors import Place, ProgramError

MAX_STEPS = 100_000
"""Evaluated nodes and cells touched, once more for each repetition that moves them; a whole board costs 180 a statement."""
MAX_CELLS = 4_000
"""Cells of one set: more than either world with its margin holds in use."""


@dataclass
class Budget:
    """`steps` are left; `cells` bounds every set."""

    steps: int = MAX_STEPS
    cells: int = MAX_CELLS

    def spend(self, steps: int, at: Place) -> None:
        """Raises ProgramError when nothing is left."""
        self.steps -= steps
        if self.steps < 0:
            raise ProgramError("the program takes too many steps", at)

    def admit(self, cells: int, at: Place) -> None:
        """Pays for a set and raises ProgramError if it is too large."""
        if cells > self.cells:
            raise ProgramError(f"a set of more than {self.cells:,} cells", at)
        self.spend(1 + cells, at)
