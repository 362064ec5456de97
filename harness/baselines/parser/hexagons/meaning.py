"""Meanings: what a span of words stands for, independent of the board. A phrase of grammar.txt builds one from its words, a rule
from the meanings of two neighbors; meanings that are more than an operation and its arguments are built by functions here."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from harness.baselines.parser.hexagons.lexicon import LexiconToken, list_numbers


class Term(NamedTuple):
    """An operation and its arguments: terms, numbers, words. `execute.ACTIONS` and `regions.REGIONS` say what operations do."""

    op: str
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"({' '.join([self.op, *map(_written, self.args)])})" if self.args else self.op


def _written(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) and not isinstance(value, Term) else str(value)


def frame_pieces(frame: Sequence[Term]) -> dict[str, Term]:
    """The pieces of a frame, by category; of two in a category, the first."""
    return {piece.op: piece.args[0] for piece in reversed(frame)}


class PhraseMatch:
    """The words of a phrase, and the roles that some of them have."""

    def __init__(self, match: re.Match[str], tokens: list[LexiconToken]) -> None:
        self._match, self._tokens = match, tokens
        self.words = tokens[match.start() : match.end()]

    def role(self, name: str) -> list[LexiconToken]:
        """The words in a role; empty if the phrase lacks the role."""
        return self._tokens[slice(*self._match.span(name))] if name in self._match.re.groupindex else []

    def has(self, *categories: str) -> bool:
        return any(word.category in categories for word in self.words)

    def value(self, category: str) -> int | str:
        """The value of the first word of a category; 1 if there is none."""
        return next((word.value for word in self.words if word.category == category), 1)

    @property
    def several(self) -> bool:
        return self.words[-1].word.endswith("s")


OfWords = Callable[[PhraseMatch], Term | None]
OfParts = Callable[..., Term | None]


_FAR, _NEAR = ("BOTTOM", "RIGHT", "LAST"), ("TOP", "LEFT")
_WAYS = {
    "UP": "u",
    "ABOVE": "u",
    "TOP": "u",
    "DOWN": "d",
    "BELOW": "d",
    "BOTTOM": "d",
    "LEFT": "l",
    "RIGHT": "r",
    "DIAGONAL": "g",
}
_EDGES = {"TOP": "t", "BOTTOM": "b", "LEFT": "l", "RIGHT": "r", "LAST": "e", "MIDDLE": "m"}


def select(match: PhraseMatch) -> Term | None:
    """Places on an axis: `at` numbers, or the `first` n, counted from the far end if the side says so."""
    side, edge, count = match.role("side"), match.role("edge"), match.role("count")
    end = ("back" if side[-1].category in ("BOTTOM", "RIGHT", "UP") else "fore") if side else ""
    if not edge:
        return Term("at", (tuple(list_numbers(match.role("number"))), end))
    end = "back" if edge[0].category in _FAR else "fore" if edge[0].category in _NEAR else end
    if not count:
        last = edge[0].category == "LAST" and isinstance(edge[0].value, int)
        return Term("at", ((edge[0].value if last else 1,), end))
    return Term("first", (count[0].value, end)) if edge[0].category != "ORDINAL" or edge[0].value == 1 else None


def lone_column(match: PhraseMatch) -> Term | None:
    """ "The 14 column"; None for "two columns"."""
    return None if match.words[1].word.endswith("s") else select(match)


def listed(match: PhraseMatch) -> Term | None:
    """ "The top, third and next to last tile"."""
    fore = tuple(1 if word.category == "TOP" else word.value for word in match.words if word.category in ("TOP", "ORDINAL"))
    back = tuple(word.value if isinstance(word.value, int) else 1 for word in match.words if word.category == "LAST")
    if not fore or not back:
        return None
    return Term("both", (Term("at", (fore, "fore" if match.has("TOP") else "")), Term("at", (back, "back"))))


def two_columns(match: PhraseMatch) -> Term:
    """ "The first and last columns"."""
    first, last = (
        Term("at", ((word.value if word.category == "ORDINAL" else 1,), "back" if word.category in _FAR else "fore"))
        for word in (match.words[0], match.words[2])
    )
    return Term("both", (first, last))


def both_ends(match: PhraseMatch) -> Term:
    """ "The top and bottom two tiles"."""
    first, last = ("fore" if word.category == "TOP" else "back" for word in match.words if word.category in ("TOP", *_FAR))
    return Term("both", (Term("first", (match.value("NUMBER"), first)), Term("first", (match.value("NUMBER"), last))))


def odd(match: PhraseMatch) -> Term:
    return Term(str(match.value("ODD")))


def moved(match: PhraseMatch) -> Term:
    """A number of columns from the last mentioned one."""
    count = int(match.value("NUMBER"))
    return Term("moved", (-count if match.has("LEFT") else count,))


def next_on_both_sides(match: PhraseMatch) -> Term | None:
    """ "The next columns": one on each side of the two that were mentioned last."""
    return Term("outward") if match.several else None


def excepted(match: PhraseMatch) -> Term | None:
    """ "Except"; None for a "but" that only continues the sentence."""
    return None if match.words[-1].word == "but" else Term("but")


def corner(match: PhraseMatch) -> Term:
    down, across = "back" if match.has("BOTTOM") else "fore", "back" if match.has("RIGHT") else "fore"
    return Term("cross", (Term("at", ((1,), down)), Term("at", ((1,), across))))


def row(match: PhraseMatch) -> Term:
    number = match.words[0].value if match.words[0].category == "ORDINAL" else 1
    return Term("cross", (Term("at", ((number,), "back" if match.has("BOTTOM") else "fore")), Term("all")))


def colored(match: PhraseMatch) -> Term:
    """Tiles of a color: all, some or one of them, and on which edge."""
    plural = match.several or match.words[-1].word == "hexes"
    which = "all" if match.words[0].category == "ALL" else "some" if plural else "one"
    edge = match.role("edge")
    place: object = edge[0].value if edge and edge[0].category == "ORDINAL" else _EDGES[edge[0].category] if edge else ""
    return Term("colored", (match.value("COLOR"), which, place))


def colored_shape(match: PhraseMatch) -> Term:
    return Term("colored", (match.value("COLOR"), "some", ""))


def latest_points(match: PhraseMatch) -> Term | None:
    """ "The last two tiles", "the last two points": what was painted last."""
    things = ("points", "dots", "ones", "tiles", "cells")
    return Term("latest", (match.value("NUMBER"),)) if match.words[-1].word in things else None


def around_that(match: PhraseMatch) -> Term:
    return Term("around", (Term("around"), Term("that")))


def edge(match: PhraseMatch) -> Term:
    return Term("edge", (_EDGES[match.words[0].category],))


def side(match: PhraseMatch) -> Term:
    return Term("side", ("l" if match.has("LEFT") else "r",))


def far_sides(match: PhraseMatch) -> Term:
    """The far sides from which to count."""
    return Term("from", ("b" * match.has("BOTTOM") + "r" * match.has("RIGHT"),))


def direction(match: PhraseMatch) -> Term | None:
    """None for "top leftmost", which is a place."""
    if match.has("TOP", "BOTTOM") and any(word.word.endswith("most") for word in match.words):
        return None
    letters = {_WAYS.get(word.category) for word in match.words}
    return Term("direction", ("".join(letter for letter in "udlrg" if letter in letters),))


def both_sides(match: PhraseMatch) -> Term:
    return Term("ways", (Term("direction", ("l",)), Term("direction", ("r",))))


def _run_lengths(op: str, match: PhraseMatch) -> Term | None:
    """ "Two red, one white, three blue" (runs), and "alternating two red and a white" (cycle)."""
    runs: list[tuple[int, object]] = []
    count = 1
    for word in match.words:
        if word.category == "NUMBER":
            count = int(word.value)
        elif word.category in ("COLOR", "WHITE"):
            runs.append((count, word.value if word.category == "COLOR" else "white"))
            count = 1
    return Term(op, tuple(runs)) if match.has("COLOR") else None


def steps(match: PhraseMatch) -> Term:
    return Term("steps", tuple(list_numbers(match.words)))


def line(match: PhraseMatch) -> Term:
    """A line; several lines start from everything mentioned last."""
    return Term("line", _several(match))


def diagonal(match: PhraseMatch) -> Term:
    return Term("line", (Term("slant", (Term("direction", ("g",)),)), *_several(match)))


def _several(match: PhraseMatch) -> tuple[Term, ...]:
    return (Term("several", (Term("several"),)),) if match.several else ()


def with_piece(frame: Term, piece: Term, category: str) -> Term | None:
    """A frame with one more piece; None if it has such a piece already. Columns may be given twice: from where and to where."""
    if sum(given.op == category for given in frame.args) > (category == "columns"):
        return None
    return Term(frame.op, (*frame.args, Term(category, (piece,))))


def paint(color: Term, what: Term) -> Term | None:
    """None for a line whose tiles were counted with their color."""
    if what.op == "line" and any(piece.op == "colored_count" for piece in what.args):
        return None
    return Term("paint", (color, what))


def union(one: Term, two: Term) -> Term | None:
    """None if "and the next" starts another action."""
    goes_on = two.op == "next" or (two.op == "turned" and two.args[0].op == "next")
    return None if goes_on else Term("union", (one, two))


def around(by: Term, what: Term) -> Term:
    return what if what.op == "around" else Term("around", (by, what))


def _both(what: str, one: Term, two: Term) -> Term:
    """ "Column 3 and every other one": every other column from column 3 on."""
    if two.op == "every_other" and one.op == "at":
        return Term("every_other_from", (Term(what, (one,)),))
    return Term("both", (one, two))


def starting(what: Term, start: Term) -> Term | None:
    """Every other one, from a start given afterwards; None if nothing needs a start."""
    if what.op == "every_other":
        return Term("every_other_from", (start,))
    for n, arg in enumerate(what.args):
        if isinstance(arg, Term) and (changed := starting(arg, start)):
            return Term(what.op, (*what.args[:n], changed, *what.args[n + 1 :]))
    return None


def ways(one: Term, two: Term) -> Term:
    return Term("ways", tuple(way for term in (one, two) for way in (term.args if term.op == "ways" else (term,))))


def turned(what: Term, towards: Term) -> Term | None:
    """None if a direction is already given: "the next two below, up and to the left"."""
    if what.op == "turned" and _leads(what.args[1]) and _leads(towards):
        return None
    return Term("turned", (what, towards))


def turned_aslant(what: Term, towards: Term) -> Term | None:
    """ "The lower left tile"; None for "the upper tile"."""
    return turned(what, towards) if len(str(towards.args[0])) > 1 else None


def _leads(towards: Term) -> bool:
    """Whether a term is a direction by itself, not merely "diagonally"."""
    return towards.op == "ways" or "g" not in towards.args[0]


def in_columns(action: Term, columns: Term) -> Term:
    if action.op in ("mention", "go"):
        return Term("then", (action, Term("go", (columns,))))
    return Term("in_columns", (action, columns))


def line_run(start: Term, run: Term) -> Term | None:
    """A number of tiles in a direction, of which the first is given."""
    if run.op != "turned" or run.args[0].op != "count":
        return None
    return Term("line", (Term("start", (start,)), Term("count", (run.args[0],)), Term("direction", (run.args[1],))))


def merge(one: Term, two: Term) -> Term | None:
    """One line that was described in two parts; None if both say the same."""
    ops = [piece.op for piece in (*one.args, *two.args) if piece.op != "several"]
    return Term(one.op, (*one.args, *two.args)) if len(set(ops)) == len(ops) else None


def counted(count: Term, color: Term) -> Term:
    return Term("counted", (*count.args, *color.args))


def but_tiles(which: Term) -> Term:
    return Term("but", (Term("tiles", (which,)),))


def until(action: Term, stop: Term) -> Term | None:
    if stop.op != "colored" or action.op != "paint" or action.args[1].op not in ("cross", "columns", "tiles"):
        return None
    return Term("until", (action, stop))


_AXES = {"cross": "br", "tiles": "b", "columns": "r", "go": "r", "repeat": "r", "mark": "-b", "paint_marks": "-r"}
"""The far side from which each argument of an operation may be counted, in order; "-" for none."""


def _counted_from(axis: str, what: Term, sides: Term) -> Term:
    """The term with its numbers that have no side counted from the far sides."""
    if what.op in ("at", "first") and what.args[1] == "":
        return Term(what.op, (what.args[0], "back" if axis and axis in str(sides.args[0]) else "fore"))
    axes = _AXES.get(what.op, axis * len(what.args))
    turned = [
        _counted_from(axes[n : n + 1] or axis, arg, sides) if isinstance(arg, Term) else arg for n, arg in enumerate(what.args)
    ]
    return Term(what.op, tuple(turned))


_OF_WORDS: tuple[OfWords, ...] = (
    *(select, lone_column, listed, two_columns, both_ends, odd, moved, next_on_both_sides, excepted, corner, row),
    *(colored, colored_shape, latest_points, around_that, edge, side, far_sides, direction, both_sides, steps, line),
    diagonal,
)
OF_WORDS: dict[str, OfWords] = {function.__name__: function for function in _OF_WORDS}
"""Functions that build what phrases mean, by their names in grammar.txt; None if the words are not such a phrase after all."""
OF_WORDS |= {"runs": partial(_run_lengths, "runs"), "cycle": partial(_run_lengths, "cycle")}

_OF_PARTS: tuple[OfParts, ...] = (
    *(paint, union, around, starting, ways, turned, turned_aslant, in_columns, line_run, merge, counted, but_tiles),
    until,
)
OF_PARTS: dict[str, OfParts] = {function.__name__: function for function in _OF_PARTS}
"""Functions that combine the parts of rules, by their names in grammar.txt; None if the parts do not combine. Any other name in a
rule makes a term of that name."""
OF_PARTS |= {
    "both_columns": partial(_both, "columns"),
    "both_tiles": partial(_both, "tiles"),
    "columns_counted_from": partial(_counted_from, "r"),
    "tiles_counted_from": partial(_counted_from, "b"),
    "counted_from": partial(_counted_from, ""),
}
