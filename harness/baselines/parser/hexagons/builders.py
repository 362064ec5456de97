"""What a phrase's words stand for: from a match over the letters to a meaning."""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.baselines.parser.hexagons.meaning import Term
from harness.baselines.parser.hexagons.tokens import Token, numbers_of

Build = Callable[["re.Match[str]", list[Token]], Term | None]


def select(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """Places on an axis by number: `at` numbers, counted from the far end if `s` says so."""
    groups = match.groupdict()
    side = groups.get("s") or ""
    backwards = "back" if side[-1:] in ("b", "r", "u") else "fore" if side else ""
    if groups.get("k"):
        count = tokens[match.start("k")].value
        edge = tokens[match.start("e")]
        if edge.letter == "O" and edge.value != 1:
            return None
        return Term("first", (count, "back" if edge.letter in "ber" else "fore" if edge.letter in "tl" else backwards))
    if groups.get("e"):
        edge = tokens[match.start("e")]
        number = edge.value if edge.letter == "e" and isinstance(edge.value, int) else 1
        return Term("at", ((number,), "back" if edge.letter in "ber" else "fore" if edge.letter in "tl" else backwards))
    return Term("at", (tuple(numbers_of(tokens[slice(*match.span("n"))])), backwards))


def listed(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """ "The top, third and next to last tile"."""
    if "e" not in match[0] or "," not in match[0]:
        return None
    told = tokens[match.start() : match.end()]
    fore = tuple(token.value if token.letter == "O" else 1 for token in told if token.letter in "Ot")
    back = tuple(token.value if isinstance(token.value, int) else 1 for token in told if token.letter == "e")
    return Term("both", (Term("at", (fore, "fore" if "t" in match[0] else "")), Term("at", (back, "back")))) if fore else None


def lone_column(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """ "the 14 column"; not "two columns"."""
    return None if tokens[match.end("n")].word.endswith("s") else select(match, tokens)


def word(op: str, *more: object) -> Build:
    return lambda match, tokens: Term(op, more)


def excepted(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """ "Except", and not a "but" that only goes on."""
    return None if tokens[match.end() - 1].word == "but" else Term("but")


def odd(match: re.Match[str], tokens: list[Token]) -> Term:
    return Term("odd" if tokens[match.start()].value == "odd" else "even")


def count(op: str) -> Build:
    def build(match: re.Match[str], tokens: list[Token]) -> Term:
        found = [token.value for token in tokens[match.start() : match.end()] if token.letter == "N"]
        return Term(op, (found[0] if found else 1,))

    return build


def around_that(match: re.Match[str], tokens: list[Token]) -> Term:
    return Term("around", (Term("around"), Term("that")))


def newest(match: re.Match[str], tokens: list[Token]) -> Term:
    """ "This last tile"."""
    count = next((token.value for token in tokens[match.start() : match.end()] if token.letter == "N"), 1)
    return Term("latest", (count,))


def latest(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """ "The last two tiles", "the last two points": what was painted last."""
    word = tokens[match.end() - 1].word
    return Term("latest", (tokens[match.start() + 1].value,)) if word in ("points", "dots", "ones", "tiles", "cells") else None


def color(match: re.Match[str], tokens: list[Token]) -> Term:
    return Term("color", (tokens[match.end() - 1].value,))


def counted_from(match: re.Match[str], tokens: list[Token]) -> Term:
    return Term("from", ("".join(letter for letter in "br" if letter in match[0]),))


def color_of(op: str) -> Build:
    return lambda match, tokens: Term(op, (tokens[match.start()].value,))


def side_of(match: re.Match[str], tokens: list[Token]) -> Term:
    return Term("side", ("l" if "l" in match[0] else "r",))


def moved(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """So many columns from the one that was spoken of last."""
    count = next((token.value for token in tokens[match.start() : match.end()] if token.letter == "N"), 1)
    return Term("moved", (-count if "l" in match[0] else count,)) if isinstance(count, int) else None


def every(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """ "Every fourth column"; not "the whole fourth column"."""
    each = tokens[match.start()].word in ("every", "each")
    return Term("every", (tokens[match.start() + 1].value,)) if each else None


def next_columns(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """ "The next columns": one on each side of the two that were spoken of last."""
    return Term("outward") if tokens[match.end() - 1].word.endswith("s") else None


def every_way(match: re.Match[str], tokens: list[Token]) -> Term:
    return Term("ways", tuple(Term("direction", (way,)) for way in ("u", "ur", "dr", "d", "dl", "ul")))


def rightward(match: re.Match[str], tokens: list[Token]) -> Term:
    """ "Next to": drawings go on to the right."""
    return Term("direction", ("r",))


def both_sides(match: re.Match[str], tokens: list[Token]) -> Term:
    return Term("ways", (Term("direction", ("l",)), Term("direction", ("r",))))


def edge_of(match: re.Match[str], tokens: list[Token]) -> Term:
    return Term("edge", (match[0][0],))


def corner(match: re.Match[str], tokens: list[Token]) -> Term:
    down = "back" if "b" in match[0] else "fore"
    across = "back" if "r" in match[0] else "fore"
    return Term("cross", (Term("at", ((1,), down)), Term("at", ((1,), across))))


def direction(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """None for "top leftmost", which is a place."""
    if {*match[0]} & {*"tb"} and any(token.word.endswith("most") for token in tokens[match.start() : match.end()]):
        return None
    letters = match[0].translate(str.maketrans("UtDb", "uudd"))
    return Term("direction", ("".join(letter for letter in "udlrg" if letter in letters),))


def _run_lengths(match: re.Match[str], tokens: list[Token]) -> tuple[tuple[int, object], ...]:
    runs: list[tuple[int, object]] = []
    count = 1
    for token in tokens[match.start() : match.end()]:
        if token.letter == "N" and isinstance(token.value, int):
            count = token.value
        elif token.letter in "KW":
            runs.append((count, token.value if token.letter == "K" else "white"))
            count = 1
    return tuple(runs)


def runs(op: str) -> Build:
    return lambda match, tokens: Term(op, _run_lengths(match, tokens)) if "K" in match[0] else None


def numbers(op: str) -> Build:
    return lambda match, tokens: Term(op, tuple(numbers_of(tokens[match.start() : match.end()])))


def colored(match: re.Match[str], tokens: list[Token]) -> Term:
    words = tokens[match.start() : match.end()]
    color = next(token.value for token in words if token.letter == "K")
    plural = words[-1].word.endswith("s") or words[-1].word == "hexes"
    which = "all" if words[0].letter == "a" else "some" if plural else "one"
    edge = tokens[match.start("e")] if match.groupdict().get("e") else None
    if edge and edge.letter == "O":
        return Term("colored", (color, which, edge.value))
    return Term("colored", (color, which, edge.letter if edge else ""))


def colored_shape(match: re.Match[str], tokens: list[Token]) -> Term:
    color = next(token.value for token in tokens[match.start() : match.end()] if token.letter == "K")
    return Term("colored", (color, "some", ""))


def counted(match: re.Match[str], tokens: list[Token]) -> Term:
    words = tokens[match.start() : match.end()]
    count = next((token.value for token in words if token.letter == "N"), 1)
    return Term("counted", (count, next(token.value for token in words if token.letter == "K")))


def row(match: re.Match[str], tokens: list[Token]) -> Term:
    first = tokens[match.start()]
    number = first.value if first.letter == "O" else 1
    return Term("cross", (Term("at", ((number,), "back" if "b" in match[0] else "fore")), Term("all")))


def frame(op: str) -> Build:
    """What is said piece by piece: `chart` adds the pieces as arguments, each with its type."""
    return lambda match, tokens: Term(op)


def both_columns(match: re.Match[str], tokens: list[Token]) -> Term:
    first, last = (
        Term("at", ((token.value if token.letter == "O" else 1,), "back" if token.letter in "er" else "fore"))
        for token in (tokens[match.start()], tokens[match.start() + 2])
    )
    return Term("both", (first, last))


def both_ends(match: re.Match[str], tokens: list[Token]) -> Term:
    sides = ["fore" if letter == "t" else "back" for letter in match[0] if letter in "tbe"]
    count = tokens[match.end() - 2].value if "N" in match[0] else 1
    return Term("both", (Term("first", (count, sides[0])), Term("first", (count, sides[1]))))


def line(match: re.Match[str], tokens: list[Token]) -> Term:
    """Lines, where there are several, come from all that was spoken of last."""
    return Term("line", (Term("s", (Term("several"),)),) if tokens[match.end() - 1].word.endswith("s") else ())


def diagonal(match: re.Match[str], tokens: list[Token]) -> Term:
    several = (Term("s", (Term("several"),)),) if tokens[match.end() - 1].word.endswith("s") else ()
    return Term("line", (Term("g", (Term("direction", ("g",)),)), *several))


def rest_of_line(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """ "The rest of the line": on in the direction of the last tiles."""
    return Term("line", (Term("r", (Term("rest"),)),)) if "H" in match[0] else None


def slanted(match: re.Match[str], tokens: list[Token]) -> Term | None:
    """ "A descending line to the left"."""
    towards = direction(match, tokens)
    return Term("line", (Term("D", (towards,)),)) if towards else None
