"""Names map to `module:object` in one small dict per kind; a module is imported when its name is first used."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pkgutil import resolve_name
from typing import Any

from harness.errors import UsageError


def choose(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is among `known`; otherwise a UsageError that lists them and suggests the nearest."""
    names = sorted(known)
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UsageError(f"no {kind} named {name!r}: {hint}known: {', '.join(names)}")


def resolve(kind: str, name: str, table: Mapping[str, str]) -> Any:
    """The object that `table` names for `name`, imported now. Raises UsageError for an unknown name."""
    return resolve_name(table[choose(kind, name, table)])
