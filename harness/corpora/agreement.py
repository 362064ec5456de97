"""How far the HEXAGONS verifiers agree with the Instructor, and with each other ("Draw Me a Flower", Table 2).

The release keeps three board-based F1 scores a step, with two decimals (1 is exact): each verifier's board against the
Instructor's, and the two verifiers' against each other. The verifiers' boards themselves are not released, so their
action-based F1 cannot be worked out, and their action-based exact match only between bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from harness.corpora.item import HexagonsItem


def agreement(steps: Iterable[HexagonsItem]) -> dict[str, Any]:
    """Fractions 0..1 over the verified steps, which must be in order within their procedure; None if there are none.

    - board_f1, board_em: against the Instructor: [mean of both verifiers, worse of the two, better of the two]
    - verifiers_f1, verifiers_em: of one verifier against the other
    - action_em: [at least, at most] of the exact match of a verifier's actions
    """
    verified = [step for step in steps if step.meta["agreement_scores"]]
    if not verified:
        return dict.fromkeys(("board_f1", "board_em", "verifiers_f1", "verifiers_em", "action_em"))
    f1 = [step.meta["agreement_scores"] for step in verified]
    em = [[float(score == 1) for score in scores] for scores in f1]
    return {
        "board_f1": _three(f1),
        "board_em": _three(em),
        "verifiers_f1": fmean(scores[2] for scores in f1),
        "verifiers_em": fmean(scores[2] for scores in em),
        "action_em": _action_em(verified, em),
    }


def _three(scores: Sequence[Sequence[float]]) -> list[float]:
    pairs = [of_step[:2] for of_step in scores]
    return [fmean(map(fmean, pairs)), fmean(map(min, pairs)), fmean(map(max, pairs))]


def _action_em(steps: Sequence[HexagonsItem], em: Sequence[Sequence[float]]) -> list[float]:
    """Bounds over all pairs of a verifier and a step, from whether the board was exact before and after the step.

    Exact twice: the actions were right. Wrong twice: they may have been. Exact once only: they were not, but for a verifier
    who comes to the exact board by painting a gold tile that had a wrong color before; that is rare and counts as not.
    """
    before: dict[str, Sequence[float]] = {}
    right = unknown = 0
    for step, (first, second, _) in zip(steps, em, strict=True):
        after = first, second
        for was, now in zip(before.get(step.cluster, (1.0, 1.0)), after, strict=True):
            right += was == now == 1
            unknown += was == now == 0
        before[step.cluster] = after
    pairs = 2 * len(steps)
    return [right / pairs, (right + unknown) / pairs]
