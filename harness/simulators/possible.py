"""What simulated orders share: one for which a drawing or a conversation has no place is given up, and another one is tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
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
