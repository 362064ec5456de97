"""Simulated games, drawing procedures and conversations.

Here is what they share: sentence frames from plain text files, and orders that are given up because a drawing or a conversation
has no place for them. A file of frames holds sections, `[name]` and a frame a line; a frame's `[a|b|]` is one of the
alternatives, its `{slot}` is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from random import Random
from typing import TypeVar

_SECTION = re.compile(r"\[([a-z0-9 -]+)\]")

Frames = Mapping[str, tuple[str, ...]]


@lru_cache
def frames(*names: str) -> Frames:
    """The frames of files in `frames/` by section; later files take sections' place. Lines that begin with # are notes."""
    sections: dict[str, list[str]] = {}
    for name in names:
        section: list[str] = []
        for line in files("harness.simulators").joinpath("frames", f"{name}.txt").read_text().splitlines():
            if match := _SECTION.fullmatch(line):
                section = sections[match[1]] = []
            elif line.strip() and not line.startswith("#"):
                section.append(line.strip())
    return {name: tuple(lines) for name, lines in sections.items()}


_T = TypeVar("_T")


def weighted(rng: Random, counts: Mapping[_T, int]) -> _T:
    """One of the keys, drawn by their counts."""
    return rng.choices(tuple(counts), tuple(counts.values()))[0]


_Context = TypeVar("_Context")


class Impossible(Exception):
    """The order has no place here."""


def impossible_if(condition: object) -> None:
    """Raises Impossible where the condition is true."""
    if condition:
        raise Impossible


def attempt(make: Callable[[_Context], _T], context: _Context) -> _T | None:
    """What `make` makes; None where that is impossible."""
    try:
        return make(context)
    except Impossible:
        return None


def needed(value: _T | None) -> _T:
    """The value. Raises Impossible where there is none."""
    if value is None:
        raise Impossible
    return value
