"""The papers' numbers, as printed, and whether they are comparable with a score of ours.

Percent: action-based F1 and EM for HEXAGONS, micro net-action F1 for Minecraft. `second_hand` marks a
number taken from a summary of its paper, or worked out from a difference in its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Published:
    """A row of a paper: what was scored, and the result. `items` is the number of scored items, 0 if unknown."""

    task: str
    benchmark: str
    split: str
    items: int
    system: str
    setting: str
    values: Mapping[str, float]
    source: str
    second_hand: bool = False


HEXAGONS_PAPER = '"Draw Me a Flower", TACL 2022'
BAP_PAPER = "Jayannavar et al., ACL 2020"
BAP_V2_PAPER = "BAP v2, arXiv 2501.10836"

# History: F1 and EM on test of DeBERTa, then of T5 (Table 8).
_HISTORIES = {
    "no-history": (36.38, 21.19, 36.84, 21.63),
    "one-previous": (37.51, 20.31, 38.94, 23.17),
    "full-history": (46.15, 25.39, 43.60, 26.49),
    "predicted-board": (40.70, 24.28, 40.21, 26.49),
    "full-history+predicted-board": (40.47, 21.19, 38.56, 23.40),
    "oracle-board": (43.52, 22.74, 43.31, 28.03),
    "full-history+oracle-board": (49.55, 25.61, 48.11, 31.35),
}


def _hexagons(split: str, system: str, setting: str, **values: float) -> Published:
    return Published("hexagons", "action", split, {"dev": 446, "test": 453}[split], system, setting, values, HEXAGONS_PAPER)


def _bap(
    benchmark: str, items: int, system: str, setting: str, source: str, values: Mapping[str, float], *, second_hand: bool = False
) -> Published:
    return Published("minecraft", benchmark, "test", items, system, setting, values, source, second_hand)


PUBLISHED = (
    _hexagons("dev", "human", "mean of two Verifiers", em=77.35),
    _hexagons("dev", "rules", "naive baseline", f1=14.34, em=7.85),
    _hexagons("test", "human", "mean of two Verifiers", f1=82.06, em=72.30),
    _hexagons("test", "rules", "naive baseline", f1=13.15, em=5.96),
    *(_hexagons("test", "DeBERTa", history, f1=f1, em=em) for history, (f1, em, _, _) in _HISTORIES.items()),
    *(_hexagons("test", "T5", history, f1=f1, em=em) for history, (_, _, f1, em) in _HISTORIES.items()),
    _bap("legacy", 1616, "CNN + GRU", "first model", BAP_PAPER, {"f1": 11.8}, second_hand=True),
    _bap("legacy", 1616, "CNN + GRU", "H3, 4x augmentation, perspective", BAP_PAPER, {"f1": 21.2}),
    _bap("legacy", 1575, "Nebula", "Llama-3-8B QLoRA, own split", "arXiv 2406.18164", {"f1": 39.0}, second_hand=True),
    _bap("legacy", 0, "GPT-4", "few-shot, retrieved examples, code", "arXiv 2406.17553", {"f1": 39.0}, second_hand=True),
    _bap("v2", 1155, "CNN + GRU", "H3", BAP_V2_PAPER, {"f1": 27.3}),
    _bap("v2", 1155, "Nebula", "Llama-3-8B QLoRA", BAP_V2_PAPER, {"f1": 47.0}, second_hand=True),
    _bap("v2", 1155, "Llama-CRAFTS", "Llama-3-8B QLoRA, synthetic data", BAP_V2_PAPER, {"f1": 53.0}),
)


def beside(scores: Mapping[str, Any]) -> list[tuple[Published, str]]:
    """Published rows to show next to some scores, each with the reason why it is not comparable; empty if it is.

    Rows of the same task and split; for a split without rows, those of test.
    """
    rows = [row for row in PUBLISHED if row.task == scores["task"]]
    split = scores["split"] if any(row.split == scores["split"] for row in rows) else "test"
    return [(row, _obstacle(row, scores)) for row in rows if row.split == split]


def _obstacle(row: Published, scores: Mapping[str, Any]) -> str:
    if row.split != scores["split"]:
        return f"{row.split} split"
    if row.benchmark != scores.get("benchmark", "action"):
        return f"{row.benchmark} benchmark"
    if not row.items:
        return "items unknown"
    return "" if row.items == scores["items"] else f"{row.items:,} items"
