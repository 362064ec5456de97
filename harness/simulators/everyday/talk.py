"""A conversation in progress: what stands there, what was made in which turn, and how the next request is worded and run."""

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
"""The share of a thing's cells that its main color has at least."""
_LONG = 7
"""The most words of a thing that its place follows without a comma."""
_VERBS = {"has": "have", "is": "are", "isn't": "aren't", "needs": "need", "gets": "get", "does": "do"}

Maker = Callable[[Any], "Request"]
"""Makes a request of a talk. Raises Impossible where the talk has no place for it."""


@dataclass(frozen=True, slots=True)
class Revision:
    """Another thing that a request may ask for: its wording, and the program that does it once the first one is undone.

    One whose section begins with "=" adds to what is there.
    """

    section: str
    program: str
    slots: Mapping[str, str] = field(default_factory=dict)
    kind: str = "correction"


@dataclass(frozen=True, slots=True)
class Request:
    """A request, the program that answers it, and what is known of it afterwards."""

    kind: str
    text: str
    program: str = ""
    noun: str = ""
    """What the thing that it makes is called; "" if it makes none."""
    subject: NamedObject | None = None
    """The thing that it changes."""
    variants: Sequence[Revision] = ()
    count: int | None = None
    """How many cells must change; other answers mean that there is no room."""
    fresh: bool = False
    """Whether only empty cells may change."""
    back: int = 0
    """How many turns it undoes."""
    bare: bool = False
    """Whether it is said as it stands, without "please" and the like."""


@dataclass(slots=True)
class NamedObject:
    """Something that stands there, by the noun that people have for it."""

    noun: str
    cells: frozenset[Cell]
    colors: tuple[str, ...] = ()


class Talk(Person, ABC):
    """A conversation of one person. A world adds its state."""

    name: str
    palette: Mapping[str, int]
    """The colors that are asked for, and how often."""
    lacking: tuple[str, ...]
    """Colors of the other world."""
    common: tuple[str, ...]
    """Nouns of things that people ask for."""
    standing: str
    """The set of all cells that are not empty."""
    speaker: str
    """Who makes the requests, as the world's corpora call it."""
    cell_of: Callable[[Any], Cell]
    """The cell of an action."""
    pose: Pose | None = None
    """Where the builder stands."""
    state: Any
    """The board or structure."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.frames = frames("everyday", f"everyday-{self.name}")
        self.words: dict[str, str] = {}
        """The person's own words, for slots of frames."""
        self.synonyms: dict[str, tuple[str, ...]] = {}
        """What else things are called, by their nouns."""
        self.things: list[NamedObject] = []
        self.last: NamedObject | None = None
        """What the turn before made or changed."""
        self.colors: Mapping[Cell, str] = {}
        """The cells that are not empty."""
        self.filled_before: Mapping[Cell, str] = {}
        """The cells that were not empty before the last turn."""
        self.steps: list[tuple[Any, ...]] = []
        self.past: list[tuple[Any, list[NamedObject]]] = []
        """The state and the things that each turn found."""
        self.orders: list[Request] = []

    @abstractmethod
    def item(self, name: str, text: str, history: tuple[Turn, ...], **fields: Any) -> Item: ...

    @abstractmethod
    def run(self, program: ast.Program) -> ProgramResult: ...

    @abstractmethod
    def carry_out(self, actions: Sequence[Any]) -> None:
        """Moves `state` and `colors` on."""

    @abstractmethod
    def restoring(self, state: Any) -> str:
        """A program that leads to an earlier state."""

    @abstractmethod
    def recolored(self, cells: str, color: str) -> str:
        """A program that gives a set that stands there another color."""

    # --- words ---

    def say(self, section: str, **slots: str) -> str:
        text = phrase(self.rng, self.frames[section], **self.words, **slots)
        if _plural(slots.get("it", "")):
            text = _agreeing(text, slots["it"])
        several = self.words["pieces"]
        return re.sub(rf"\b(1|one) {several}\b", rf"\1 {self.words['piece']}", text) if several in text else text

    def ask(self, section: str, what: str, where: str) -> str:
        """A request for a thing; a place after many words stands apart."""
        if where and len(what.split()) > _LONG:
            section = f"{section} long"
        text = self.say(section, what=what, where=where)
        return text.replace(":", ",", 1) if text.count(":") > 1 else text

    def called(self, what: str, *nouns: str) -> str:
        """The first of some nouns that the words use, or else the last one."""
        return next((noun for noun in nouns if re.search(rf"\b{noun}\b", what)), nouns[-1])

    def some(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def color(self, *others: str) -> str:
        """A color that is not there yet, so that it can name a thing; one of the others if all are."""
        left = {c: n for c, n in self.palette.items() if c not in others}
        free = {c: n for c, n in left.items() if c not in self.colors.values()} or left
        return weighted(self.rng, free)

    def shades(self, first: str, more: int) -> list[str]:
        """A color and so many others."""
        colors = [first]
        for _ in range(more):
            colors.append(self.color(*colors))
        return colors

    def ref(self, thing: NamedObject) -> str:
        """What the thing is called: it, the red flower."""
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
        """Whether the thing has colors of its own, so that they tell it from all else."""
        return {cell for cell, color in self.colors.items() if color in thing.colors} == thing.cells

    def pick(self, *nouns: str) -> NamedObject:
        """What `find` finds. Raises Impossible if that is nothing."""
        return needed(self.find(*nouns))

    def pick_plain(self, *nouns: str) -> NamedObject:
        """The same, of one color."""
        thing = self.pick(*nouns)
        impossible_if(len(thing.colors) != 1)
        return thing

    def find(self, *nouns: str) -> NamedObject | None:
        """A thing that can be told from the others, mostly the last one."""
        if self.last and self.last.colors and self.rng.random() < 0.6 and self.is_distinct(self.last):
            return self.last if not nouns or self.last.noun in nouns else None
        things = [thing for thing in self.things if (not nouns or thing.noun in nouns) and self.is_distinct(thing)]
        return self.rng.choice(things) if things else None

    # --- turns ---

    def take(self, order: Request) -> tuple[Any, ...] | None:
        """The actions of the order, carried out; None if it does nothing, too much, or cannot be run."""
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
        """Whether all that the order asks for lies on empty cells."""
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
        """Whether a thing is still the one it was: what was drawn over is not."""
        return thing is self.last or not thing.cells & changed or thing.cells <= changed


def _plural(words: str) -> bool:
    return words == "those" or (words.endswith("s") and not words.endswith("plus"))


def _agreeing(text: str, it: str) -> str:
    """The text with its verbs in the plural, and no "it" for what are several."""
    for one, several in _VERBS.items():
        text = text.replace(f"{it} {one} ", f"{it} {several} ").replace(f"{one} {it}", f"{several} {it}")
    return re.sub(r"\bit\b", "them", text)


def moved_by(t: Talk, thing: NamedObject, text: str, move: str) -> Request:
    """A request to move a thing of one color."""
    kind = "correction" if t.orders and thing is t.last else "relation"
    return Request(kind, text, f"s={t.where(thing)}; remove s; {thing.colors[0]} shift(s,{move})", subject=thing)


def copy_of(thing: NamedObject, text: str, cells: str, move: str, color: str, **fields: Any) -> Request:
    """A request to copy a thing, given by its set of cells: in its own color, or in `color` if it is not ""."""
    program = f"copy shift({cells},{move})" + (f" with {thing.colors[0]}={color}" if color else "")
    return Request("repeat", text, program, count=len(thing.cells), fresh=True, **{"noun": thing.noun} | fields)


program = lru_cache(maxsize=50_000)(parse)
