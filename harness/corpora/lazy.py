"""Sequences of items that are read or made only when they are asked for, so that each item takes a few bytes of memory.

They do not compare equal to lists; `list` makes a list of them.
"""

from __future__ import annotations

import os
import weakref
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harness.corpora.item import Item
from harness.corpora.records import read_line
from harness.errors import DataError

_CHUNK = 1 << 20
"""Bytes of a file that are searched for newlines at a time."""

T = TypeVar("T")


class ItemFile(Sequence[Item]):
    """The items of a file of JSON Lines, as `harness simulate` writes them, with the lines that `json_lines` reads. The file must
    not change while it is in use."""

    def __init__(self, path: Path) -> None:
        """Raises DataError for a file that cannot be read."""
        self.path = path
        try:
            self._file = os.open(path, os.O_RDONLY)
            weakref.finalize(self, os.close, self._file)
            self._ends = _line_ends(self._file)
            while len(self._ends) and not self._line(len(self._ends) - 1).strip():
                self._ends = self._ends[:-1]
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error

    def __reduce__(self) -> tuple[type[ItemFile], tuple[Path]]:
        return ItemFile, (self.path,)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: Any) -> Any:
        """Raises DataError for a line that is not an item."""
        if isinstance(number, slice):
            return Mapped(self.__getitem__, range(len(self))[number])
        number = range(len(self))[number]
        return read_line(self._line(number), self.path, number + 1)

    def _line(self, number: int) -> bytes:
        start = int(self._ends[number - 1]) if number else 0
        # Reads at an offset, not from where another thread or process left off.
        line = os.pread(self._file, int(self._ends[number]) - start, start)
        return line if number else line.removeprefix(BOM_UTF8)


def _line_ends(file: int) -> Any:
    """The byte offsets of the ends of the lines; the last line needs no newline."""
    ends, size = [np.empty(0, np.int64)], 0
    while chunk := os.read(file, _CHUNK):
        ends.append(np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord("\n")) + (size + 1))
        size += len(chunk)
    found = np.concatenate(ends)
    return found if not size or (found.size and found[-1] == size) else np.append(found, size)


class Mapped(Sequence[T]):
    """The values of a function of the elements of equally long sequences, computed anew at each access."""

    def __init__(self, function: Callable[..., T], *parts: Sequence[Any]) -> None:
        self._function, self._parts = function, parts

    def __len__(self) -> int:
        return len(self._parts[0])

    def __getitem__(self, number: Any) -> Any:
        found = [part[number] for part in self._parts]
        return Mapped(self._function, *found) if isinstance(number, slice) else self._function(*found)

    def __iter__(self) -> Iterator[T]:
        return map(self._function, *self._parts)


class Chained(Sequence[T]):
    """The elements of some sequences, one sequence after the other."""

    def __init__(self, *parts: Sequence[T]) -> None:
        self._parts = parts
        self._ends = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, number: Any) -> Any:
        """Raises ValueError for a slice with steps."""
        begins = [0, *self._ends]
        if isinstance(number, slice):
            start, stop, step = number.indices(len(self))
            if step != 1:
                raise ValueError("slices have no steps here")
            return Chained(
                *(part[max(0, start - begin) : max(0, stop - begin)] for part, begin in zip(self._parts, begins, strict=False))
            )
        number = range(len(self))[number]
        part = bisect_right(self._ends, number)
        return self._parts[part][number - begins[part]]

    def __iter__(self) -> Iterator[T]:
        return chain(*self._parts)
