"""The data sets of an experiment: files that are made once and read by its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from harness.corpora.records import write_items
from harness.errors import FaultsError
from harness.experiments.file import SOURCES, DataSet, Options
from harness.experiments.grid import Command, Row
from harness.experiments.scale import Scale
from harness.experiments.words import Words

OPTIONS = ("data", "dev-data", "items")
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
        return values | {key: self._path(values[key], sample) for key in OPTIONS if key in values}

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
        made = None if self.words.faults else self.words.checked(f"data {name}: ", step, words)
        if made is None:
            raise FaultsError(self.words.faults)
        size, items = made
        self.sizes[name] = size, write_items(islice(items, min(size, _SAMPLE)), self.samples / f"{name}.jsonl")[0]

    def rows(self) -> list[Row]:
        """Rows that make the sets of which there are samples."""
        made = []
        for name in self.sizes:
            step, words = self._command(name, self.folder)
            command = Command((*self.words.steps[step].words, *words), self.folder / f"{name}.jsonl")
            made.append(Row(name=f"data-{name}", commands=(command,)))
        return made
