"""What the parts of a request mean, before anything is looked up on the board."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Link:
    """Where a thing is: `above the ring` is Link("above", Phrase("ring")); `2 tiles above it` has the count 2. `second` is the
    other thing of `between the ring and the line`."""

    relation: str
    target: Phrase | None = None
    count: int | None = None
    second: Phrase | None = None


@dataclass
class Phrase:
    """A thing as it is described: `the two red rings at the top` has the head ring, the count 2, the color red and a link."""

    head: str = ""
    word: str = ""
    plural: bool = False
    det: str = ""
    count: int | None = None
    ordinals: list[int] = field(default_factory=list)
    every: int = 0
    colors: list[str] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    sides: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    """The lengths that are named: long, wide, tall, tiles, side, around."""
    links: list[Link] = field(default_factory=list)
    excepted: list[Phrase] = field(default_factory=list)
    more: list[Phrase] = field(default_factory=list)
    """Others of the same kind: the top row of `the top and bottom row`."""

    def within(self) -> list[Phrase]:
        """The phrase, and the phrases in its places."""
        return [self, *(one for target in targets_of(self.links) for one in target.within())]

    @property
    def new(self) -> bool:
        """Whether the words mean a thing that is not there yet: `a ring`, `two rings`, `another ring`."""
        return self.det in ("a", "another", "") and self.head != "it"

    @property
    def bare(self) -> bool:
        """Whether nothing but a determiner is said."""
        return not (self.ordinals or self.colors or self.marks or self.sides or self.links or self.every)


@dataclass
class Clause:
    """One thing that is asked for: `make the top row and the bottom row blue`."""

    verb: str = ""
    targets: list[Phrase] = field(default_factory=list)
    colors: list[tuple[str, int]] = field(default_factory=list)
    """The new colors, each with its number of tiles in turn: `two red, one blue`."""
    moves: list[tuple[str, int | None]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    """What else is said: not, meant, same, too, cycle, apart, full, twice, half and the marks of phrases."""
    sizes: dict[str, int] = field(default_factory=dict)
    replaced: list[str] = field(default_factory=list)
    """The colors that the new ones replace: `green instead of blue`, `not blue`."""
    total: int | None = None
    """How many there should be in the end: `so that there are five`."""
    times: int | None = None
    first: str = ""
    """The color to start with: `starting with blue`."""
    as_many: Phrase | None = None
    """The things whose number is wanted: `as many as there are green ones`."""
    color_of: Phrase | None = None
    """The thing that has the new color already: `the same color as the ring`."""
    excepted: list[Phrase] = field(default_factory=list)
    avoided: list[Phrase] = field(default_factory=list)
    """The places that must stay free: `not at the edge`."""
    names: list[str] = field(default_factory=list)
    """What the result is called: `like grass`."""
    unknown: list[str] = field(default_factory=list)

    @property
    def subject(self) -> Phrase:
        """The first target; `it` if none is named."""
        return self.targets[0] if self.targets else Phrase(head="it")

    @property
    def color_names(self) -> list[str]:
        return [color for color, _ in self.colors]

    @property
    def all_links(self) -> list[Link]:
        """The places of the clause and of its targets."""
        return self.links + self.target_links

    @property
    def target_links(self) -> list[Link]:
        return [link for target in self.targets for link in target.links]

    @property
    def empty(self) -> bool:
        return not (self.verb or self.targets or self.colors or self.moves or self.links or self.marks or self.sizes)


def targets_of(links: Iterable[Link], *relations: str) -> list[Phrase]:
    """The targets of links; if relations are given, of the links with these relations."""
    return [link.target for link in links if link.target is not None and (not relations or link.relation in relations)]


def once(colors: Iterable[str]) -> list[tuple[str, int]]:
    """Colors, each for one tile in turn."""
    return [(color, 1) for color in colors]
