"""From options in a file to words of the command line, and the files of items that rows read."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.corpora.records import write_items
from harness.errors import FaultsError, HarnessError
from harness.experiments.file import SOURCES, DataSet, ExperimentStep, Options, Scale
from harness.experiments.grid import Command, Row
from harness.util.options import ModelCommand
from harness.util.registry import choose

T = TypeVar("T")


def attempt(where: str, step: Callable[[], T]) -> T:
    """The result of `step`. The errors that it raises for a user become FaultsError, with `where` in front."""
    try:
        return step()
    except click.ClickException as error:
        raise FaultsError([where + " ".join(error.format_message().split())]) from None
    except HarnessError as error:
        raise FaultsError(f"{where}{fault}" for fault in getattr(error, "faults", (error,))) from None


class Words:
    """Makes the words of commands. Raises FaultsError for what is wrong with their options."""

    def __init__(self, steps: Mapping[str, ExperimentStep]) -> None:
        self.steps = steps

    def checked(self, where: str, step: str, words: Sequence[str], *, untrained: bool = False) -> Any:
        """What the step's check returns."""
        command = self.steps[step].command
        assert isinstance(command, ModelCommand)
        return attempt(where, lambda: self.steps[step].check(command.parsed(words), untrained))

    def of(self, where: str, name: str, values: Options, left_out: Sequence[str] = ()) -> list[str]:
        """The options of a step as words; without its subject and some others if they are left out."""
        step, words = self.steps[name], list[str]()
        known = {key: option for key, option in step.options.items() if key not in left_out}
        subject = [step.subject] if step.subject and not left_out else []
        more = ["set"] if any(param.name == "overrides" for param in step.command.params) else []
        for key in values:
            attempt(f"{where}{name}: ", partial(choose, "key", str(key), [*known, *subject, *more]))
        for key in subject:
            if not isinstance(values.get(key), str):
                raise FaultsError([f"{where}{name}: {key}: give its name"])
            words.append(str(values[key]))
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
                raise FaultsError([f"{where}true or false, not {value!r}"])
            yield from flags[:1]
        elif any(isinstance(one, dict | list | bool) for one in given):
            raise FaultsError([f"{where}{value!r} is not a value of this option"])
        else:
            yield from (word for one in given for word in (option.opts[0], str(one)))


DATA_OPTIONS = ("data", "dev-data", "items")
"""The options of rows whose values may be names of data sets."""
_SAMPLE = 40
"""Items that stand for a data set while the rows are checked."""


class DataSets:
    """The data sets of a file by name; they lie in `folder`, and samples of them, for the checks, in `samples`."""

    def __init__(self, sets: Mapping[str, DataSet], words: Words, scale: Scale | None, folder: Path, samples: Path) -> None:
        self.sets, self.words, self.scale, self.folder, self.samples = sets, words, scale, folder, samples
        self.sizes: dict[str, tuple[int, int]] = {}
        """The numbers of items of the sets that rows read, and of their samples."""

    def named(self, values: Options, *, sample: bool = False) -> Options:
        """Options with paths in place of the sets' names."""
        return values | {key: self._path(values[key], sample) for key in DATA_OPTIONS if key in values}

    def _path(self, word: Any, sample: bool) -> Any:
        if isinstance(word, list):
            return [self._path(one, sample) for one in word]
        name = str(word)
        if name not in self.sets:
            return word
        if sample and name not in self.sizes:
            self._sample(name)
        return f"{(self.samples if sample else self.folder) / name}.jsonl"

    def missing_items(self, values: Sequence[Any]) -> int:
        """How many more items some values of `data` stand for than their samples have."""
        return sum(size - there for size, there in (self.sizes[name] for name in map(str, values) if name in self.sizes))

    def _command(self, name: str, folder: Path) -> tuple[str, list[str]]:
        """The step that makes a set in a folder, and its words."""
        step = next(step for step in SOURCES if getattr(self.sets[name], step))
        values = getattr(self.sets[name], step) | (self.scale.options.get(step, {}) if self.scale else {})
        return step, [*self.words.of(f"data {name}: ", step, values), "--out", str(folder / f"{name}.jsonl"), "--overwrite"]

    def _sample(self, name: str) -> None:
        """Raises FaultsError if the set cannot be made."""
        step, words = self._command(name, self.samples)
        size, items = self.words.checked(f"data {name}: ", step, words)
        self.sizes[name] = size, write_items(islice(items, min(size, _SAMPLE)), self.samples / f"{name}.jsonl")[0]

    def rows(self) -> list[Row]:
        """Rows that make the sets of which there are samples."""
        made = []
        for name in self.sizes:
            step, words = self._command(name, self.folder)
            command = Command((*self.words.steps[step].words, *words), self.folder / f"{name}.jsonl")
            made.append(Row(name=f"data-{name}", commands=(command,)))
        return made
