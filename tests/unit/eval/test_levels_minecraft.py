"""Level 1 and level 2: their items, and the separate judgment of each dimension."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from eval.levels_minecraft import DIMENSIONS, judge_build, judge_change, score
from harness.corpora.item import MinecraftItem
from harness.corpora.records import load_items
from harness.simulators.minecraft.levels import PLACES, Build, level_1, level_2
from harness.worlds.minecraft import Action, Structure
from tests.helpers import Command
from tests.helpers.scored import perfect, write_lines

Cell = tuple[int, int, int]

#: Nebula's counts.
COUNTS = {"tower": 504, "square": 216, "diagonal": 168, "row": 168, "diamond": 144, "rectangle": 144, "cube": 24}


def order(shape: str, size: int = 3, location: str | None = None, orientation: str | None = None) -> dict[str, Any]:
    return Build(shape, "red", size, location, orientation).meta


def reds(cells: Iterable[Cell], color: str = "red") -> list[Action]:
    return [Action("place", color, *cell) for cell in sorted(cells, key=lambda cell: cell[1])]


def box(x: range, y: range, z: range) -> list[Cell]:
    return list(product(x, y, z))


def wrong(meta: dict[str, Any], actions: list[Action]) -> set[str]:
    return {name for name, right in judge_build(meta, actions).items() if not right} - {"whole structure"}


# --- the sets ---


def test_gold_is_right_in_everything() -> None:
    first = list(level_1(0))
    assert Counter(item.meta["shape"] for item in first) == COUNTS
    scores = score(first, [item.actions for item in first])
    assert {name: scores[name]["accuracy"] for name in DIMENSIONS} == dict.fromkeys(DIMENSIONS, 1.0)
    assert [scores[name]["items"] for name in ("color", "location", "orientation")] == [
        1368,
        1026,
        (504 + 216 + 144 + 144) * 2 // 3,
    ]
    some = list(level_2(0))[::4]
    scores = score(some, [item.actions for item in some])
    assert scores["overall"]["right"] == scores["overall"]["items"] == 684


# --- level 1, by hand ---


@pytest.mark.parametrize(
    ("shape", "size", "cells"),
    [
        ("row", 4, [(x, 1, 2) for x in range(4)]),
        ("tower", 4, [(2, y, 2) for y in range(1, 5)]),
        ("diagonal", 3, [(0, 1, 0), (1, 1, -1), (2, 1, -2)]),
        ("square", 3, box(range(3), range(1, 2), range(3))),
        ("square", 3, box(range(3), range(1, 4), range(2, 3))),
        ("diamond", 3, [(0, 1, 0), (1, 1, 0), (-1, 1, 0), (0, 1, 1), (0, 1, -1)]),
        ("diamond", 3, [(1, 1, 0), (-1, 1, 0), (0, 1, 1), (0, 1, -1)]),
        ("cube", 3, box(range(3), range(1, 4), range(3))),
        ("cube", 3, [cell for cell in box(range(3), range(1, 4), range(3)) if cell != (1, 2, 1)]),
    ],
)
def test_shapes(shape: str, size: int, cells: list[Cell]) -> None:
    meta = order(shape, size)
    assert not wrong(meta, reds(cells))
    assert wrong(meta | {"size": size + 1}, reds(cells)) == {"size"}
    assert wrong(meta | {"color": "blue"}, reds(cells)) == {"color"}
    assert wrong(meta, [*reds(cells), *reds([(5, 1, 6)])]) == {"in bounds"}
    others = {"row", "tower", "diagonal", "square", "rectangle", "diamond", "cube"} - {shape}
    assert {other for other in others if "shape" not in wrong(order(other) | {"size": size}, reds(cells))} == set()


# --- level 2, by hand ---


def change(kind: str, blocks: list[Cell]) -> MinecraftItem:
    """An order to place a blue block at some red ones, or to remove one of them; the first is the one that was placed last."""
    wanted = {"order": "place", "color": "blue"} if kind in PLACES else {"order": "remove", "color": "red"}
    meta = {"build": order("row"), "kind": kind, "last": list(blocks[0]), **wanted}
    return replace(next(level_2(0)), before=Structure.of([(*cell, "red") for cell in blocks]), meta=meta)


ROW = [(0, 1, 0), (1, 1, 0), (2, 1, 0)]
TOWER = [(0, 1, 0), (0, 2, 0), (0, 3, 0)]


@pytest.mark.parametrize(
    ("kind", "right", "not_right"),
    [
        ("on top of", [(0, 2, 0), (2, 2, 0)], [(3, 1, 0), (0, 1, 1), (5, 1, 5)]),
        ("to the side of", [(3, 1, 0), (-1, 1, 0), (1, 1, 1)], [(0, 2, 0), (4, 1, 0), (3, 1, 1)]),
        ("not touching", [(4, 1, 0), (5, 1, 5)], [(3, 1, 0), (1, 2, 0)]),
    ],
)
def test_placing(kind: str, right: list[Cell], not_right: list[Cell]) -> None:
    item = change(kind, ROW)
    assert all(judge_change(item, reds([cell], "blue")) for cell in right)
    assert not any(judge_change(item, reds([cell], "blue")) for cell in not_right)
    assert not judge_change(item, reds(right[:1]))
    assert not judge_change(item, reds([right[0], (-5, 1, -5)], "blue"))


@pytest.mark.parametrize(
    ("kind", "blocks", "right"),
    [
        ("any", ROW, ROW),
        ("last", ROW, [(0, 1, 0)]),
        ("bottom", TOWER, [(0, 1, 0)]),
        ("center", ROW, [(1, 1, 0)]),
        ("end", ROW, [(0, 1, 0), (2, 1, 0)]),
        ("corner", box(range(3), range(1, 2), range(3)), [(0, 1, 0), (2, 1, 0), (0, 1, 2), (2, 1, 2)]),
    ],
)
def test_removing(kind: str, blocks: list[Cell], right: list[Cell]) -> None:
    item = change(kind, blocks)
    assert [cell for cell in blocks if judge_change(item, [Action("remove", None, *cell)])] == sorted(right)
    assert not judge_change(item, [Action("remove", None, *cell) for cell in blocks])
    assert not judge_change(item, reds([(-5, 1, -5)]))


@pytest.mark.parametrize(("level", "whole"), [(1, "whole structure"), (2, "overall")])
def test_the_score_command_judges_a_level(level: int, whole: str, command: Command, empty_folder: None) -> None:
    command("simulate", f"level-{level}", "--items", 40, "--out", "items.jsonl")
    score = ["score", write_lines("answers.jsonl", perfect(load_items(Path("items.jsonl")))), "--items", "items.jsonl"]
    found = json.loads(command(*score, "--json")[1])["level"]
    assert found["level"] == level
    assert found[whole] == {"right": 40, "items": 40, "accuracy": 1.0, "interval": [1.0, 1.0]}
    assert f"level {level}" in command(*score)[1]
