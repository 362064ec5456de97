"""Answers drawn from a builder model vote: what is answered is every change of the structure that enough of them make.

A set of changes has the highest micro F1 that can be expected if it holds those whose probability is over half of that F1. For a
model whose F1 is far below 1 they are many more than its likeliest answer has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.worlds.minecraft import Action, Structure, net_actions


def voted(before: Structure, drawn: Mapping[tuple[Action, ...], int], share: float) -> list[Action]:
    """The changes that at least `share` of the draws make, 0..1, in an order in which they can be carried out.

    `drawn` are answers and how often each was drawn. Of two blocks for one cell the one with more votes is placed; what nothing
    supports is left out.
    """
    votes: Counter[Action] = Counter()
    for actions, count in drawn.items():
        for change in net_actions(before, before.apply(actions).structure):
            votes[change] += count
    enough = [change for change, count in votes.items() if count >= share * sum(drawn.values())]
    enough.sort(key=lambda change: (-votes[change], change.cell, change.kind, str(change.color)))
    wanted = {(change.cell, change.kind): change for change in reversed(enough)}
    return in_order(before, [change for change in enough if wanted[change.cell, change.kind] is change])


def in_order(before: Structure, changes: Sequence[Action]) -> list[Action]:
    """Those that can be carried out, each time the first one that can be."""
    done: list[Action] = []
    now, waiting = before, list(changes)
    while (possible := next((change for change in waiting if now.feasible(change)), None)) is not None:
        waiting.remove(possible)
        done.append(possible if possible.kind == "place" else possible._replace(color=None))
        now = now.apply([possible]).structure
    return done
