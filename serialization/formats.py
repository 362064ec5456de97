"""The action formats: how an answer is written, read back, and held to its grammar while it is decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.registry import choose
from serialization import hexagons_text, json_text, minecraft_text
from serialization.constraint import Constraint
from serialization.parsed import Parsed


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write the actions of one task.

    `write` takes actions of the task's world. `parse` is total: it takes any string, never raises, and says what it
    discarded. `constraint` is what constrained decoding may be held to: it admits everything that `write` makes.
    """

    name: str
    task: str
    write: Callable[[Sequence[Any]], str]
    parse: Callable[[str], Parsed]
    constraint: Callable[[], Constraint]


_ALL = (
    Format(
        "triplets",
        "hexagons",
        hexagons_text.write_triplets,
        hexagons_text.parse_triplets,
        lambda: hexagons_text.TRIPLETS_CONSTRAINT,
    ),
    Format(
        "grouped",
        "hexagons",
        hexagons_text.write_grouped,
        hexagons_text.parse_grouped,
        lambda: hexagons_text.GROUPED_CONSTRAINT,
    ),
    Format("json", "hexagons", json_text.write_json, json_text.parse_hexagons_json, lambda: json_text.constraint("hexagons")),
    Format(
        "lines",
        "minecraft",
        minecraft_text.write_lines,
        minecraft_text.parse_lines,
        lambda: minecraft_text.LINES_CONSTRAINT,
    ),
    Format(
        "calls",
        "minecraft",
        minecraft_text.write_calls,
        minecraft_text.parse_calls,
        lambda: minecraft_text.CALLS_CONSTRAINT,
    ),
    Format(
        "json",
        "minecraft",
        json_text.write_json,
        json_text.parse_minecraft_json,
        lambda: json_text.constraint("minecraft"),
    ),
)

FORMATS: dict[str, dict[str, Format]] = {task: {f.name: f for f in _ALL if f.task == task} for task in ("hexagons", "minecraft")}
"""By task, then by name."""


def get_format(task: str, name: str) -> Format:
    """Raises UsageError for a task or a name that does not exist."""
    formats = FORMATS[choose("task", task, FORMATS)]
    return formats[choose(f"format for {task}", name, formats)]
