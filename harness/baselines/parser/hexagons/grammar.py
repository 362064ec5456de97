"""Loads grammar.txt, which explains its notation: patterns become regular expressions, meanings become functions."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.hexagons.lexicon import COSTS
from harness.baselines.parser.hexagons.meaning import OF_PARTS, OF_WORDS, OfParts, OfWords, Term, with_piece
from harness.baselines.parser.notation import pattern_regex, read_lines, symbols

SYMBOLS = symbols(COSTS)
"""The character that stands for each category of words in matched text."""


class PhraseRule(NamedTuple):
    """Turns adjacent words into a value of a category."""

    name: str
    category: str
    pattern: re.Pattern[str]
    means: OfWords
    score: float


class Rule(NamedTuple):
    """Turns two neighbors, or a single part, into a value of a category."""

    name: str
    category: str
    left: str
    right: str
    """Empty if the rule has one part."""
    means: OfParts
    score: float
    joined: bool
    """Whether a comma or "and" must join them, as in a list."""
    together: bool
    """Whether no comma or "and" may stand between them."""


class Grammar(NamedTuple):
    """The phrases and rules of grammar.txt, in its order."""

    phrases: tuple[PhraseRule, ...]
    rules: tuple[Rule, ...]

    def scores(self) -> dict[str, float]:
        """The hand-set score of each line, by its name."""
        return {phrase.name: phrase.score for phrase in self.phrases} | {rule.name: rule.score for rule in self.rules}


_SCORED = re.compile(r"\s*(-?[0-9]+\.[0-9]+)\s+(([a-z_]+): (.+) -> (.+))")


def read_grammar(text: str) -> Grammar:
    """The phrases and rules of a text. Raises a ValueError that names the first invalid line."""
    lines: list[PhraseRule | Rule] = read_lines(text, SYMBOLS, _line)
    phrases = tuple(line for line in lines if isinstance(line, PhraseRule))
    return Grammar(phrases, tuple(line for line in lines if isinstance(line, Rule)))


def _line(line: str, section: str, parts: Mapping[str, str]) -> PhraseRule | Rule | None:
    scored = _SCORED.fullmatch(line)
    if not scored:
        return None
    score, name, category, pattern, meaning = scored.groups()
    if section == "phrases":
        compiled = re.compile(pattern_regex(pattern, SYMBOLS, parts))
        return PhraseRule(name, category, compiled, _of_words(meaning), float(score))
    return _rule(name, category, pattern.split(), meaning, float(score))


def _rule(name: str, category: str, made_of: list[str], meaning: str, score: float) -> Rule:
    joined, together = made_of[1:2] == ["AND"], made_of[1:3] == ["no", "AND"]
    parts = [made_of[0], made_of[-1]] if joined or together else made_of
    if len(parts) > 2:
        raise ValueError("a rule has one or two parts")
    left, right = (*parts, "")[:2]
    return Rule(name, category, left, right, _of_parts(meaning, parts), score, joined, together)


_APPLIED = re.compile(r"([a-z_]+)\((.+)\)")


def _of_words(meaning: str) -> OfWords:
    """The function of `meaning` with that name, or one that builds a term whose arguments are constants, or categories, each of
    which stands for the value of the phrase's first word of the category."""
    if meaning in OF_WORDS:
        return OF_WORDS[meaning]
    applied = _APPLIED.fullmatch(meaning)
    op, args = (applied[1], applied[2].split(", ")) if applied else (meaning, [])
    if unknown := [arg for arg in args if arg.isupper() and arg not in SYMBOLS]:
        raise ValueError(f"no category is called {unknown[0]!r}")
    return lambda match: Term(op, tuple(match.value(arg) if arg in SYMBOLS else arg for arg in args))


def _of_parts(meaning: str, parts: Sequence[str]) -> OfParts:
    """A function that returns one part unchanged, adds pieces to a frame, or applies a function of `meaning` or an operation to
    the parts in the order given."""
    if applied := _APPLIED.fullmatch(meaning):
        order = _order(applied[2].split(", "), parts)
        op = applied[1]
        make = OF_PARTS.get(op) or (lambda *args: Term(op, args))
        if order == [0, 1] or len(parts) == 1:
            return make
        return (lambda left, right: make(right, left)) if order == [1, 0] else lambda *both: make(*(both[n] for n in order))
    frame, *pieces = meaning.split(" + ")
    if not pieces:
        (at,) = _order([frame], parts)
        return lambda *both: both[at]
    if frame not in parts:
        order = _order(pieces, parts)
        return lambda *both: Term(frame, tuple(Term(parts[n], (both[n],)) for n in order))
    first, second = _order([frame, *pieces], parts)
    piece = parts[second]
    return lambda *both: with_piece(both[first], both[second], piece)


def _order(names: Sequence[str], parts: Sequence[str]) -> list[int]:
    """The index of the part that each name means; of two parts of a category, the first one comes first. Raises ValueError for a
    name that is not a part."""
    order: list[int] = []
    for name in names:
        free = [n for n, part in enumerate(parts) if part == name and n not in order]
        if not free:
            raise ValueError(f"{name!r} is not among the parts")
        order.append(free[0])
    return order


GRAMMAR = read_grammar((Path(__file__).parent / "grammar.txt").read_text(encoding="utf-8"))
