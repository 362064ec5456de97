"""The action format `program` of both worlds: an answer is a program, which is run on the item's state.

A text that cannot be parsed or run to its end yields the actions of the statements before the error. The error is reported as
a discarded piece, with its line, its column and the problem.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from harness.corpora.item import Executed, HexagonsItem, Item
from harness.worlds import World
from harness.worlds.hexagons import COLORS, Board
from serialization.formats.answer import NOTHING, Constraint, Discarded, Parsed, answer_in, discard, undecorated
from serialization.program import ast, hexagons, minecraft
from serialization.program.constraint import grammar
from serialization.program.errors import ProgramError
from serialization.program.literal import building_program, drawing_program
from serialization.program.machine import ProgramResult, State
from serialization.program.parse import parse_front
from serialization.program.written import write

_WORDS = {*COLORS, "place", "remove", "copy", "move", "replace", "repeat", "for", "if", "facing"}
"""Words that a statement may begin with, besides a name or a set."""


_WORLDS: Mapping[World, tuple[ModuleType, Callable[..., ast.Program]]] = {
    "hexagons": (hexagons, drawing_program),
    "minecraft": (minecraft, building_program),
}


def write_actions(world: World, actions: Sequence[Any]) -> str:
    """The plain program; boards, and earlier steps and turns, are shown this way."""
    return write(_WORLDS[world][1](actions)) or NOTHING


def constraint(world: World) -> Constraint:
    return Constraint("grammar", grammar(world))


def parse(world: World, text: str) -> Parsed:
    """For lack of an item, the actions of the program on a blank board or, in program order, on an unknown structure."""
    said = _read(text)
    return _parsed(_WORLDS[world][0].run(said.program), said)


def read(text: str, item: Item) -> Parsed:
    """The changes that the program makes to the item's board, or feasible actions in its structure in a suitable order."""
    said = _read(text)
    return _parsed(run(said.program, state_of(item)), said)


def run(program: ast.Program, state: State) -> ProgramResult:
    """What the program does in the state of one of the worlds."""
    return hexagons.run(program, state) if isinstance(state.before, Board) else minecraft.run(program, state)


def state_of(item: Item) -> State:
    """The state before the item, the actions of the earlier steps or turns, and the builder's pose."""
    steps = tuple(turn.actions for turn in item.history if isinstance(turn, Executed))
    return State(item.before, steps) if isinstance(item, HexagonsItem) else State(item.before, steps, item.pose)


class _Said(NamedTuple):
    """A program, the text from which it was parsed, the error that ends it, and the discarded pieces."""

    program: ast.Program
    text: str
    error: ProgramError | None
    discarded: tuple[Discarded, ...]


def _read(text: str) -> _Said:
    """The program in a text; an empty one for "none". Bullets, labels and prose are removed only if the text fails to parse."""
    found = answer_in(text)
    text = "" if found.text.strip(" \t\r\n.").lower() == NOTHING else found.text
    program, error = parse_front(text)
    if error is not None:
        statements, prose = _statements(text)
        if statements != text:
            again, later = parse_front(statements)
            if later is None or later.at > error.at:
                return _Said(again, statements, later, (*found.discarded, *prose))
    return _Said(program, text, error, found.discarded)


def _statements(text: str) -> tuple[str, list[Discarded]]:
    """The text with blanks in place of bullets, labels and leading sentences, which keeps every line and column."""
    lines: list[str] = []
    prose: list[Discarded] = []
    begun = nothing = False
    for line in text.split("\n"):
        rest = line if line.lstrip().startswith("#") else undecorated(line)
        if rest.strip(" \t\r.").lower() == NOTHING:
            rest, nothing = "", True
        elif rest.strip() and not begun:
            begun = not _is_prose(rest)
            if not begun:
                prose.append(discard(rest.strip(), "not a statement"))
                rest = ""
        lines.append(rest.rjust(len(line)))
    return "\n".join(lines) if begun or nothing else text, prose


def _is_prose(line: str) -> bool:
    """Whether a line is a sentence or a heading: no statement begins with a capital letter or ends with a colon."""
    words = re.match(r"\s*([A-Za-z]+)", line)
    capital = words is not None and words[1][0].isupper() and words[1].lower() not in _WORDS
    return capital or line.rstrip().endswith(":")


def _parsed(outcome: ProgramResult, said: _Said) -> Parsed:
    error = said.error or outcome.error
    wrong = () if error is None else (discard(_line(said.text, error), str(error)),)
    return Parsed(outcome.actions, (*said.discarded, *wrong))


def _line(text: str, error: ProgramError) -> str:
    """The line of the error from its column on."""
    lines = text.split("\n")
    return lines[error.line - 1][error.column - 1 :] if 0 < error.line <= len(lines) else text[:80]
