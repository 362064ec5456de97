"""What was said and done, as text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.tasks import world_of

_COMPACT = {"hexagons": "grouped", "minecraft": "lines"}
"""The shortest action format of each world."""
_LONGEST = 2000


def written(task: str, actions: Sequence[Any]) -> str:
    """The actions on one line in the world's shortest format."""
    from serialization.formats import get_format

    return get_format(task, _COMPACT[world_of(task)]).write(actions).replace("\n", ", ")


def printable(text: str) -> str:
    """The text without control characters, which could drive the terminal, and cut to a readable length."""
    shown = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text[:_LONGEST].strip())
    return shown if len(text) <= _LONGEST else f"{shown} ... ({len(text) - _LONGEST:,} more characters)"


def counted(actions: Sequence[Any]) -> str:
    """How many actions: "1 action", "2 actions"."""
    return f"{len(actions)} action{'s' * (len(actions) != 1)}"
