"""Text to programs. Every problem is a ProgramError with its position and, if possible, a suggestion.

`grammar.lark` says which texts are programs, `build.py` makes the tree, whose nodes are in `ast.py`, and `machine.py` runs it.
"""

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files
from typing import Any

from serialization.program import ast
from serialization.program.errors import Place, ProgramError, suggestion

MAX_CHARS = 20_000
"""Longer texts are refused without parsing; the plain program of a whole board in eight colors has under 1,000 characters."""
MAX_DEPTH = 30
"""The deepest nesting of parentheses and braces."""


def parse(text: str) -> ast.Program:
    """The program of a text. Raises ProgramError for an invalid text. Takes time linear in its length and bounded memory."""
    _check(text)
    from lark import UnexpectedInput
    from lark.exceptions import VisitError

    try:
        tree = _parser().parse(text)
        program: ast.Program = _builder().transform(tree)
    except UnexpectedInput as error:
        raise _explained(error, text) from None
    except VisitError as error:
        raise error.orig_exc from None
    return program


def parse_front(text: str) -> tuple[ast.Program, ProgramError | None]:
    """The program of a text and None, or the program of the statements before the first error and that error. Total."""
    error: ProgramError | None = None
    while True:
        try:
            return parse(text), error
        except ProgramError as found:
            error = found if error is None or found.at < error.at else error
            text = "" if len(text) > MAX_CHARS else _before(text, found.at)


def _before(text: str, at: Place) -> str:
    """The statements that end before the position of an error."""
    lines = text.split("\n")
    index = sum(len(line) + 1 for line in lines[: at[0] - 1]) + at[1] - 1
    depth, end = 0, 0
    for mark in re.finditer(r"#[^\n]*|[{};\n]", text[: max(0, index)]):
        depth += {"{": 1, "}": -1}.get(mark.group(), 0)
        if depth == 0 and mark.group() in ";\n":
            end = mark.start()
    return text[:end]


def _check(text: str) -> None:
    """Raises ProgramError for a text that is too long, nested too deep, or not plain ASCII."""
    if len(text) > MAX_CHARS:
        raise ProgramError(
            f"{len(text):,} characters: nothing beyond the first {MAX_CHARS:,} is a program", _place(text, MAX_CHARS)
        )
    odd = re.search(r"[^\t\r\n -~]", text)
    if odd:
        name = unicodedata.name(odd.group(), f"U+{ord(odd.group()):04X}")
        raise ProgramError(f"the character {name} does not belong in a program: use plain ASCII", _place(text, odd.start()))
    depth = 0
    for mark in re.finditer(r"#[^\n]*|[({})]", text):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(mark.group(), 0)
        if depth > MAX_DEPTH:
            raise ProgramError(f"parentheses and braces nested more than {MAX_DEPTH} deep", _place(text, mark.start()))


def _place(text: str, index: int) -> Place:
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


@lru_cache
def _parser() -> Any:
    from lark import Lark

    grammar = files("serialization.program").joinpath("grammar.lark").read_text()
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=False)


@lru_cache
def _builder() -> Any:
    from serialization.program.build import TreeBuilder

    return TreeBuilder()


_MEANING = {
    "LIST": "numbers such as 3,5:1-10",
    "ITEM": "numbers such as 3:1-10",
    "NAME": "a name",
    "COLOR": "a color",
    "DIRECTION": "a direction",
    "FUNCTION": "a function such as ring(5:4)",
    "GROUP": "column, row, layer or object",
    "COMPARE": "<",
    "_END": "a new line",
    "$END": "the end",
}
_LONGEST_LIST = 8


def _explained(error: Any, text: str) -> ProgramError:
    """Lark's error in words."""
    index, expected = error.pos_in_stream, getattr(error, "accepts", None) or error.allowed or set()
    ended = index is None or getattr(getattr(error, "token", None), "type", "") == "$END"
    found = None if ended else re.match(r"[A-Za-z][\w-]*|\d+|.", text[index:])
    if expected == {"EQUALS"}:
        # The statement begins with an unknown word, which lark took for the name of an assignment.
        before = list(re.finditer(r"[a-z]\w*", text[: len(text) if ended else index]))[-1]
        hint = suggestion(before.group(), _words() - {before.group()})
        return ProgramError(f"{before.group()} does not begin a statement{hint}", _place(text, before.start()))
    known = {term.name: term.pattern.value for term in _parser().terminals if term.pattern.type == "str"} | _MEANING
    wanted = sorted({known.get(kind, kind.strip("_").lower()) for kind in expected}, key=lambda name: (len(name) == 1, name))
    listed = ", ".join(wanted[:_LONGEST_LIST]) + (", ..." if len(wanted) > _LONGEST_LIST else "")
    if found is None:
        return ProgramError(f"the program ends too early; expected {listed}", _place(text, len(text.rstrip())))
    word = found.group()[:40]
    return ProgramError(f"{word} does not belong here{_hint(word)}; expected {listed}", _place(text, index))


def _hint(word: str) -> str:
    if word == ":":
        return " (blanks around a minus take a set away)"
    return suggestion(word.lower(), _words()) if word[0].isalpha() else ""


@lru_cache
def _words() -> frozenset[str]:
    """The words of the language except its functions."""
    own = (t.pattern.value for t in _parser().terminals if t.name not in ("NAME", "FUNCTION", "LIST", "ITEM", "COMMENT", "_END"))
    return frozenset(word for pattern in own for word in re.findall(r"[a-z][a-z-]+", pattern))
