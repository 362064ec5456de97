"""What stops a program: an error with its place, and the budget of steps and cells."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from harness.errors import HarnessError

Place = tuple[int, int]
"""Line and column, counted from 1; (0, 0) for a piece of a program that no text was read for."""


class ProgramError(HarnessError):
    """A program cannot be read or run. `line` and `column` count from 1; both are 0 where there is no text."""

    def __init__(self, problem: str, at: Place = (0, 0)) -> None:
        self.problem = problem
        self.at = at
        self.line, self.column = at
        super().__init__(f"line {self.line}, column {self.column}: {problem}" if self.line else problem)


@contextmanager
def located(at: Place) -> Iterator[None]:
    """Gives this place to the errors of what knows none, such as geometry."""
    try:
        yield
    except ProgramError as error:
        raise error if error.line else ProgramError(error.problem, at) from None


def suggestion(name: str, known: Iterable[str]) -> str:
    """` (did you mean ring?)`, or nothing if no known name is near."""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else ""


MAX_STEPS = 100_000
"""Evaluated nodes and cells touched, once more for each repetition that moves them; a whole board costs 180 a statement."""
MAX_CELLS = 4_000
"""Cells of one set: more than either world with its margin holds in use."""


class Budget:
    """`steps` are left."""

    steps = MAX_STEPS

    def spend(self, steps: int, at: Place = (0, 0)) -> None:
        """Raises ProgramError when nothing is left."""
        self.steps -= steps
        if self.steps < 0:
            raise ProgramError("the program takes too many steps", at)

    def admit(self, cells: int, at: Place = (0, 0)) -> None:
        """Pays for a set and raises ProgramError if it is too large."""
        if cells > MAX_CELLS:
            raise ProgramError(f"a set of more than {MAX_CELLS:,} cells", at)
        self.spend(1 + cells, at)
