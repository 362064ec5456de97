"""How well a program fits its instruction, by the constructions and numbers of both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.corpora.wording import NUMBERS, ORDINALS
from serialization.program import ast
from serialization.program.written import write

_CONSTRUCTIONS = {
    "ring": (r"ring|circ(le|ular)|flower|around|surround|adjacent|touch|border|next to|donut", "ring near flower"),
    "line": (r"line|diagonal|connect|straight|slant|descend|ascend", "line ray until diagonal"),
    "triangle": (r"triang|pyramid|stair", "triangle"),
    "repeat": (
        r"repeat|again|cop(y|ies)|duplicat|replicat|continu|more|each|another|same|every|times|parallel|all the way",
        "repeat",
    ),
    "copy": (r"repeat|again|cop(y|ies)|duplicat|replicat|recreat|same|step|previous|identical|another|just", "step shift"),
    "mirror": (r"mirror|reflect|symmetr|opposite|flip|invert|other (side|half)|rotat|upside", "reflect flip rotate"),
    "cycle": (r"alternat|pattern|sequence|in (this |that |the following )?order|then|followed|rainbow|respectively", ""),
    "steps": (r"every|alternat|skip|other|odd|even|second|apart|either|both|space", "odd even every"),
    "column": (r"column|vertical", "columns span"),
    "row": (r"row|horizontal|line|long|wide|across|next to", "row rows"),
    "rest": (r"blank|empty|remain|rest|white|uncolou?red|unpainted|others?\b", ""),
    "inside": (r"inside|fill|middle|cent(er|re)|enclos|within|interior|between", "inside fill middle"),
    "outline": (r"outline|border|edge|perimeter|outer|frame", "outline"),
    "beside": (
        r"above|below|under|beneath|on top|top of|next|left|right|behind|front|beside|over|down|up",
        "above below left right on front behind touch",
    ),
    "color": (r"white|black|yellow|green|red|blue|purple|orange", "is"),
    "whole": (r"\ball\b|entire|whole|everything|clear|them", ""),
    "last": (r"\b(that|it|last|this|one)\b|sorry|wrong|instead|just", ""),
    "remove": (r"remove|delete|take|break|get rid|destroy|punch|pick|without|hole|instead|sorry|clear|erase", ""),
    "tower": (r"tower|stack|tall|high|pillar|pole|column|vertical|up|on top", "tower"),
    "plane": (r"\d ?(x|by) ?\d|square|rectang|plane|wall|floor|platform|layer", "plane box"),
    "shape": (r"\b[ltuc]\b|shape|corner|frame|hollow|cross|plus|square|arch", "frame lshape tshape ushape cross corners"),
    "condition": (r"\bif\b|where|unless|depend", ""),
}
"""For each construction, a pattern of the words that ask for it, and the program's functions that count as it."""
_OF_CALL = {call: name for name, (_, calls) in _CONSTRUCTIONS.items() for call in calls.split()}
_NAMES = {"blank": "rest", "all": "whole", "last": "last", "it": "copy"}

ASKED, UNASKED, MISSED = 1.0, -0.6, -0.2
"""Scores of a construction that the program uses and the words ask for, that only the program uses, and that only the words ask
for. Set by hand on the train split, as are the other scores."""
OFTEN = frozenset({"remove", "cycle", "column", "beside", "color", "last", "row", "steps", "tower", "line"})
"""Constructions whose words are so common or vague that a program need not use them: none of these counts as `MISSED`."""
OFTEN_ASKED, OFTEN_UNASKED = 0.4, -0.1
NAMED, EXTRA = 1.0, -0.05
"""Scores if all of the words' numbers are in the program (a share of them scores in proportion), and of each number in the
program that no word names."""
CHARACTER = -0.05
UNSAID = -1.0
_LOOKS = {
    "left": "left",
    "right": "right",
    **dict.fromkeys(("front", "toward"), "front|toward|closer"),
    **dict.fromkeys(("behind", "away"), "behind|back|away"),
}

_SAID = {word: n for words in (NUMBERS, ORDINALS) for n, word in enumerate(words) if n}
_MATCHERS = {name: re.compile(rf"\b(?:{words})" if name != "plane" else words) for name, (words, _) in _CONSTRUCTIONS.items()}


class Fit(NamedTuple):
    """The constructions that a program uses, those that the words ask for, and the score of the match."""

    used: frozenset[str]
    asked: frozenset[str]
    score: float


def fit(instruction: str, program: ast.Program) -> Fit:
    """The fit of a program to an instruction; a higher score is better. A plain program scores by little but its numbers."""
    words = instruction.lower()
    used = frozenset(name for statement in program.statements for name in _constructions(statement))
    asked = frozenset(name for name, matcher in _MATCHERS.items() if matcher.search(words))
    named, written = numbers_said(words), set(_numbers(program.statements))
    both, extra = used & asked, used - asked
    score = ASKED * len(both - OFTEN) + OFTEN_ASKED * len(both & OFTEN) + MISSED * len(asked - used - OFTEN)
    score += UNASKED * len(extra - OFTEN) + OFTEN_UNASKED * len(extra & OFTEN)
    score += NAMED * len(named & written) / len(named) if named else 0.0
    score += EXTRA * len(written - named) + CHARACTER * len(write(program))
    return Fit(used, asked, score)


def unsaid_directions(instruction: str, program: str) -> float:
    """The score of a building program's directions that the words do not name: `UNSAID` for each."""
    return UNSAID * sum(
        not re.search(_LOOKS[way], instruction.lower()) for way in set(re.findall(rf"\b(?:{'|'.join(_LOOKS)})\b", program))
    )


def numbers_said(words: str) -> set[int]:
    """The numbers in a text, in digits or words, including ordinals."""
    numbers = {int(digits) for digits in re.findall(r"(?<!\d)\d{1,2}(?!\d)", words)}
    return numbers | {_SAID[word] for word in re.findall(r"[a-z]+", words) if word in _SAID}


def _parts(value: Any) -> Iterator[Any]:
    """A piece of a program and all pieces within it."""
    yield value
    if isinstance(value, tuple):
        for one in value:
            yield from _parts(one)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            if name != "at":
                yield from _parts(getattr(value, name))


def _numbers(value: Any) -> Iterator[int]:
    for part in _parts(value):
        if isinstance(part, ast.Span):
            yield from (part.first, part.last)
        elif isinstance(part, ast.PaintSet):
            yield from (count for _, count in part.colors if count > 1)


def _constructions(statement: ast.Statement) -> Iterator[str]:
    for part in _parts(statement):
        match part:
            case ast.Call(name):
                yield from (_OF_CALL[name],) if name in _OF_CALL else ()
            case ast.Name(name):
                yield from (_NAMES[name],) if name in _NAMES else ()
            case ast.Span(first, last, step):
                yield from ("steps",) if step > 1 and last != first else ()
            case ast.Tiles((), _):
                yield "row"
            case ast.Numbers((_,)) if isinstance(statement, ast.PaintSet) and statement.what == part:
                yield "column"
            case ast.PaintSet(colors):
                yield from ("cycle",) if len(colors) > 1 else ()
            case ast.Remove():
                yield "remove"
            case ast.Copy():
                yield "copy"
            case ast.Repeat() | ast.For():
                yield "repeat"
            case ast.If():
                yield "condition"
