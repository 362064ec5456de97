"""The notation of grammar.txt, which says there what it is: patterns become regular expressions over one character for each word,
meanings become functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.baselines.parser.hexagons.lexicon import COSTS
from harness.baselines.parser.hexagons.meaning import OF_PARTS, OF_WORDS, OfParts, OfWords, Term, with_piece

SYMBOLS = dict(zip(COSTS, map(chr, range(0x4E00, 0x4E00 + len(COSTS))), strict=True))
"""The character that stands for a category of words in what is matched: any that mean nothing in a regular expression."""


class Phrase(NamedTuple):
    """Words in a row that stand for something of a category."""

    name: str
    category: str
    pattern: re.Pattern[str]
    means: OfWords
    score: float
    example: str
    """An instruction for which it is used, after earlier steps, each with "|" behind it."""


class Rule(NamedTuple):
    """Two neighbors, or one thing alone, and what they make."""

    name: str
    category: str
    left: str
    right: str
    """Nothing if the rule is of one thing."""
    means: OfParts
    score: float
    joined: bool
    """Whether only a list's comma or "and" may stand between them."""
    together: bool
    """Whether no comma or "and" may stand between them."""
    example: str
    """An instruction for which it is used, after earlier steps, each with "|" behind it."""


class Grammar(NamedTuple):
    """What grammar.txt holds, in its order."""

    phrases: tuple[Phrase, ...]
    rules: tuple[Rule, ...]

    def scores(self) -> dict[str, float]:
        """What each line is worth before anything is learned, by its name."""
        return {phrase.name: phrase.score for phrase in self.phrases} | {rule.name: rule.score for rule in self.rules}


_SCORED = re.compile(r"\s*(-?[0-9]+\.[0-9]+)\s+(([a-z_]+): (.+) -> (.+))")
_PART = re.compile(r"([a-z_]+) = (.+)")
_EXAMPLE = re.compile(r"\s+(\S.*)")


def read_grammar(text: str) -> Grammar:
    """The phrases and rules of a text in the notation. Raises ValueError that names the line where it is none."""
    parts: dict[str, str] = {}
    made: list[Phrase | Rule] = []
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if line in ("[parts]", "[phrases]", "[rules]"):
                section = line
            elif scored := _SCORED.fullmatch(line):
                score, name, category, pattern, meaning = scored.groups()
                if section == "[phrases]":
                    compiled = re.compile(_Pattern(pattern, parts).regex())
                    made.append(Phrase(name, category, compiled, _of_words(meaning), float(score), ""))
                else:
                    made.append(_rule(name, category, pattern.split(), meaning, float(score)))
            elif part := _PART.fullmatch(line):
                parts[part[1]] = _Pattern(part[2], parts).regex()
            elif made and (example := _EXAMPLE.fullmatch(line)):
                made[-1] = made[-1]._replace(example=example[1])
            elif line and not line.startswith("#"):
                raise ValueError("neither a part, a phrase, a rule nor an example")
        except (ValueError, re.error) as error:
            raise ValueError(f"line {number}, {line.strip()!r}: {error}") from None
    return Grammar(tuple(one for one in made if isinstance(one, Phrase)), tuple(one for one in made if isinstance(one, Rule)))


def _rule(name: str, category: str, made_of: list[str], meaning: str, score: float) -> Rule:
    joined, together = made_of[1:2] == ["AND"], made_of[1:3] == ["no", "AND"]
    parts = [made_of[0], made_of[-1]] if joined or together else made_of
    if len(parts) > 2:
        raise ValueError("a rule is of one or two parts")
    left, right = (*parts, "")[:2]
    return Rule(name, category, left, right, _of_parts(meaning, parts), score, joined, together, "")


_WORDS = re.compile(r"\s*((?:not_)?(?:before|after)\(|other_than\(|[a-z]+=|[A-Z_]+|[a-z_]+|[][()|+*])")


