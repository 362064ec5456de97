"""What stops a program: an error with its position, and the budget of steps and cells."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from harness.errors import HarnessError

Place = tuple[int, int]
"""Line and column, counted from 1; (0, 0) for a piece of a program that was not parsed from a text."""


class ProgramError(HarnessError):
    """A program cannot be parsed or run. `line` and `column` count from 1; both are 0 if there is no text."""

    def __init__(self, problem: str, at: Place = (0, 0)) -> None:
        self.problem = problem
        self.at = at
        self.line, self.column = at
        super().__init__(f"line {self.line}, column {self.column}: {problem}" if self.line else problem)


@contextmanager
def located(at: Place) -> Iterator[None]:
    """Adds this position to errors that lack one, such as those of the geometry."""
    try:
        yield
    except ProgramError as error:
        raise error if error.line else ProgramError(error.problem, at) from None


def suggestion(name: str, known: Iterable[str]) -> str:
    """` (did you mean ring?)`, or an empty string if no known name is similar."""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else ""


MAX_STEPS = 100_000
"""The limit on evaluated nodes plus cells; a cell counts again for each repetition that moves it. Painting a whole HEXAGONS
board costs 180 steps a statement."""
MAX_CELLS = 4_000
"""The limit on the cells of one set: more than a sensible program needs in either world with its margin."""


class Budget:
    """The steps that a program may still take."""

    steps = MAX_STEPS

    def spend(self, steps: int, at: Place = (0, 0)) -> None:
        """Raises ProgramError if fewer steps than these are left."""
        self.steps -= steps
        if self.steps < 0:
            raise ProgramError("the program takes too many steps", at)

    def admit(self, cells: int, at: Place = (0, 0)) -> None:
        """Spends the steps of a set. Raises ProgramError if the set is too large or too few steps are left."""
        if cells > MAX_CELLS:
            raise ProgramError(f"a set of more than {MAX_CELLS:,} cells", at)
        self.spend(1 + cells, at)
