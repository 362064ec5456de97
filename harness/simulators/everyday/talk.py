"""A conversation in progress: the state, the things made in each turn, and how the next request is worded and run."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any

from harness.corpora.item import Item, Turn
from harness.corpora.wording import phrase
from harness.simulators import frames, impossible_if, needed, weighted
from harness.simulators.everyday.person import Person
from harness.worlds.minecraft import Pose
from serialization.program import ast
from serialization.program.figure import Cell
from serialization.program.machine import ProgramResult
from serialization.program.parse import parse

PICTURES = frames("everyday-pictures")
LETTERS = tuple(name.removeprefix("letter ").upper() for name in PICTURES if name.startswith("letter "))
_MAIN = 0.6
"""A thing's main color covers more than this share of its cells."""
_LONG = 7
"""A place follows a thing of at most this many words without a comma."""
_VERBS = {"has": "have", "is": "are", "isn't": "aren't", "needs": "need", "gets": "get", "does": "do"}

Maker = Callable[[Any], "Request"]
"""Makes a request in a talk. Raises Impossible if the request does not fit the talk."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A different thing that a later request may ask for: its wording, and its program, which runs after an undo.

    If the section begins with "=", the program adds to the present state without an undo.
    """

    section: str
    program: str
    slots: Mapping[str, str] = field(default_factory=dict)
    kind: str = "correction"


@dataclass(frozen=True, slots=True)
class Request:
    """A request, the program that answers it, and facts that later requests use."""

    kind: str
    text: str
    program: str = ""
    noun: str = ""
    """The noun for the thing that the request makes; "" if it makes none."""
    subject: NamedObject | None = None
    """The thing that the request changes."""
    variants: Sequence[Revision] = ()
    count: int | None = None
    """The number of cells that must change; any other number means that there is no room."""
    fresh: bool = False
    """Whether only empty cells may change."""
    back: int = 0
    """The number of turns that the request undoes."""
    bare: bool = False
    """Whether the text is used as it stands, without "please" and the like."""


@dataclass(slots=True)
class NamedObject:
    """An existing thing with its noun."""

    noun: str
    cells: frozenset[Cell]
    colors: tuple[str, ...] = ()


