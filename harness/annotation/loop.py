"""A loop in which a person annotates items one by one in the terminal, and the file that it writes.

The file has one writer at a time, and every annotation is on disk before the next one is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.corpora.item import Item, Turn, Utterance
from harness.drawing.terminal import printable, written
from harness.errors import HarnessError
from harness.util.files import hold, json_line, read_lines, write_atomically

FOLD = 8
"""How many turns are shown at first."""
MOVES = {"b": "back", "s": "skipped", "q": "quit"}


class Annotated(Protocol):
    """An annotation of one item."""

    @property
    def id(self) -> str: ...
    @property
    def annotator(self) -> str: ...


ItemType = TypeVar("ItemType", bound=Item)
A = TypeVar("A", bound=Annotated)


class AnnotationFile(Generic[A]):
    """The annotations of a file by item id, and how to add to them. `open_annotation` makes one."""

    def __init__(
        self, path: Path, order: Sequence[str], found: Mapping[str, A], as_json: Callable[[A], Mapping[str, Any]]
    ) -> None:
        self.path = path
        self.found = dict(found)
        self._order, self._as_json = order, as_json
        if path.exists() and read_lines(path).torn:
            self._rewrite()

    def record(self, annotation: A) -> None:
        """Append the annotation, or rewrite the file if it replaces an earlier one. Raises HarnessError if that fails."""
        known = annotation.id in self.found
        self.found[annotation.id] = annotation
        if known:
            self._rewrite()
            return
        try:
            with self.path.open("a", encoding="ascii") as file:
                file.write(json_line(self._as_json(annotation)))
        except OSError as error:
            raise HarnessError(f"{self.path}: cannot be written: {error.strerror}") from error

    def sort(self) -> None:
        """Put the file in the order of the items, which skipping and going back may have changed."""
        if list(self.found) != [item for item in self._order if item in self.found]:
            self._rewrite()

    def _rewrite(self) -> None:
        self.found = {item: self.found[item] for item in self._order if item in self.found}
        write_atomically(self.path, "".join(json_line(self._as_json(one)) for one in self.found.values()))


@contextmanager
def open_annotation(
    path: Path, items: Sequence[Item], read: Callable[[Path], Mapping[str, A]], as_json: Callable[[A], Mapping[str, Any]]
) -> Iterator[AnnotationFile[A]]:
    """The file at `path`, created with the first annotation, locked against other writers.

    An incomplete last line, which a killed process leaves, is dropped; `read` must leave it out. Raises HarnessError if another
    process holds the file, and what `read` raises.
    """
    busy = f"{path} is being written by another harness annotate; end that one, or choose another --out"
    lock = hold(path.with_name(f".{path.name}.lock"), busy)
    try:
        yield AnnotationFile(path, [item.id for item in items], read(path) if path.exists() else {}, as_json)
    finally:
        lock.release()


@dataclass
class Loop(ABC, Generic[ItemType, A]):
    """The loop, with the items to annotate, the person who annotates them, and the terminal to ask in.

    `read_key` returns the next key; EOFError means quit.
    """

    items: Sequence[ItemType]
    file: AnnotationFile[A]
    annotator: str
    console: Console
    read_key: Callable[[], str]

    done: ClassVar[str]
    """What an item with an annotation is: judged, labeled."""
    unit: ClassVar[str]
    """What the items belong to: a game, a procedure."""

    def run(self, *, again: bool = False) -> None:
        """Ask from the first item without an annotation (`again`: from the first item) to the end, or until the person quits."""
        place = 0 if again else self._open_from(0)
        while place < len(self.items):
            try:
                answer = self.ask(place)
            except EOFError:
                answer = "q"
            if answer == "q":
                break
            if not isinstance(answer, str):
                self.file.record(answer)
            place = max(place - 1, 0) if answer == "b" else self._open_from(place + 1)
        self._end()

    @abstractmethod
    def ask(self, place: int) -> A | str:
        """The annotation of an item, or the key of a move: b, s or q."""

    def _open_from(self, place: int) -> int:
        """The index of the first item without an annotation from `place` on."""
        return next((n for n in range(place, len(self.items)) if self.items[n].id not in self.file.found), len(self.items))

    def _count(self) -> int:
        return sum(item.id in self.file.found for item in self.items)

    def _end(self) -> None:
        count = self._count()
        if count == len(self.items):
            self.file.sort()
        rest = f"; {len(self.items) - count:,} left: the same command continues with them" if count < len(self.items) else ""
        self.console.print(f"\n{count:,} of {len(self.items):,} {self.done}{rest}\n{self.file.path}", soft_wrap=True)

    def say(self, text: str) -> None:
        self.console.print(f"> {text}", style="dim")

    def head(self, place: int) -> None:
        """Print which item this is, and the turns before it."""
        item, console = self.items[place], self.console
        units = list(dict.fromkeys(item.cluster for item in self.items))
        share, unit = 100 * self._count() / len(self.items), units.index(item.cluster) + 1
        console.print()
        console.rule(Text(item.id, "bold"), align="left")
        where = f"{share:.1f}% {self.done}, {self.unit} {unit} of {len(units)}"
        console.print(f"item {place + 1:,} of {len(self.items):,}, {where}\n")
        if (hidden := len(item.history) - FOLD) > 0:
            console.print(f"{hidden} earlier turns: h shows them", style="dim")
        console.print(dialogue(item.history[-FOLD:], item.world))


def keys(read: Callable[[], str]) -> Callable[[], str]:
    """A function that returns one key per call. `read` reads a terminal in raw mode, and returns several keys if typed ahead.

    An escape sequence is one key. Raises KeyboardInterrupt for Ctrl-C, and EOFError for Ctrl-D and if the terminal is gone.
    """
    waiting: deque[str] = deque()

    def read_key() -> str:
        if not waiting:
            typed = read()
            waiting.extend([typed] if typed.startswith("\x1b") else typed)
        key = waiting.popleft() if waiting else ""
        if key == "\x03":
            raise KeyboardInterrupt
        if key in ("", "\x04"):
            raise EOFError
        return key

    return read_key


def dialogue(turns: Sequence[Turn], world: str) -> Table:
    """What was said and done, with a column for the speakers."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for turn in turns:
        if isinstance(turn, Utterance):
            table.add_row(Text(turn.speaker, "" if turn.speaker == "Builder" else "bold"), Text(printable(turn.text)))
        else:
            table.add_row(
                Text("Builder" if world == "minecraft" else "", "dim"), Text(f"> {written(world, turn.actions)}", "dim")
            )
    return table
