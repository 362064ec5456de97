"""What the YAML files of grids share: options of commands by their names, and all faults of a file at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.errors import FaultsError, HarnessError, UsageError
from harness.util.registry import choose

T = TypeVar("T")

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
"""A row's name, which is also its folder's."""


class GridFile:
    """A file that becomes the rows of a grid, whose runs go to runs/`name`. Raises UsageError for a name that is no folder's."""

    def __init__(self, path: Path, name: str) -> None:
        if not NAME.fullmatch(name):
            raise UsageError(f"--name {name}: use letters, digits, ., _, + and -")
        self.path, self.name = path, name
        self.faults: list[str] = []

    def attempt(self, where: str, step: Callable[[], T]) -> T | None:
        """The result of `step`; what it refuses is a fault."""
        try:
            return step()
        except click.ClickException as error:
            self.fault(where + error.format_message())
        except HarnessError as error:
            for fault in getattr(error, "faults", (error,)):
                self.fault(f"{where}{fault}")
        return None

    def fault(self, what: str) -> None:
        if (line := " ".join(what.split())) not in self.faults:
            self.faults.append(line)

    def report(self) -> None:
        """Raises FaultsError if there are faults: nothing may be run then."""
        if self.faults:
            raise FaultsError(f"{self.path}: {fault}" for fault in self.faults)

    def check_keys(self, where: str, values: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in values:
            self.attempt(where, partial(choose, "key", str(key), known))

    def words(self, where: str, values: Mapping[str, Any], known: Mapping[str, click.Option]) -> Iterator[str]:
        """The values of options, by their names in a file, as words of the command line."""
        for key, option in known.items():
            value = values.get(key)
            if value is None:
                continue
            given = value if isinstance(value, list) and option.multiple else [value]
            if option.is_flag:
                flags = option.opts if value is True else option.secondary_opts if value is False else None
                if flags is None:
                    self.fault(f"{where}{key}: true or false, not {value!r}")
                yield from flags[:1] if flags else ()
            elif any(isinstance(one, dict | list | bool) for one in given):
                self.fault(f"{where}{key}: {value!r} is not a value of this option")
            else:
                yield from (word for one in given for word in (option.opts[0], str(one)))


def options(command: click.Command, left_out: Sequence[str]) -> dict[str, click.Option]:
    """The options of a command by their names in a file: those on the command line without the dashes."""
    own = [param for param in command.params if isinstance(param, click.Option)]
    named = {option.opts[0].removeprefix("--"): option for option in own}
    return {name: option for name, option in named.items() if name not in left_out}