class Talk(Person, ABC):
    """A conversation with one person. Each world adds its state."""

    name: str
    palette: Mapping[str, int]
    """The colors of requests, with their weights."""
    lacking: tuple[str, ...]
    """Colors that only the other world has."""
    common: tuple[str, ...]
    """Nouns of things that people ask for."""
    standing: str
    """The set of all non-empty cells, as an expression of programs."""
    speaker: str
    """The speaker's name in the world's corpora."""
    cell_of: Callable[[Any], Cell]
    """The cell of an action."""
    pose: Pose | None = None
    """The builder's pose; None on a board."""
    state: Any
    """The board or structure."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.frames = frames("everyday", f"everyday-{self.name}")
        self.words: dict[str, str] = {}
        """The person's own words, for slots of frames."""
        self.synonyms: dict[str, tuple[str, ...]] = {}
        """The person's words for things, by their nouns."""
        self.things: list[NamedObject] = []
        self.last: NamedObject | None = None
        """The thing that the previous turn made or changed."""
        self.colors: Mapping[Cell, str] = {}
        """The non-empty cells with their colors."""
        self.filled_before: Mapping[Cell, str] = {}
        """The cells that were not empty before the last turn, with their colors."""
        self.steps: list[tuple[Any, ...]] = []
        self.past: list[tuple[Any, list[NamedObject]]] = []
        """The state and the things before each turn."""
        self.orders: list[Request] = []

    @abstractmethod
    def item(self, name: str, text: str, history: tuple[Turn, ...], **fields: Any) -> Item: ...

    @abstractmethod
    def run(self, program: ast.Program) -> ProgramResult: ...

    @abstractmethod
    def carry_out(self, actions: Sequence[Any]) -> None:
        """Updates `state` and `colors`."""

    @abstractmethod
    def restoring(self, state: Any) -> str:
        """A program that restores an earlier state."""

    @abstractmethod
    def recolored(self, cells: str, color: str) -> str:
        """A program that gives a set of non-empty cells another color."""

    # --- words ---

    def say(self, section: str, **slots: str) -> str:
        text = phrase(self.rng, self.frames[section], **self.words, **slots)
        if _plural(slots.get("it", "")):
            text = _agreeing(text, slots["it"])
        several = self.words["pieces"]
        return re.sub(rf"\b(1|one) {several}\b", rf"\1 {self.words['piece']}", text) if several in text else text

    def ask(self, section: str, what: str, where: str) -> str:
        """A request for a thing; after a long description, the place is set apart."""
        if where and len(what.split()) > _LONG:
            section = f"{section} long"
        text = self.say(section, what=what, where=where)
        return text.replace(":", ",", 1) if text.count(":") > 1 else text

    def called(self, what: str, *nouns: str) -> str:
        """The first of the nouns that occurs in the words; the last noun if none does."""
        return next((noun for noun in nouns if re.search(rf"\b{noun}\b", what)), nouns[-1])

    def some(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def color(self, *others: str) -> str:
        """A color other than `others`, if possible one that no cell has yet, so that it can identify a thing."""
        left = {c: n for c, n in self.palette.items() if c not in others}
        free = {c: n for c, n in left.items() if c not in self.colors.values()} or left
        return weighted(self.rng, free)

    def shades(self, first: str, more: int) -> list[str]:
        """The color `first` and `more` others."""
        colors = [first]
        for _ in range(more):
            colors.append(self.color(*colors))
        return colors

    def ref(self, thing: NamedObject) -> str:
        """Words for the thing, such as "it" or "the red flower"."""
        if thing is self.last and self.rng.random() < 0.4:
            return "those" if _plural(thing.noun) else self.some("it", "it", "that")
        return self.named(thing)

    def named(self, thing: NamedObject) -> str:
        alone = sum(other.noun == thing.noun for other in self.things) == 1
        noun = self.some(*self.synonyms.get(thing.noun, (thing.noun,)))
        if (alone and self.rng.random() < 0.4) or len(thing.colors) > 2:
            return f"the {noun}"
        main = sum(self.colors[cell] == thing.colors[0] for cell in thing.cells) > _MAIN * len(thing.cells)
        return f"the {thing.colors[0] if main else ' and '.join(thing.colors)} {noun}"

    def where(self, thing: NamedObject) -> str:
        if self.steps and thing is self.last and self.orders[-1].noun and self.rng.random() < 0.5:
            return "step(-1)"
        return f"is({','.join(thing.colors)})"

    def is_distinct(self, thing: NamedObject) -> bool:
        """Whether no other cell has one of the thing's colors, so that the colors identify it."""
        return {cell for cell, color in self.colors.items() if color in thing.colors} == thing.cells

    def pick(self, *nouns: str) -> NamedObject:
        """The result of `find`. Raises Impossible if it is None."""
        return needed(self.find(*nouns))

    def pick_plain(self, *nouns: str) -> NamedObject:
        """The result of `find`. Raises Impossible if it is None or has several colors."""
        thing = self.pick(*nouns)
        impossible_if(len(thing.colors) != 1)
        return thing

    def find(self, *nouns: str) -> NamedObject | None:
        """A thing with distinct colors, most often the last one; None if there is none with these nouns."""
        if self.last and self.last.colors and self.rng.random() < 0.6 and self.is_distinct(self.last):
            return self.last if not nouns or self.last.noun in nouns else None
        things = [thing for thing in self.things if (not nouns or thing.noun in nouns) and self.is_distinct(thing)]
        return self.rng.choice(things) if things else None

    # --- turns ---

    def take(self, order: Request) -> tuple[Any, ...] | None:
        """Carries out the order and returns its actions; None if it does nothing, has no room, or cannot be run."""
        actions, cells = tuple[Any, ...](), list[Cell]()
        if order.program or order.kind != "cannot":
            outcome = self.run(program(order.program))
            actions, cells = outcome.actions, [self.cell_of(action) for action in outcome.actions]
            if outcome.error or not actions or order.count not in (None, len({*cells})):
                return None
            if order.fresh and not self.has_room(order, cells):
                return None
        self.past.append((self.state, [NamedObject(thing.noun, thing.cells) for thing in self.things]))
        self.filled_before = self.colors
        self.carry_out(actions)
        self._note(order, frozenset(cells))
        self.steps.append(actions)
        self.orders.append(order)
        return actions

    def has_room(self, order: Request, changed: Sequence[Cell]) -> bool:
        """Whether the order changes only empty cells."""
        return self.colors.keys().isdisjoint(changed)

    def _note(self, order: Request, changed: frozenset[Cell]) -> None:
        if order.back:
            self.things = list(self.past[-1 - order.back][1])
            self.last = self.things[-1] if self.things else None
        elif order.subject:
            order.subject.cells |= changed
            self.last = order.subject
        elif order.noun:
            self.last = NamedObject(order.noun, changed)
            self.things.append(self.last)
        elif changed:
            self.last = None
        for thing in self.things:
            thing.cells = frozenset(cell for cell in thing.cells if cell in self.colors)
            shades = [self.colors[cell] for cell in thing.cells]
            thing.colors = tuple(sorted(set(shades), key=lambda color: (-shades.count(color), color)))
        self.things = [thing for thing in self.things if thing.cells and self._is_whole(thing, changed)]
        if self.last and not any(thing is self.last for thing in self.things):
            self.last = None

    def _is_whole(self, thing: NamedObject, changed: frozenset[Cell]) -> bool:
        """Whether a thing is still complete, that is, was not partly overwritten."""
        return thing is self.last or not thing.cells & changed or thing.cells <= changed


def _plural(words: str) -> bool:
    return words == "those" or (words.endswith("s") and not words.endswith("plus"))


def _agreeing(text: str, it: str) -> str:
    """The text with its verbs in the plural, and "them" in place of "it"."""
    for one, several in _VERBS.items():
        text = text.replace(f"{it} {one} ", f"{it} {several} ").replace(f"{one} {it}", f"{several} {it}")
    return re.sub(r"\bit\b", "them", text)


def moved_by(t: Talk, thing: NamedObject, text: str, move: str) -> Request:
    """A request to move a thing of one color."""
    kind = "correction" if t.orders and thing is t.last else "relation"
    return Request(kind, text, f"s={t.where(thing)}; remove s; {thing.colors[0]} shift(s,{move})", subject=thing)


def copy_of(thing: NamedObject, text: str, cells: str, move: str, color: str, **fields: Any) -> Request:
    """A request to copy a thing, given by its set of cells: in its own colors, or in `color` unless that is ""."""
    program = f"copy shift({cells},{move})" + (f" with {thing.colors[0]}={color}" if color else "")
    return Request("repeat", text, program, count=len(thing.cells), fresh=True, **{"noun": thing.noun} | fields)


program = lru_cache(maxsize=50_000)(parse)
