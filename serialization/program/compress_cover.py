"""The shortest union of terms that covers a set of tiles, for the compressor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from serialization.program.ast import Expr, plus
from serialization.program.compress_terms import UNION, Term, length
from serialization.program.written import write_expression


class Cover(NamedTuple):
    """A union of terms."""

    mask: int
    expr: Expr
    cost: float


def cover(needed: int, terms: Iterable[Term], count: int = 1, beam: int = 6, options: int = 10) -> list[Cover]:
    """The shortest unions of terms that hold all needed tiles, shortest first, at most `count`; by beam search.

    Each step covers the first tile that is not covered yet by one of the terms that hold it.
    """
    by_tile: dict[int, list[Term]] = defaultdict(list)
    for one in dict.fromkeys(terms):
        held = one.mask & needed
        while held:
            low = held & -held
            by_tile[low].append(one)
            held ^= low
    states: list[tuple[float, int, tuple[Term, ...]]] = [(0.0, 0, ())]
    done: dict[str, Cover] = {}
    while states:
        following: dict[int, tuple[float, int, tuple[Term, ...]]] = {}
        for cost, covered, chosen in states:
            left = needed & ~covered
            ranked = sorted(by_tile[left & -left], key=lambda t: (t.cost + UNION) / (t.mask & left).bit_count())
            for one in ranked[:options]:
                new = (cost + one.cost + UNION * bool(chosen), covered | (one.mask & needed), (*chosen, one))
                if new[1] == needed:
                    union = _union(_useful(new[2], needed))
                    done.setdefault(write_expression(union.expr), union)
                elif new[1] not in following or new[0] < following[new[1]][0]:
                    following[new[1]] = new
        limit = sorted(union.cost for union in done.values())[:count][-1] if len(done) >= count else float("inf")
        open_states = [state for state in following.values() if state[0] < limit]
        share = {state[1]: state[0] / state[1].bit_count() for state in open_states}
        states = sorted(open_states, key=lambda state: (share[state[1]], state[0], state[1]))[:beam]
    return sorted(done.values(), key=lambda union: union.cost)[:count]


def _useful(chosen: Sequence[Term], needed: int) -> list[Term]:
    """Without those, the longest first, whose needed tiles the others hold."""
    kept = list(chosen)
    for one in sorted(chosen, key=lambda one: -one.cost):
        others = [other for other in kept if other is not one]
        if not needed & ~reduce(or_, (other.mask for other in others), 0):
            kept = others
    return kept


def _union(chosen: Sequence[Term]) -> Cover:
    mask = 0
    for one in chosen:
        mask |= one.mask
    # From the left, as it is read.
    expr = plus(one.expr for one in sorted(chosen, key=lambda one: (one.mask & -one.mask, -one.mask)))
    return Cover(mask, expr, length(write_expression(expr)))
