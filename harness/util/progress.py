"""A progress bar in the terminal with a rate in items, or another unit, per second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(name: str, total: int, *, unit: str = "items", shown: bool = True) -> Iterator[Callable[..., None]]:
    """Yields a function that takes how many units are done, and a note to show beside the rate.

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
