"""Tables of names. Names map to `module:object` in one small dict per kind, and a module is imported when its name is first used;
other packages add objects with entry points."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any, TypeVar

from harness.errors import UsageError

T = TypeVar("T")


def choose(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is among `known`; otherwise a UsageError that lists them and suggests the nearest."""
    names = sorted(known)
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UsageError(f"no {kind} named {name!r}: {hint}known: {', '.join(names)}")


class Table(dict[str, T]):
    """Objects of one `kind` by name. An unknown name raises the UsageError of `choose`."""

    def __init__(self, kind: str, known: Mapping[str, T]) -> None:
        super().__init__(known)
        self.kind = kind

    def __missing__(self, name: str) -> T:
        return self[choose(self.kind, name, self)]


def resolve(kind: str, name: str, table: Mapping[str, str]) -> Any:
    """The object that `table` names for `name`, imported now. Raises UsageError for an unknown name."""
    return resolve_name(table[choose(kind, name, table)])


def plugged(group: str, kind: type[T]) -> Iterator[tuple[str, T]]:
    """The objects that other packages add to a group of entry points, each after the words that name its entry point in errors.

    Raises UsageError for an entry point that cannot be loaded or is no `kind`.
    """
    for point in sorted(entry_points(group=group)):
        where = f"the entry point {point.name} = {point.value} of {group}"
        try:
            found = point.load()
        except Exception as error:
            raise UsageError(f"{where} cannot be loaded ({error}): repair or uninstall its package") from error
        if not isinstance(found, kind):
            raise UsageError(f"{where} is no {kind.__name__}: repair its package")
        yield where, found
