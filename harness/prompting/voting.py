"""Combines several answers drawn for an item: takes the one that the others agree with most, the likeliest one, or all changes
that enough answers make.

The first has the highest expected F1 if each of the others may be the right answer (minimum Bayes risk decoding, Kumar and Byrne
2004). The last suits micro F1: its expected value is highest for the set of all changes whose probability is more than half of
that value. If a model's F1 is far below 1, this set has many more changes than the model's likeliest answer.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from harness.corpora.item import HexagonsItem, Item
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action, Structure, feasible_order, net_actions


def changes(item: Item, actions: Sequence[Any]) -> Set[Any]:
    """The changes that the actions make to the item's state, as the scores count them."""
    if isinstance(item, HexagonsItem):
        return set(item.before.diff(item.before.apply(actions).board))
    return net_actions(item.before, item.before.apply(actions).structure)


def most_agreed(drawn: Sequence[Set[Any]]) -> tuple[int, float]:
    """The index of the set whose mean F1 with all of them is highest (ties go to the first), and that mean."""
    means = [sum(_f1(one, other) for other in drawn) / len(drawn) for one in drawn]
    best = max(range(len(means)), key=lambda n: means[n])
    return best, means[best]


def likeliest(drawn: Sequence[tuple[float, int]]) -> int:
    """The index of the answer with the highest mean log-probability per token; ties go to the first.

    `drawn` holds each answer's summed log-probability and its number of tokens. The sum alone would prefer short answers, most of
    all the one that does nothing.
    """
    return max(range(len(drawn)), key=lambda n: drawn[n][0] / max(1, drawn[n][1]))


def _f1(one: Set[Any], other: Set[Any]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def vote(item: Item, drawn: Sequence[Sequence[Any]], share: float) -> list[Any]:
    """The changes of the item's state that at least `share` of the drawn answers make, 0..1, as actions in a feasible order."""
    if isinstance(item, HexagonsItem):
        return _voted_tiles(item.before, drawn, share)
    return voted(item.before, Counter(tuple(actions) for actions in drawn), share)


def _voted_tiles(before: Board, drawn: Sequence[Sequence[Paint]], share: float) -> list[Paint]:
    """The tiles with enough votes; of two colors for one tile, the one with more votes."""
    votes = Counter(change for actions in drawn for change in before.diff(before.apply(actions).board))
    enough = [paint for paint, count in votes.items() if count >= share * len(drawn)]
    enough.sort(key=lambda paint: (-votes[paint], paint))
    first = {paint.tile: paint for paint in reversed(enough)}
    return sorted(first.values())


def voted(before: Structure, drawn: Mapping[tuple[Action, ...], int], share: float) -> list[Action]:
    """The changes that at least `share` of the draws make, 0..1, in an order in which they can be carried out.

    `drawn` maps each answer to how often it was drawn. Of two blocks for one cell, the one with more votes is placed; blocks that
    nothing supports are left out.
    """
    votes: Counter[Action] = Counter()
    for actions, count in drawn.items():
        for change in net_actions(before, before.apply(actions).structure):
            votes[change] += count
    enough = [change for change, count in votes.items() if count >= share * sum(drawn.values())]
    enough.sort(key=lambda change: (-votes[change], change.cell, change.kind, str(change.color)))
    wanted = {(change.cell, change.kind): change for change in reversed(enough)}
    order = feasible_order(before, [change for change in enough if wanted[change.cell, change.kind] is change])
    return [change if change.kind == "place" else change._replace(color=None) for change in order]
