"""Counts of the corpora, as the papers' tables have them ("Draw Me a Flower", Tables 1, 2, 6; BAP v2, Table 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from harness.corpora import iglu
from harness.corpora.item import HexagonsItem, MinecraftItem
from harness.corpora.minecraft import SPLITS, items
from harness.corpora.minecraft_logs import Game
from harness.worlds.minecraft import net_actions

#: Words and single punctuation marks, as Table 1 counts them.
_TOKEN = re.compile(r"\w+|[^\w\s]")
#: The tags of a step whose board at least one verifier drew exactly.
AGREED = frozenset({"A", "V1", "V2"})


def hexagons_stats(steps: Mapping[str, Sequence[HexagonsItem]]) -> dict[str, Any]:
    """The counts for the steps of each split. Shares and scores are fractions 0..1, None if nothing was verified.

    A procedure counts as agreed if its last step is. Steps that no verifier drew are left out of all shares. "agreement" has the
    board-based scores of the verifiers against the Instructor: the mean of both, the worse of the two, and the better of the two.
    """
    everything = [step for split in steps.values() for step in split]
    rounds = sorted({step.meta["annotation_round"] for step in everything})
    # The release has a third score, of one verifier against the other.
    scores = [step.meta["agreement_scores"][:2] for step in everything if step.meta["agreement_scores"]]
    return {
        "splits": {split: _split_counts(of_split) for split, of_split in steps.items()},
        "rounds": {str(r): _round_counts([s for s in everything if s.meta["annotation_round"] == r]) for r in rounds},
        "total": _round_counts(everything) | _split_counts(everything),
        "agreement": {
            "board_f1": _agreement(scores),
            "board_em": _agreement([[float(score == 1) for score in pair] for pair in scores]),
        },
    }


def _agreement(pairs: Sequence[Sequence[float]]) -> list[float] | None:
    return [fmean(map(of_step, pairs)) for of_step in (fmean, min, max)] if pairs else None


def _split_counts(steps: Sequence[HexagonsItem]) -> dict[str, Any]:
    verified = [step for step in steps if step.meta["agreement_tag"]]
    agreed = [step for step in verified if step.meta["agreement_tag"] in AGREED]
    return {
        "procedures": len({step.cluster for step in steps}),
        "steps": len(steps),
        "gold_actions": sum(len(step.actions) for step in steps),
        "no_action_steps": sum(not step.actions for step in steps),
        "agreed_procedures": sum(step.meta["step"] == step.meta["steps"] for step in agreed),
        "agreed_steps": len(agreed) / len(verified) if verified else None,
    }


def _round_counts(steps: Sequence[HexagonsItem]) -> dict[str, int]:
    return {
        "procedures": len({step.cluster for step in steps}),
        "steps": len(steps),
        "tokens": sum(len(_TOKEN.findall(step.instruction)) for step in steps),
        "images": len({step.group for step in steps}),
    }


def minecraft_stats(games: Iterable[Game]) -> dict[str, Any]:
    """The counts for each split; games without a split are left out."""
    games = list(games)
    return {"splits": {split: _game_counts([game for game in games if game.split == split]) for split in SPLITS}}


def _game_counts(games: Sequence[Game]) -> dict[str, int]:
    return {"games": len(games), "targets": len({game.target for game in games})} | _turn_counts(list(items(games)))


def _turn_counts(of_split: Sequence[MinecraftItem]) -> dict[str, int]:
    placements = sum(action.kind == "place" for item in of_split for action in item.actions)
    actions = sum(len(item.actions) for item in of_split)
    net = [len(net_actions(item.before, item.after)) for item in of_split]
    return {
        "items": len(of_split),
        "actions": actions,
        "placements": placements,
        "removals": actions - placements,
        "net_actions": sum(net),
        "empty_board_items": sum(len(item.before) == 0 for item in of_split),
        "zero_net_items": net.count(0),
    }


def iglu_stats(instructions: Sequence[iglu.Instruction]) -> dict[str, Any]:
    """The counts for each split, and of the lines of the file: how many there are, how many are unclear, and what is left out.

    `left_out` has, for each of `iglu.FAULTS`, the number of lines, why they are left out, and for each line its game and what is
    wrong.
    """
    faults: dict[str, list[list[str]]] = {kind: [] for kind in iglu.FAULTS}
    for told in instructions:
        if told.kind in faults:
            faults[told.kind].append([told.game, told.detail])
    built = [told for told in instructions if told.kind == iglu.BUILT]
    return {
        "splits": {split: _start_counts(list(iglu.items(built, split))) for split in iglu.SPLITS},
        "instructions": {
            "lines": len(instructions),
            "items": len(built),
            "unclear": sum(told.kind == iglu.UNCLEAR for told in instructions),
            "texts": len({told.text for told in built}),
        },
        "left_out": {kind: {"lines": len(lines), "why": iglu.FAULTS[kind], "which": lines} for kind, lines in faults.items()},
    }


def _start_counts(of_split: Sequence[MinecraftItem]) -> dict[str, int]:
    """The counts of a split: how many games its starting worlds are from, of how many structures, and what is built."""
    counts = _turn_counts(of_split)
    removing = sum(any(action.kind == "remove" for action in item.actions) for item in of_split)
    starts = {"games": len({item.cluster for item in of_split}), "structures": len({item.group for item in of_split})}
    return starts | counts | {"removing_items": removing}
