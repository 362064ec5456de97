"""Minimal items for the scorer's tests, built from blocks or tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Structure


class Turn(NamedTuple):
    """A builder's turn."""

    id: str
    cluster: str
    before: Structure
    after: Structure


class Step(NamedTuple):
    """A drawing step."""

    id: str
    cluster: str
    before: Board
    after: Board


def turn(
    before: Sequence[tuple[int, int, int, str]], after: Sequence[tuple[int, int, int, str]], number: int = 0, game: str = "g"
) -> Turn:
    return Turn(f"minecraft/test/{game}/{number}", game, Structure.of(before), Structure.of(after))


def step(before: Sequence[Paint], actions: Sequence[Paint], number: int = 1, procedure: str = "0") -> Step:
    start = Board().apply(before).board
    return Step(f"hexagons/test/{procedure}/{number}", procedure, start, start.apply(actions).board)


def place(color: str, x: int, y: int, z: int) -> Action:
    return Action("place", color, x, y, z)


def remove(x: int, y: int, z: int) -> Action:
    return Action("remove", None, x, y, z)
