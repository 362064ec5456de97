"""Scores of live games: how many succeed, how close the others come, and how many turns and corrections they take.

A building game succeeds if the structure is the target, possibly turned by quarters about the vertical axis and shifted along the
ground (`eval.metrics.alignment`); it is exact if it is the target as it stands. A drawing succeeds if its board is the target's.
A game that an error cut short is counted separately and is in none of the numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console

from eval.metrics.alignment import align, net_rows
from eval.printing import numbers_table
from eval.statistics import Floats, ratio, ratio_intervals, ratios
from harness.tasks.registry import world_of
from harness.worlds.hexagons import TILES, Board
from harness.worlds.minecraft import SHAPE, Structure

Game = Mapping[str, Any]
"""A line of play.jsonl, as `harness.play.games` writes it."""

_LABELS = {
    "success": "success",
    "exact": "exact success",
    "f1": "F1 of blocks or tiles",
    "f1_aligned": "block F1, turned and shifted",
    "tiles": "tiles right",
    "at_once": "steps right at once",
    "mended": "of the others, put right by corrections",
    "turns": "turns a game",
    "corrections": "corrections a game",
}
"""The numbers and their names in tables."""
_COUNTS = ("turns", "corrections")
"""The numbers that are not shares."""

Ratios = dict[str, tuple[Floats, Floats]]


def score_games(task: str, games: Sequence[Game]) -> dict[str, Any]:
    """The numbers of some games of a task, shares as fractions 0..1, with 95% intervals over games.

    If no game came to its end, there are no numbers; an interval is None for fewer than two games.
    """
    ended = [game for game in games if game["error"] is None]
    counts = {"task": task, "games": len(games), "errors": len(games) - len(ended)}
    if not ended:
        return {**counts, "intervals": {}}
    of = {key: np.array([float(game[key]) for game in ended]) for key in ("at_once", "steps", "left_wrong", *_COUNTS)}
    parts = _ends(task, ended)
    parts["at_once"] = of["at_once"], of["steps"]
    parts["mended"] = of["steps"] - of["at_once"] - of["left_wrong"], of["steps"] - of["at_once"]
    parts |= {name: (of[name], np.ones(len(ended))) for name in _COUNTS}
    above, below = (np.column_stack([pair[n] for pair in parts.values()]) for n in (0, 1))
    intervals = ratio_intervals(above, below, [game["id"] for game in ended])
    values = {name: ratio(*pair) for name, pair in parts.items()}
    return {**counts, **values, "intervals": dict(zip(parts, intervals, strict=True))}


def outcome(task: str, target: Any, built: Any) -> dict[str, Any]:
    """The scores of one game's end: "success" and "f1", and "exact" and "f1_aligned" (Minecraft) or "tiles" (HEXAGONS)."""
    values = {name: ratio(*pair) for name, pair in _ends(task, [{"target": target, "built": built}]).items()}
    return {name: bool(value) if name in ("success", "exact") else value for name, value in values.items()}


def _ends(task: str, games: Sequence[Game]) -> Ratios:
    return _structures(games) if world_of(task) == "minecraft" else _boards(games)


def _structures(games: Sequence[Game]) -> Ratios:
    built, target = (np.stack([Structure.of(game[key]).cells for game in games]) for key in ("built", "target"))
    empty, ones = np.zeros((len(games), *SHAPE), np.uint8), np.ones(len(games))
    made, wanted = (net_rows(empty, stack) for stack in (built, target))
    best, _ = align(made, wanted, len(games))
    sizes = [np.count_nonzero(stack, axis=(1, 2, 3)).astype(float) for stack in (built, target)]
    same = np.count_nonzero((built == target) & (built > 0), axis=(1, 2, 3)).astype(float)
    together = (sizes[0] + sizes[1]) / 2
    # The mean of the games' own F1, so that large targets weigh no more than small ones.
    return {
        "success": (((best == sizes[0]) & (best == sizes[1])).astype(float), ones),
        "exact": ((built == target).all(axis=(1, 2, 3)).astype(float), ones),
        "f1": (ratios(same, together, 1), ones),
        "f1_aligned": (ratios(best, together, 1), ones),
    }


def _boards(games: Sequence[Game]) -> Ratios:
    built, target = (np.stack([Board.from_digits(game[key]).cells for game in games]) for key in ("built", "target"))
    same, ones = built == target, np.ones(len(games))
    painted = [np.count_nonzero(stack, axis=(1, 2)).astype(float) for stack in (built, target)]
    return {
        "success": (same.all(axis=(1, 2)).astype(float), ones),
        "f1": (ratios(np.count_nonzero(same & (built > 0), axis=(1, 2)), (painted[0] + painted[1]) / 2, 1), ones),
        "tiles": (np.count_nonzero(same, axis=(1, 2)) / TILES, ones),
    }


def shown(scores: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Label, value and interval of each number, as tables show them: shares in percent."""
    for name, label in _LABELS.items():
        if name in scores:
            factor, digits, unit = (1, 2, "") if name in _COUNTS else (100, 1, "%")
            ends = scores["intervals"][name]
            interval = f"[{factor * ends[0]:.{digits}f}, {factor * ends[1]:.{digits}f}]" if ends else ""
            yield label, f"{factor * scores[name]:.{digits}f}{unit}", interval


def print_games(scores: Mapping[str, Any]) -> None:
    """Print what `score_games` returned."""
    caption = f"Over {scores['games'] - scores['errors']} games that came to their end."
    Console().print(numbers_table("", "", "95% interval", rows=shown(scores), caption=caption), highlight=False)
