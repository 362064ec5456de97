"""Guards the terminal. Texts come from models, endpoints, adapters and corpora: control characters in them could move the cursor,
change the title, fill the clipboard, or reverse the order of letters."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_CONTROLS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # A control sequence.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]).*?(?:\x07|\x1b\\|\x9c|$)"  # A string for the terminal itself.
    r"|\x1b.?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]",  # The direction of letters.
    re.DOTALL,
)
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_PROGRESS = re.compile(r"\r|\x1b\[(?:[0-9;]*m|[0-9]*[AK]|\?25[lh])")
"""What progress bars need besides colors: to rewrite a line, and to hide the cursor meanwhile."""


def plain(text: str, kept: re.Pattern[str] | None = None) -> str:
    """The text without control characters, except tabs, newlines and what `kept` matches."""
    return _CONTROLS.sub(lambda found: found[0] if kept and kept.fullmatch(found[0]) else "", text)


class _Terminal:
    """A stream to a terminal, without control characters, except tabs, newlines and what `kept` matches."""

    def __init__(self, stream: TextIO, kept: re.Pattern[str]) -> None:
        self._stream, self._kept = stream, kept

    def write(self, text: str) -> int:
        self._stream.write(plain(text, self._kept))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard_terminal() -> None:
    """From now on, pass what is written to a terminal through `plain`. Files and pipes get every byte."""
    if sys.stdout.isatty():
        sys.stdout = _Terminal(sys.stdout, _COLOR)
    if sys.stderr.isatty():
        sys.stderr = _Terminal(sys.stderr, _PROGRESS)


@contextmanager
def bar(name: str, total: int, *, unit: str = "items", shown: bool = True) -> Iterator[Callable[..., None]]:
    """Yields a function that takes the number of units done and a note to show beside the rate.

    Nothing is drawn unless stderr is a terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    said = TextColumn("{task.fields[said]}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), said)
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not (shown and console.is_terminal)) as progress:
        task, began = progress.add_task(name, total=total, said=""), time.monotonic()

        def update(done: int, more: str = "") -> None:
            rate = done / max(1e-9, time.monotonic() - began)
            progress.update(task, completed=min(done, total), said=f"{rate:.1f} {unit}/s {more}")

        yield update
