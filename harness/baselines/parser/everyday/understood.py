"""What a reader of ordinary requests understood."""

from __future__ import annotations

from typing import NamedTuple


class Understood(NamedTuple):
    """A request as a program, and what was not understood of it."""

    program: str
    confidence: float
    """0..1; 0 where nothing was understood."""
    unknown: tuple[str, ...]
    """The words that are not known."""
    question: str | None
    """What would be asked back: `Where?`."""
