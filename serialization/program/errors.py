"""What is wrong with a program, and where."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

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


def suggestion(name: str, known: Iterable[str]) -> str:
    """` (did you mean ring?)`, or nothing if no known name is near."""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else ""
