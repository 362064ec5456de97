"""What a request means: things, places and orders, before they are looked up among the blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

DEFINITE = frozenset({"the", "my", "their", "this", "each", "all", "other"})
"""Articles of things that, as a rule, stand already."""


@dataclass(slots=True)
class Thing:
    """A thing that stands or is to stand: `two yellow towers, 3 high` has noun tower, count 2, color yellow and size high 3."""

    noun: str = ""
    word: str = ""
    kind: str = ""
    """thing, part, it, everything, or empty if only a color or a number was said."""
    article: str = ""
    count: int | None = None
    few: bool = False
    colors: list[str] = field(default_factory=list)
    no_color: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    by: list[int] = field(default_factory=list)
    """3 and 4 in "3 by 4"."""
    vague: str = ""
    """small, big, or empty."""
    picks: list[str] = field(default_factory=list)
    """Which of several things are meant: leftmost, top, alternate ..."""
    ordinals: list[int] = field(default_factory=list)
    """2 and 4 in "the second and fourth block"."""
    counted_from: str = ""
    """The side from which "the third" is counted: top, bottom, leftmost ..."""
    flags: set[str] = field(default_factory=set)
    like: dict[str, Thing] = field(default_factory=dict)
    """The things whose size or color it has, by the name of the size, or "color"."""
    parts: dict[str, Thing] = field(default_factory=dict)
    """The parts that are described, by name: the roof of a house."""
    way: str = ""
    """The direction in which a row runs."""
    of: Thing | None = None
    place: Location | None = None
    but: Thing | None = None

    @property
    def definite(self) -> bool:
        of_definite = not self.article and self.of is not None and self.of.definite and bool(self.picks)
        return (
            of_definite
            or self.article in DEFINITE
            or self.kind in {"it", "everything"}
            or bool({"alternate", "third"} & {*self.picks})
        )

    @property
    def each(self) -> bool:
        return self.article in {"each", "all"}

    @property
    def plural(self) -> bool:
        if self.each or len(self.ordinals) > 1:
            return True
        if self.count is not None:
            return self.count > 1
        return (self.word.endswith("s") and self.word not in {"stairs", "steps"}) or self.word in {"them", "they"}

    @property
    def is_it(self) -> bool:
        return self.kind == "it"

    @property
    def whole(self) -> Thing:
        """The thing that it belongs to; NOTHING if none is named."""
        return self.of or NOTHING

    @property
    def generic(self) -> bool:
        """Whether it is a block, or nothing in particular: `a red one`, `2 more`."""
        return self.noun in {"", "block"}

    @property
    def only_counts(self) -> bool:
        return self == Thing(count=self.count)

    @property
    def only_describes(self) -> bool:
        """Whether it names nothing: a color, a size or a number by itself."""
        return not self.noun and self.article in {"", "a"}


NOTHING = Thing()
"""Stands for a thing that is not named; must never be changed."""


def it(word: str = "it", article: str = "") -> Thing:
    return Thing(kind="it", noun="it", word=word, article=article)


class ColorRun(NamedTuple):
    """Some blocks of a line in one color: `2 green ones`; without a number, as many as are left."""

    number: int | None
    color: str
    last: bool | None = None
    """Whether they are at the line's last end, such as the top, or at its first; None if that is not said."""


@dataclass(slots=True)
class Location:
    """`2 blocks left of the tower`: relation left, distance 2, of the tower."""

    relation: str
    of: Thing | None = None
    second: Thing | None = None
    """The other thing of `between`."""
    distance: int | None = None
    other: bool = False
    """Whether it is on the other side than before."""
    word: str = ""

    @property
    def landmark(self) -> Thing:
        """The thing that it is a place of; NOTHING if none is named."""
        return self.of or NOTHING

    @property
    def of_area(self) -> bool:
        return self.landmark.noun == "area"

    @property
    def only_colors(self) -> bool:
        """`in red`, `to blue`."""
        return self.landmark.only_describes and bool(self.landmark.colors)


@dataclass(slots=True)
class Growth:
    """A change of size: `one block higher` adds 1 to high, `twice as long` multiplies long by 2."""

    axis: str = ""
    add: int = 0
    factor: float = 0.0


@dataclass(slots=True)
class Order:
    """One thing to do."""

    act: str = ""
    things: list[Thing] = field(default_factory=list)
    places: list[Location] = field(default_factory=list)
    become: Thing | None = None
    """What the things become: its colors, sizes, or another thing."""
    growth: Growth | None = None
    flags: set[str] = field(default_factory=set)
    mended: bool = False
    """Whether it corrects what was said before."""
    said: str = ""

    @property
    def thing(self) -> Thing | None:
        return self.things[0] if self.things else None

    @property
    def first(self) -> Thing:
        """The first thing; NOTHING if there is none."""
        return self.things[0] if self.things else NOTHING

    @property
    def last(self) -> Thing | None:
        return self.things[-1] if self.things else None

    @property
    def told(self) -> list[Thing]:
        """The things, and what they become."""
        return [*self.things, *([self.become] if self.become else [])]

    @property
    def new(self) -> Thing | None:
        """The last thing, if it does not stand yet."""
        return self.last if self.last and not self.last.definite else None


def deepest(thing: Thing | None) -> Thing | None:
    """The thing that all the others belong to: in `the top of the left tower`, the tower."""
    while thing is not None and thing.of is not None:
        thing = thing.of
    return thing
