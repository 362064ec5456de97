"""How a simulated Architect and Builder talk: one voice a game, and sentence frames from plain text files.

A file holds sections, `[name]` and a frame a line; a frame's `[a|b|]` is one of the alternatives, its `{slot}` is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from random import Random

from harness.corpora.wording import NUMBERS, phrase
from harness.simulators.minecraft.relations import Relation

_SECTION = re.compile(r"\[([a-z0-9 -]+)\]")

Frames = Mapping[str, tuple[str, ...]]


@lru_cache
def frames(name: str) -> Frames:
    """The frames of a file in `frames/` by section. Lines that begin with # are notes."""
    sections: dict[str, list[str]] = {}
    section: list[str] = []
    for line in files("harness.simulators").joinpath("frames", f"{name}.txt").read_text().splitlines():
        if match := _SECTION.fullmatch(line):
            section = sections.setdefault(match[1], [])
        elif line.strip() and not line.startswith("#"):
            section.append(line.strip())
    return {name: tuple(lines) for name, lines in sections.items()}


class Voice:
    """A pair's habits: the word for a block, digits or words, capitals and full stops."""

    def __init__(self, rng: Random, *names: str) -> None:
        self.rng = rng
        self.frames = {section: lines for name in ("common", *names) for section, lines in frames(name).items()}
        self.block = rng.choices(("block", "brick", "cube"), (80, 13, 7))[0]
        self.digits = rng.random() < 0.5
        self.formal = rng.random() < 0.2
        self.capital = rng.random() < 0.15

    def draw(self, section: str, **slots: str) -> str:
        """One of a section's frames with its slots filled; {block} is the pair's word for a block."""
        return phrase(self.rng, self.frames[section], block=self.block, **slots)

    def sentence(self, text: str) -> str:
        """A whole message as this pair writes it: capital and full stop, or neither."""
        if self.formal or self.capital:
            text = text[:1].upper() + text[1:]
        return f"{text}." if self.formal and not text.endswith((".", "!", "?")) else text

    def number(self, n: int) -> str:
        return str(n) if self.digits else NUMBERS[n]

    def blocks(self, count: int, color: str | None) -> str:
        """Some blocks of a color, or of a color not said."""
        if count > 1:
            return f"{self.number(count)} {color or ''} {self.block}s"
        return self.draw("a block of a color", color=color) if color else f"a {self.block}"

    def where(self, relation: Relation, it: str, *, diagonal: bool = True) -> str:
        """Where something is from `it`, in the builder's frame; "" leaves the reference out. `diagonal` is a word it may use."""
        # Away from you comes first, so that "from it" does not follow on "from you".
        parts = sorted(relation_parts(relation))
        of = "of" if it else "alone"
        if len(parts) == 1:
            name, n = parts[0]
            return self.draw(f"{name} {of}" if n == 1 else f"{name} far {of}", it=it, n=self.number(n))
        words = [self.draw(f"{name} part", n=self.number(n), s="s" if n > 1 else "") for name, n in parts]
        if diagonal and all(n == 1 for _, n in parts) and self.rng.random() < 0.5:
            words = [self.draw(f"{name} way") for name, _ in parts]
            return self.draw(f"diagonal {of}", it=it, ways=_and(words))
        return self.draw(f"parts {of}", it=it, parts=_and(words))

    def go(self, direction: Relation) -> str:
        """The way from one block to the next: "to the left" or, along two axes, "left and up"."""
        return _and([self.draw(f"go {name}") for name, _ in sorted(relation_parts(direction))])


def relation_parts(relation: Relation) -> list[tuple[str, int]]:
    """The ways from the reference along the axes, as frames name them: "left", "right", "up", ..., and how many cells."""
    names = (
        "left" if relation.left > 0 else "right",
        "up" if relation.up > 0 else "down",
        "behind" if relation.away > 0 else "front",
    )
    return [(name, abs(n)) for name, n in zip(names, relation, strict=True) if n]


def _and(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
