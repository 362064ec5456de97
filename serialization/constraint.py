"""What constrained decoding may be held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Constraint:
    """A regular expression (no look-around, matched against the whole answer) or a JSON Schema as JSON text."""

    kind: Literal["regex", "json"]
    value: str
