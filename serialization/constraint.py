"""What constrained decoding may be held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Constraint:
    """A regular expression (no look-around, matched against the whole answer), a JSON Schema as JSON text, or a GBNF grammar."""

    kind: Literal["regex", "json", "grammar"]
    value: str
