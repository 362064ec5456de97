"""A weighted chart parser that can skip words, at a cost."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from harness.baselines.parser.hexagons.grammar import GRAMMAR, SYMBOLS, Rule
from harness.baselines.parser.hexagons.lexicon import COSTS, LexiconToken
from harness.baselines.parser.hexagons.meaning import PhraseMatch, Term

BEAM = 2
"""Readings kept per span and category."""
WIDTH = 8
"""Action sequences kept for the words so far."""
LONGEST = 120
"""Only this many words of an instruction are read."""
BREAK = 1.5
"""Cost of combining neighbors from different sentences."""
REACH = 2.5
"""The highest total cost of the words skipped between two neighbors."""
_BROKEN = "break"
_AND, _STOP = SYMBOLS["AND"], SYMBOLS["STOP"]
_SLIGHT = SYMBOLS["OF"] + SYMBOLS["FROM"] + SYMBOLS["PAINT"]
"""Words that may stand next to the "and" of a list."""


class Edge(NamedTuple):
    """A reading of the words `start`..`end` - 1 as a value of a category of the grammar."""

    start: int
    end: int
    category: str
    score: float
    term: Term
    rules: tuple[str, ...]
    """The names of the rules that made it, with repetitions; the order does not matter."""
    covered: int
    """A bit for each word that is used."""


Kept = dict[tuple[int, str], list[Edge]]
"""The best readings, by start and category."""


class Reading(NamedTuple):
    """Actions that an instruction's words stand for, in order."""

    score: float
    actions: tuple[Term, ...]
    rules: tuple[str, ...]
    """The names of the rules that made it; skipped words have no names here."""
    covered: int
    """A bit for each word that was used."""


def default_weights() -> dict[str, float]:
    """The hand-set weights of rules and words, by name; `weights.json` overrides them."""
    return GRAMMAR.scores() | {f"skip {category}": -cost for category, cost in COSTS.items()} | {_BROKEN: -BREAK}


def passed_over(reading: Reading, tokens: list[LexiconToken]) -> list[str]:
    """The names of the weights of the words that a reading does not use."""
    return [f"skip {token.category}" for n, token in enumerate(tokens[:LONGEST]) if not reading.covered >> n & 1]


