"""The action format `program` of both worlds: an answer is a program, which is run on the item's state.

A text that cannot be read or run to its end gives the actions of the statements before the error, which is discarded with
its line, its column and what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from harness.corpora.item import Executed, HexagonsItem, Item, MinecraftItem
from harness.worlds import World
from harness.worlds.hexagons import COLORS, Board, Paint
from harness.worlds.minecraft import Action, Pose, Structure
from serialization.formats.answer import NOTHING, Constraint, Discarded, Parsed, answer_in, discard, undecorated
from serialization.program import ast, hexagons, minecraft
from serialization.program.compress import compress_building, compress_drawing
from serialization.program.constraint import grammar
from serialization.program.errors import ProgramError
from serialization.program.literal import building_program, drawing_program
from serialization.program.parse import parse_front
from serialization.program.written import write

_WORDS = {*COLORS, "place", "remove", "copy", "repeat", "for", "if", "world", "builder"}
"""What a statement may begin with, besides a name and a set."""


def write_drawing(actions: Sequence[Paint]) -> str:
    """The plain program, as boards and earlier steps are shown."""
    return write(drawing_program(actions)) or NOTHING


def write_building(actions: Sequence[Action]) -> str:
    """The plain program, as earlier turns are shown."""
    return write(building_program(actions)) or NOTHING


def answer_drawing(actions: Sequence[Paint], item: Item) -> str:
    """The short program that models learn to write for these actions. Raises TypeError for an item of the other task."""
    state = drawing_state(_drawn(item))
    return _compressed_drawing(tuple(actions), state.board, tuple(map(tuple, state.steps)))


def answer_building(actions: Sequence[Action], item: Item) -> str:
    """The short program that models learn to write for these actions. Raises TypeError for an item of the other task."""
    state = building_state(_built(item))
    return _compressed_building(tuple(actions), state.structure, state.pose, tuple(map(tuple, state.turns)))


# Few-shot examples are written again for every question.
@lru_cache(maxsize=4096)
def _compressed_drawing(actions: Sequence[Paint], board: Board, steps: Sequence[Sequence[Paint]]) -> str:
    return write(compress_drawing(actions, hexagons.DrawingState(board, steps))) or NOTHING


@lru_cache(maxsize=4096)
def _compressed_building(actions: Sequence[Action], structure: Structure, pose: Pose, turns: Sequence[Sequence[Action]]) -> str:
    return write(compress_building(actions, minecraft.BuildingState(structure, pose, turns))) or NOTHING


def constraint(world: World) -> Constraint:
    return Constraint("grammar", grammar(world))


def parse_drawing(text: str) -> Parsed:
    """What the program paints on a blank board, where no item tells of another one."""
    answer = _read(text)
    outcome = hexagons.run(answer.program)
    return _parsed(outcome.actions, answer, outcome.error)


def parse_building(text: str) -> Parsed:
    """What the program says, in its order, on a structure that is not known."""
    answer = _read(text)
    outcome = minecraft.run(answer.program)
    return _parsed(outcome.actions, answer, outcome.error)


def read_drawing(text: str, item: Item) -> Parsed:
    """What the program changes on the item's board. Raises TypeError for an item of the other task."""
    answer = _read(text)
    outcome = hexagons.run(answer.program, drawing_state(_drawn(item)))
    return _parsed(outcome.actions, answer, outcome.error)


def read_building(text: str, item: Item) -> Parsed:
    """Actions that are feasible in the item's structure, whatever order the program says them in.

    A program of cells only that asks for what cannot be done gives the same actions as without an item: then the world
    decides, as for the other formats. Raises TypeError for an item of the other task.
    """
    answer = _read(text)
    outcome = minecraft.run_lenient(answer.program, building_state(_built(item)))
    return _parsed(outcome.actions, answer, outcome.error)


def _drawn(item: Item) -> HexagonsItem:
    if not isinstance(item, HexagonsItem):
        raise TypeError(f"a drawing program for {item.id}")
    return item


def _built(item: Item) -> MinecraftItem:
    if not isinstance(item, MinecraftItem):
        raise TypeError(f"a building program for {item.id}")
    return item


def drawing_state(item: HexagonsItem) -> hexagons.DrawingState:
    """The gold board before the step and what the earlier steps drew."""
    steps = [[a for a in turn.actions if isinstance(a, Paint)] for turn in item.history if isinstance(turn, Executed)]
    return hexagons.DrawingState(item.before, steps)


def building_state(item: MinecraftItem) -> minecraft.BuildingState:
    """The structure, the builder and what the builder did in each earlier turn."""
    turns = [[a for a in turn.actions if isinstance(a, Action)] for turn in item.history if isinstance(turn, Executed)]
    return minecraft.BuildingState(item.before, item.pose, turns)


class _Said(NamedTuple):
    """A program, the text that it was read from, the error that ends it, and what was not taken for it."""

    program: ast.Program
    text: str
    error: ProgramError | None
    discarded: tuple[Discarded, ...]


def _read(text: str) -> _Said:
    """The program in a text; none for "none". What can be read as it stands is; only then bullets, labels and prose go."""
    answer = answer_in(text)
    text = "" if answer.text.strip(" \t\r\n.").lower() == NOTHING else answer.text
    program, error = parse_front(text)
    if error is not None:
        statements, prose = _statements(text)
        if statements != text:
            again, later = parse_front(statements)
            if later is None or later.at > error.at:
                return _Said(again, statements, later, (*answer.discarded, *prose))
    return _Said(program, text, error, answer.discarded)


def _statements(text: str) -> tuple[str, list[Discarded]]:
    """The text with blanks in place of bullets, labels and leading sentences, so that every place in it stays the same."""
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


def _parsed(actions: Sequence[Any], answer: _Said, stopped: ProgramError | None) -> Parsed:
    error = answer.error or stopped
    wrong = () if error is None else (discard(_line(answer.text, error), str(error)),)
    return Parsed(tuple(actions), (*answer.discarded, *wrong))


def _line(text: str, error: ProgramError) -> str:
    """The line of the error from its column on."""
    lines = text.split("\n")
    return lines[error.line - 1][error.column - 1 :] if 0 < error.line <= len(lines) else text[:80]
