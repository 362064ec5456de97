"""Minimal items for the scorer's tests, built from blocks or tiles."""

from __future__ import annotations

from collections.abc import Sequence

from harness.corpora.item import HexagonsItem, MinecraftItem
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import FACING, Action, Structure


def builder_turn(name: str, cluster: str, before: Structure, after: Structure) -> MinecraftItem:
    return MinecraftItem(name, "test", (), before, FACING, (), after, cluster, cluster)


def turn(
    before: Sequence[tuple[int, int, int, str]], after: Sequence[tuple[int, int, int, str]], number: int = 0, game: str = "g"
) -> MinecraftItem:
    return builder_turn(f"minecraft/test/{game}/{number}", game, Structure.of(before), Structure.of(after))


def step(before: Sequence[Paint], actions: Sequence[Paint], number: int = 1, procedure: str = "0") -> HexagonsItem:
    start = Board().apply(before).board
    after = start.apply(actions).board
    return HexagonsItem(f"hexagons/test/{procedure}/{number}", "test", "", (), start, (), after, procedure, procedure)


def place(color: str, x: int, y: int, z: int) -> Action:
    return Action("place", color, x, y, z)


def remove(x: int, y: int, z: int) -> Action:
    return Action("remove", None, x, y, z)