class Chart:
    """A parser with weights by name; a missing weight has its default."""

    def __init__(self, weights: Mapping[str, float], beam: int = BEAM, width: int = WIDTH) -> None:
        self.weights = default_weights() | dict(weights)
        self._beam, self._width = beam, width
        self._pairs: dict[str, dict[str, list[tuple[Rule, str, float]]]] = {}
        self._singles: dict[str, list[tuple[Rule, str, float]]] = defaultdict(list)
        for rule in GRAMMAR.rules:
            after = self._pairs.setdefault(rule.right, {}) if rule.right else self._singles
            after.setdefault(rule.left, []).append((rule, rule.name, self.weights[rule.name]))

    def read(self, tokens: list[LexiconToken]) -> list[Reading]:
        """The best readings, best first: at least one, which may have no actions."""
        tokens = tokens[:LONGEST]
        words = "".join(SYMBOLS[token.category] for token in tokens)
        costs = [0.0, *accumulate(-self.weights[f"skip {token.category}"] for token in tokens)]
        starting = self._phrases(words, tokens)
        ended: list[dict[str, list[Edge]]] = [{} for _ in range(len(tokens) + 1)]
        for end in range(1, len(tokens) + 1):
            self._close(end, starting[end], ended, costs, words)
        return self._rows(ended, costs)

    def _phrases(self, words: str, tokens: list[LexiconToken]) -> list[list[Edge]]:
        edges: list[list[Edge]] = [[] for _ in range(len(tokens) + 1)]
        for phrase in GRAMMAR.phrases:
            for match in phrase.pattern.finditer(words):
                start, end = match.span()
                if end > start and (term := phrase.means(PhraseMatch(match, tokens))):
                    covered = (1 << end) - (1 << start)
                    edges[end].append(Edge(start, end, phrase.category, self.weights[phrase.name], term, (phrase.name,), covered))
        return edges

    def _close(self, end: int, agenda: list[Edge], ended: list[dict[str, list[Edge]]], costs: list[float], words: str) -> None:
        """Add all readings of spans that end just before the word `end`."""
        kept: Kept = defaultdict(list)
        while agenda:
            edge = agenda.pop()
            if not self._keep(edge, kept[edge.start, edge.category]):
                continue
            start, _, category, score, term, rules, covered = edge
            for rule, name, weight in self._singles.get(category, ()):
                if meaning := rule.means(term):
                    agenda.append(Edge(start, end, rule.category, score + weight, meaning, (*rules, name), covered))
            if category in self._pairs:
                self._look_left(edge, agenda, kept, ended, costs, words)
        by_category = ended[end]
        for (_, category), edges in kept.items():
            by_category.setdefault(category, []).extend(edges)

    def _look_left(
        self, edge: Edge, agenda: list[Edge], kept: Kept, ended: list[dict[str, list[Edge]]], costs: list[float], words: str
    ) -> None:
        """Combine an edge with the edges before it, up to a skipping cost of REACH."""
        wanted, broken, split = self._pairs[edge.category], False, edge.start
        base, cost = edge.score, costs[edge.start]
        while split > 0 and cost - costs[split] <= REACH:
            score = base - (cost - costs[split]) + (self.weights[_BROKEN] if broken else 0.0)
            for category, edges in ended[split].items():
                for rule, name, weight in wanted.get(category, ()):
                    if rule.joined and words[split : edge.start].strip(_SLIGHT) not in (_AND, 2 * _AND):
                        continue
                    if rule.together and _AND in words[split : edge.start]:
                        continue
                    for left in edges:
                        self._together(left, edge, rule, name, score + left.score + weight, broken, agenda, kept)
            split -= 1
            broken = broken or words[split] == _STOP

    def _keep(self, edge: Edge, rivals: list[Edge]) -> bool:
        """Keep a reading if it is among the best of its span and category, in place of the worst; returns whether it is."""
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

    def _together(
        self, left: Edge, right: Edge, rule: Rule, name: str, score: float, broken: bool, agenda: list[Edge], kept: Kept
    ) -> None:
        rivals = kept.get((left.start, rule.category), ())
        if len(rivals) >= self._beam and all(rival.score >= score for rival in rivals):
            return
        if term := rule.means(left.term, right.term):
            rules = (*left.rules, *right.rules, name, _BROKEN) if broken else (*left.rules, *right.rules, name)
            agenda.append(Edge(left.start, right.end, rule.category, score, term, rules, left.covered | right.covered))

    def _rows(self, ended: list[dict[str, list[Edge]]], costs: list[float]) -> list[Reading]:
        best: list[list[Reading]] = [[Reading(0.0, (), (), 0)]]
        for end in range(1, len(ended)):
            passed = costs[end] - costs[end - 1]
            ways: list[tuple[float, Reading, Edge | None]] = [
                (reading.score - passed, reading, None) for reading in best[end - 1]
            ]
            for edge in ended[end].get("action", ()):
                ways += [(reading.score + edge.score, reading, edge) for reading in best[edge.start]]
            ways.sort(key=lambda way: -way[0])
            best.append(self._distinct(ways))
        return best[-1]

    def _distinct(self, ways: list[tuple[float, Reading, Edge | None]]) -> list[Reading]:
        kept: dict[tuple[Term, ...], Reading] = {}
        for score, reading, edge in ways:
            actions = (*reading.actions, edge.term) if edge else reading.actions
            if actions in kept:
                continue
            rules, covered = ((*reading.rules, *edge.rules), reading.covered | edge.covered) if edge else reading[2:]
            kept[actions] = Reading(score, actions, rules, covered)
            if len(kept) == self._width:
                break
        return list(kept.values())
