"""Typed meanings: what a span of words stands for before anything is known about the board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Term(NamedTuple):
    """An operation and its arguments: terms, numbers, words. `execute.OPERATIONS` says what each operation does."""

    op: str
    args: tuple[object, ...] = ()

    def __str__(self) -> str:
        return f"({' '.join([self.op, *map(_written, self.args)])})" if self.args else self.op


def _written(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) and not isinstance(value, Term) else str(value)


def pieces_of(frame: Sequence[object]) -> dict[str, Term]:
    """What is said of a frame, by type; the first of two of a type."""
    return {piece.op: piece.args[0] for piece in reversed(frame) if isinstance(piece, Term) and isinstance(piece.args[0], Term)}


class Edge(NamedTuple):
    """A reading of the words `start`..`end` - 1 as a value of a type of the grammar."""

    start: int
    end: int
    type: str
    score: float
    term: Term
    rules: tuple[str, ...]
    """The names of what made it, a bag."""
    covered: int
    """A bit for each word that is used."""