class _Pattern:
    """A pattern as it is read, from left to right."""

    def __init__(self, pattern: str, parts: dict[str, str]) -> None:
        self._left = _WORDS.findall(pattern)
        if "".join(self._left) != pattern.replace(" ", ""):
            raise ValueError("not in the notation")
        self._parts = parts

    def regex(self) -> str:
        found = self._choice()
        if self._left:
            raise ValueError(f"{self._left[0]!r} comes from nowhere")
        return found

    def _choice(self) -> str:
        return _either(self._ways())

    def _ways(self) -> list[str]:
        """Each of some alternatives."""
        ways = [""]
        while self._left and self._left[0] not in (")", "]"):
            if self._left[0] == "|":
                self._left.pop(0)
                ways.append("")
            else:
                ways[-1] += self._piece()
        return ways

    def _piece(self) -> str:
        found = self._atom(self._left.pop(0))
        if self._left[:1] in (["+"], ["*"]):
            return f"(?:{found}){self._left.pop(0)}"
        return found

    def _atom(self, word: str) -> str:
        if word in SYMBOLS:
            return SYMBOLS[word]
        if word in self._parts:
            return f"(?:{self._parts[word]})"
        if word in ("start", "end"):
            return "^" if word == "start" else "$"
        if word.endswith("=") and self._left:
            return f"(?P<{word[:-1]}>{self._atom(self._left.pop(0))})"
        if word not in _GROUPS or not self._left:
            raise ValueError(f"no category and no part is called {word!r}")
        ways = self._ways()
        if self._left[:1] != ["]" if word == "[" else ")"]:
            raise ValueError(f"{word!r} is not closed")
        self._left.pop(0)
        return _GROUPS[word](ways)


def _either(ways: list[str]) -> str:
    if len(ways) == 1:
        return ways[0]
    return f"[{''.join(ways)}]" if all(len(way) == 1 for way in ways) else f"(?:{'|'.join(ways)})"


_GROUPS: dict[str, Callable[[list[str]], str]] = {
    "(": _either,
    "[": lambda ways: f"(?:{_either(ways)})?",
    "before(": lambda ways: f"(?={'|'.join(ways)})",
    "not_before(": lambda ways: f"(?!{'|'.join(ways)})",
    "after(": lambda ways: _either([f"(?<={way})" for way in ways]),
    "not_after(": lambda ways: "".join(f"(?<!{way})" for way in ways),
    "other_than(": lambda ways: f"[^{''.join(ways)}]",
}
"""A lookbehind has a fixed width, so that each alternative gets its own."""
_APPLIED = re.compile(r"([a-z_]+)\((.+)\)")


def _of_words(meaning: str) -> OfWords:
    """A function of `meaning` by its name, or an operation on constants and on the values of the first words of categories."""
    if meaning in OF_WORDS:
        return OF_WORDS[meaning]
    applied = _APPLIED.fullmatch(meaning)
    op, args = (applied[1], applied[2].split(", ")) if applied else (meaning, [])
    if unknown := [arg for arg in args if arg.isupper() and arg not in SYMBOLS]:
        raise ValueError(f"no category is called {unknown[0]!r}")
    return lambda said: Term(op, tuple(said.value(arg) if arg in SYMBOLS else arg for arg in args))


def _of_parts(meaning: str, parts: Sequence[str]) -> OfParts:
    """One of the parts as it is, a frame with pieces, or a function of `meaning` or an operation, of parts in any order."""
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
    """Which parts some names mean; of two parts of a category, the first one first."""
    order: list[int] = []
    for name in names:
        free = [n for n, part in enumerate(parts) if part == name and n not in order]
        if not free:
            raise ValueError(f"{name!r} is not among the parts")
        order.append(free[0])
    return order


GRAMMAR = read_grammar((Path(__file__).parent / "grammar.txt").read_text(encoding="utf-8"))
