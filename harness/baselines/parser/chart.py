"""A weighted chart parser over words that passes over what it cannot use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from harness.baselines.parser.combining import combined, wrapped
from harness.baselines.parser.grammar import BREAK, REACH, RULES, SKIP, UNARY, Rule
from harness.baselines.parser.lexicon import LETTERS
from harness.baselines.parser.meaning import Edge, Term
from harness.baselines.parser.phrases import PHRASES
from harness.baselines.parser.tokens import Token

BEAM = 2
"""Readings kept of a span as a type."""
WIDTH = 8
"""Readings kept of the words so far as a row of actions."""
LONGEST = 120
"""Words of an instruction that are read."""
_BROKEN = "break"
_BEFORE = {right: frozenset(rule.left for rule in RULES if rule.right == right) for right in {rule.right for rule in RULES}}


class Reading(NamedTuple):
    """Actions that an instruction's words stand for, in order."""

    score: float
    actions: tuple[Term, ...]
    rules: tuple[str, ...]
    """What made it, by the names of the weights, words passed over left out."""
    covered: int
    """A bit for each word that was used."""


def default_weights() -> dict[str, float]:
    """What rules and words are worth before anything is learned, by name: what `weights.json` may replace."""
    weights = {phrase.name: phrase.score for phrase in PHRASES} | {rule.name: rule.score for rule in (*RULES, *UNARY)}
    return weights | {f"skip {letter}": -SKIP.get(letter, 0.3) for letter in (*LETTERS, "N", "O")} | {_BROKEN: -BREAK}


def passed_over(reading: Reading, tokens: list[Token]) -> list[str]:
    """The names of the weights of the words that a reading does not use."""
    return [f"skip {token.letter}" for n, token in enumerate(tokens[:LONGEST]) if not reading.covered >> n & 1]


class Chart:
    """A parser with its weights, by name; what they lack has its default."""

    def __init__(self, weights: Mapping[str, float], beam: int = BEAM, width: int = WIDTH) -> None:
        self.weights = default_weights() | dict(weights)
        self._beam, self._width = beam, width
        self._pairs: dict[tuple[str, str], list[tuple[Rule, str, float]]] = defaultdict(list)
        for rule in RULES:
            self._pairs[rule.left, rule.right].append((rule, rule.name, self.weights[rule.name]))
        self._singles: dict[str, list[tuple[Rule, str, float]]] = defaultdict(list)
        for rule in UNARY:
            self._singles[rule.left].append((rule, rule.name, self.weights[rule.name]))

    def read(self, tokens: list[Token]) -> list[Reading]:
        """The best readings, best first; one at least, which may hold no action."""
        tokens = tokens[:LONGEST]
        letters = "".join(token.letter for token in tokens)
        costs = [0.0, *accumulate(-self.weights[f"skip {letter}"] for letter in letters)]
        starting = self._phrases(letters, tokens)
        ended: list[dict[str, list[Edge]]] = [{} for _ in range(len(tokens) + 1)]
        for end in range(1, len(tokens) + 1):
            self._close(end, starting[end], ended, costs, letters)
        return self._rows(ended, costs)

    def _phrases(self, letters: str, tokens: list[Token]) -> list[list[Edge]]:
        found: list[list[Edge]] = [[] for _ in range(len(tokens) + 1)]
        for phrase in PHRASES:
            for match in phrase.pattern.finditer(letters):
                start, end = match.span()
                if end > start and (term := phrase.build(match, tokens)):
                    covered = (1 << end) - (1 << start)
                    found[end].append(Edge(start, end, phrase.type, self.weights[phrase.name], term, (phrase.name,), covered))
        return found

    def _close(self, end: int, agenda: list[Edge], ended: list[dict[str, list[Edge]]], costs: list[float], letters: str) -> None:
        """Everything that ends before the word `end`."""
        kept: dict[tuple[int, str], list[Edge]] = defaultdict(list)
        while agenda:
            edge = agenda.pop()
            if not self._keep(edge, kept[edge.start, edge.type]):
                continue
            start, _, type_, score, term, rules, covered = edge
            for rule, name, weight in self._singles.get(type_, ()):
                agenda.append(Edge(start, end, rule.type, score + weight, wrapped(rule, term), (*rules, name), covered))
            wanted = _BEFORE.get(type_)
            if wanted:
                self._look_left(edge, wanted, agenda, ended, costs, letters)
        by_type = ended[end]
        for (_, type_), edges in kept.items():
            by_type.setdefault(type_, []).extend(edges)

    def _look_left(
        self,
        edge: Edge,
        wanted: frozenset[str],
        agenda: list[Edge],
        ended: list[dict[str, list[Edge]]],
        costs: list[float],
        letters: str,
    ) -> None:
        """What an edge makes together with those before it, within reach."""
        broken, split = False, edge.start
        while split > 0 and costs[edge.start] - costs[split] <= REACH:
            for type_, edges in ended[split].items():
                if type_ in wanted:
                    for left in edges:
                        self._together(left, edge, costs[edge.start] - costs[split], broken, letters, agenda)
            split -= 1
            broken = broken or letters[split] == "."

    def _keep(self, edge: Edge, rivals: list[Edge]) -> bool:
        """Whether a reading is among the best of its span and type; what it displaces is taken out."""
        for rival in rivals:
            if rival.term == edge.term:
                if rival.score >= edge.score:
                    return False
                rivals.remove(rival)
                break
        else:
            if len(rivals) >= self._beam:
                worst = min(rivals, key=lambda rival: rival.score)
                if worst.score >= edge.score:
                    return False
                rivals.remove(worst)
        rivals.append(edge)
        return True

    def _together(self, left: Edge, right: Edge, gap: float, broken: bool, letters: str, agenda: list[Edge]) -> None:
        for rule, name, weight in self._pairs[left.type, right.type]:
            if rule.joined and letters[left.end : right.start].strip("ovf") not in (",", ",,"):
                continue
            if term := combined(rule, left.term, right.term):
                score = left.score + right.score + weight - gap + (self.weights[_BROKEN] if broken else 0.0)
                rules = (*left.rules, *right.rules, name, _BROKEN) if broken else (*left.rules, *right.rules, name)
                agenda.append(Edge(left.start, right.end, rule.type, score, term, rules, left.covered | right.covered))

    def _rows(self, ended: list[dict[str, list[Edge]]], costs: list[float]) -> list[Reading]:
        best: list[list[Reading]] = [[Reading(0.0, (), (), 0)]]
        for end in range(1, len(ended)):
            passed = costs[end] - costs[end - 1]
            found = [reading._replace(score=reading.score - passed) for reading in best[end - 1]]
            for edge in ended[end].get("A", ()):
                for r in best[edge.start]:
                    score, rules = r.score + edge.score, (*r.rules, *edge.rules)
                    found.append(Reading(score, (*r.actions, edge.term), rules, r.covered | edge.covered))
            found.sort(key=lambda reading: -reading.score)
            best.append(self._distinct(found))
        return best[-1]

    def _distinct(self, readings: list[Reading]) -> list[Reading]:
        kept: dict[tuple[Term, ...], Reading] = {}
        for reading in readings:
            if kept.setdefault(reading.actions, reading) is reading and len(kept) == self._width:
                break
        return list(kept.values())
