"""Simulated games, drawing procedures and conversations.

This module holds what they share: sentence frames from plain text files, and the exception for orders that do not fit the
drawing or conversation. A file of frames consists of sections: a line `[name]`, then one frame a line. In a frame, `[a|b|]`
stands for one of the alternatives and `{slot}` is filled in.
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
    """The frames of files in `frames/`, by section; sections of later files replace earlier ones. Lines with # are comments."""
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
    """One of the keys, drawn with the counts as weights."""
    return rng.choices(tuple(counts), tuple(counts.values()))[0]


_Context = TypeVar("_Context")


class Impossible(Exception):
    """An order does not fit the present state."""


def impossible_if(condition: object) -> None:
    """Raises Impossible if the condition is true."""
    if condition:
        raise Impossible


def attempt(make: Callable[[_Context], _T], context: _Context) -> _T | None:
    """The result of `make`; None if it raises Impossible."""
    try:
        return make(context)
    except Impossible:
        return None


def needed(value: _T | None) -> _T:
    """The value. Raises Impossible if it is None."""
    if value is None:
        raise Impossible
    return value
