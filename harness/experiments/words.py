"""From options in a file to words of the command line, with all faults at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import click

from harness.errors import HarnessError
from harness.experiments.file import ExperimentStep, Options
from harness.util.options import ModelCommand
from harness.util.registry import choose

T = TypeVar("T")


class Words:
    """Makes the words of commands and collects what is wrong with them, in `faults`."""

    def __init__(self, steps: Mapping[str, ExperimentStep]) -> None:
        self.steps = steps
        self.faults: list[str] = []

    def fault(self, what: str) -> None:
        if (line := " ".join(what.split())) not in self.faults:
            self.faults.append(line)

    def attempt(self, where: str, step: Callable[[], T]) -> T | None:
        """The result of `step`; None if it raises an error, which is kept as a fault."""
        try:
            return step()
        except click.ClickException as error:
            self.fault(where + error.format_message())
        except HarnessError as error:
            for fault in getattr(error, "faults", (error,)):
                self.fault(f"{where}{fault}")
        return None

    def checked(self, where: str, step: str, words: Sequence[str], *, untrained: bool = False) -> Any:
        """What the step's check returns; None if it refuses the words."""
        command = self.steps[step].command
        assert isinstance(command, ModelCommand)
        return self.attempt(where, lambda: self.steps[step].check(command.parsed(words), untrained))

    def of(self, where: str, name: str, values: Options, left_out: Sequence[str] = ()) -> list[str]:
        """The options of a step as words; without its subject and some others if they are left out."""
        step, words = self.steps[name], list[str]()
        known = {key: option for key, option in step.options.items() if key not in left_out}
        subject = [step.subject] if step.subject and not left_out else []
        more = ["set"] if any(param.name == "overrides" for param in step.command.params) else []
        for key in values:
            self.attempt(f"{where}{name}: ", partial(choose, "key", str(key), [*known, *subject, *more]))
        for key in subject:
            if not isinstance(values.get(key), str):
                self.fault(f"{where}{name}: {key}: give its name")
            words.append(str(values.get(key)))
        for key, option in known.items():
            if values.get(key) is not None:
                words += self._option(f"{where}{name}: {key}: ", option, values[key])
        for key, value in values.get("set", {}).items():
            words += ("--set", f"{key}={json.dumps(value)}")
        return words

    def _option(self, where: str, option: click.Option, value: Any) -> Iterator[str]:
        given = value if isinstance(value, list) and option.multiple else [value]
        if option.is_flag:
            flags = option.opts if value is True else option.secondary_opts if value is False else None
            if flags is None:
                self.fault(f"{where}true or false, not {value!r}")
            yield from flags[:1] if flags else ()
        elif any(isinstance(one, dict | list | bool) for one in given):
            self.fault(f"{where}{value!r} is not a value of this option")
        else:
            yield from (word for one in given for word in (option.opts[0], str(one)))
